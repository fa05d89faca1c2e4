"""Certificates about what an attacker learns: a belief from below, an argument from above.

The claim: over secret pairs (record i holds x, or y; an edge of G), outputs w and the attackers'
beliefs, the largest P(w | s) / P(w | s') is at least, and at most, r e^z. FORMAT.md says why each
argument is one. Do not touch its logic without it.

Read `exponentials` (signs of sums of powers of e), `claim` (what it is about), `below` (a belief),
`above` (arguments), `check_odds` (all of it).
"""
