"""Certificates: writing what the kernel checks, a file for each kind of proof.

A writer may use every engine and may fail; it is never trusted. Its file has the name of the
kernel's proof where one writer serves one kind. An answer becomes `proved` only when the kernel
accepts the document.

Read `claim` (policy, query, witness), `cells`, `irreducible`, `irreducible_parts`, `graver`,
`merged`, the room cases (kind "branching"), and `write` (which proof for which question).
"""
