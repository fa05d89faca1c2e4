"""Proofs by how many moves a pair makes: the choices that the kernel's kinds of this room leave.

Read `refused` (how any writer ends); `circuits` (which facts, which ellipsoid), `tables` (which
cells), `beside` (which base, labels in which order, forms), `ends` (a search tree); `kept` (tables
that were searched once, whose proofs are files here).
"""
