"""Claims of exact-cuboids-draft: one module for each section or theorem.

Statements in our own words, formulas as printed; a repair is a part of its own.

Read `section_2`, `section_3`, `section_3_neighbours`, `section_3_4`, `section_4`,
`section_4_cells`, `theorem_4_5`, `section_5`, `section_6`, `equation_12`.
"""
