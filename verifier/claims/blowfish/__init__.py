"""Claims of blowfish-2014, sections 2 to 7: one module for each section or theorem.

Statements in our own words, formulas as printed; a repair is a part of its own.

Read `definitions`, `section_2`, `section_3_1`, `section_3_2`, `section_4`, `section_4_1`,
`section_4_2`, `theorem_4_3`, `section_5`, `section_6`, `section_6_1`, `section_7`, `section_7_2`,
`theorem_7_2`. Rooms of their own: `trees` (errors), `section_8`.
"""
