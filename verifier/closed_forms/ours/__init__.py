"""Closed forms that are in no paper: few signatures, and the affine dependencies between them.

Theorems with proofs in the docstrings; what is only conjectured says so.

Read `one_dependency` (none or one), then `more_dependencies`.
"""
