"""Exact linear algebra in whole numbers: lattices, spans, coordinates; and compiled loops.

No policy and no query here. Numbers of any size come in; arrays of 64 bits are used only behind a
check that they suffice.

Read `span`, `independence`, `lattice`, `small_coordinates`, `coordinates`, `arrangements`,
`farthest` (squares of sums of differences); `available` (is there numba?), `compiled` (numba behind
two typed names), `cuts` (all cuts of few rows into blocks).
"""
