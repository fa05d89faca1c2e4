"""The policy graph of the Blowfish paper (Definition 8.3), and its longest cycles and paths.

For sparse policies this bounds how many records change at once, and often tells S. Lengths are
exact, or bounds that say so.

Read `graph`, `longest`, `cycle_search` (plain Python), `cycle_program` (a linear model).
"""
