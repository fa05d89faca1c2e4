"""Engine "sat": labelled records as boolean variables; propose, refute, cut.

The one engine that sees clauses over single records directly. Proposals and refutations come from
separate solvers; a cut must never forbid a neighbour pair.

Read `engine`, `table` (values by number), `database` (one database as variables), `objective`,
`other_norms`, `master`, `refuter`, `cuts`.
"""
