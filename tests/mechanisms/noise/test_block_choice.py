"""Partitions into blocks within blocks, drawn by the exponential mechanism: exact chances."""

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import exp, log
from statistics import median

import numpy as np
import pytest

from blowproof.mechanisms.expecting.rehearsal import Stage
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.noise.block_choice import raw_block_choice
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import release
from blowproof.mechanisms.release.request import Request
from blowproof.mechanisms.structures.halvings import Halvings
from blowproof.mechanisms.structures.medians import FINE
from blowproof.models import Distance, Domain, Integers, Labels, Marginal, Policy, QueryError
from blowproof.models.base.errors import BudgetError, PolicyError
from blowproof.models.mechanisms.mechanism import BLOCKS, Mechanism, Selection
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.selections.selections import choice_factor

SMALL = Domain(x=Integers(0, 2), y=Integers(0, 1))
Partition = tuple[tuple[int, int], ...]


def partitions(halvings: Halvings, level: int, block: int) -> Iterator[Partition]:
    """Yield every way to cut a block, as (level, block) of what stays whole."""
    children = np.flatnonzero(halvings.parents[level - 1] == block).tolist() if level else []
    if len(children) != 1:
        yield ((level, block),)
    if children:
        for parts in product(*(list(partitions(halvings, level - 1, at)) for at in children)):
            yield tuple(sorted(one for part in parts for one in part))


def chances(counts: list[int], penalty: Fraction, scale: float) -> dict[Partition, float]:
    halvings = Halvings(SMALL)
    costs = halvings.costs(np.array(counts), penalty)
    top = len(costs) - 1
    weights = {
        parts: exp(-sum(int(costs[level][block]) for level, block in parts) / FINE / scale)
        for parts in partitions(halvings, top, 0)
    }
    return {parts: weight / sum(weights.values()) for parts, weight in weights.items()}


def chi_square(found: Counter[Partition], expected: dict[Partition, float], draws: int) -> float:
    return sum((found[parts] - draws * chance) ** 2 / (draws * chance)
               for parts, chance in expected.items() if draws * chance >= 5)  # fmt: skip


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(40), Fraction(1, 2)])
def test_blocks_are_drawn_in_proportion_to_their_weights(scale: Fraction) -> None:
    counts, penalty, draws = [3, 4, 0, 9, 4, 4], Fraction(3, 2), 3_000
    halvings, source = Halvings(SMALL), random.Random(5)
    costs = [row.tolist() for row in halvings.costs(np.array(counts), penalty)]
    parents = [row.tolist() for row in halvings.parents]
    found: Counter[Partition] = Counter()
    for _ in range(draws):
        whole = raw_block_choice(costs, parents, 1 / (scale * FINE), source=source.randbytes)
        found[tuple((level, at) for level, row in enumerate(whole) for at in row)] += 1
    expected = chances(counts, penalty, float(scale))
    assert set(found) <= set(expected)
    assert len(expected) == 10
    assert chi_square(found, expected, draws) < 35  # nine degrees of freedom: one in ten thousand


def test_a_rehearsal_draws_the_same_blocks() -> None:
    counts, scale, draws = [3, 4, 0, 9, 4, 4], Fraction(6), 3_000
    item = Selection(query="histogram", candidates=BLOCKS, scale=scale)
    stage = Stage(Policy(domain=SMALL), NoisyTable(np.array(counts), SMALL), 3)
    expected = chances(counts, Fraction(1), float(scale))
    halvings, named = Halvings(SMALL), {}
    for parts in expected:
        whole = [[at for level, at in parts if level == row] for row in range(len(halvings.widths))]
        named[halvings.buckets(whole).tobytes()] = parts
    found = Counter(named[stage.choose(item, penalty=Fraction(1)).tobytes()] for _ in range(draws))
    assert chi_square(found, expected, draws) < 35


def test_a_number_at_a_border_is_drawn_on_until_it_decides() -> None:
    """Cut or whole has the chance 1/2 each; the number begins with exactly that."""
    for first, then, whole in ((0x80, b"\x00", [[0, 1], []]), (0x7F, b"\xff", [[], [0]])):
        asked: list[int] = []

        def source(many: int, first: int = first, then: bytes = then,
                   asked: list[int] = asked) -> bytes:  # fmt: skip
            asked.append(many)
            early = len(asked) < 5
            rest = then if early else bytes([255 - then[0]])
            return rest * (many - 1) + (bytes([first]) if len(asked) == 1 else rest)

        costs, parents = [[0, 0], [0]], [[0, 0]]
        found = raw_block_choice(costs, parents, Fraction(1), source=source)
        assert found == whole
        assert len(asked) > 3  # more than one round of bits was needed


@pytest.mark.parametrize("huge", [2**31, 2**53, 2**63, 2**70])
def test_costs_beyond_any_word_are_told_apart(huge: int) -> None:
    assert raw_block_choice([[0, 0], [huge]], [[0, 0]], Fraction(1)) == [[0, 1], []]
    assert raw_block_choice([[huge, huge], [0]], [[0, 0]], Fraction(1)) == [[], [0]]
    line = Halvings(Domain(x=Integers(0, 2)))
    found = line.costs(np.array([huge, 0, huge], dtype=object), Fraction(0))
    assert [row.tolist() for row in found] == [[0, 0, 0], [FINE * huge, 0], [FINE * huge]]


@pytest.mark.parametrize("penalty", [2**57 - Fraction(1, 2), Fraction(2**57), Fraction(10**30)])
def test_a_penalty_beyond_any_word_is_added_to_small_counts(penalty: Fraction) -> None:
    """The first wrapped round: a block cost less than nothing once a few counts differed."""
    line, counts = Halvings(Domain(x=Integers(0, 3))), np.array([5, 5, 9, 1])
    for own, far in zip(line.costs(counts, penalty), line.costs(counts, Fraction(0)), strict=True):
        assert own.tolist() == [cost + FINE * penalty for cost in far.tolist()]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2**56), Fraction(1, 10**25)])
