"""Claims of pufferfish-2012.

Statements in our own words, formulas as printed; those about Pufferfish's own semantics are listed
and say why they are not checked.

Read `section_9`, `listed`.
"""
