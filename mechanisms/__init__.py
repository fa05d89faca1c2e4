"""Mechanisms that release answers privately, with the noise scales they really use.

Reading order: exponential and noise (exact sampling); vectors, exact, clusters and trees (true
answers, counted in a data file); records and parallel (parts of the data); agreement (data against
policy), calibrate and request (scales from verified numbers), gate (the only way to the noise),
drawing and release (what every mechanism goes through).

Then the mechanisms: laplace, the shortest; ranges, isotonic and ordered; structures, tree_error,
tree_estimates, design and hierarchical; memberships and kmeans; forests and transformed; partitions
and data_dependent. Then budgets: places, heads, ledger (the chained log), accounts (what it says),
accountant and taking_over (ledgers of version 1). Last consistency (noisy tables and known counts),
publish (files) and registry (mechanisms by name).

Nothing is imported here.
"""
