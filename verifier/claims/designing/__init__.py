"""Claims of designing-statistical-privacy-2015.

Statements in our own words, formulas as printed; a repair is a part of its own.

Read `sums`, `clusters`, `inferences`, `figure_1`, `figure_2`.
"""
