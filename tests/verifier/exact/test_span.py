"""Combinations of rows: every row counts, however few columns it touches."""

from __future__ import annotations

import numpy as np
import pytest

from blowproof.models import Count, Domain, Labels, Marginal, Policy, parse_query
from blowproof.models.base.clock import Budget, now
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.exact.span import Span, independent


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_a_sample_of_the_columns_does_not_show(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = np.zeros((40, 3000), dtype=np.int64)
    for number in range(39):
        rows[number, draw.choice(3000, 3 if number % 2 else 1500, replace=False)] = 1
    rows[39] = rows[:39].sum(axis=0)
    assert independent(rows) == list(range(39))
    assert Span(rows).combination(rows[39] - 2 * rows[1]) is not None


def test_when_time_is_over_all_rows_are_taken() -> None:
    rows = np.vstack([np.eye(80, dtype=np.int64), np.ones((60, 80), dtype=np.int64)])
    assert independent(rows) == list(range(80))
    with Budget():
        assert independent(rows, end=now() + 1e-3) == list(range(140))
        with pytest.raises(TimeoutError):
            Span(rows, end=now())


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (3, 0), (3, 500)])
def test_nothing_is_a_combination_of_nothing(shape: tuple[int, int]) -> None:
    assert independent(np.zeros(shape, dtype=np.int64)) == []


def test_many_narrow_counts_that_add_up_to_the_query() -> None:
    classes = [f"c{division}{place}" for division in range(10) for place in range(3)]
    sizes, regions = ["small", "middle", "large"], list("ABCDEFGH")
    domain = Domain({"class": Labels(classes), "size": Labels(sizes), "region": Labels(regions)})
    counts = [
        Count({"class": classes[3 * division : 3 * division + 3], "region": region})
        for division in range(10)
        for region in regions
    ]
    policy = Policy(domain=domain, known=(Marginal(["class"]), Marginal(["size"]), *counts))
    answer = sensitivity(policy, parse_query("marginal(region)", policy))
    assert (answer.status, answer.upper) == ("exact", 0)
