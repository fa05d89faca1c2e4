"""True answers, counted in a data file, as whole numbers on an exact grid.

These are secret: they leave this room only through release.draw.

Read `vectors`, `true_answers`, `rectangles`, `masks`, `clusters`, `trees`; `noisy_table`
(counts in place of a data file).
"""
