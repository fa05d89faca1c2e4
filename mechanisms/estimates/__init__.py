"""What can be made of noisy answers at no further cost.

Post-processing only: nothing here sees the data or the true answers, so floats are allowed.

Read `isotonic`, `ranges`, `trees` (least squares), `consistency` (tables that keep known counts).
"""