def test_blocks_are_drawn_for_the_smallest_epsilon(epsilon: Fraction) -> None:
    """It ended in an OverflowError, after the charge."""
    domain = Domain(x=Integers(0, 1), y=Integers(0, 1))
    asked = Request(policy=Policy(domain=domain), epsilon=epsilon, accept_wide_bounds=True)
    found = release(made_ready("dawa", asked), NoisyTable(np.array([5, 5, 9, 1]), domain))
    assert len(found.answers) == 4


def test_the_costs_are_deviations_from_the_median_and_a_penalty() -> None:
    domain = Domain(x=Integers(0, 4), s=Labels(["a", "b"]), y=Integers(0, 2))
    halvings, penalty = Halvings(domain), Fraction(5, 4)
    counts = np.random.default_rng(2).integers(0, 30, domain.size)
    found = halvings.costs(counts, penalty)
    assert [len(row) for row in found] == [30, 18, 12, 8, 4, 2]
    assert sum(map(len, found)) == halvings.count
    for level, row in enumerate(found):
        vertex = halvings.vertex(level)
        for block, cost in enumerate(row.tolist()):
            held = counts[vertex == block].tolist()
            far = sum(abs(count - median(held)) for count in held)
            assert cost == FINE * (far + penalty)


def test_neighbours_never_lose_more_than_the_certifier_says() -> None:
    """Every partition of every pair of small tables that differ in one move."""
    scale = Fraction(4)
    item = Selection(query="histogram", candidates=BLOCKS, scale=scale)
    factor = choice_factor(item, SMALL.size)
    assert factor is not None
    worst = 0.0
    for one in ([3, 0, 2, 1, 0, 0], [0, 4, 0, 0, 4, 0], [9, 1, 1, 9, 1, 1], [0, 0, 0, 0, 0, 1]):
        for here, there in product(range(6), repeat=2):
            two = list(one)
            two[here] -= 1
            two[there] += 1
            if min(two) >= 0:
                pair = [chances(counts, Fraction(1), float(scale)) for counts in (one, two)]
                worst = max(worst, *(abs(log(pair[0][at] / pair[1][at])) for at in pair[0]))
    assert worst <= 2 * float(factor) * (1 + 1e-12)  # S = 2
    assert worst > 0.4 * float(factor)


@pytest.mark.parametrize("order", [1.01, 2, 8, 40])
def test_no_divergence_is_above_an_eighth_of_the_square(order: float) -> None:
    """The pairs of the test before: D_t <= t epsilon^2 / 8, for epsilon = 2 S / scale."""
    scale = 4.0
    for one in ([3, 0, 2, 1, 0, 0], [0, 4, 0, 0, 4, 0], [9, 1, 1, 9, 1, 1]):
        for here, there in product(range(6), repeat=2):
            two = list(one)
            two[here] -= 1
            two[there] += 1
            if min(two) >= 0:
                p, q = (chances(counts, Fraction(0), scale) for counts in (one, two))
                moment = sum(p[at] ** order * q[at] ** (1 - order) for at in p)
                assert log(moment) / (order - 1) <= order * (4 / scale) ** 2 / 8 + 1e-9


def test_a_smaller_scale_is_not_proved() -> None:
    policy = Policy(domain=SMALL)
    for scale, verdict in ((Fraction(4), "proved"), (Fraction(399, 100), "undecided")):
        item = Selection(query="histogram", candidates=BLOCKS, scale=scale)
        assert certify(Mechanism(selections=(item,)), policy, Fraction(1)).verdict == verdict


@pytest.mark.parametrize("secrets", [None, Distance(threshold=1)])
@pytest.mark.parametrize("query", ["histogram", "marginal(x)", "rectangles(x,y)"])
def test_a_grid_is_released_in_blocks(query: str, secrets: Distance | None) -> None:
    domain = Domain(x=Integers(0, 7), y=Integers(0, 4))
    policy = Policy(domain=domain) if secrets is None else Policy(domain=domain, secrets=secrets)
    made = made_ready("dawa", Request(policy=policy, query=query, epsilon=Fraction(1000)))
    assert proved(made).verdict == "proved"
    counts = np.repeat([50, 0], 20)
    answers = [float(value) for value in release(made, NoisyTable(counts, domain)).answers]
    assert max(answers) > 49.5
    if query == "marginal(x)":
        assert np.allclose(answers, [250] * 4 + [0] * 4, atol=0.5)


def test_what_is_no_partition_of_a_grid_is_refused() -> None:
    grid = Policy(domain=SMALL)
    line = Policy(domain=Domain(x=Integers(0, 15)))

    def ready(policy: Policy, **options: str) -> None:
        made_ready("dawa", Request(policy=policy, epsilon=Fraction(1), options=options))

    ready(line, partition="blocks")
    for policy, options, error, said in (
        (grid, {"partition": "drawn"}, QueryError, "a grid has no partition"),
        (grid, {"caution": "-1"}, QueryError, "not below 0"),
        (line, {"partition": "best"}, QueryError, "no partition"),
        (
            Policy(domain=Domain(x=Integers(0, 1023), y=Integers(0, 1023))),
            {},
            BudgetError,
            "blocks",
        ),
    ):
        with pytest.raises(error, match=said):
            ready(policy, **options)
    with pytest.raises(Exception, match="one record"):
        ready(Policy(domain=SMALL, known=(Marginal(("x",)),)))
    with pytest.raises(PolicyError, match="0 or more"):
        raw_block_choice([[0, -1], [0]], [[0, 0]], Fraction(1))
