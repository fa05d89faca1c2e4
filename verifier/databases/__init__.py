"""Databases and known facts: is there one at all, and what do the facts imply?

Facts speak of classes of values, never of single values. What is said here has to hold for every
database that satisfies the facts; engines build on it without a check of their own.

Read `value_classes`, `fact_model`, `consistency`, `count_limits`, `numbering` (clauses without
labels), `count_queries`, `sparsity` (the sparse policies of the Blowfish paper) and `sparse_facts`
(thousands of facts, of which a record counts for few).
"""
