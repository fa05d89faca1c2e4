"""Noise on the steps of a grid: the loss is the most steps that a secret move takes, by the scale.

Values are the points of a grid, and two of them are a step apart where they differ on one attribute
of `along`: an ordered one by one position, any other by any change. Each step has a number of its
own, discrete Laplace noise of scale b, that is taken off the count at its one end and added to the
count at its other.

*Privacy.* Let a record move from x to y along a path of so many steps, and add 1 to the number of
each of these steps, in its direction: then the same counts are released. Each number that is moved
by 1 changes probabilities by a factor of at most exp(1 / b). So the loss is at most the length of
the shortest path by b; and that is the sum of the positions that ordered attributes move, and 1 for
any other that changes. It holds wherever neighbours differ in one record: where nothing is known
but n and impossible values, in the readings of labelled records. Counts may be released of
impossible values too; their numbers are noise.

*Nothing less is enough* where all attributes of `along` that move are ordered. What is released
says, for every place between two positions of an attribute, how many records are below, and these
sums have noises of their own: of the steps across. A sum of discrete Laplace numbers has
P(N = k) / P(N = k + 1) near exp(1 / b) for large k, so all places that the move passes tell
databases apart by exp(1 / b) each, as nearly as you like. Of another attribute, a value against all
others does.

*What is left alone.* The noise of every step adds up to 0, so totals along the attributes that are
not in `along` are exact: a secret move that changes one of these would be seen for certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import isqrt, prod
from typing import Final

from blowproof.models import BudgetError, Domain, Point, PolicyError, Setting
from blowproof.models.base.numbers import plain
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.policy.readings import is_labelled
from blowproof.models.secrets import SecretGraph
from blowproof.models.secrets.offsets import OffsetGraph
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import LossBounds
from blowproof.verifier.engines.one_move.worst_edge import one_secret_move
from blowproof.verifier.limits.limit import whole_limit

__all__ = [
    "STEPS_NOISE",
    "corner_pair",
    "longest_move",
    "moving_axes",
    "of_nobody",
    "steps_between",
    "steps_loss",
    "unknown",
    "why_not",
]

STEPS_NOISE: Final = "discrete-steps"
TRIALS = whole_limit(__name__, "TRIALS")
EDGES = whole_limit(__name__, "EDGES")


def steps_between(x: Point, y: Point, domain: Domain) -> int:
    """Return the steps from one value to another, all attributes being in `along`.

    >>> from blowproof.models import Integers, Labels
    >>> steps_between((0, 0), (3, 2), Domain(x=Integers(0, 9), sort=Labels(["a", "b", "c"])))
    4
    """
    kinds = [kind for _, kind in domain.attributes]
    return sum(abs(p - q) if kind.ordered else int(p != q)
               for kind, p, q in zip(kinds, x, y, strict=True))  # fmt: skip


def moving_axes(graph: SecretGraph, domain: Domain) -> tuple[int, ...] | None:
    """Return the attributes that some edge of G changes; None where that is not known."""
    found = [graph.reach(axis) for axis in range(len(domain))]
    return None if None in found else tuple(axis for axis, far in enumerate(found) if far)


def longest_move(graph: SecretGraph, domain: Domain) -> tuple[int, tuple[Point, Point] | None]:
    """Return the most steps that an edge of G takes, and such an edge.

    Without an edge, the number is one that no edge exceeds.
    """
    if isinstance(graph, OffsetGraph):
        return _by_offsets(graph, domain)
    most = sum(max(1, kind.size - 1) for _, kind in domain.attributes)
    try:
        if graph.edge_count > EDGES:
            return most, None
        ends = max(graph.edges(limit=EDGES), default=None,
                   key=lambda pair: steps_between(pair[0], pair[1], domain))  # fmt: skip
    except BudgetError:
        return most, None
    return (0, None) if ends is None else (steps_between(*ends, domain), ends)


def _by_offsets(graph: OffsetGraph, domain: Domain) -> tuple[int, tuple[Point, Point] | None]:
    """Try all offsets within the bound but the last axis's, which is as long as what is left."""
    spans = [axis.reach(graph.bound) for axis in graph.axes]
    far = [
        kind.size - 1 if kind.ordered and not axis.line else 1
        for axis, (_, kind) in zip(graph.axes, domain.attributes, strict=True)
    ]  # how many steps one unit of an offset can be
    apart = [span * unit for span, unit in zip(spans, far, strict=True)]
    first = (0,) * len(spans)
    if graph.together == "max":
        return sum(apart), (first, tuple(apart)) if any(apart) else None
    used = [axis for axis, span in enumerate(spans) if span]
    if prod(spans[axis] + 1 for axis in used[:-1]) > TRIALS:
        return sum(apart), None
    best: tuple[int, Point] = (0, first)
    for some in product(*(range(spans[axis] + 1) for axis in used[:-1])):
        left = graph.bound - sum(
            graph.axes[axis].cost(offset) for axis, offset in zip(used, some, strict=False)
        )
        if left < 0:
            continue
        offsets = [*some, *([_afforded(graph, used[-1], left)] if used else [])]
        steps = {axis: offset * far[axis] for axis, offset in zip(used, offsets, strict=True)}
        best = max(best, (sum(steps.values()), tuple(steps.get(k, 0) for k in range(len(spans)))))
    return best[0], (first, best[1]) if best[0] else None


