"""Several queries as one: with exact weights on their outputs, and the norm that measures them.

What pays for several releases at once is one S, that of the stack. A stack is a query like any
other to the engines; what is only about l1, or about one kind of query, does not recognise it.

Read `stacked`, then `written` (`histogram + 1/4 * sum(age)` as text) and `combined` (sums of one
query's outputs).
"""
