"""Certificates: writing what the kernel checks, a file for each kind of proof.

A writer may use every engine and may fail; it is never trusted. Its file has the name of the
kernel's proof (tests/verifier/proofs/test_kinds_of_proof); kinds that leave no choice share one. An
answer becomes `proved` only when the kernel accepts the document.

Read `claim` (policy, query, witness) and `implied` (what the numbers imply); a kind each: `cells`,
`irreducible` with `irreducible_parts`, `graver`, `merged`, `margins`, `limits`, `one_sided`,
`branching` with the room cases, four in the room lengths; seven in `without_choice`; and `write`
(which proof for which question).
"""
