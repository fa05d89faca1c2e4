"""Who can be asked for S(f, P): the registry of theorems and engines, and what is known so far.

The order is decided in verifier/plan.py and nowhere else; here stands who there is, and for which
questions.

Read `strategy` (what a strategy and a reduction are), `registry` (all of them, a line each),
`refusals` (which questions each is not for), then what runs them: `searches` (engines), `easier`
(reductions), `through_l1` (what is found in l1, told in other norms), `group_by_group` (the plan
about each group of facts), `matched` (reading 3 by reading 2), `by_levels` (all ranges),
`known_numbers` (scope "given").
What is known so far: `bounds` (who says so), `problem` (a policy whose questions share what they
derive and find), `related` (what they say about other policies), `step` (a strategy under way).
"""
