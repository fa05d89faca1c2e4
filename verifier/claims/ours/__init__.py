"""Results of our own, in the same form as the papers' claims; their `status` says what they are.

A theorem's proof stands in full where `proof_in` says. What is only conjectured is checked, never
used for a bound.

Read `affine` (few signatures), `theorems` (T1 to T6), `attackers` (reading 5), `odds` (what
attackers learn), `norms`.
"""
