"""Queries: how much f changes between two databases, exactly.

A query is bound to a policy when it is made, and answers only for whole moves of records; it knows
no engine and no noise. A kind of query is one file, and a line in `kinds`.

Read `query` (what every query answers), a kind (`histogram`, `marginal`, `count`, `cumulative`,
`ranges`, `sums`, `partition`, `matrix`, `cluster_sizes`, `cluster_sums`, `weighted_sum`), `kinds`
(all of them), `outputs` (the outputs in order, with names), `parse` (`range(age,18,65)` as text).
"""
