"""Which counts a mechanism releases: structures chosen from public numbers only.

Nothing here looks at the data, but `partitions`, which pays for it.

Read `ordered_hierarchical`, `tree_error`, `design`; `marginals` (which to measure), `memberships`
(clusters), `forests` (flows along G), `quadtrees`, `partitions`, `matchings`,
`medians`, `halvings`; `hulls` (of the neighbours' differences).
"""
