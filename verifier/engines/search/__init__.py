"""Engine "search": S(f, P) where neighbours are irreducible multisets of moves.

It turns a question into effects, lets `engines/irreducibles` or a Graver basis list or bound the
multisets, and turns them back into pairs. What it relies on is proved in SEMANTICS, section 2.

Read `effects` (what is searched) and `engine`, then `from_circuits` (pairs without a search),
`straight` (histograms in other norms), `largest_output` (linf), `graver_lists` (the same from a
complete list) and `with_a_secret` (reading 5).
"""
