"""The independent check of one claimed neighbour pair: every condition, minimality by search.

This room shares no code with the engines, and must not: every pair that an answer shows has passed
through it. Change it only with the definitions (brute force in the engines' room) beside you.

Read `check`, `search_for_d3` (would some D3 refute minimality?), `zero_parts` and
`cycle_parts` (the same for long pairs), `joint_certainty` (reading 5 with bounds or clauses).
"""
