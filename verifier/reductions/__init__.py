"""An easier question in the place of a harder one: what it says, and the way back for pairs.

Each file says how the two answers relate: the same, no less, or no more than k times. A pair that
comes back is always checked again.

Read `few_values` (representatives of the domain), `fewer_facts`, `given_numbers` (from scope "any"
to "given"), `complete_graph`, `without_clauses`, `merged_records`, `linked_facts` (facts that no
secret move ties together), `one_cell` (of a partition), `one_value` (attributes that nobody looks
at), `by_ends` (classes stand for all their values on a line), `one_output` (any norm of one number
is l1), `common_factor` (of weights).
"""
