"""Nothing ties records together: S is the largest change along one edge of G.

For domains of any size, from the structure of G and f. The certifier uses the same files for the
loss of noise, since a loss is a change divided by scales.

Read `engine`, `by_structure`; then the loss of several releases: `worst_edge`,
`profile`, `axis`, `row_table`, `farthest`, `by_offsets`, and `other_norms` than l1.
"""
