"""What everybody knows: counts, marginals, sums, impossible values and clauses.

A fact is written by a person, and bound to a domain becomes a linear fact on positions; engines
see only the second. A new kind of fact has to say both.

Read `facts` (as written) and `on_positions` (what engines see).
"""
