"""What values of a class are to a query, and what exchanges of records within classes add up to.

Read `class_changes` and `free_change` (what one move of each class can change), `less_known` (less
what the facts say of it), `seen_values` (values of each class with all the rows of a query), `cuts`
(all ranges of an axis: what crosses its cuts), `by_kind` (the best differences, by what a kind of
query knows); where G is not complete `one_secret_arc` (an order of the classes that shows a pair)
and `secret_arc_above` (what such an arc costs), `secret_cycles` (all arcs secret) and
`sums_along_edges` (the heaviest of them, for sums);
`tables_beside_one` (tables of nested levels, in squares too), and `tables_by_attribute` where any
one attribute is secret; for norms beside l1 `in_norms` (any number of exchanges), `lines_in_norms`
(along an axis) and `squares_beside` (a histogram beside cells and one more fact).
"""
