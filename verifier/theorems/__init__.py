"""Upper bounds by theorems alone: no search, so they are there however little time there is.

A docstring here is a theorem with its proof; change code and proof together, and word for word. An
upper bound that is too small is a false answer.

Read `most_moves` (all of them together), `longest_irreducible` (room `lengths`: circuits, and how
many make up a pair), `known_counts`, `affine_frames`, `conformal_parts`, `empty_classes` (what no
database holds). Values that are met, with pairs (room `values`: what one move of each class can
change): `simple_cycles` (independent signatures), `exchanges` (the same in reading 3), `alone`
(edges that change no known number), `beside`, `two_cycles` and `beside_pairs` (cells and a few
facts), `one_sided` (and a count), `listed_margins` (small tables), `beside_bounds` (cells and
bounds); the room `families` (thousands of facts).
"""
