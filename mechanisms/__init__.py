"""Mechanisms that release answers privately, with the noise scales they really use.

A release is one road: true answers, scales from verified numbers, agreement with the policy, the
budget, noise, a file. Numbers that bear on privacy are whole or fractions until noise has met
them.

Rooms in reading order: base, noise (exact sampling), answers, parts, estimates, structures,
release (the road), budget, kinds (a file for each mechanism). Nothing is imported here.
"""
