"""Theorems about families of facts: too many for a table of what each counts, or of few kinds.

The former find their classes themselves, and then say what the theorems beside this room say.
Change a docstring's proof and the code together.

Read `areas` (boxes that lie inside of one another, or apart), `many_areas` (nothing else is known),
`areas_beside` (further facts); `two_margins` (records that come and go beside two tables),
`four_cells` (two that come for two that go), `turning_cycles` (one total beside cells: long pairs).
"""
