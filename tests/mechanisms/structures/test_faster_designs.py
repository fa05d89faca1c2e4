"""What a plan works out many times: designs for Gaussian noise, and answers from estimates."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from blowproof.mechanisms.answers.noisy_table import _in_parts
from blowproof.mechanisms.structures.design import Setup, best_design
from blowproof.mechanisms.structures.tree_error import expected_error


@pytest.mark.parametrize("budget", [Fraction(1, 10**6), Fraction(1, 7), Fraction(3), Fraction(999)])
def test_a_gaussian_design_has_the_error_of_its_own_variances(budget: Fraction) -> None:
    """It is searched for once, whatever the budget: variances are in proportion to 1 / budget."""
    for size, reach in ((40, 5), (17, 16), (60, 1)):
        found = best_design(Setup(size, reach, budget, gaussian=True))
        levels = [float(level) for level in found.levels]
        direct = expected_error(found.structure, float(found.prefix), levels)
        assert found.error == pytest.approx(direct, rel=1e-6)
        one = best_design(Setup(size, reach, Fraction(1), gaussian=True))
        assert found.error * float(budget) == pytest.approx(one.error, rel=1e-9)
        shares = sum(1 / level for level in found.levels) * 2
        if found.prefix:
            shares += -(-reach // found.structure.block) / found.prefix
        assert shares == budget


def test_estimates_are_rounded_as_one_by_one() -> None:
    rng = random.Random(3)
    table = np.array([rng.gauss(0, 10) for _ in range(200)] + [k / 2**21 for k in range(-9, 10)])
    assert _in_parts(table).tolist() == [round(2**20 * x) for x in table.tolist()]
    wide = np.array([1e30, -2.5, 0.0])
    assert _in_parts(wide).tolist() == [round(2**20 * x) for x in wide.tolist()]
    assert _in_parts(np.zeros(0)).tolist() == []