def _afforded(graph: OffsetGraph, axis: int, left: int) -> int:
    kind = graph.axes[axis]
    steps = left // kind.weight
    return min(isqrt(steps) if kind.power == 2 else steps, kind.longest)


def steps_loss(asked: Asked, releases: Sequence[tuple[Release, Part]]) -> LossBounds:
    """Return the loss of all releases with noise on steps: the sum of what each loses."""
    found = LossBounds(lower=0, upper=0, pair=None, engine="argument")
    for release, part in releases:
        one = _one(asked.setting, release, part, asked)
        if one.upper is None:
            return one
        assert not isinstance(found.upper, str)
        assert not isinstance(one.upper, str)
        assert not isinstance(one.lower, str)
        assert not isinstance(found.lower, str)
        lower, upper = plain(found.lower + one.lower), plain((found.upper or 0) + one.upper)
        found = LossBounds(lower=lower, upper=upper, pair=one.pair, engine="argument",
                       notes=one.notes)  # fmt: skip
    return found


def why_not(setting: Setting, release: Release, part: Part, asked: Asked) -> str | None:
    """Return why nothing is known of noise on steps here; None where the argument above holds."""
    if not part.weights[0]:
        raise PolicyError("noise on steps has a scale above 0", key="scale", hint="write 1 or 1/2")
    if not part.query.separates:
        raise PolicyError("noise on steps is for every value", key="query", hint="histogram")
    if not one_secret_move(setting, asked.reading) and of_nobody(asked) is None:
        return "neighbours may differ in several records here"
    moving = moving_axes(setting.graph, setting.domain)
    if moving is None or not set(moving) <= set(setting.domain.axes(release.along)):
        return "a secret may change an attribute along which there are no steps"
    return None


def of_nobody(asked: Asked) -> LossBounds | None:
    """Return that nothing is lost where no record is there; None where there may be some.

    n is known in the readings of labelled records, and with n = 0 there is one database alone.
    """
    here = asked.setting
    if here.scope == "any" or here.size != 0 or not is_labelled(asked.reading):
        return None
    note = "there are no records, so no two databases are neighbours"
    return LossBounds(lower=0, upper=0, pair=None, engine="argument", notes=(note,))


def corner_pair(setting: Setting, edge: tuple[Point, Point]) -> Pair:
    """Return two neighbours: one record moves along an edge of G, all others stay at its end."""
    size = setting.size if setting.scope == "given" else None
    rest = ((edge[0], size - 1),) if size is not None and size > 1 else ()
    return Pair(before=(edge[0],), after=(edge[1],), unchanged=rest)


def _one(setting: Setting, release: Release, part: Part, asked: Asked) -> LossBounds:
    reason = why_not(setting, release, part, asked)
    if reason is not None:
        return unknown(reason)
    nothing = of_nobody(asked)
    if nothing is not None:
        return nothing
    scale = part.weights[0]
    most, edge = longest_move(setting.graph, setting.domain)
    exact = edge is not None and not setting.impossible.boxes
    pair = corner_pair(setting, edge) if exact and edge is not None else None
    loss = plain(most / scale)
    note = f"{most} steps at the most, with noise of scale {scale} on each"
    return LossBounds(lower=loss if exact else 0, upper=loss, pair=pair, engine="argument",
                  notes=(note,))  # fmt: skip


def unknown(why: str) -> LossBounds:
    """Return that nothing bounds the loss, and why."""
    return LossBounds(lower=0, upper=None, pair=None, engine="argument", notes=(why,))
