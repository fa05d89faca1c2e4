"""Every limit of the verifier in one table: how long engines try, and what is too large for them.

A limit never decides what is true. A number that limits something and stands in its module alone
fails tests/verifier/test_limits.py; `blowproof explain --limits` prints the table. Seconds are of
counted work (models/base/clock), except in proofs, certify and odds.

Read `table` (name, default, unit, a sentence), `limit` (how a module takes its own).
"""
