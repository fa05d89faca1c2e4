"""What each known fact costs, and what publishing other counts instead would save.

The cost of a fact is how much S falls when nobody knows it. It can also rise: a structural zero
takes moves away, and so may a count that splits a chain. Both are found by asking for S again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from blowproof.cli.asking.stoppable import Stopped
from blowproof.models import (
    Area,
    Between,
    BlowproofError,
    BoundQuery,
    Box,
    BudgetError,
    Clause,
    Count,
    Database,
    Domain,
    Impossible,
    InternalError,
    Known,
    Marginal,
    Policy,
    Positions,
    Region,
)
from blowproof.models.domain.classes import collapse
from blowproof.models.policy.in_words import counted, fact_words
from blowproof.models.policy.readings import is_labelled

if TYPE_CHECKING:
    from blowproof.cli.asking.ask import Session
    from blowproof.verifier.asked.answer import Answer

__all__ = ["Changed", "facts_left_out", "instead", "published_instead", "region_of", "without"]

MOST_COUNTS = 24
"""More counts than this are not rearranged: nobody would read the result."""

_RULES = (Impossible, Clause)
"""Facts that are not published by anybody, and cannot be left out of what is published."""

MOST_CELLS = 400
"""Nor are joint tables of more cells than this proposed."""


@dataclass(frozen=True, kw_only=True)
class Changed:
    """S of the policy with other known facts; `answer` is None where the question has none.

    `place` is the fact left out (from 0), None where counts are rearranged. `published` says
    whether somebody publishes it: who lives where in the world, or a rule, is nobody's to withhold.
    """

    words: str
    answer: Answer | None
    place: int | None = None
    reason: str = ""
    reached: bool = True
    published: bool = True


def facts_left_out(
    policy: Policy, size: int | None, query: BoundQuery, session: Session, *, seconds: float
) -> tuple[Changed, ...]:
    """Return S with each known fact left out, the one that costs most first.

    One after the other is asked, each with its share of the seconds; those that are not reached in
    time come last.
    """
    if len(policy.known) < 1:
        return ()
    found = []
    shares = _shares(session, len(policy.known), seconds)
    for place, fact in enumerate(policy.known):
        limit, words = next(shares), fact_words(policy, fact)
        if limit <= 0 or session.over:  # to build another policy takes time as well
            found.append(Changed(words=words, answer=None, place=place, reached=False))
            continue
        bare = without(policy, place, size, session.question.reading)
        found.append(_asked(bare, query, session, limit, words=words, place=place))
    found = [replace(item, published=not isinstance(policy.known[item.place or 0], _RULES))
             for item in found]  # fmt: skip
    return tuple(sorted(found, key=_rank))


def _rank(item: Changed) -> tuple[int, object, int]:
    upper = None if item.answer is None else item.answer.upper
    return (0 if item.reached else 1, float("inf") if upper is None else upper, item.place or 0)


def _shares(session: Session, count: int, seconds: float) -> Iterator[float]:
    """Yield how long each of the questions may take, what is saved going to the next ones."""
    end = time.monotonic() + seconds
    for place in range(count):
        left = end - time.monotonic()
        if session.left is not None:
            left = min(left, session.left)
        yield max(0.0, left / (count - place)) if left > 0 else 0.0


def _asked(
    policy: Policy,
    query: BoundQuery,
    session: Session,
    limit: float,
    *,
    words: str,
    place: int | None = None,
) -> Changed:
    if limit <= 0 or session.over:
        return Changed(words=words, answer=None, place=place, reached=False)
    try:
        answer = session.ask(policy, query, session.question.reading, limit=max(limit, 0.05))
    except InternalError:
        raise
    except BlowproofError as error:
        reason = str(error).splitlines()[0]
        return Changed(words=words, answer=None, place=place, reason=reason)
    return Changed(words=words, answer=answer, place=place)


def without(policy: Policy, place: int, size: int | None, reading: str) -> Policy:
    """Return the policy without one known fact.

    In readings 1 and 2 n stays known, whether or not it was that fact that gave it away.
    """
    bare = policy.without([place])
    if is_labelled(reading) and bare.scope == "given" and bare.database.data is None:
        return replace(bare, database=replace(bare.database, size=size))
    return bare


# --- other counts instead ------------------------------------------------------------------------


def published_instead(
    policy: Policy, query: BoundQuery, session: Session, *, seconds: float
) -> tuple[Changed, ...]:
    """Return S if nested or disjoint counts were published instead of the overlapping ones."""
    if not _rearrangeable(policy):
        return ()
    try:
        ideas = session.run(lambda: list(instead(policy)), limit=seconds / 3)
    except (Stopped, BudgetError):
        words = "nested or disjoint counts in place of the known ones"
        return (Changed(words=words, answer=None, reached=False),)
    shares = _shares(session, len(ideas), seconds)
    return tuple(
        _asked(changed, query, session, next(shares), words=words) for words, changed in ideas
    )


def instead(policy: Policy) -> Iterator[tuple[str, Policy]]:
    """Yield other things to publish, in words and as a policy.

    Counts that overlap become disjoint cells (finer), a nested chain of unions, or one count for
    each group of overlapping ones (coarser); several marginals become the joint one (finer). The
    numbers of the new counts are known only where they can be counted from the data.
    """
    counts, marginals = _counts(policy), _marginals(policy)
    if not _rearrangeable(policy):
        return
    if 1 < len(counts) <= MOST_COUNTS:
        yield from _rearranged(policy, counts)
    if len(marginals) > 1:
        names = [n for n in policy.domain.names if any(n in m.attributes for m in marginals)]
        cells = prod(policy.domain[name].size for name in names)
        if cells <= MOST_CELLS:
            joint = Marginal(names)
            words = f"one table by {', '.join(names)} ({counted(cells, 'disjoint cell')})"
            yield words, _with(policy, marginals, [joint])


def _counts(policy: Policy) -> list[Count]:
    return [fact for fact in policy.known if isinstance(fact, Count) and not fact.bounded]


def _marginals(policy: Policy) -> list[Marginal]:
    return [fact for fact in policy.known if isinstance(fact, Marginal)]


def _rearrangeable(policy: Policy) -> bool:
    """Whether there are several counts, and the numbers of others can be had where they matter."""
    several = 1 < len(_counts(policy)) <= MOST_COUNTS or len(_marginals(policy)) > 1
    return several and (policy.scope == "any" or policy.database.data is not None)


def _rearranged(policy: Policy, counts: Sequence[Count]) -> Iterator[tuple[str, Policy]]:
    domain = policy.domain
    areas = [domain.area(fact.where) for fact in counts]
    groups = _overlapping(areas)
    if all(len(group) == 1 for group in groups):
        return
    cells = [item for item in collapse(domain, areas) if item.inside]
    if len(cells) <= MOST_CELLS:
        finer = [_count(domain, Area(tuple(item.boxes()))) for item in cells]
        yield (
            f"the {counted(len(cells), 'disjoint cell')} that they cut out",
            _with(policy, counts, finer),
        )
    nested = [_count(domain, area) for group in groups for area in _unions(areas, group)]
    yield f"a nested chain of {counted(len(nested), 'union')}", _with(policy, counts, nested)
    unions = [[*_unions(areas, group)][-1] for group in groups]
    if all(area.size == domain.size for area in unions):
        return  # what they cover together is everything: that would be to publish n alone
    merged = [_count(domain, area) for area in unions]
    yield (
        f"{counted(len(merged), 'count')} of what they cover together",
        _with(policy, counts, merged),
    )


def _unions(areas: Sequence[Area], group: Sequence[int]) -> Iterator[Area]:
    """Yield the unions of the first, the first two, ... areas of a group."""
    boxes: tuple[Box, ...] = ()
    for place in group:
        boxes = (*boxes, *areas[place].boxes)
        yield Area(boxes)


def _overlapping(areas: Sequence[Area]) -> list[list[int]]:
    """Return the groups of areas that hang together by overlapping."""
    groups: list[list[int]] = []
    for place, area in enumerate(areas):
        near = [group for group in groups if any(_meet(area, areas[other]) for other in group)]
        merged = sorted([place, *(other for group in near for other in group)])
        groups = [*(group for group in groups if group not in near), merged]
    return sorted(groups)


def _meet(first: Area, second: Area) -> bool:
    return any(bool(a & b) for a in first.boxes for b in second.boxes)


def _with(policy: Policy, old: Sequence[Known], new: Sequence[Known]) -> Policy:
    """The policy with other facts in the place of some, their numbers counted where need be."""
    kept = [fact for fact in policy.known if not any(fact is item for item in old)]
    scope = Database(size=policy.database.size, answers=policy.scope, data=policy.database.data)
    return replace(policy, known=(*kept, *new), database=scope)


def _count(domain: Domain, area: Area) -> Count:
    return Count([region for box in area.disjoint() for region in region_of(domain, box.sides)])


def region_of(domain: Domain, sides: Sequence[Positions]) -> Iterator[Region]:
    """Yield regions, as a policy file writes them, that cover a box."""
    conditions: list[dict[str, object]] = [{}]
    for (name, attribute), side in zip(domain.attributes, sides, strict=True):
        if side.size == attribute.size:
            continue
        parts: list[object]
        if attribute.ordered:
            parts = [
                Between(attribute.value(low), attribute.value(high - 1)) for low, high in side.runs
            ]
        else:
            parts = [tuple(attribute.value(place) for place in side)]
        conditions = [{**known, name: part} for known in conditions for part in parts]
    for known in conditions:
        yield Region(known)
