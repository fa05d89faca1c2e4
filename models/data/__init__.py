"""Data: CSV and Parquet files and tables of databases, counted in whole numbers where they lie.

A column becomes positions exactly or is refused; nothing is guessed or rounded. Rows never come
into Python one by one. Files are counted by DuckDB alone; tables of databases need Ibis, an extra.

Read `encoding` (one column), `tabular` (a file as a table of positions), `counted` (what counting
is), `dataset` (a file, counted), `content` (its digest: the same people in another file have the
same), `table_at` (the address of a table), `backends` (databases, by Ibis), `elsewhere` (a table,
counted), `snapshot` (a table as a file of the moment), `opening` (whichever a policy names); for
whoever has no policy yet `columns_at` (what columns hold), `inferred` (what they could be) and
`nested` (which lie within which others).
"""
