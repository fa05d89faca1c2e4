"""What can be made of noisy answers at no further cost.

Post-processing only: nothing here sees the data or the true answers, so floats are allowed.

Read `isotonic`, `straight` (counts that are alike), `ranges`, `trees` (least squares), `marginals`
(one from several), `positive` (a table without numbers below 0), `consistency` (tables that keep
known counts).
"""
