"""Engine "ilp": propose, refute, cut, over histograms and kinds of moves (CP-SAT).

A master proposes a pair, a second program looks for the D3 that refutes it, a cut forbids what
that D3 refutes. A cut must never forbid a neighbour pair: its argument stands beside it.

Read `loop`, `master`, `refuter`, `numbered` (records with numbers), `listing` (all neighbours).
"""
