"""Claims of the paper on data-dependent releases: transforms, matching, partitions.

Statements in our own words, formulas as printed; a repair is a part of its own.

Read `transforms`, `first_step`, `merging`, `partitions`, `theorem_5_2`, `section_6`.
"""
