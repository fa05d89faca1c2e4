"""Parallel composition (Theorems 4.2 and 4.3 of blowfish-2014): when do parts not add up?

Releases on disjoint sets of records cost only the largest of their epsilons if no neighbours differ
in two of the sets. With no fact but n, neighbours differ in one record. With other facts, section
4.1 asks which secret pairs are *critical* to a fact: a record that moves between them makes the
fact false, unless other records, perhaps of another part, make up for it. If there are none, then
every single secret move is a neighbour pair and no pair has more moves (each would be a D3).

The paper's definition speaks of databases whose only discriminative pair is the critical one; taken
to the letter they may differ in plain moves too, which would make nearly every pair critical, the
paper's own example included. Here the two databases differ in that one record.

Theorem 4.3 also allows facts with critical pairs if each concerns one part only. A count concerns
all records alike, so that leaves the clauses: their records, and those of clauses that share one,
must lie in one part. Under the reading `published`, counts and clauses together can still tie
parts to each other by plain moves when G is not complete (a plain move mends the clause, another
one, elsewhere, mends the count): there it is not allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.parts.records import Records
from blowproof.models import LinearFact, Point, Policy, Setting, setting
from blowproof.models.domain.classes import ValueClass, collapse
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading, is_labelled, is_mixed

__all__ = ["Critical", "Independence", "critical_pairs", "independence", "require_part"]


@dataclass(frozen=True)
class Critical:
    """A fact, and a secret move that alone would change it."""

    fact: str
    before: Point
    after: Point


@dataclass(frozen=True)
class Independence:
    """Whether parts are independent under a policy, and why or why not."""

    holds: bool
    reason: str
    critical: tuple[Critical, ...] = ()

    def __bool__(self) -> bool:
        return self.holds


def critical_pairs(found: Setting) -> tuple[Critical, ...]:
    """Return, for each count or bound that has critical pairs, one of them (section 4.1)."""
    facts = [fact for fact in (*found.equalities, *found.bounds) if fact.name != "size"]
    result = []
    for fact in facts:
        pair = _critical(found, fact)
        if pair is not None:
            result.append(Critical(fact.name, *pair))
    return tuple(result)


def _critical(found: Setting, fact: LinearFact) -> tuple[Point, Point] | None:
    """Return an edge of G between possible values that the fact counts differently."""
    areas = [found.impossible, *(area for _, area in fact.terms)]
    classes = [item for item in collapse(found.domain, areas) if 0 not in item.inside]
    weights = [_weight(item, fact) for item in classes]
    for place, item in enumerate(classes):
        for other in range(place):
            if weights[other] != weights[place]:
                edge = _edge(found, item, classes[other])
                if edge is not None:
                    return edge
    return None


def _weight(item: ValueClass, fact: LinearFact) -> int:
    return sum(times for k, (times, _) in enumerate(fact.terms, start=1) if k in item.inside)


def _edge(found: Setting, first: ValueClass, second: ValueClass) -> tuple[Point, Point] | None:
    for a, b in product(first.boxes(), second.boxes()):
        edge = found.graph.edge_between(a, b)
        if edge is not None:
            return edge
    return None


def independence(
    policy: Policy,
    reading: Reading,
    answers: Answers | None = None,
    parts: Sequence[Records] = (),
) -> Independence:
    """Return whether no neighbours differ in two of the parts, or in one and outside all.

    Then releases on disjoint parts compose in parallel, and S(f, P) bounds what f changes by on any
    one part.
    """
    if not is_labelled(reading):
        return Independence(False, f"the reading {reading!r} does not tell records apart")
    found = setting(policy, answers)
    critical = critical_pairs(found)
    if critical:
        names = ", ".join(dict.fromkeys(item.fact for item in critical[:3]))
        return Independence(
            False, f"one record's secret move changes {names}, so another must make up", critical
        )
    if not found.clauses:
        return Independence(True, "no fact ties a record's secret move to another record")
    counts = [*found.bounds, *(fact for fact in found.equalities if fact.name != "size")]
    if counts and is_mixed(reading) and not found.graph.complete:
        return Independence(False, "plain moves may tie the records of clauses to those of counts")
    tied = _across(found, parts)
    if tied:
        return Independence(False, f"clauses tie record {tied[0]} to record {tied[1]}")
    return Independence(True, "each clause concerns the records of one part only")


def _across(found: Setting, parts: Sequence[Records]) -> tuple[int, int] | None:
    """Return two records, from 1, that clauses tie together and a part sets apart; or None."""
    groups: list[set[int]] = []
    for clause in found.clauses:
        group = {record + 1 for record in clause.records}
        joined = [other for other in groups if other & group]
        groups = [other for other in groups if not other & group]
        groups.append(group.union(*joined))
    for group in groups:
        for part in parts:
            inside = {record for record in group if record in part}
            if inside and inside != group:
                return min(inside), min(group - inside)
    return None


def require_part(
    policy: Policy, reading: Reading, answers: Answers | None, parts: Sequence[Records]
) -> None:
    """Refuse releases on parts of the records where parts are not independent."""
    found = independence(policy, reading, answers, parts)
    if not found:
        raise RefusedError(
            f"parts of the records cannot be released one by one: {found.reason}, and what is "
            "released about one part would tell about the others\n"
            "  try: release the query on all records"
        )
