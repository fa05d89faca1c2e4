"""What a claim is stated and checked with: instances, and the exact side of a comparison.

The measure never calls the formula that it is compared with. Quick families take about a second.

Read `identity` (algebra), `claim`, `grades` (what is degenerate), `families`, `measures`, `parts`;
what several papers share: `listings`, `linear` (exact least squares), `policy_graphs`,
`sparse_families`, `affine_families`, `range_trees`, `channels`, `printed` (noise scales as data, in
printed.json), `measured` (experiments as data, in measured.json).
"""
