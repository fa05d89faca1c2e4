"""Additive noise: the loss is the sensitivity of the releases divided by their scales.

Scales are fractions, and discrete noise lives on a grid, which is checked. Rounding goes to the
safe side.

Read `additive`, `k_norm` (one draw for all outputs), `steps` (of a grid), `gaussian` (in squares),
`resistance` and `gaussian_steps` (both: Gaussian noise on steps),
`grids`, `one_arrival` (reading 3), `weighted_records`, `coarse_bound` (a bound where all else is
too much), `changed_outputs` (what a verdict shows of a pair).
"""
