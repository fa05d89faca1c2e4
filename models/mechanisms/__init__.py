"""What a mechanism releases, as data: which queries, with which noise, at which scales.

This is the description that the certifier judges and that releases are drawn from; both read the
same object, so that what is proved is what is drawn. Nothing here draws noise.

Read `mechanism`, `trees_and_prefixes` (queries beyond the contract's), `stacked_releases` (all
releases as one query); then files: `mechanism_file`, `mechanism_reading` and `mechanism_writing`.
"""
