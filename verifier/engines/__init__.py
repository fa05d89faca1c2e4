"""Engines: each answers the whole question for the problems that it understands.

One room for each larger engine: search (with irreducibles and graver), histograms ("ilp"),
labelled ("sat"), one_move, policy_graph. Here are the small ones. Every engine agrees with `brute`
on the corpus.

Read `brute` (the definitions, by listing databases; do not make it clever), `few_databases`
(neighbours by brute force), `determined` (S = 0 by a rank test), `all_frames` (few classes: how
long circuits are), `hilbert` (by Normaliz).
"""
