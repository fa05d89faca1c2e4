"""One file for each kind of proof: `refute` fails unless no pair changes the query by more.

A file is imported when a certificate is of its kind (`KINDS` in check). A new kind is a file here,
a section in FORMAT.md, and a writer in verifier/proofs. Standard library only.

Read `irreducible` (the main kind), `cycles`, `cells`, `single_move`, `four_cells`,
`every_database`, `branching`, `graver`, `merged`;
`exchanges`, `secret_arc`, `one_sided`, `margins`, `limits`, `determined` (kinds by a theorem); and
the room lengths (kinds by how many moves a pair makes).
"""
