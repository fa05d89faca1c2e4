"""Queries: how much f changes between two databases, exactly.

A query is bound to a policy when it is made, and answers for itself whatever engines, mechanisms
and screens ask of it; it knows no engine and no noise. A kind of query is one file, and a line in
`kinds`; what it does not say is worked out from its rows.

Read `query` (what every query answers), a kind (`histogram`, `marginal`, `count`, `cumulative`,
`ranges`, `sums`, `partition`, `matrix`, `cluster_sizes`, `cluster_sums`, `weighted_sum`), `kinds`
(all of them, and a query from its text); `outputs` (in order, with names) and `arguments` (what
stands in a query's brackets) serve them.
"""
