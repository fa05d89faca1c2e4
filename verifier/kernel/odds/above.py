"""From above: arguments that no belief's odds move by more than the claim."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from ..document import Rejected, Unreadable, want
from .claim import SCHEMA, Case, Database, Output
from .exponentials import Sum, add, positive

Pair = tuple[Database, Database]


def check_argument(case: Case, proof: Any) -> None:
    """Refuse unless the argument shows that no belief's odds are above the claim."""
    kind = want(proof, dict, "the proof").get("kind")
    if kind == "families" and case.kind in ("independent", "iid"):
        want(proof, {"kind": str}, "the proof")
        _families(case)
    elif kind == "coupling" and case.kind == "independent":
        _coupling(case, want(proof, {"kind": str, "coupling": [[int]]}, "the proof")["coupling"])
    elif kind == "pairs":
        want(proof, {"kind": str}, "the proof")
        _pairs(case)
    elif kind == "listed" and case.kind == "listed":
        want(proof, {"kind": str}, "the proof")
        _listed(case)
    else:
        raise Unreadable("no argument of this kind about these attackers")


def families(case: Case, databases: Sequence[Database]) -> Iterator[list[Pair]]:
    """Yield the families of every secret pair, each as its pairs (x, y) in the order listed.

    Pairs with the same product of weights: the same unordered pairs {x_j, y_j}, or (identical
    records) the same values in both together.
    """
    for i, one, two in case.ends():
        found: dict[Hashable, list[Pair]] = defaultdict(list)
        ones = [d for d in databases if d[i] == one]
        twos = [d for d in databases if d[i] == two]
        size = len(databases[0]) if databases else 0
        case.budget.spend(8 * size * len(ones) * len(twos))
        for x in ones:
            for y in twos:
                if case.kind == "iid":
                    key: Hashable = tuple(sorted((*x, *y)))
                else:
                    key = tuple((a, b) if a < b else (b, a) for a, b in zip(x, y, strict=True))
                found[key].append((x, y))
        yield from found.values()


def _families(case: Case) -> None:
    """No family's ratio is above the claim, for any output."""
    databases, most = case.databases(), case.claims["at_most"]
    outputs = case.mechanism.outputs(databases)
    chances = [{d: case.mechanism.chance(d, output) for d in databases} for output in outputs]
    case.budget.spend(0, 4 * len(outputs) * len(databases))
    for family in families(case, databases):
        for chance in chances:
            top: Sum = {}
            bottom: Sum = {}
            case.budget.spend(16 * len(family))
            for x, y in family:
                add(top, chance[x])
                add(bottom, chance[y])
            if most.above(top, bottom, case.budget):
                raise Rejected("a family's odds move by more than the claim")


def _coupling(case: Case, couplings: list[list[int]]) -> None:
    """In every family, each x has a y of its own that is within the claim, for all outputs."""
    databases = case.databases()
    outputs = case.mechanism.outputs([]) if case.mechanism.of == "database" else None
    if case.mechanism.of == "record":
        outputs = case.mechanism.outputs(databases)
    given = iter(couplings)
    for family in families(case, databases):
        order = next(given, None)
        if order is None or sorted(order) != list(range(len(family))):
            raise Rejected("a coupling is missing, or is none")
        for (x, _), other in zip(family, order, strict=True):
            _within(case, x, family[other][1], outputs)
    if next(given, None) is not None:
        raise Rejected("a coupling is about no family")


def _within(case: Case, x: Database, y: Database, outputs: Sequence[Output] | None) -> None:
    """Refuse unless x gives every output with at most so many times y's probability."""
    most, mechanism = case.claims["at_most"], case.mechanism
    if outputs is None:  # noise: the ratio is largest at x's own answer
        away = mechanism.distance(mechanism.answers(x), mechanism.answers(y))
        if most.above({away: Fraction(1)}, {Fraction(0): Fraction(1)}, case.budget):
            raise Rejected("two databases that are coupled are too far apart")
        return
    for output in outputs:
        if most.above(mechanism.chance(x, output), mechanism.chance(y, output), case.budget):
            raise Rejected("two databases that are coupled are too far apart")


def _pairs(case: Case) -> None:
    """No two databases of a secret pair are further apart than the claim: for any beliefs."""
    databases = case.databases()
    outputs = None if not case.mechanism.of else case.mechanism.outputs(databases)
    for i, one, two in case.ends():
        for x in (d for d in databases if d[i] == one):
            for y in (d for d in databases if d[i] == two):
                _within(case, x, y, outputs)


def _listed(case: Case) -> None:
    """No listed belief's odds move by more than the claim."""
    most = case.claims["at_most"]
    for belief in case.beliefs:
        databases = list(belief)
        sizes = {len(d) for d in databases}
        if len(sizes) != 1:
            raise Unreadable("a listed belief thinks no database possible, or of different sizes")
        for output in case.mechanism.outputs(databases):
            chance = {d: case.mechanism.chance(d, output) for d in databases}
            for i, one, two in case.ends():
                sides = [[d for d in databases if d[i] == value] for value in (one, two)]
                if not all(sides):
                    continue
                top: Sum = {}
                bottom: Sum = {}
                for into, side in ((top, sides[0]), (bottom, sides[1])):
                    total = sum(belief[d] for d in side)
                    for d in side:
                        add(into, chance[d], belief[d] / total)
                if most.above(top, bottom, case.budget):
                    raise Rejected("a listed belief's odds move by more than the claim")


def check_neighbours(case: Case, proof: dict[str, Any], nested: Callable[..., Any]) -> None:
    """The theorem: with equality counts, independent beliefs learn what pairs of reading 5 tell."""
    want(proof, {"kind": str, "certificate": dict}, "the proof")
    if case.kind not in ("independent", "iid") or case.world.bounds or case.policy.clauses:
        raise Rejected("the theorem is about independent beliefs and equality counts")
    if len(case.mechanism.queries) != 1:
        raise Rejected("the theorem's certificate is about one release", limit=True)
    inner = proof["certificate"]
    if inner.get("schema") == SCHEMA or inner.get("policy") != case.table["policy"]:
        raise Rejected("the certificate inside is about another policy")
    if inner.get("query") != case.table["mechanism"]["releases"][0]["query"]:
        raise Rejected("the certificate inside is about another query")
    verdict = nested(inner, case.budget)
    if not verdict.accepted:
        raise Rejected(f"the certificate inside is rejected: {verdict.reason}")
    if (verdict.reading, verdict.norm, verdict.answers) != ("pufferfish", "l1", case.policy.scope):
        raise Rejected("the certificate inside is about another reading, norm or scope")
    loss, sure = (
        Fraction(size) / case.mechanism.queries[0][1] for size in (verdict.value, verdict.least)
    )
    most, least = case.claims.get("at_most"), case.claims.get("at_least")
    one: Sum = {Fraction(0): Fraction(1)}
    if most is not None and most.above({loss: Fraction(1)}, one, case.budget):
        raise Rejected("the sensitivity is larger than the claim")
    if least is not None:
        if case.kind != "independent":
            raise Rejected("identical beliefs may learn less than the theorem says")
        claimed = {least.exp: least.ratio}
        add(claimed, {sure: Fraction(1)}, Fraction(-1))
        if positive(claimed, case.budget):
            raise Rejected("the sensitivity is smaller than the claim")
