"""What can be known without the data is refused before the ledger is touched.

Each case was found out only while drawing, when the budget was charged already. The other half:
whatever is planned is drawn, with numbers of any size, for nothing may be refused after the charge.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.registry import MECHANISMS, plan
from blowproof.mechanisms.release.release import Request, release
from blowproof.models import (
    Between,
    BlowproofError,
    BoundQuery,
    Count,
    Database,
    Distance,
    Domain,
    Full,
    Integers,
    Marginal,
    Policy,
)
from blowproof.models.queries.kinds import WeightedSum
from blowproof.models.secrets.written import SecretsSpec

ONE = Fraction(1)
NEAR = Distance(threshold=1)


class Book:
    """A budget that writes down what it is charged."""

    def __init__(self):
        self.charged = []

    def spend(self, request, mechanism, data):
        self.charged.append((mechanism, request.promise.limit))
        return ()


class Empty(NoisyTable):
    """No record in a domain of any size."""

    def __init__(self, domain):
        super().__init__(np.zeros(1, dtype=np.int64), Domain(one=Integers(0, 0)))
        self.domain = domain

    def sparse_marginal(self, axes, *, limit=0):
        return {}

    def counts(self, areas):
        return [0 for _ in areas]


class Strange(BoundQuery):
    """A query that nobody knows how to count."""

    name = "strange"

    def row(self, point):
        return {0: 1}


def line(size, secrets: SecretsSpec = NEAR, **more):
    return Policy(domain=Domain(x=Integers(0, size - 1)), secrets=secrets, **more)


def answered(size, **more):
    """A policy with one known count, which the empty data have."""
    return line(
        size,
        Full(),
        known=(Count({"x": Between(0, 1)}, answer=0),),
        database=Database(size=0, **more),
    )


BIG = 30_000_000
FAR = Fraction(1, 2**400)
WEIGHTS = WeightedSum(line(4).domain, 0, (1, 2), "w")

CASES: dict[str, tuple[str, Policy, dict[str, Any]]] = {
    "matching above 2,048 values": ("matching-transformed", line(2049, Full()), {}),
    "dawa-transformed with too many edges": (
        "dawa-transformed",
        line(4000, Distance(threshold=2000)),
        {},
    ),
    "matching of costs beyond its numbers": (
        "matching-transformed",
        line(5, Full()),
        {"epsilon": Fraction(1, 2**60)},
    ),
    "matching with a share beyond its numbers": (
        "matching-transformed",
        line(5, Full()),
        {"options": {"share": str(ONE - Fraction(1, 2**60))}},
    ),
    "whole tables above 50,000 cells": (
        "consistent",
        answered(50_001),
        {"options": {"numbers": "whole"}},
    ),
    "known counts without numbers": (
        "consistent",
        line(5, Full(), known=(Count({"x": Between(0, 1)}),)),
        {},
    ),
    "known counts beyond floats": (
        "consistent",
        line(3, Full(), known=(Marginal(["x"], answers=[0, 2**60, 0]),)),
        {},
    ),
    "contradictory marginals": (
        "consistent",
        Policy(
            domain=Domain(x=Integers(0, 1), y=Integers(0, 1)),
            known=(Marginal(["x"], answers=[0, 0]), Marginal(["y"], answers=[1, 0])),
        ),
        {},
    ),
    "dawa on too many values": ("dawa", line(BIG), {}),
    "dawa-transformed on too many values": ("dawa-transformed", line(BIG), {}),
    "dawa with a caution that is no number": ("dawa", line(5), {"options": {"caution": "much"}}),
    "matching with a caution beyond its numbers": (
        "matching-transformed",
        line(5),
        {"options": {"caution": str(10**30)}},
    ),
    "noise beyond floats": ("dawa", line(5), {"epsilon": FAR}),
    "noise beyond floats, by its share": (
        "dawa",
        line(5),
        {"options": {"share": str(ONE - Fraction(1, 2**400))}},
    ),
    "ordered noise beyond floats": ("ordered", line(5), {"epsilon": FAR, "query": "cumulative(x)"}),
    "hierarchical noise beyond floats": (
        "hierarchical",
        line(5),
        {"epsilon": FAR, "query": "cumulative(x)"},
    ),
    "consistent noise beyond floats": ("consistent", answered(5), {"epsilon": FAR}),
    "k-means with a margin that is no number": ("k-means", line(5), {"options": {"margin": "x"}}),
    "k-means with a margin over 0": ("k-means", line(5), {"options": {"margin": "1/0"}}),
    "k-means with a negative margin": ("k-means", line(5), {"options": {"margin": "-1"}}),
    "k-means with a number of 5000 digits": (
        "k-means",
        line(5),
        {"options": {"clusters": "9" * 5000}},
    ),
    "blocks with 5000 digits": (
        "hierarchical",
        line(5),
        {"query": "cumulative(x)", "options": {"block": "9" * 5000}},
    ),
    "weights on noisy counts": ("transformed", line(4), {"query": WEIGHTS}),
    "all ranges of too many values": ("ordered", line(10_000), {"query": "ranges(x)"}),
    "all ranges of flows": ("transformed", line(10_000), {"query": "ranges(x)"}),
    "all ranges of trees": ("hierarchical", line(10_000), {"query": "ranges(x)"}),
    "too many prefixes": ("ordered", line(BIG), {"query": "range(x,1,2)"}),
    "too many prefixes for trees": ("hierarchical", line(BIG), {"query": "range(x,1,2)"}),
    "too many cells": ("laplace", line(BIG), {}),
    "a query that cannot be counted": ("laplace", line(5), {"query": Strange()}),
    "a query that flows cannot answer": ("transformed", line(5), {"query": Strange()}),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_while_planning(case):
    name, policy, asked = CASES[case]
    book = Book()
    request = Request(
        policy=policy,
        epsilon=asked.get("epsilon", ONE),
        query=asked.get("query", "histogram"),
        options=asked.get("options", {}),
    )
    with pytest.raises(BlowproofError):
        made = plan(name, request)
        release(made, Empty(policy.domain), budget=book)
        pytest.fail("it was released")
    assert book.charged == []


EPSILONS = [
    Fraction(1, 2**299),
    Fraction(1, 2**99),
    Fraction(1, 2**70),
    Fraction(1, 2**40),
    ONE,
    Fraction(2**400),
]
COUNTS = np.array([9, 0, 3, 3, 3, 1, 0, 0, 7, 2, 2, 5])
QUERIES = {
    "ordered": ["cumulative(x)", "ranges(x)", "range(x,2,5)"],
    "hierarchical": ["cumulative(x)", "ranges(x)", "range(x,2,5)"],
    "laplace": ["histogram", "sum(x)", "ranges(x)"],
    "transformed": ["histogram", "sum(x)", "ranges(x)"],
}
SETTINGS = {
    "k-means": [{"clusters": "3", "iterations": "3", "margin": m} for m in ("0", "1", "1000")],
    "consistent": [{"numbers": n} for n in ("real", "positive", "whole")],
    "dawa": [{}, {"share": "1/1000000000", "caution": "1000"}, {"caution": "-1000"}],
    "dawa-transformed": [{}, {"share": "999999999/1000000000", "caution": "1000"}],
    "matching-transformed": [{}, {"share": "1/3", "caution": "1000"}, {"caution": "-1000"}],
    "hierarchical": [{}, {"fan-out": "3", "block": "5"}],
}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(
    "epsilon", EPSILONS, ids=lambda e: f"2^{e.numerator.bit_length() - e.denominator.bit_length()}"
)
def test_whatever_is_planned_is_released(name, epsilon):
    """Charged once, and answered, however wide the noise is."""
    policies = [line(12, Distance(threshold=2)), line(12, Full())]
    if name == "consistent":
        known = (Count({"x": Between(0, 3)}, answer=15), Count({"x": Between(4, 7)}, answer=4))
        policies = [
            line(12, Full(), known=known, database=Database(size=35)),
            line(12, Full(), known=(Marginal(["x"], answers=COUNTS.tolist()),)),
        ]
    asked = product(policies, QUERIES.get(name, ["histogram"]), SETTINGS.get(name, [{}]))
    for policy, query, options in asked:
        book = Book()
        promise: Any = {"rho" if name == "gaussian" else "epsilon": epsilon}
        request = Request(
            policy=policy, query=query, options=options, accept_wide_bounds=True, **promise
        )
        try:
            made = plan(name, request)
        except BlowproofError:
            assert epsilon < Fraction(1, 2**30)  # refused in time, and only for wide noise
            continue
        found = release(made, NoisyTable(COUNTS, policy.domain), budget=book)
        assert book.charged == [(name, epsilon)]
        assert len(list(found.answers)) > 0


def test_whole_numbers_are_found_after_noise_of_any_width():
    """Rounding ends with the known counts, even where the noise drowns every digit of them."""
    known = (Count({"x": Between(0, 3)}, answer=15), Count({"x": Between(4, 7)}, answer=4))
    policy = line(12, Full(), known=known, database=Database(size=35))
    for bits in (10, 40, 60, 99):
        request = Request(
            policy=policy,
            epsilon=Fraction(1, 2**bits),
            options={"numbers": "whole"},
            accept_wide_bounds=True,
        )
        made = plan("consistent", request)
        answers = list(release(made, NoisyTable(COUNTS, policy.domain)).answers)
        assert (sum(answers[:4]), sum(answers[4:8]), sum(answers)) == (15, 4, 35)
        assert min(answers) >= 0
