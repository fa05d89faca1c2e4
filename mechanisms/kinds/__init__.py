"""The mechanisms, a file each: what `--mechanism` may name.

A mechanism is a plan made from a request; it describes what it will draw, and the certifier judges
that description. To add one, write a file and give it a line in `MECHANISMS` of release/registry.

Read `laplace` (and Gaussian noise), the shortest; `table`, `ordered`, `hierarchical`, `consistent`,
`k_norm`, `measuring` and `strategy` (several noisy marginals, one answer), `kmeans`, `transformed`,
`steps` and `quadtree` (of a grid), `data_dependent`; `lemmas` (what one move changes at most, for
queries of these mechanisms); `together` (several of them in one release).
"""
