"""The release of a histogram that keeps the known counts."""

from fractions import Fraction

import numpy as np
import pytest

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Draw, Request
from blowproof.models import (
    Count,
    Database,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    Policy,
    QueryError,
)

DOMAIN = Domain(sex=Labels(["F", "M"]), age=Integers(0, 3))
TRUE = np.array([[4, 0, 3, 1], [2, 5, 0, 6]])


def noisy(plan_):
    """One release of a plan, as a table."""
    found = plan_.run(Draw(plan_, NoisyTable(TRUE.copy(), DOMAIN)))
    return np.array([float(v) for v in found]).reshape(2, 4)


def made(policy, numbers):
    request = Request(policy=policy, epsilon=Fraction(1, 2), options={"numbers": numbers})
    return noisy(plan("consistent", request))


MARGINALS = Policy(
    domain=DOMAIN,
    known=(Marginal(["sex"], answers=[8, 13]), Marginal(["age"], answers=[6, 5, 3, 7])),
)
MIXED = Policy(
    domain=DOMAIN,
    known=(
        Count({"sex": "F"}, answer=8),
        Impossible({"sex": "F", "age": 1}),
        Impossible({"sex": "M", "age": 2}),
    ),
    database=Database(size=21, answers="given"),
)


@pytest.mark.parametrize("numbers", ["real", "positive", "whole"])
def test_known_counts_are_kept(numbers):
    table = made(MARGINALS, numbers)
    assert np.allclose(table.sum(axis=1), [8, 13], atol=1e-3)
    assert np.allclose(table.sum(axis=0), [6, 5, 3, 7], atol=1e-3)
    if numbers != "real":
        assert (table >= 0).all()
    if numbers == "whole":
        assert (table == table.round()).all()
        assert table.sum(axis=1).tolist() == [8, 13]


@pytest.mark.parametrize("numbers", ["real", "positive", "whole"])
def test_impossible_values_stay_empty(numbers):
    table = made(MIXED, numbers)
    assert table[0, 1] == 0
    assert table[1, 2] == 0
    assert table.sum() == pytest.approx(21, abs=1e-3)
    assert table[0].sum() == pytest.approx(8, abs=1e-3)


def test_less_noise_than_without():
    """Three degrees of freedom of eight are left: the mean square falls to 3/8 of the noise."""
    ready = plan("consistent", Request(policy=MARGINALS, epsilon=Fraction(1, 2)))
    assert ready.description is not None
    scale = float(ready.description.releases[0].scales[0])
    rounds = [noisy(ready) - TRUE for _ in range(300)]
    found = np.mean(np.square(rounds))
    assert found < 0.6 * 2 * scale**2
    assert abs(np.mean(rounds, axis=0)).max() < scale  # unbiased: the mean error is far smaller


def test_refusals():
    with pytest.raises(RefusedError, match="no numbers"):
        plan("consistent", Request(policy=Policy(domain=DOMAIN), epsilon=Fraction(1)))
    with pytest.raises(QueryError, match="histogram"):
        plan("consistent", Request(policy=MARGINALS, query="marginal(sex)", epsilon=Fraction(1)))
    with pytest.raises(QueryError, match="numbers"):
        made(MARGINALS, "imaginary")
