"""Every registered mechanism: what it drew, as it describes it, goes to the certifier.

Not what a docstring says, but the releases and choices that `Draw` recorded while real noise was
drawn, whose scales are those the noise had. All of it loses at most epsilon, under every policy,
threshold, fan-out and budget here; where only noise was added, one percent less of it would be
refuted or the loss is exactly epsilon.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.registry import MECHANISMS, plan
from blowproof.mechanisms.release.release import Request, release
from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Full,
    Integers,
    Labels,
    PartitionCells,
    Policy,
    QueryError,
)
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.models.secrets.written import SecretsSpec
from blowproof.verifier.certify.certify import certify

SIZE = 12
COUNTS = np.array([9, 0, 3, 3, 3, 1, 0, 0, 7, 2, 2, 5])
LINE = Domain(x=Integers(0, SIZE - 1))
GRID = Domain(x=Integers(0, 3), y=Integers(0, 2))
EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(7, 2))
THRESHOLDS = (1, 2, 5, SIZE)

FREE: dict[str, SecretsSpec] = {
    **{f"distance {theta}": Distance(threshold=theta) for theta in THRESHOLDS},
    "full": Full(),
    "cells": PartitionCells([{"x": Between(3 * k, 3 * k + 2)} for k in range(4)]),
}
ANSWERED = (
    Count({"x": Between(0, 3)}, answer=15),
    Count({"x": Between(4, 7)}, answer=4),
)
OPTIONS = {
    "k-norm": [{}, {"shape": "cube"}],
    "hierarchical": [{}, *({"fan-out": f, "block": b} for f, b in (("2", "1"), ("3", "5")))],
    "k-means": [{"iterations": "2", "clusters": "3", "margin": m} for m in ("0", "1/2", "1")],
    "strategy": [{}, {"measure": "2*histogram"}],
    "transformed": [{}, {"tree": "search"}],
    "dawa": [{}, {"share": "1/5"}, {"partition": "noisy"}],
    "dawa-transformed": [{}, {"share": "1/5"}],
    "matching-transformed": [{}, {"share": "1/5"}],
    "consistent": [{}, {"numbers": "whole"}],
}
ADDITIVE = {"laplace", "ordered", "hierarchical", "transformed", "consistent"}
"""No choices, and nothing that depends on earlier answers: the loss is epsilon exactly."""


def query_of(name):
    return "cumulative(x)" if name in ("ordered", "hierarchical") else "histogram"


def drawn(name, policy, epsilon, options, counts=COUNTS):
    """The description of a release that was really drawn."""
    query = query_of(name)
    request = Request(
        policy=policy, query=query, epsilon=epsilon, options=options, accept_wide_bounds=True
    )
    return release(plan(name, request), NoisyTable(counts, policy.domain)).description


def check(name, policy, epsilon, options, counts=COUNTS):
    description = drawn(name, policy, epsilon, options, counts)
    found = certify(description, policy, epsilon)
    assert found.verdict == "proved", (name, options, found)
    if name in ADDITIVE and found.loss is not None and found.loss:
        assert found.loss == epsilon
        less = [
            replace(item, scale=tuple(scale * Fraction(99, 100) for scale in item.scales))
            if isinstance(item.scale, tuple)
            else replace(item, scale=item.scales[0] * Fraction(99, 100))
            for item in description.releases
        ]
        weaker = certify(Mechanism(releases=tuple(less)), policy, epsilon)
        assert weaker.verdict == "refuted"
    return found


@pytest.mark.parametrize("secrets", FREE)
@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - {"consistent", "gaussian"}))
def test_what_was_drawn_is_proved(name, secrets):
    """Gaussian noise has no epsilon: what it draws is proved in `test_gaussian_release`."""
    policy = Policy(domain=LINE, secrets=FREE[secrets])
    for epsilon, options in product(EPSILONS, OPTIONS.get(name, [{}])):
        check(name, policy, epsilon, options)


@pytest.mark.parametrize("secrets", [Full(), Distance(threshold=3)], ids=repr)
@pytest.mark.parametrize("name", ["laplace", "transformed", "consistent"])
def test_under_known_facts_too(name, secrets):
    policy = Policy(
        domain=LINE,
        secrets=secrets,
        known=ANSWERED,
        database=Database(size=int(COUNTS.sum())),
    )
    for options in OPTIONS.get(name, [{}]):
        check(name, policy, Fraction(1, 2), options)


@pytest.mark.parametrize("secrets", [AttributeChange(changes=1), Distance(threshold=2)], ids=repr)
@pytest.mark.parametrize("name", ["laplace", "k-means", "transformed", "matching-transformed"])
def test_on_two_attributes(name, secrets):
    policy = Policy(domain=GRID, secrets=secrets)
    for options in OPTIONS.get(name, [{}])[:2]:
        check(name, policy, Fraction(2, 3), options, COUNTS.reshape(4, 3))


@pytest.mark.parametrize("tree", ["star", "path", "hubs", "search"])
@pytest.mark.parametrize("kind", [Integers(0, SIZE - 1), Labels([*"abcdefghijkl"])], ids=repr)
@pytest.mark.parametrize("secrets", [Full(), AttributeChange(changes=1)], ids=repr)
def test_every_tree_of_a_complete_graph(tree, kind, secrets):
    """All pairs of values are edges, also those far apart: no tree but the star is short."""
    policy = Policy(domain=Domain(x=kind), secrets=secrets)
    check("transformed", policy, Fraction(1), {"tree": tree})


def test_every_mechanism_of_the_registry_is_here():
    plain = {"gaussian", "laplace", "ordered", "quadtree", "steps", "table"}
    assert set(OPTIONS) | plain == set(MECHANISMS) >= ADDITIVE


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_a_setting_that_it_does_not_have_is_refused(name):
    policy = Policy(domain=LINE, secrets=Distance(threshold=1))
    if name == "consistent":
        policy = replace(policy, known=ANSWERED, database=Database(size=int(COUNTS.sum())))
    request = Request(
        policy=policy, query=query_of(name), epsilon=Fraction(1), options={"foo": "3"}
    )
    with pytest.raises(QueryError, match="has no setting 'foo'\n  try: "):
        plan(name, request)
