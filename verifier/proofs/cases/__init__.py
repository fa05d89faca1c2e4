"""The search for a proof by cases, kind "branching": how its tree is found.

Floats propose here, whole numbers decide: what comes out is a tree of exact rows that the kernel
adds up again. No case may be left out; the kernel would see it.

Read `tree`, `state`, `program`, `points`, `choice`, `cuts`, `why`, `search`.
"""
