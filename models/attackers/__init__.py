"""Attackers: which beliefs about the data are allowed, and which two statements stay apart.

The three parts of Pufferfish (pufferfish-2012, section 3), as data: potential secrets and their
pairs, and the beliefs (evolution scenarios). Blowfish's secret graph is one way to say the pairs.
Nothing here looks at a mechanism.

Read `secrets`, `beliefs`, `attackers`, `attackers_reading`.
"""
