"""Gaussian noise on steps: resistances, divergences and what goes round, all by brute force."""

import itertools
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from blowproof.models import (
    AttributeChange,
    Distance,
    Domain,
    Edges,
    Full,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
)
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.noise.gaussian_steps import round_about, steps_rho, variance_for
from blowproof.verifier.certify.noise.resistance import (
    least_resistance,
    most_resistance,
    moves_along,
)
from blowproof.verifier.certify.noise.steps import steps_between

SIDES = [
    ((5, True),),
    ((4, True), (3, True)),
    ((6, True), (5, True)),
    ((3, True), (3, False)),
    ((2, True), (3, True), (3, True)),
    ((4, False), (3, False)),
]


def incidence(sides):
    """Values, and a row for each step between two of them."""
    cells = list(itertools.product(*(range(size) for size, _ in sides)))
    rows = []
    for a, b in itertools.combinations(range(len(cells)), 2):
        apart = [(abs(p - q), ordered)
                 for p, q, (_, ordered) in zip(cells[a], cells[b], sides, strict=True)]  # fmt: skip
        changed = [far if ordered else 1 for far, ordered in apart if far]
        if changed == [1]:
            row = np.zeros(len(cells))
            row[a], row[b] = 1, -1
            rows.append(row)
    return cells, np.array(rows)


def resistances(sides):
    cells, rows = incidence(sides)
    inverse = np.linalg.pinv(rows.T @ rows)
    at = np.diag(inverse)
    return cells, at[:, None] + at - 2 * inverse


@pytest.mark.parametrize("sides", SIDES, ids=repr)
def test_no_two_values_have_a_larger_resistance(sides):
    """For every way to be apart, beside all pairs that are so; and hardly more than the largest."""
    cells, exact = resistances(sides)
    largest: dict[tuple[int, ...], float] = {}
    for (i, x), (j, y) in itertools.permutations(enumerate(cells), 2):
        way = tuple(abs(p - q) if ordered else int(p != q)
                    for p, q, (_, ordered) in zip(x, y, sides, strict=True))  # fmt: skip
        largest[way] = max(largest.get(way, 0.0), exact[i, j])
    for way, most in largest.items():
        found = most_resistance(frozenset({way}), sides)
        assert found is not None
        assert most - 1e-9 <= float(found) <= 1.15 * most
    together = most_resistance(frozenset(largest), sides)
    assert together is not None
    assert float(together) >= max(largest.values()) - 1e-9


@pytest.mark.parametrize("sides", SIDES, ids=repr)
def test_a_corner_and_what_is_so_many_steps_away_have_no_less(sides):
    cells, exact = resistances(sides)
    for place, cell in enumerate(cells[1:], start=1):
        steps = sum(at if ordered else int(at > 0)
                    for at, (_, ordered) in zip(cell, sides, strict=True))  # fmt: skip
        assert float(least_resistance(sides, steps)) <= exact[0, place] + 1e-9


def test_the_steps_of_every_edge_are_among_those_that_are_listed():
    domain = Domain(x=Integers(0, 4), sort=Labels(["a", "b", "c"]), y=Integers(0, 3))
    ends = [[(0, "a", 0), (2, "b", 3)], [(4, "c", 0), (4, "b", 0)]]
    few = Edges([[dict(zip(domain.names, end, strict=True)) for end in pair] for pair in ends])
    for secrets in (Distance(threshold=3), Distance(threshold=3, metric="l2"), Full(), few,
                    Distance(threshold=2, metric="linf"), AttributeChange(), PartitionBy(["sort"]),
                    Distance(threshold=2, attributes=["x"])):  # fmt: skip
        graph = Policy(domain=domain, secrets=secrets).graph
        found = moves_along(graph, domain)
        assert found is not None
        seen = {(abs(x[0] - y[0]), int(x[1] != y[1]), abs(x[2] - y[2]))
                for x, y in graph.edges(limit=10**6)}  # fmt: skip
        assert found == seen
        assert max(map(sum, found)) == max(
            steps_between(x, y, domain) for x, y in graph.edges(limit=10**6)
        )


