"""The audit: the whole story of one policy, before it is shown.

What is found is data, in the order in which time is best spent; saying it comes afterwards, in the
room shown and in cli/report.

Read `options`, `noise` (what each norm is for), `audited` and `findings` (what is found),
`search` (in which order), `bound_at_hand`, `chain_of_moves`, `cost_of_facts`, `extras`,
`mechanism`; `attackers`, `sentences` and `advice` are what is said of it; `from_others` and
`from_registry` are about what others claim: contexts of a library, entries of a registry.
"""
