"""Queries: how much f changes between two databases, exactly.

A query is bound to a policy when it is made, and answers only for whole moves of records; it knows
no engine and no noise.

Read `query`, `outputs` (the outputs in order, with names), `parse` (`range(age,18,65)` as text).
"""
