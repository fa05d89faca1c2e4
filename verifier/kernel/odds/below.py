"""From below: one belief, evaluated from its own table; nothing else is believed about it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product as combinations
from math import prod
from typing import Any

from ..boxes import Point
from ..document import Rejected, Unreadable, want
from .claim import Case, Database, Output
from .exponentials import Sum, add, positive, product

MOST_SUPPORT = 20_000


Side = list[tuple[Database, Fraction]]
"""Databases and their weights, as far as they count in the limit."""


def check_belief(case: Case, table: Any) -> None:
    """A belief of the attackers' kind, two statements and an output have at least these odds."""
    shape = {"records?": [list], "databases?": [list], "secret": list, "output": object}
    found = want(table, shape, "the belief")
    top, bottom = odds_of(case, sides(case, found), case.mechanism.output(found["output"]))
    if not top:
        raise Rejected("the belief gives the output probability 0")
    claimed = case.claims["at_least"]
    turned = dict(product(bottom, {claimed.exp: claimed.ratio}))
    add(turned, top, Fraction(-1))
    if positive(turned, case.budget):
        raise Rejected("the belief's odds move by less than the claim")


def sides(case: Case, found: dict[str, Any]) -> tuple[Side, Side]:
    """Return what the belief thinks, given the one statement and given the other."""
    number, *values = want(found["secret"], [object], "the secret")
    one, two = (case.policy.point(want(value, list)) for value in values)
    if not case.policy.graph.joined(one, two):
        raise Rejected("the two statements of the belief are no secret pair")
    weighed = _weighed(case, found)
    both: list[Side] = []
    for value in (one, two):
        told = [(d, w, power) for d, w, power in weighed if w and d[number] == value]
        if not told:
            raise Rejected("the belief gives a statement probability 0")
        least = min(power for _, _, power in told)
        both.append([(d, w) for d, w, power in told if power == least])
    return both[0], both[1]


def odds_of(case: Case, told: tuple[Side, Side], output: Output) -> tuple[Sum, Sum]:
    """Return the probabilities of an output given the one statement and given the other."""
    found: list[Sum] = []
    for side in told:
        total = sum(w for _, w in side)
        chance: Sum = {}
        for database, weight in side:
            add(chance, case.mechanism.chance(database, output), weight / total)
        found.append(chance)
    return found[0], found[1]


def _weighed(case: Case, found: dict[str, Any]) -> list[tuple[Database, Fraction, int]]:
    """Return the databases that the belief thinks possible, with weights w t^power, t near 0."""
    if "databases" in found and case.kind in ("any", "listed"):
        weights = case.weights(found["databases"])
        if case.kind == "listed" and not any(_alike(weights, own) for own in case.beliefs):
            raise Rejected("the belief is none of those listed")
        return [(d, w, 0) for d, w in weights.items()]
    if "records" not in found or case.kind in ("any", "listed"):
        raise Unreadable("a belief that is not of the attackers' kind")
    rows = [_row(case, row) for row in found["records"]]
    if case.kind == "iid":
        if len(rows) != 1:
            raise Unreadable("one belief for all records has one row")
        rows *= case.world.size or 0
    if len(rows) != case.world.size or prod(map(len, rows)) > MOST_SUPPORT:
        raise Rejected("the belief has another number of records, or too many databases")
    weighed = []
    for chosen in combinations(*rows):
        database = tuple(x for x, _, _ in chosen)
        if case.inside(database):
            weight = prod((w for _, w, _ in chosen), start=Fraction(1))
            weighed.append((database, weight, sum(power for _, _, power in chosen)))
    return weighed


def _row(case: Case, row: Any) -> list[tuple[Point, Fraction, int]]:
    read = []
    for value, weight, power in want(row, [list], "a belief"):
        chance = Fraction(want(weight, Fraction, "a belief"))
        if chance < 0:
            raise Unreadable("a belief with a negative weight")
        read.append((case.policy.point(value), chance, want(power, int, "a belief")))
    if len({x for x, _, _ in read}) != len(read):
        raise Unreadable("a belief names a value twice")
    return read


def _alike(one: dict[Database, Fraction], two: dict[Database, Fraction]) -> bool:
    totals = sum(one.values()), sum(two.values())
    if not all(totals) or one.keys() != two.keys():
        return False
    return all(one[d] * totals[1] == two[d] * totals[0] for d in one)
