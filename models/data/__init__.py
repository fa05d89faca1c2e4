"""Data files: CSV and Parquet, counted by DuckDB in whole numbers.

A column becomes positions exactly or is refused; nothing is guessed or rounded. Rows never come
into Python one by one.

Read `encoding` (one column), `tabular` (the file as a table of positions), `dataset` (counts of
it), `content` (its digest: the same people in another file have the same), `inferred` (what its
columns could be, for whoever has no policy yet).
"""