def laws(sides, variance, reach):
    """The law of the counts on a box of whole numbers, all but the last value: by convolution."""
    cells, rows = incidence(sides)
    wide = [np.arange(-reach, reach + 1)] * (len(cells) - 1)
    grid = np.zeros([2 * reach + 1] * (len(cells) - 1))
    grid[tuple([reach] * (len(cells) - 1))] = 1.0
    for row in rows:
        step = tuple(int(value) for value in row[:-1])
        total = np.zeros_like(grid)
        for k in wide[0]:
            shifted = np.roll(grid, [k * s for s in step], axis=tuple(range(len(step))))
            total += exp(-(int(k) ** 2) / (2 * variance)) * shifted
        grid = total
    return cells, grid / grid.sum()


def divergence(one, two, order):
    """The Renyi divergence, from all that has a probability that a float can hold."""
    held = (one > 1e-250) & (two > 1e-250)
    logs = order * np.log(one[held]) + (1 - order) * np.log(two[held])
    return log(np.exp(logs).sum()) / (order - 1)


@pytest.mark.parametrize("variance", [Fraction(3, 4), Fraction(3, 2), Fraction(3)], ids=str)
def test_divergences_on_a_square_keep_to_what_is_proved(variance):
    """Four values, a circle: the exact law of the counts, moved along each step, at some orders."""
    square = ((2, True), (2, True))
    domain = Domain(x=Integers(0, 1), y=Integers(0, 1))
    graph = Policy(domain=domain, secrets=Distance(threshold=1)).graph
    rho = steps_rho(variance, graph, (0, 1), domain)
    assert rho < Fraction(1) / (2 * variance) or variance < 1
    cells, law = laws(square, float(variance), 20)
    for x, y in itertools.combinations(range(4), 2):
        if sum(abs(a - b) for a, b in zip(cells[x], cells[y], strict=True)) > 1:
            continue
        move = tuple(int(k == x) - int(k == y) for k in range(3))
        moved = np.roll(law, move, axis=(0, 1, 2))
        reached = [divergence(law, moved, order) / order for order in (1.01, 1.5, 2, 3, 4)]
        assert max(reached) <= float(rho) + 1e-6
        assert max(reached) >= 0.99 * 0.75 / (2 * float(variance)) - 0.05 * float(rho)


TRIANGLE = Domain(sort=Labels(["a", "b", "c"]))
SQUARE = Domain(x=Integers(0, 1), y=Integers(0, 1))


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(1), Fraction(3)], ids=str)
@pytest.mark.parametrize(("domain", "far"), [(TRIANGLE, 2 / 3), (SQUARE, 1.0)], ids=["3", "2x2"])
def test_divergences_of_all_moves_keep_to_what_is_proved(domain, far, variance):
    """Three values that are a step apart each, and a square with its diagonals: where D counts."""
    sides = tuple((kind.size, kind.ordered) for _, kind in domain.attributes)
    graph = Policy(domain=domain).graph
    rho = float(steps_rho(variance, graph, tuple(range(len(sides))), domain))
    cells, law = laws(sides, float(variance), 16)
    free = len(cells) - 1
    worst = 0.0
    for x, y in itertools.permutations(range(len(cells)), 2):
        move = tuple(int(k == x) - int(k == y) for k in range(free))
        moved = np.roll(law, move, axis=tuple(range(free)))
        found = (divergence(law, moved, order) / order for order in (1.01, 1.5, 2, 3, 4))
        worst = max(worst, *found)
    assert 0.9 * far / (2 * float(variance)) <= worst <= rho + 1e-6


@pytest.mark.parametrize("variance", [0.8, 1.2, 2.0])
def test_what_goes_round_changes_by_no_more_than_is_said(variance):
    """Two squares side by side: the sum over all whole circulations, at points between them."""
    basis = np.array([[4.0, -1.0], [-1.0, 4.0]])  # two squares with a step in common
    whole = np.array(list(itertools.product(range(-12, 13), repeat=2)))
    sums = []
    for u in itertools.product(np.linspace(0, 1, 9), repeat=2):
        apart = whole - np.array(u)
        sums.append(np.exp(-((apart @ basis) * apart).sum(axis=1) / (2 * variance)).sum())
    said = round_about(2, Fraction(variance))
    assert said is not None
    changed = log(max(sums) / min(sums))
    assert 0 < changed <= float(said)
    farther = round_about(3, Fraction(variance))
    assert farther is not None and farther > said


