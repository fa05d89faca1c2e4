"""Certify a mechanism by what it says it releases: proved private under a policy, or refuted.

The loss is computed from a description of the releases, never from how they are drawn. "Proved"
rests on an exact upper bound, "refuted" on a pair; all else is undecided.

Read the room base (what is asked, what is said), noise (additive noise), channels (finite
channels), selections (noisy choices), then `certify`, the front door; the room printed has the
calibrations of the paper.
"""
