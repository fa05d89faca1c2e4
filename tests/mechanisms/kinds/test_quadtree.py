"""Blocks within blocks on a grid: least squares, what they are proved to lose, what they gain."""

from fractions import Fraction

import numpy as np
import pytest

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.expecting.expected import expected
from blowproof.mechanisms.expecting.rehearsal import numbers
from blowproof.mechanisms.kinds.quadtree import Quadtree
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import release
from blowproof.mechanisms.release.request import Request
from blowproof.mechanisms.structures.quadtrees import Blocks
from blowproof.models import Domain, Integers, Labels, Marginal, Policy, PolicyError, QueryError

GRID = Domain(x=Integers(0, 39), y=Integers(0, 39))


def asked(policy: Policy, query: str = "rectangles(x,y,300)", **options: str) -> Request:
    return Request(policy=policy, query=query, epsilon=Fraction(1), options=options)


def test_least_squares_up_and_down_the_tree_are_those_of_the_normal_equations() -> None:
    domain = Domain(x=Integers(0, 6), y=Integers(0, 4), s=Labels(["a", "b"]))
    blocks = Blocks(domain, 3)
    draw = np.random.default_rng(5)
    truth = draw.integers(0, 50, domain.size)
    rows = [np.eye(domain.size)]
    for level in range(1, len(blocks.shapes)):
        vertex = blocks.vertex(level)
        rows.append(np.array([vertex == place for place in range(vertex.max() + 1)], dtype=float))
    variances = [3.0, 1.0, 0.5, 2.0][: len(rows)]
    noisy = [row @ truth + draw.normal(0, 2, len(row)) for row in rows]
    found = blocks.fitted(noisy, variances, int(truth.sum()))
    weighed = [row / wide**0.5 for row, wide in zip(rows, variances, strict=True)]
    right = [part / wide**0.5 for part, wide in zip(noisy, variances, strict=True)]
    stacked = np.vstack([*weighed, 1e6 * np.ones((1, domain.size))])
    values = np.concatenate([*right, [1e6 * truth.sum()]])
    assert np.allclose(found, np.linalg.lstsq(stacked, values, rcond=None)[0], atol=1e-3)


@pytest.mark.parametrize("fan_out", ["2", "5", "40"])
def test_what_is_drawn_is_proved(fan_out: str) -> None:
    made = made_ready("quadtree", asked(Policy(domain=GRID), **{"fan-out": fan_out}))
    assert proved(made).upper == 1
    data = NoisyTable(np.arange(1600, dtype=np.int64) % 13, GRID)
    found = numbers(release(made, data).answers)
    assert len(found) == 300
    assert np.isfinite(found).all()


def test_it_beats_noise_on_all_values_where_secrets_are_full() -> None:
    wide = Domain(x=Integers(0, 95), y=Integers(0, 95))
    policy = Policy(domain=wide)
    flat = [("flat", NoisyTable(np.full(96 * 96, 9), wide))]
    made = made_ready("quadtree", asked(policy))
    assert isinstance(made, Quadtree)
    assert len(made.releases) > 1
    found, table = (expected(plan, flat, 3) for plan in (made, made_ready("table", asked(policy))))
    assert found is not None
    assert table is not None
    assert found.rmse < 0.95 * table.rmse


def test_noise_too_narrow_to_be_felt_leaves_the_counts() -> None:
    counts = np.arange(1600, dtype=np.int64) % 13
    request = Request(policy=Policy(domain=GRID), epsilon=Fraction(2**400))
    found = numbers(release(made_ready("quadtree", request), NoisyTable(counts, GRID)).answers)
    assert np.allclose(found, counts, atol=1e-6)


def test_what_it_does_not_do_is_refused() -> None:
    with pytest.raises(QueryError, match="ordered attributes"):
        made_ready("quadtree", asked(Policy(domain=Domain(s=Labels(["a", "b"]))), "histogram"))
    with pytest.raises(PolicyError, match="whole number"):
        made_ready("quadtree", asked(Policy(domain=GRID), **{"fan-out": "1"}))
    known = Policy(domain=GRID, known=(Marginal(("x",)),))
    with pytest.raises(RefusedError, match="one record"):
        made_ready("quadtree", asked(known))
