"""Measures of privacy besides the pure epsilon: rho (zCDP), and epsilon with a delta.

Each bound is a fraction, rounded to its safe side; floats choose where to look, and decide nothing.

Read `logarithms`, `orders` (rho and what follows from it), `told_apart` (a pair and its delta from
below), `bounded` (noise with ends); `sorts` (which release gives what), `with_bounded`, then
`measured`: a mechanism in the measure that is asked for.
"""
