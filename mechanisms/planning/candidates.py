"""What may be tried for a query: every mechanism, with every setting that makes sense.

A mechanism says itself whether it answers a query under a policy, by refusing to be made ready; so
nothing here knows which does what. k-means answers no query, and is not compared with those that
do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from blowproof.mechanisms.structures.hulls import MOST_BOXED, MOST_OUTPUTS
from blowproof.models import BoundQuery, Policy

__all__ = ["MOST_SHAPED", "Candidate", "candidates", "noise_of_its_own"]

BUCKETED = ("dawa", "dawa-transformed")
MOST_BUCKETED, MOST_MATCHED = 5_000, 128
"""Values up to which partitions are rehearsed; beyond, that would take longer than the release."""
MOST_WIDE = 1_000
"""Values from which on answers get no noise of their own where many of them hold one record, and S
takes long: noise on the values is less."""
MOST_SHAPED = 300
"""Outputs from which on noise in the shape of the neighbours gains less than one in a hundred,
unless published counts make it narrow, and its error takes long to work out."""
MOST_WHOLE, MOST_ADDED, MOST_STEPS = 2_000, 200_000, 10_000_000
ON_VALUES = ("consistent", "steps", "quadtree", "transformed", "table", *BUCKETED,
             "matching-transformed")  # fmt: skip
"""What draws noise from which counts of all values follow."""


@dataclass(frozen=True)
class Candidate:
    """A mechanism by name, and its settings; `last`: only where nothing else answers a query."""

    mechanism: str
    settings: Mapping[str, str] = field(default_factory=dict)
    last: bool = False

    @property
    def text(self) -> str:
        """The candidate as a person reads it.

        >>> Candidate("consistent", {"numbers": "whole"}).text
        'consistent, numbers whole'
        """
        return ", ".join([self.mechanism, *(f"{key} {it}" for key, it in self.settings.items())])

    @property
    def on_values(self) -> bool:
        """Whether counts of all values follow from what it draws."""
        return self.mechanism in ON_VALUES

    def is_rough(self, query: BoundQuery, policy: Policy) -> bool:
        """Whether it is noise in the shape of a cube of many outputs, or of groups of them.

        That takes a question about S of its own, and is seldom the best: groups of which it is are
        seen at once.

        >>> from blowproof.models import Domain, Integers, parse_query
        >>> policy = Policy(domain=Domain(x=Integers(0, 99)))
        >>> query = parse_query("histogram", policy)
        >>> [Candidate(name).is_rough(query, policy) for name in ("k-norm", "laplace")]
        [True, False]
        """
        outputs = query.outputs(policy.domain)
        many = outputs is None or outputs.count > MOST_OUTPUTS
        return many and self.mechanism == "k-norm"


def noise_of_its_own(query: BoundQuery, policy: Policy) -> bool:
    """Whether noise on each answer is tried: not where S takes long, and noise on values is less.

    >>> from blowproof.models import Domain, Integers, parse_query
    >>> policy = Policy(domain=Domain(x=Integers(0, 99), y=Integers(0, 99)))
    >>> [noise_of_its_own(parse_query(text, policy), policy)
    ...  for text in ("marginal(x)", "rectangles(x,y,500)")]
    [True, False]
    """
    long = query.longest_row > 1 and query.along(policy.graph) is None
    return policy.domain.size <= MOST_WIDE or not long


def candidates(query: BoundQuery, policy: Policy) -> Iterator[Candidate]:
    """Yield what is tried for a query, the quick ones first; hulls take many questions.

    In one dimension the hull is an interval, and its noise that of Laplace.
    """
    yield from _usual(query, policy)
    outputs = query.outputs(policy.domain)
    few = outputs is not None and 1 < outputs.count <= MOST_OUTPUTS
    if outputs is None or not noise_of_its_own(query, policy):
        return
    if 1 < outputs.count <= MOST_BOXED and policy.linear_facts:  # else it is the cube
        yield Candidate("k-norm", {"shape": "box"})
    if few:
        yield Candidate("k-norm", {"shape": "hull"})


def _usual(query: BoundQuery, policy: Policy) -> Iterator[Candidate]:
    size = policy.domain.size
    outputs = query.outputs(policy.domain)
    few = outputs is None or outputs.count <= MOST_SHAPED
    if noise_of_its_own(query, policy):
        yield Candidate("laplace")
        yield Candidate("gaussian")
        if few or policy.linear_facts:
            yield Candidate("k-norm")
        if few:
            yield Candidate("k-norm", {"shape": "cube"})
    yield Candidate("ordered")
    yield Candidate("hierarchical")
    block = _block_of(query, policy)
    if block is not None:
        yield Candidate("hierarchical", {"block": str(block)})
    yield Candidate("consistent")
    yield Candidate("consistent", {"numbers": "positive"})
    if size <= MOST_WHOLE:
        yield Candidate("consistent", {"numbers": "whole"})
    if size <= MOST_STEPS and len(policy.domain) > 1:
        yield Candidate("steps")
    if size <= MOST_ADDED:
        yield from _on_values(query, policy)
    elif size <= MOST_STEPS and not query.separates:
        yield Candidate("table", last=True)


def _on_values(query: BoundQuery, policy: Policy) -> Iterator[Candidate]:
    """Yield what puts noise on all values, or on groups of them that it chooses."""
    size = policy.domain.size
    if len(policy.domain) > 1:
        yield Candidate("quadtree")
    if not query.separates:  # of which it is the Laplace mechanism
        yield Candidate("table")
    yield Candidate("transformed")
    if len(policy.domain) > 1:
        yield Candidate("dawa")
    elif size <= MOST_BUCKETED:
        yield from map(Candidate, BUCKETED)
        yield Candidate("dawa", {"partition": "blocks"})
    if size <= MOST_MATCHED:
        yield Candidate("matching-transformed")


def _block_of(query: BoundQuery, policy: Policy) -> int | None:
    """Return a size of blocks that isotonic regression may make the best, where least squares alone
    put one tree before it.

    The design of a hierarchy weighs the noise. What the last step gains by letting prefixes rise is
    more where there are prefixes of blocks: where a secret leads a sixth to two fifths of the way,
    half of that is tried too, and the rehearsal on made-up data tells which is better.

    >>> from blowproof.models import Distance, Domain, Integers, parse_query
    >>> line = Domain(x=Integers(0, 99))
    >>> policies = [Policy(domain=line, secrets=Distance(threshold=far)) for far in (5, 30, 80)]
    >>> [_block_of(parse_query("cumulative(x)", policy), policy) for policy in policies]
    [None, 15, None]
    """
    axes = sorted(query.axes_read(policy.domain))
    if len(axes) != 1 or not policy.domain.attribute(axes[0]).ordered:
        return None
    reach, size = policy.graph.reach(axes[0]), policy.domain.attribute(axes[0]).size
    if reach is None or not (size <= 6 * reach and 5 * reach <= 2 * size):
        return None
    return reach // 2 if reach > 3 else None
