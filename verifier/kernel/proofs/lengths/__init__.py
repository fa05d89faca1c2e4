"""Kinds of proof by how many moves a pair makes at the most, times the largest change by one move.

Read `circuits` (an ellipsoid round all effects), `tables` (tables that share an attribute), then
`beside` (cells, and facts or bounds beside them), which two facts send to `plane`, and one fact to
`labels` and `squares`, by what the query sees of it; `ends` (widths of classes, added up over
moves). Standard library only.
"""
