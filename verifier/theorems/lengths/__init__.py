"""How long circuits of moves are, and how many of them an irreducible multiset is made of.

Read `longest_circuit` (an ellipsoid round all effects bounds determinants), then `lattice_free`
(sums of circuits, of which no part but the whole is a lattice point, and the volume of all sums
without effect), `two_dependencies` (of two affine dependencies, what an irreducible changes),
`frames_above` (the blocks of a circuit's classes bound it, too), `listed_frames` (all blocks of few
classes), `heaviest_blocks` (blocks while their volume allows it), `shared_attribute` (tables that
share one). Without circuits: `two_beside` (cells and two facts: cycles in the plane),
`fitting_cycles` (few cells: all lists of cycles that fit together), `along_edges` (reading 2, where
G is not connected), `label_changes` (a query that sees cells and one more fact alone), `label_sets`
(and has few outputs), `label_sides` (how many leave one label), `one_end` (reading 1: one bound of
one end, and edges that change no other known number), `priced_rows` (what bounds see of a query has
a price of its own).
"""
