"""Finite channels: every output has a written probability, so the loss is a ratio, exactly.

Probabilities are fractions or expressions in eps; comparisons of sums of exponentials are decided,
never rounded.

Read `exponential_sums`, `expressions`, `inputs`, `ratios`, `local_channels`, `channel`.
"""
