"""Claims of blowfish-2014, section 8: known counts, the policy graph, and their theorems.

Statements in our own words, formulas as printed; a repair is a part of its own.

Read `section_8`, `hardness` (reductions), `section_8_1`, `theorem_8_2`, `corollary_8_3`,
`theorem_8_4`, `theorem_8_5`, `theorem_8_6`.
"""
