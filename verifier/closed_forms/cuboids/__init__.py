"""The closed forms of exact-cuboids-draft.

Read `known_cells`, `cells` (section 4), `projection` (Lemma 4.4), `degrees` (Lemma 5.1). Printed
forms stay as they are printed, also where they are wrong.
"""
