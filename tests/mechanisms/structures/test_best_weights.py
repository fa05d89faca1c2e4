"""Which marginals are measured, and how well, against weights drawn by the thousand."""

from itertools import combinations
from math import inf, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from blowproof.mechanisms.structures.marginals import (
    Asked,
    Axes,
    Marginals,
    best_weights,
    closure,
)

Floats = NDArray[np.float64]


def all_of(sizes: tuple[int, ...], wanted: list[Axes]) -> Marginals:
    """Everything that is worth measuring, and the differences of two values, n being known."""
    plain = closure(wanted, sizes, 10_000, 24)
    compared = [(axes, axis) for axes in plain for axis in axes if sizes[axis] == 2]
    measured = (*plain, *(axes for axes, _ in compared))
    return Marginals(sizes, measured, ((),), (*(None for _ in plain), *(at for _, at in compared)))


def each(marginals: Marginals, wanted: list[Axes]) -> list[Asked]:
    """Each marginal as a query, its mean squared error as one of so many."""
    return [Asked(axes, 1 / marginals.cells(axes) / len(wanted), 1) for axes in wanted]


def rmse(marginals: Marginals, asked: list[Asked], pairs: Floats, weights: Floats, power: int,
         ) -> float:  # fmt: skip
    """The error at a loss of 1, as the class itself adds it up."""
    error = sum(item.weight * marginals.error(item, (weights**power).tolist()) for item in asked)
    return inf if error == inf else sqrt(error) * float((pairs @ weights).max()) ** (power / 2)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_no_weights_are_better(power: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    sizes = ((2, 3, 4), (3, 2, 2), (5, 2, 3), (2, 2, 6))[seed]
    wanted: list[Axes] = [(0, 1), (1, 2), (0, 2)]
    marginals = all_of(sizes, wanted)
    asked, many = each(marginals, wanted), len(marginals.measured)
    pairs = np.maximum(draw.integers(0, 3, (3, many)), 1.0 + np.arange(many) % 2)
    found = best_weights(marginals, asked, pairs, power=power)
    assert found is not None
    least = rmse(marginals, asked, pairs, np.array(found), power)
    others = np.exp(draw.normal(0, 1.5, (400, many))) * (draw.random((400, many)) < 0.5)
    near = np.array(found) * np.exp(draw.normal(0, 0.05, (100, many)))
    best = min(rmse(marginals, asked, pairs, one, power)
               for one in (*others, *near) if one.any())  # fmt: skip
    assert least <= best * 1.0005  # so far the weights themselves are looked for


def test_tables_of_three_attributes_serve_all_marginals_of_two() -> None:
    """Sixteen levels of education, sex, race, relationship: 12.6, where tables of two have 14.3."""
    sizes = (16, 2, 5, 6)
    wanted: list[Axes] = list(combinations(range(4), 2))
    marginals = all_of(sizes, wanted)
    asked, many = each(marginals, wanted), len(marginals.measured)
    pairs = np.full((1, many), 2.0)
    found = best_weights(marginals, asked, pairs, power=2)
    assert found is not None
    used = [item for item, weight in zip(marginals.items, found, strict=True) if weight]
    assert sorted(used) == [((0, 1, 2), None), ((0, 3), None), ((1, 2, 3), None)]
    error = rmse(marginals, asked, pairs, np.array(found), 2) * sqrt(2)  # noise of variance 2 / w^2
    assert 12.56 < error < 12.57


def test_what_nothing_measures_has_no_weights() -> None:
    marginals = Marginals((2, 3), ((0,),), ((),))
    pairs = np.full((1, 1), 2.0)
    assert best_weights(marginals, each(marginals, [(1,)]), pairs, power=2) is None
