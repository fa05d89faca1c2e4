"""Mechanisms that release answers privately, with the noise scales they really use.

Reading order: exponential and noise (exact sampling); vectors, exact, clusters and trees (true
answers, counted in a data file); agreement (data against policy); release (what every mechanism
goes through); laplace, the shortest mechanism, then ordered and hierarchical; accountant, parallel
and ledger (budgets); registry (mechanisms by name).

Nothing is imported here.
"""