def test_nothing_is_said_where_the_noise_is_too_small():
    assert round_about(5, Fraction(1, 10)) is None
    domain = Domain(x=Integers(0, 3), y=Integers(0, 3))
    graph = Policy(domain=domain, secrets=Distance(threshold=2)).graph
    assert steps_rho(Fraction(1, 10), graph, (0, 1), domain) == 10


@pytest.mark.parametrize("rho", [Fraction(1, 200), Fraction(1, 8), Fraction(1, 2), Fraction(20)])
@pytest.mark.parametrize("size", [4, 64, 300])
def test_the_variance_keeps_to_its_rho(rho, size):
    domain = Domain(x=Integers(0, size - 1), y=Integers(0, size - 1))
    for threshold in (1, 2, 40):
        graph = Policy(domain=domain, secrets=Distance(threshold=threshold)).graph
        found = variance_for(rho, graph, (0, 1), domain)
        assert steps_rho(found, graph, (0, 1), domain) <= rho


def test_it_is_proved_by_what_is_drawn_and_less_is_refuted():
    domain = Domain(x=Integers(0, 5), y=Integers(0, 3))
    near = Policy(domain=domain, secrets=Distance(threshold=1))

    def judged(variance, policy=near, along=("x", "y"), rho=Fraction(1, 8)):
        release = Release(query="histogram", noise="discrete-gaussian-steps", variance=variance,
                          along=along)  # fmt: skip
        return certify(Mechanism(releases=(release,)), policy, Promise(rho=rho))

    assert judged(Fraction(3)).verdict == "proved"
    low = judged(Fraction(1))
    assert low.verdict == "refuted"
    assert low.witness is not None
    assert judged(Fraction(3), along=("x",)).verdict == "undecided"
    known = Policy(domain=domain, secrets=Distance(threshold=1), known=(Marginal(("x",)),))
    assert judged(Fraction(9), policy=known).verdict == "undecided"
    release = Release(query="histogram", noise="discrete-gaussian-steps", variance=Fraction(3),
                      along=("x", "y"))  # fmt: skip
    pure = certify(Mechanism(releases=(release,)), near, Promise(Fraction(100)))
    assert pure.verdict == "refuted"
    both = Mechanism(releases=(release, Release(query="marginal(x)", noise="discrete-gaussian",
                                                variance=Fraction(8))))  # fmt: skip
    found = certify(both, near, Promise(rho=Fraction(1, 4)))
    alone = certify(Mechanism(releases=(release,)), near, Promise(rho=Fraction(1, 4)))
    assert found.verdict == "proved"
    assert alone.upper is not None and not isinstance(alone.upper, str)
    assert found.upper == alone.upper + Fraction(1, 8)
    at_delta = certify(Mechanism(releases=(release,)), near,
                       Promise(Fraction(4), delta=Fraction(1, 10**6)))  # fmt: skip
    assert at_delta.verdict == "proved"


def test_a_line_and_noise_on_its_steps_are_the_prefixes():
    """Without a way round, rho is that of Gaussian noise on each prefix: the same number."""
    domain = Domain(x=Integers(0, 6))
    policy = Policy(domain=domain, secrets=Distance(threshold=2))
    steps = Release(query="histogram", noise="discrete-gaussian-steps", variance=Fraction(3),
                    along=("x",))  # fmt: skip
    prefixes = Release(query="cumulative(x)", noise="discrete-gaussian", variance=Fraction(3))
    found = [certify(Mechanism(releases=(item,)), policy, Promise(rho=Fraction(1)))
             for item in (steps, prefixes)]  # fmt: skip
    assert found[0].lower == found[0].upper == found[1].upper == Fraction(1, 3)
