"""Independent and identical beliefs under any facts: the odds ratio as a ratio of polynomials.

Exact where a corner or one variable decides it, else by boxes of beliefs, summed in whole numbers.

Read `families` (the theorem), `polynomial` (one secret pair and output), `search` (all of them).
"""
