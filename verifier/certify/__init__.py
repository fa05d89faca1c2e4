"""Certify a mechanism by what it says it releases: proved private under a policy, or refuted.

Reading order: asked, certified (what is asked, what is said); additive (noise: the loss is the
sensitivity of the releases divided by their scales), grids (outputs of discrete noise), weighing
(sums that weigh single records), changes and naming (which outputs tell a pair apart); edges (no
known facts: the worst edge of G), which takes the releases apart by attribute (profile, axis) or
compares rows in arrays (rowtable, farthest); arrivals (the same for reading 3); coarse (a bound
where all else is too much); expsums, expressions, ratios (exact probabilities), inputs, multisets,
channel (finite channels); selections (choices made from noisy costs), noisy_partitions, choices
(all of them, one by one), steps (what comes after the noise); api (the front door). Beside them:
printed and printed_grid (calibrations word for word from the paper), empirical (noise that was
drawn, against its declared scale).
"""
