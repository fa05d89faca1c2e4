"""Certificates: writing what the kernel (`blowproof.verifier.kernel`) checks.

Reading order: claim (policy, query, witness), tree, graver, branching and its files (proofs),
writing (which proof for which question, and the way to `status: proved`).
"""
