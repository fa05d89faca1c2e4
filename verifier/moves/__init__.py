"""Moves: what leads from one database to the next, by kind, and who is joined to whom in G.

Engines work on kinds of moves, since records of one class are alike. What is put together here
must change neither which pairs are neighbours nor what a query says of them.

Read `kinds`, `score` (what changes count), `edges_at_once` (G in arrays), `joined_classes` (which
classes an edge joins), `edge_ends` (few values
for a graph that is not complete), `best_choice` (the largest size of chosen moves, as a program)
and `choices_at_once` (all of them, where they are few).
"""
