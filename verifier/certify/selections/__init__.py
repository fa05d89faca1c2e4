"""Choices made from noisy costs: what a `Selection` gives away, worked out from its description.

The probability of each choice is exact for given counts; what is listed is listed completely or
not at all.

Read `noisy_partitions`, `choices`, `best_score` (noisy maximum, exponential), `winning` and
`known_scores` (the same on one pair with known numbers), `listed_scores` (on all pairs of few
databases), `selections`.
"""
