"""A mechanism's releases as parts of one query, to be divided by the noise scales.

The L1 norm of the change of the whole between two databases is the privacy loss of the additive
noise: for Laplace noise of scale b, the probabilities of any answer differ by a factor of at most
exp(|change| / b), which is attained; outputs have independent noise, so their losses add up.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from blowproof.models.base.errors import PolicyError
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.mechanisms.trees_and_prefixes import TreeQuery, bind_query
from blowproof.models.policy.policy import Policy
from blowproof.models.queries.outputs import Outputs
from blowproof.models.stacks.stacked import Part

__all__ = ["bind_release"]


def bind_release(release: Release, policy: Policy) -> Part:
    """Return a release's query, its `weights` being the scales (or the variances) themselves.

    A list of them must have one for each output (for each level of a tree). Bounded noise is the
    same on all outputs: the weight is 1.
    """
    query = bind_query(release.query, policy)
    one = (Fraction(1),)
    scales = one if release.probabilities else tuple(map(Fraction, release.widths))
    single = not release.many
    tree = isinstance(query, TreeQuery)
    outputs = _levels(query) if isinstance(query, TreeQuery) else query.outputs(policy.domain)
    count = None if outputs is None else outputs.count
    if single or len(scales) == count == 1:
        return Part(query, scales[:1], outputs)
    if count is None:
        count = max(len(scales), query.height)  # rows of zeros need no scale, and may have one
        outputs = Outputs(count, _as_place)
    if count != len(scales):
        what = "level" if tree else "output"
        width = release.width
        found = f"{len(scales)} {width}{'' if len(scales) == 1 else 's'}"
        raise PolicyError(
            f"{found}, but {query.name} has {count} {what}{'' if count == 1 else 's'}",
            key=width,
            hint=f"write one {width} for all, or one for each {what}",
        )
    return Part(query, scales, outputs)


def _levels(query: TreeQuery) -> Outputs:
    """Return a tree's outputs, numbered by level: all nodes of a level have the same scale."""

    def place(key: Hashable) -> int:
        assert isinstance(key, tuple)
        return int(key[0]) - query.levels.start

    return Outputs(len(query.levels), place)


def _as_place(key: Hashable) -> int:
    """The outputs of a query made by a mechanism are numbered from 0."""
    if not isinstance(key, int):
        raise PolicyError(
            f"the output {key!r} has no number, so it has no scale",
            key="scale",
            hint="one scale for all outputs",
        )
    return key
