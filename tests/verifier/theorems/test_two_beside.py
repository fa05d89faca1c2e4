"""Cells and two facts beside them: the steps of the proof, and the bound, on what was listed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import gcd, hypot, isqrt, prod, sqrt

import pytest

from blowproof.models import (
    Between,
    Count,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    Sum,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.neighbours.zero_parts import zero_part
from blowproof.verifier.theorems.beside import (
    all_at_once,
    beside,
    facts_beside,
    groups_of,
    longest_beside,
    most_cycles,
)
from blowproof.verifier.theorems.lengths.two_beside import longest_with_two

Vector = tuple[int, int]
Move = tuple[int, Vector, int, Vector]
"""From a class, with a label, to a class, with a label."""

FOUR = [(0, 0), (0, 1), (1, 0), (1, 1)]


def total(vectors: Sequence[Vector]) -> Vector:
    return sum(x for x, _ in vectors), sum(y for _, y in vectors)


def irreducible(rng: random.Random) -> list[Vector]:
    """Vectors that sum to 0, of which no proper part does: a circuit, some of it merged."""
    wide = rng.randint(1, 4)
    (a, b), (c, d), (e, f) = ((rng.randint(-wide, wide), rng.randint(-wide, wide)) for _ in "abc")
    times = [c * f - d * e, e * b - f * a, a * d - b * c]
    if min(times) <= 0:
        return []
    whole = gcd(*times)
    kinds = zip(times, ((a, b), (c, d), (e, f)), strict=True)
    found = [v for k, v in kinds for _ in range(k // whole)]
    for _ in range(rng.randrange(max(1, len(found) - 2))):
        one, other = (found.pop(rng.randrange(len(found))) for _ in "ab")
        found.append(total([one, other]))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_pairs_of_sums_are_no_more_than_values_allow(seed: int) -> None:
    """(iii): k l <= g max(1, w), and so k + l <= 2 D^2, for the sides of the longest sum."""
    rng = random.Random(seed)
    large = 0
    for _ in range(120):
        vectors = irreducible(rng)
        counts = Counter(vectors)
        if not vectors or prod(times + 1 for times in counts.values()) > 3000:
            continue
        assert zero_part(Counter[tuple[int, ...]](vectors)) is False
        sides = []
        for times in product(*(range(most + 1) for most in counts.values())):
            part = [v for k, v in zip(times, counts, strict=True) for _ in range(k)]
            sides.append((sum(z * z for z in total(part)), part))
        _, left = max(sides)
        right = list((counts - Counter(left)).elements())
        x, y = total(left)
        assert all(x * v + y * w > 0 for v, w in left)
        assert all(x * v + y * w < 0 for v, w in right)
        whole = gcd(x, y)
        wide = 0
        for side in (left, right):
            values = [(x * w - y * v) // whole for v, w in side]
            wide += max(values) - min(values)
        assert len(left) * len(right) <= whole * max(1, wide)
        far = max(abs(x * w - y * v) // whole for v, w in vectors)
        assert len(left) * len(right) <= whole * max(1, 2 * far)
        assert len(vectors) <= 2 * max(map(apart, product(vectors, vectors)))
        large += len(vectors) > 8
    assert large


def values_of_sum_0(rng: random.Random) -> list[int]:
    """Numbers that sum to 0, above and below it, and some that are 0."""
    above = [rng.randint(1, 5) for _ in range(rng.randint(1, 4))]
    below = [1] * sum(above)
    while len(below) > 1 and rng.random() < 0.8:
        k = rng.randrange(len(below) - 1)
        if below[k] + below[k + 1] < 6:
            below[k : k + 2] = [below[k] + below[k + 1]]
    rng.shuffle(above)
    rng.shuffle(below)
    return [*above, *(-y for y in below), *[0] * rng.randrange(3)]


def met(values: Sequence[int], turn: int) -> list[int]:
    """Go round a circle: a positive value is next where the sum so far is 0 or less, else one
    that is negative. Return the sums; values of 0 are left out.
    """
    above, below = ([v for v in values if v * sign > 0] for sign in (1, -1))
    up = next(k for k in range(len(above)) if sum(above[: k + 1]) > turn) + 1
    first = so_far = sum(above[:up]) - turn
    down, sums = 0, []
    for _ in range(len(above) + len(below)):
        sums.append(so_far)
        if so_far <= 0:
            so_far += above[up % len(above)]
            up += 1
        else:
            so_far += below[down]
            down += 1
    assert so_far == first
    assert down == len(below)
    return sums


@pytest.mark.parametrize("seed", range(10))
def test_sums_of_two_circles_meet_often_enough(seed: int) -> None:
    """(iii): some turns, and one of both ways round, have k l / (2 h) pairs with one sum."""
    rng = random.Random(seed)
    for _ in range(12):
        one, two = values_of_sum_0(rng), values_of_sum_0(rng)
        far = max(map(abs, (*one, *two)))
        counted = Counter[str]()
        sides = []
        for values in (one, two):
            size, moving = sum(v for v in values if v > 0), sum(v != 0 for v in values)
            every = [Counter(met(values, turn)) for turn in range(size)]
            above, below = ([abs(v) for v in values if v * sign > 0] for sign in (1, -1))
            for turn in every:  # the steps from each sum to the next are the values
                assert turn.total() == moving
            for z in range(-6, 7):
                known = (
                    len(below) * sum(x >= z for x in above)
                    if z > 0
                    else len(above) * sum(y >= 1 - z for y in below)
                )
                assert sum(turn[z] for turn in every) == known
            sides.append((sum(every, Counter()), len(values), moving * size))
        (first, left, c), (second, right, d) = sides
        counted["one way"] = sum(first[z] * second[1 - z] for z in first)
        counted["other way"] = sum(first[z] * second[z] for z in first)
        # on average over turns, and zeros put where any sum is met
        share = Fraction(left * right, c * d)
        assert share * counted.total() * far >= left * right


@pytest.mark.parametrize("seed", range(6))
def test_signs_leave_no_more_than_the_two_longest(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        vectors = [(rng.randint(-5, 5), rng.randint(-5, 5)) for _ in range(rng.randint(1, 8))]
        squares = sorted((x * x + y * y for x, y in vectors), reverse=True)
        signed = (
            total([(s * x, s * y) for s, (x, y) in zip(signs, vectors, strict=True)])
            for signs in product((1, -1), repeat=len(vectors))
        )
        assert min(x * x + y * y for x, y in signed) <= sum(squares[:2])


def cuts(moves: Counter[Move]) -> Iterator[list[list[Move]]]:
    """Every way to cut a circulation into simple cycles (each way perhaps more than once)."""
    if not moves:
        yield []
        return
    first = min(moves)

    def walks(walk: list[Move], left: Counter[Move]) -> Iterator[tuple[list[Move], Counter[Move]]]:
        at = walk[-1][2]
        if at == walk[0][0]:
            yield walk, left
            return
        for move in sorted(left):
            if move[0] == at and all(move[2] != done[2] for done in walk):
                yield from walks([*walk, move], left - Counter([move]))

    for cycle, left in walks([first], moves - Counter([first])):
        for others in cuts(left):
            yield [cycle, *others]


def label(cycle: Sequence[Move]) -> Vector:
    return total([(v[0] - w[0], v[1] - w[1]) for _, w, _, v in cycle])


def apart(two: tuple[Vector, Vector]) -> int:
    return sum((x - y) ** 2 for x, y in zip(*two, strict=True))


def circulation(rng: random.Random, labels: Sequence[Sequence[Vector]]) -> Counter[Move]:
    """Simple cycles at random until labels sum to 0, or none."""
    found: Counter[Move] = Counter()
    kinds, count = [], len(labels)
    for _ in range(3):
        order = rng.sample(range(count), rng.randint(1, count))
        heads = [*order[1:], order[0]]
        arcs = zip(order, heads, strict=True)
        kinds.append([(c, rng.choice(labels[c]), d, rng.choice(labels[d])) for c, d in arcs])
    for times in sorted(product(range(4), repeat=3), key=sum)[1:]:
        every = [move for k, cycle in zip(times, kinds, strict=True) for move in cycle * k]
        if label(every) == (0, 0) and len(every) < 13:
            found = Counter(every)
            break
    effects: Counter[tuple[int, ...]] = Counter()
    for (c, out, d, into), often in found.items():
        effect = [0] * (count + 2)
        effect[c] -= 1
        effect[d] += 1
        effect[-2:] = [into[0] - out[0], into[1] - out[1]]
        effects[tuple(effect)] += often
    idle = effects[(0,) * (count + 2)]
    return Counter() if idle or not found or zero_part(effects) is not False else found


@pytest.mark.parametrize("seed", range(6))
def test_labels_of_the_best_cut_are_close(seed: int) -> None:
    """(i) and (ii), with the disc: every two cycles of a cut with the least squares."""
    rng = random.Random(seed)
    spoken = 0
    for _ in range(150):
        count = rng.randint(2, 4)
        wide = rng.randint(1, 2)
        points = [(x, y) for x in range(wide + 1) for y in range(wide + 1)]
        labels = [rng.sample(points, rng.randint(1, len(points))) for _ in range(count)]
        found = circulation(rng, labels)
        if not found:
            continue
        every = list(cuts(found))
        most = max(map(len, every))
        if most < 2:
            continue
        best = min(
            (cut for cut in every if len(cut) == most),
            key=lambda cut: sum(apart((label(cycle), (0, 0))) for cycle in cut),
        )
        radii = [max(map(apart, product(held, held))) for held in labels]
        sizes = [
            [max(column) - min(column) for column in zip(*held, strict=True)] for held in labels
        ]
        roots = [isqrt(10**12 * r) + 1 for r in radii]
        most_apart = min(
            (sum(roots) + max(roots)) ** 2 // 10**12,
            sum((sum(size) + max(size)) ** 2 for size in zip(*sizes, strict=True)),
        )
        for one, other in combinations(best, 2):
            far = apart((label(one), label(other)))
            assert far <= most_apart
            both = len(one) + len(other)
            if both > count + 1:
                assert far <= max(radii) * ((2 * count + 2 - both) ** 2 + 4)
            assert both + sqrt(far / max(radii)) <= 2 * count + sqrt(8) + 1e-9
        reach, radius = sum(map(sqrt, radii)), sqrt(max(radii))
        around = 2 * hypot(reach + 2 * radius, 2 * radius) + sqrt(8) * radius
        for three in combinations(best, 3):
            far_round = sum(sqrt(apart((label(x), label(y)))) for x, y in combinations(three, 2))
            assert far_round <= around + 1e-9
        moves, cycles = longest_with_two([(held, 1) for held in labels])
        assert found.total() <= moves
        assert most <= cycles
        spoken += 1
    assert spoken >= 5


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_the_search(seed: int) -> None:
    rng = random.Random(seed)
    spoken = 0
    for _ in range(4):
        cells, rows = rng.choice([(2, 2), (2, 3), (3, 2)])
        domain = Domain(
            a=Labels([str(k) for k in range(cells)]), b=Labels(["F", "M"]),
            c=Labels([str(k) for k in range(rows)]), z=Labels(["u", "v"]),
        )  # fmt: skip
        known: list[Marginal | Impossible] = [Marginal(["a"]), *rng.choice(
            [[Marginal(["b"]), Marginal(["c"])], [Marginal(["b", "c"])], [Marginal(["c"])]]
        )]  # fmt: skip
        nowhere = [(a, b, c) for a in range(cells) for b in "FM" for c in range(rows)]
        away = [{"a": str(a), "b": b, "c": str(c)} for a, b, c in rng.sample(nowhere, 3)]
        policy = Policy(domain=domain, known=(*known, Impossible(away)))
        question = Question(
            prepare(setting(policy), "published"), parse_query("histogram", policy), "published"
        )
        bound = facts_beside(question)
        truth = sensitivity(policy, "histogram", engine="search", time_limit=3)
        if bound is None or bound.upper is None:
            continue
        assert truth.lower <= bound.upper
        spoken += truth.lower > 0
    assert spoken


@pytest.mark.parametrize(
    ("sizes", "known", "longest"),
    [
        ((2, 2, 3), ("a", "b", "c"), 24),
        ((2, 2, 4), ("a", "b", "c"), 42),
        ((3, 5), ("a", "b"), 43),
        ((3, 6), ("a", "b"), 66),
        ((2, 8, 2), ("ab", "ac"), 620),
        ((2, 16, 2), ("ab", "ac"), 4313),
    ],
)
def test_what_is_known_is_within(
    sizes: tuple[int, ...], known: tuple[str, ...], longest: int
) -> None:
    domain = Domain(
        **{axis: Labels([str(k) for k in range(n)]) for axis, n in zip("abc", sizes, strict=False)}
    )
    policy = Policy(domain=domain, known=tuple(Marginal(list(axes)) for axes in known))
    asked = prepare(setting(policy), "published")
    found = beside(class_table(asked), groups_of(asked))
    assert found is not None
    assert len(found.widths) == 2
    assert longest <= longest_beside(found) <= all_at_once(found)
    assert most_cycles(found) <= all_at_once(found) // found.count
    if found.count > 10:
        assert 4 * longest_beside(found) < all_at_once(found)
        assert longest_beside(found) <= 6 * longest


def test_classes_in_any_order_and_labels_moved_away() -> None:
    """What is the same for labels that are moved in each class, turned or mirrored."""
    labels = [FOUR, FOUR[:3], FOUR[:2], [(0, 0)], [(0, 0), (2, 1)]]
    told = longest_with_two([(held, 1) for held in labels])
    for order in list(permutations(labels))[::17]:
        away = [[(x + 5 * k, 3 - y) for x, y in held] for k, held in enumerate(order)]
        assert longest_with_two([(held, 1) for held in away]) == told
        turned = [[(y, x) for x, y in held] for held in order]
        assert longest_with_two([(held, 1) for held in turned]) == told


def test_a_margin_of_three_labels_has_less() -> None:
    """12 cells: 1,842 moves, was 2,882; 343 are known. Beside all labels of two counts 24 cells had
    33,600.
    """
    three = FOUR[:3]
    assert longest_with_two([(three, 12)]) == (1842, 216)
    assert longest_with_two([(FOUR, 24)])[0] < 33_600 * 2 // 3


def test_large_numbers_stay_whole() -> None:
    """Widths beyond 64 bits, thousands of classes."""
    wide = 10**30
    corners = [(0, 0), (0, 1), (wide, 0), (wide, 1)]
    moves, cycles = longest_with_two([(corners, 5000)])
    assert 5000 * wide < moves < 10**12 * wide
    assert cycles < 10**9 * wide


def test_a_count_of_one_cell_changes_once_in_a_cycle() -> None:
    """S of the count was bounded by all moves, 27,695: by visits of the two cells that matter."""
    domain = Domain(
        a=Labels([str(k) for k in range(16)]), b=Labels(["F", "M"]), c=Labels(["low", "high"])
    )
    policy = Policy(
        domain=domain,
        known=(Marginal(["a", "b"]), Marginal(["b", "c"])),
        queries=(NamedCount("one", {"a": "3", "c": "high"}),),
    )
    asked = prepare(setting(policy), "published")
    told = beside(class_table(asked), groups_of(asked))
    found = facts_beside(Question(asked, parse_query("count(one)", policy), "published"))
    assert found is not None and told is not None
    assert found.upper == 2 * most_cycles(told) < longest_beside(told) / 10


@pytest.mark.parametrize("seed", range(4))
def test_single_cells_hold_the_search(seed: int) -> None:
    """Queries on some of the cells, one or two facts beside them: the search lists every pair."""
    rng = random.Random(f"cells {seed}")
    fewer = 0
    for number in range(3):
        cells, beside_them = (3, 1) if number == 0 else (2, 2)
        domain = Domain(a=Integers(0, cells - 1), b=Integers(0, 2))
        some = {"a": Between(0, rng.randrange(cells)), "b": rng.randrange(3)}
        facts: list[Count | Sum] = [
            Count({"b": 0}),
            Count({"b": Between(0, 1)}),
            Count(some),
            Sum([(1, {"b": 1}), (2, some)]),
        ]
        wanted = NamedCount(
            "one", {"a": rng.randrange(cells), "b": rng.choice([0, 1, 2, Between(0, 1)])}
        )
        chosen = rng.sample(facts, beside_them)
        policy = Policy(
            domain=domain,
            known=(Marginal(["a"]), *chosen),
            queries=(wanted,),
        )
        for text in ("count(one)", "sum(b)", "cumulative(b)", "ranges(b)"):
            question = Question(
                prepare(setting(policy), "published"), parse_query(text, policy), "published"
            )
            found = facts_beside(question)
            truth = sensitivity(policy, text, engine="search", time_limit=2)
            assert found is not None and found.upper is not None
            assert truth.lower <= found.upper, (policy, text)
            fewer += "out of one cell" in " ".join(found.notes)
    assert fewer


@pytest.mark.parametrize("cells", [2, 3, 16])
def test_two_facts_say_half_of_a_count_of_both(cells: int) -> None:
    """Records that both facts count: a move changes their number by 1, and half of it is known."""
    known = (Marginal(["a"]), Count({"b": 0}), Count({"c": 0}))
    policy = Policy(
        domain=Domain(a=Integers(1, cells), b=Integers(0, 1), c=Integers(0, 1)),
        known=known,
        queries=(NamedCount("both", {"b": 0, "c": 0}),),
    )
    told = prepare(setting(policy), "published")
    both, table = (
        facts_beside(Question(told, parse_query(text, policy), "published"))
        for text in ("count(both)", "marginal(b,c)")
    )
    assert both is not None and both.upper is not None and table is not None
    assert isinstance(table.upper, int)
    assert both.upper == Fraction(table.upper, 4)
    if cells == 2:
        truth = sensitivity(policy, "count(both)", engine="search", time_limit=20)
        assert truth.status == "exact"
        assert truth.lower <= both.upper


@pytest.mark.parametrize(
    ("paths", "labels", "moves"),
    [
        ((2, 2, 1, 1), [(2, 2), (-2, -1), (1, -1), (-1, 1)], 42),
        ((4, 3, 3, 3), [(4, 4), (-3, -3), (-3, 2), (3, -3)], 498),
        ((5, 5, 4, 4), [(5, -5), (-4, 5), (-4, -4), (4, 4)], 1368),
        ((6, 6, 5, 5), [(6, 6), (-6, -5), (-5, 5), (5, -5)], 2530),
    ],
)
def test_two_paths_there_and_two_back_are_a_long_circuit(
    paths: tuple[int, ...], labels: list[Vector], moves: int
) -> None:
    """Records that take the paths are as 3 x 3 determinants say; no part of them has no effect."""
    count = sum(paths) - 2
    columns = [(x, y, 1 if k < 2 else -1) for k, (x, y) in enumerate(labels)]
    taken = []
    for k in range(4):
        (a, b, c), (d, e, f), (g, h, i) = columns[:k] + columns[k + 1 :]
        taken.append((-1) ** k * (a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)))
    times = [abs(each) // gcd(*taken) for each in taken]
    assert sum(m * arcs for m, arcs in zip(times, paths, strict=True)) == moves
    effects: Counter[tuple[int, ...]] = Counter()
    inner = iter(range(2, count))
    for k, (arcs, label, often) in enumerate(zip(paths, labels, times, strict=True)):
        places = [k // 2, *(next(inner) for _ in range(arcs - 1)), 1 - k // 2]
        steps = [[(n > t) - (n < -t) for n in label] for t in range(arcs)]
        for (one, two), step in zip(pairwise(places), steps, strict=True):
            effects[(*((j == two) - (j == one) for j in range(count)), *step)] += often
    assert not any(map(sum, zip(*effects.elements(), strict=True)))
    assert zero_part(effects) is False
    assert moves <= longest_with_two([(FOUR, count)])[0] <= 10 * moves
