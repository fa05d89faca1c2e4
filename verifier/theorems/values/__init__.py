"""What values of a class are to a query, and what moves along an axis add up to.

Read `seen_values` (values of each class with all the rows of a query), `cuts` (all ranges of an
axis: what crosses its cuts).
"""
