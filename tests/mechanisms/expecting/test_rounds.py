"""How often a plan is rehearsed: as often as its errors need, which may all go one way."""

from fractions import Fraction

from blowproof.mechanisms.expecting.expected import expected
from blowproof.mechanisms.expecting.made_up import made_up
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.request import Request
from blowproof.models import Domain, Integers, Policy

BINS = Policy(domain=Domain(bin=Integers(0, 59)))


def test_ranges_of_a_few_values_are_rehearsed_as_often_as_their_counts() -> None:
    """There are 1,830, and all err together: ten rehearsals were a choice by luck, 1.2 too bad."""
    request = Request(policy=BINS, query="ranges(bin)", epsilon=Fraction(1, 10))
    flat = next(made_up(BINS, None, 3_000))
    found = expected(plan("dawa", request), [flat], 1)
    assert found is not None and found.between is not None
    low, high = found.between
    assert high / low < 1.3
