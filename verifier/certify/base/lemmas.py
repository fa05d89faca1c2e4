"""Queries made by a mechanism, on domains too large for their rows: bounded by an argument.

A `Lemma` says how much one secret move changes a query at most, by an argument that stands written
beside the query. The caller of the certifier names the lemmas that it accepts; a mechanism file can
name none. A lemma speaks of L1, or of the sum of the squares, which Gaussian noise asks for: the
caller keeps them apart. What a lemma says is compared with the rows of sample edges, far ones
first, so that a slip (numbers that wrapped around, a length that was too short) is refuted by a
pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from random import Random

from blowproof.models import BudgetError, Exact, Move, Point, Policy, SecretGraph, Setting
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1, Norm
from blowproof.models.queries.query import BoundQuery
from blowproof.models.stacks.stacked import Part, Stacked, stack
from blowproof.verifier.engines.one_move.worst_edge import worst_edge
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Argued", "Lemma", "argued", "many_values"]

Lemma = Callable[[BoundQuery, Policy], Exact | None]
"""Returns the most that one secret move changes a query; None where it has no say."""

LARGE = whole_limit(__name__, "LARGE")
LARGE_AT_ONCE = whole_limit(__name__, "LARGE_AT_ONCE")
SAMPLED = whole_limit(__name__, "SAMPLED")
ENTRIES = whole_limit(__name__, "ENTRIES")


@dataclass(frozen=True)
class Argued:
    """What lemmas say of some releases: the loss is at most `upper`; `edge` loses `lower`."""

    lower: Exact
    upper: Exact | None
    edge: tuple[Point, Point] | None
    how: str


def many_values(setting: Setting, parts: Sequence[Part], norm: Norm = L1) -> bool:
    """Whether it takes too long to list the rows of these parts, so that lemmas come first.

    All rows at once are compared in L1.
    """
    at_once = norm is L1 and all(type(part.query).rows is not BoundQuery.rows for part in parts)
    return setting.domain.size > (LARGE_AT_ONCE if at_once else LARGE)


def argued(
    setting: Setting,
    policy: Policy,
    parts: Sequence[Part],
    lemmas: Sequence[Lemma],
    norm: Norm = L1,
) -> Argued | None:
    """Return the sum of what lemmas (or the worst edge) say of each part; None if one has no say.

    Where neighbours differ in one secret move, in a norm that adds up over outputs. A sample that
    loses more refutes the lemma: then nothing is known from above.
    """
    said = [_said(part, policy, lemmas) for part in parts]
    if all(most is None for most in said):
        return None
    upper = Fraction(0)
    for part, most in zip(parts, said, strict=True):
        found = worst_edge(setting, (part,), norm) if most is None else None
        alone = most if found is None else found.loss
        if alone is None:
            return None
        upper += alone
    whole = Stacked(tuple(parts))
    if norm is not L1:
        whole = stack(parts, norm, setting.domain, name="releases")
    lower, edge = _sampled(setting, whole)
    if lower > upper:
        how = "an edge loses more than the mechanism's own argument says: that is wrong"
        return Argued(lower, None, edge, how)
    how = "by the argument beside the query, compared with the rows of sample edges"
    return Argued(lower, plain(upper), edge, how)


def _said(part: Part, policy: Policy, lemmas: Sequence[Lemma]) -> Exact | None:
    if not part.uniform:
        return None
    said = (lemma(part.query, policy) for lemma in lemmas)
    most = next((value for value in said if value is not None), None)
    return None if most is None else most * part.weights[0]


def _sampled(setting: Setting, stacked: Stacked) -> tuple[Exact, tuple[Point, Point] | None]:
    """Return the largest loss of some edges between possible values, and such an edge."""
    best: tuple[Exact, tuple[Point, Point] | None] = (0, None)
    entries = 0
    for x, y in islice(_edges(setting), SAMPLED):
        if x in setting.impossible or y in setting.impossible:
            continue
        entries += len(stacked.row(x)) + len(stacked.row(y))
        loss = stacked.difference([Move(x, y)])
        best = (loss, (x, y)) if loss > best[0] else best
        if entries > ENTRIES:
            break
    return best


def _edges(setting: Setting) -> Iterator[tuple[Point, Point]]:
    """Yield edges of G: from the corners and from values here and there, long ones first."""
    graph, domain = setting.graph, setting.domain
    last = tuple(attribute.size - 1 for _, attribute in domain.attributes)
    first = (0,) * len(last)
    draw = Random(0)  # which edges are looked at is no secret
    others = (tuple(draw.randint(0, end) for end in last) for _ in range(SAMPLED))
    for x in (first, last, *others):
        ends = [first, last, tuple(draw.randint(0, end) for end in last), *_around(graph, x)]
        yield from ((x, y) for y in ends if x != y and graph.is_edge(x, y))


def _around(graph: SecretGraph, x: Point) -> Iterator[Point]:
    """Yield neighbours of x: the farthest along each axis, or else the first that are listed."""
    reaches = [graph.reach_alone(axis) for axis in range(len(graph.domain))]
    if None in reaches:
        try:
            yield from islice(graph.neighbours(x), 4)
        except BudgetError:
            return
        return
    for axis, reach in enumerate(reaches):
        assert reach is not None
        last = graph.domain.attribute(axis).size - 1
        for place in (max(0, x[axis] - reach), min(last, x[axis] + reach)):
            yield (*x[:axis], place, *x[axis + 1 :])
