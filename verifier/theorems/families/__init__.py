"""Theorems about families of facts that are too many for a table of what each of them counts.

They find their classes themselves, and then say what the theorems beside this room say. Change a
docstring's proof and the code together.

Read `areas` (boxes that lie inside of one another, or apart), `many_areas` (nothing else is known),
`areas_beside` (further facts).
"""
