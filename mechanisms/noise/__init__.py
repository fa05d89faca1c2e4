"""Noise, drawn exactly: no float takes part.

The distribution is compared exactly in the tests. Floats, or a generator that is not the system's,
would break what the certifier proves.

Read `exponential` (exp of a fraction, enclosed), `discrete_laplace`, `discrete_gaussian`, then
`log_concave`, `k_norm` and `polytope` (noise in the shape of the neighbours), `steps` (of a grid);
`rounded_down`, `interval_choice` and `block_choice` (a partition, by its cost).
"""
