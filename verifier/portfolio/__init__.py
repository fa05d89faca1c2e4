"""Who can be asked for S(f, P): the registry of theorems and engines, and what is known so far.

The order is decided in verifier/plan.py and nowhere else; here stands who there is, and for which
questions.

Read `bounds` (what is known, who says so), `problem` (a policy whose questions share what they
derive and find), `registry`, and what is left of the older ways: `from_easier` (bounds from easier
questions that often meet), `bounds_and_clauses` (scope "given" with more than counts).
"""
