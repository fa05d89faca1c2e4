"""Neighbour pairs looked for directly: lower bounds where no engine comes to an end.

A pair found here is worth nothing before the check has passed it, so these files may guess; they
must only not take time that was not given.

Read `single_moves`, `four_cells`, `few_classes`, `random_values`, `affine_frame`,
`policy_graph_walk`; moves put into databases: `into_databases`, `one_secret_move`,
`split_along_edge`, `compensated_move`; clauses: `merged_pairs`, `merged_program`,
`merged_multisets`, `merged_into_databases`. Last `revalued`: the moves of one pair by the values
that another query minds most.
"""
