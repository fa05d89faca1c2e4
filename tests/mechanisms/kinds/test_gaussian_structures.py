"""Gaussian noise in hierarchies, quadtrees and buckets: proved for a rho, and worth it."""

from fractions import Fraction

import numpy as np
import pytest

from blowproof.mechanisms.answers.noisy_table import NoisyTable
from blowproof.mechanisms.expecting.expected import expected
from blowproof.mechanisms.expecting.rehearsal import numbers
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import release
from blowproof.mechanisms.release.request import Request
from blowproof.models import Distance, Domain, Integers, Policy
from blowproof.models.mechanisms.mechanism import BLOCKS, Mechanism, Selection
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.certify import certify

RHO = Fraction(1, 2)
LINE = Domain(x=Integers(0, 255))
GRID = Domain(x=Integers(0, 31), y=Integers(0, 31))
CASES = [
    ("hierarchical", Policy(domain=LINE), "cumulative(x)"),
    ("hierarchical", Policy(domain=LINE, secrets=Distance(threshold=20)), "cumulative(x)"),
    ("quadtree", Policy(domain=GRID), "rectangles(x,y,200)"),
    ("dawa", Policy(domain=GRID), "histogram"),
    ("dawa", Policy(domain=LINE), "histogram"),
    ("dawa-transformed", Policy(domain=LINE, secrets=Distance(threshold=1)), "histogram"),
]


@pytest.mark.parametrize(("name", "policy", "query"), CASES)
def test_a_rho_buys_gaussian_noise(name: str, policy: Policy, query: str) -> None:
    made = made_ready(name, Request(policy=policy, query=query, rho=RHO))
    found = proved(made)
    assert found.verdict == "proved"
    assert found.upper is not None and not isinstance(found.upper, str) and found.upper <= RHO
    data = NoisyTable(np.full(policy.domain.size, 9, dtype=np.int64), policy.domain)
    drawn = release(made, data)
    noises = {item.noise for item in drawn.description.releases if any(item.widths)}
    assert noises == {"discrete-gaussian"}
    assert np.isfinite(numbers(drawn.answers)).all()
    whole = certify(drawn.description, policy, Promise(rho=RHO), lemmas=())
    assert whole.verdict != "refuted"


@pytest.mark.parametrize(("name", "policy", "query"), CASES[:3])
def test_it_is_better_than_what_the_rho_is_worth_as_an_epsilon(
    name: str, policy: Policy, query: str
) -> None:
    shapes = [("flat", NoisyTable(np.full(policy.domain.size, 9, dtype=np.int64), policy.domain))]
    errors = []
    for request in (
        Request(policy=policy, query=query, rho=RHO),
        Request(policy=policy, query=query, epsilon=Fraction(1)),
    ):
        found = expected(made_ready(name, request), shapes, 3)
        assert found is not None
        errors.append(found.rmse)
    assert errors[0] < 0.6 * errors[1]


@pytest.mark.parametrize("reach", [1, 2, 5])
def test_brute_force_finds_a_pair_that_loses_all_of_the_rho_of_a_hierarchy(reach: int) -> None:
    policy = Policy(domain=Domain(x=Integers(0, 5)), secrets=Distance(threshold=reach))
    made = made_ready("hierarchical", Request(policy=policy, query="cumulative(x)", rho=RHO))
    assert made.description is not None
    found = certify(made.description, policy, Promise(rho=RHO), engine="brute")
    assert found.verdict != "refuted"
    assert found.lower == RHO


def test_a_choice_that_is_drawn_has_an_eighth_of_the_square_and_no_more_than_that() -> None:
    """What a smaller scale would lose is above; noisy costs have half of the square."""
    policy = Policy(domain=GRID)
    for candidates, square in ((BLOCKS, 8), ("intervals", 2)):
        item = Selection(query="histogram", candidates=candidates, scale=Fraction(8))
        judged = certify(Mechanism(selections=(item,)), policy, Promise(rho=RHO))
        pure = certify(Mechanism(selections=(item,)), policy, Fraction(10))
        assert isinstance(pure.upper, (int, Fraction))
        assert judged.upper == Fraction(pure.upper) ** 2 / square
