"""Graver bases of lattices by lifting: one coordinate more at a time.

Pure lattices, no policy. The list is complete or the call fails; the tests compare with 4ti2,
Normaliz and plain enumeration.

Read `lifting`, `symmetry`, `rows`, `compiled` (the inner loops).
"""
