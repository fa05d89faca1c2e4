"""Linear and boolean models that belong to no solver, and one file for each solver.

Numbers are whole and of any size; an adapter says what it cannot hold. Only `to_cpsat` and
`to_pysat` import their solver. They are compared with plain enumeration in the tests: a new solver
is a new file beside them.

Read `linear_terms`, `linear`, `solving` (what adapters share), `to_cpsat`, `linear_exact` with
`linear_lp` and `linear_window` (beyond 64 bits), `solutions` (all of them), `contradiction` (why
none), `linear_export` (LP, MPS); `boolean`, `boolean_lowering`, `to_pysat`.
"""
