"""Irreducible multisets: known values, brute force, Normaliz, 4ti2, and the engines."""

import random
import subprocess
from fractions import Fraction
from itertools import product

import pytest

from blowproof.verifier.engines.irreducibles import choice as engines_module
from blowproof.verifier.engines.irreducibles import (
    circuits_lower_bound,
    first_irreducibles,
    improve,
    irreducibles,
    is_irreducible,
    longest,
    warm_up,
)
from blowproof.verifier.engines.irreducibles.choice import engines, identity
from blowproof.verifier.engines.irreducibles.multiset import Multiset, canonical, size
from blowproof.verifier.engines.irreducibles.search import Stopwatch, explore
from blowproof.verifier.engines.irreducibles.search_compiled import NumbaEngine, Tree
from blowproof.verifier.engines.irreducibles.symmetry import automorphisms, check_symmetry
from blowproof.verifier.exact.coordinates import Instance, length_bound
from solvers import needs

LINE = [(1,), (-1,), (3,), (-3,)]


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    warm_up()


def signatures(shape, margins):
    """The 0/1 signature of each cell of a table, for the counts of the given margins."""
    cells = list(product(*map(range, shape)))
    keys = [(m, v) for m in margins for v in product(*(range(shape[i]) for i in m))]
    return [
        tuple(int(all(c[i] == x for i, x in zip(m, v, strict=True))) for m, v in keys)
        for c in cells
    ]


def differences(points):
    found = {tuple(x - y for x, y in zip(a, b, strict=True)) for a in points for b in points}
    return sorted(d for d in found if any(d))


def with_negatives(points):
    return sorted({d for p in points if any(p) for d in (p, tuple(-x for x in p))})


def one_way(*shape):
    return differences(signatures(shape, [(i,) for i in range(len(shape))]))


def brute_force(effects, largest):
    """All irreducibles with at most `largest` elements, by growing multisets."""
    found = set()
    level: set[tuple[int, ...]] = {()}
    for _ in range(largest):
        following = set()
        for members in level:
            for i in range(members[-1] if members else 0, len(effects)):
                grown = (*members, i)
                if not any(map(sum, zip(*(effects[j] for j in grown), strict=True))):
                    found.add(canonical(grown))
                else:
                    following.add(grown)
        level = following
    return {m for m in found if not any(p != m and _within(p, m) for p in found)}


def _within(part, whole):
    counts = dict(whole)
    return all(counts.get(i, 0) >= times for i, times in part)


def random_effects(rng, most=10):
    while True:
        rank = rng.randint(1, 4)
        kind = rng.randrange(3)
        low, high, count = (0, 1, 4) if kind < 2 else (-2, 2, 5)
        points = {tuple(rng.randint(low, high) for _ in range(rank)) for _ in range(count)}
        effects = differences(points) if kind == 0 else with_negatives(points)
        if 0 < len(effects) <= most:
            rng.shuffle(effects)
            return effects


def total(weights, multiset):
    return sum(weights[i] * times for i, times in multiset)


KNOWN = [
    ("2x3", one_way(2, 3), 8),
    ("2x4", one_way(2, 4), 12),
    ("2x5", one_way(2, 5), 18),
    ("3x3", one_way(3, 3), 15),
    ("2x2x2", one_way(2, 2, 2), 10),
    ("AB,BC", differences(signatures((2, 2, 2), [(0, 1), (1, 2)])), 14),
    ("AB,BC,AC", differences(signatures((2, 2, 2), [(0, 1), (1, 2), (0, 2)])), 16),
]


@pytest.mark.parametrize(("effects", "length"), [k[1:] for k in KNOWN], ids=[k[0] for k in KNOWN])
def test_longest_of_known_tables(effects, length):
    result = longest(effects)
    assert (result.lower, result.upper, result.complete) == (length, length, True)
    assert size(result.witness) == length
    assert is_irreducible(effects, result.witness)


@pytest.mark.parametrize("cells", [2, 3, 5, 6])
def test_one_marginal_has_cycles_only(cells):
    assert longest(one_way(cells)).lower == max(cells, 2)


def test_graver_basis_of_a_small_table():
    # The Graver basis of the 2x2x2 table with all two-way margins is one move of degree 4.
    effects = with_negatives(signatures((2, 2, 2), [(0, 1), (1, 2), (0, 2)]))
    found = irreducibles(effects)
    sizes = sorted(map(size, found))
    assert found.complete
    assert sizes == [2] * 8 + [8] * 2


def test_everything_agrees_with_brute_force():
    rng = random.Random(1)
    for _ in range(40):
        effects = random_effects(rng, most=8)
        found = first_irreducibles(effects, 5)
        listed = list(found)
        assert found.complete
        assert len(listed) == len(set(listed))
        assert set(listed) == brute_force(effects, 5)


@pytest.mark.parametrize("plain_nodes", [0, 10**6], ids=["compiled", "plain"])
def test_hilbert_bases_agree_with_normaliz(plain_nodes, monkeypatch):
    normaliz = pytest.importorskip("PyNormaliz")
    monkeypatch.setattr(engines_module, "PLAIN_NODES", plain_nodes)
    rng = random.Random(2)
    for _ in range(40):
        effects = random_effects(rng)
        count = len(effects)
        cone = normaliz.Cone(
            equations=[list(row) for row in zip(*effects, strict=True)],
            inequalities=[[int(i == j) for j in range(count)] for i in range(count)],
        )
        basis = {tuple((i, x) for i, x in enumerate(u) if x) for u in cone.HilbertBasis()}
        found = irreducibles(effects, time_limit=300)
        assert set(found) == basis
        assert found.complete
        weights = [rng.randint(0, 4) for _ in effects]
        heaviest = max(total(weights, m) for m in basis)
        for symmetry in (True, False):
            result = longest(effects, weights, symmetry=symmetry, time_limit=300)
            assert (result.lower, result.upper, result.complete) == (heaviest, heaviest, True)
            assert total(weights, result.witness) == heaviest
        assert max(map(size, basis)) <= length_bound(Instance.of(effects))
        weight, circuit = circuits_lower_bound(effects, weights, 40)
        assert circuit in basis
        assert total(weights, circuit) == weight <= heaviest


@needs("4ti2-hilbert")
def test_hilbert_bases_agree_with_4ti2(tmp_path):
    rng = random.Random(3)
    for _ in range(15):
        effects = random_effects(rng)
        rows = [" ".join(map(str, row)) for row in zip(*effects, strict=True)]
        (tmp_path / "x.mat").write_text(f"{len(rows)} {len(effects)}\n" + "\n".join(rows) + "\n")
        (tmp_path / "x.sign").write_text(f"1 {len(effects)}\n" + "1 " * len(effects) + "\n")
        subprocess.run(["4ti2-hilbert", "-q", str(tmp_path / "x")], check=True)
        lines = (tmp_path / "x.hil").read_text().splitlines()[1:]
        numbers = [map(int, line.split()) for line in lines if line.strip()]
        basis = {tuple((i, x) for i, x in enumerate(u) if x) for u in numbers}
        assert set(irreducibles(effects)) == basis


def test_engines_agree_on_the_whole_set():
    effects = one_way(2, 3)
    instance = Instance.of(effects)
    sets = []
    for engine, _ in engines(instance, identity(instance), eager=False):
        found = explore(instance, engine, Stopwatch(None))
        sets.append([canonical(members) for members in found])
        assert found.complete
    assert len(sets) == 2
    assert sorted(sets[0]) == sorted(sets[1])
    assert len(set(sets[0])) == len(sets[0]) == 336


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 2), (2, 4)], ids=str)
def test_with_symmetries_an_image_of_everything_is_met(shape):
    instance = Instance.of(one_way(*shape))
    symmetries = automorphisms(instance)
    reduced = list(
        explore(instance, NumbaEngine(Tree.of(instance, symmetries, eager=False)), Stopwatch(None))
    )
    everything = list(irreducibles(instance.effects))
    images = {canonical(p[members].tolist()) for p in symmetries for members in reduced}
    assert images == set(everything)
    assert len(reduced) * 4 < len(everything) == len(images)


def test_improve_agrees_with_evaluating_all():
    rng = random.Random(4)
    for _ in range(30):
        effects = random_effects(rng)
        weights = [rng.randint(1, 4) for _ in effects]
        values = {
            m: Fraction(rng.randint(0, 3 * total(weights, m)), 3) for m in irreducibles(effects)
        }
        calls: list[Multiset] = []

        def evaluate(multiset, values=values, calls=calls):
            calls.append(multiset)
            return values[multiset]

        best = rng.choice([0, 1, 7])
        result = improve(effects, weights, evaluate, best=best)
        assert result.complete
        assert result.lower == max(best, *values.values())
        assert len(calls) == len(set(calls))
        assert bool(result.witness) == (result.lower > best)


def test_improve_uses_the_symmetries_it_is_given():
    effects = one_way(2, 4)
    symmetries = automorphisms(Instance.of(effects)).tolist()
    plain = improve(effects, [1] * len(effects), size)
    symmetric = improve(effects, [1] * len(effects), size, symmetries=symmetries)
    assert plain.lower == symmetric.lower == 12
    assert symmetric.nodes * 4 < plain.nodes


def test_symmetries_are_checked():
    instance = Instance.of(LINE)
    assert check_symmetry(instance, [1, 0, 3, 2]) == (1, 0, 3, 2)
    for wrong in ([1, 0, 2, 3], [2, 3, 0, 1], [0, 0, 2, 3], [0, 1]):
        with pytest.raises(ValueError, match="symmetry"):
            check_symmetry(instance, wrong)
    assert len(automorphisms(instance)) == 2
    assert len(automorphisms(Instance.of(LINE, [1, 2, 1, 1]))) == 1
    assert len(automorphisms(Instance.of(one_way(3, 3)))) == 288
    assert 1 < len(automorphisms(Instance.of(one_way(3, 3)), most=50)) <= 50


def test_stopped_searches_answer_with_bounds():
    effects = one_way(3, 4)
    seen = []
    result = longest(effects, time_limit=0.5, on_progress=lambda *news: seen.append(news))
    assert not result.complete
    assert is_irreducible(effects, result.witness)
    assert result.upper is not None
    assert result.lower <= 27 <= result.upper  # how far it comes depends on the machine
    few = irreducibles(effects, limit=10)
    assert len(list(few)) == 10
    assert not few.complete


def test_weights_may_be_fractions():
    result = longest(LINE, [Fraction(1, 2), 0, Fraction(1, 3), 1])
    assert (result.lower, result.complete) == (Fraction(5, 2), True)
    assert longest(LINE, [0, 0, 0, 0]).lower == 0


@pytest.mark.parametrize("shape", [(2, 3), (2, 4)])
def test_weights_may_be_huge(shape):
    """With a common factor, and without one, where sums would not fit into 64 bits."""
    effects = one_way(*shape)
    huge = 10**30
    assert longest(effects, [huge] * len(effects)).lower == huge * longest(effects).lower
    odd = [huge + int(d[0] > 0) for d in effects]
    plain, found = longest(effects, [int(d[0] > 0) for d in effects]), longest(effects, odd)
    assert found.complete
    assert found.lower // huge == longest(effects).lower
    assert 0 < found.lower % huge <= plain.lower


def test_a_hint_that_is_too_high_proves_an_upper_bound():
    result = longest(LINE, lower_bound_hint=9)
    assert (result.lower, result.witness, result.upper, result.complete) == (0, (), 8, False)
    assert longest(LINE, lower_bound_hint=4).complete


def test_no_effects():
    assert longest([]).complete
    assert list(irreducibles([])) == []
    assert circuits_lower_bound([]) == (0, ())


@pytest.mark.parametrize("effects", [[(1,)], [(0,)], [(1,), (-1,), (1,)], [(1,), (-1, 0)]], ids=str)
def test_bad_effects_are_refused(effects):
    with pytest.raises(ValueError, match="effects"):
        longest(effects)


def test_tables_that_were_placed_before_are_tested_like_others():
    effects = [(1, 0), (-1, 0), (0, 3), (0, -3)]
    again = Instance.of(effects, [1, 1, 2, 2])
    assert (again.vectors == Instance.of(effects).vectors).all()
    assert (again.weights, again.opposite) == ((1, 1, 2, 2), (1, 0, 3, 2))
    with pytest.raises(TypeError):
        Instance.of([tuple(map(float, effect)) for effect in effects])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Instance.of([(True, 0), (-1, 0), (0, 3), (0, -3)])


def test_floats_are_refused():
    with pytest.raises(TypeError):
        longest([(1.0,), (-1.0,)])  # type: ignore[list-item]  # what is tested
    with pytest.raises(TypeError):
        longest(LINE, [0.5] * 4)  # type: ignore[list-item]  # what is tested
    with pytest.raises(ValueError, match="negative"):
        longest(LINE, [-1] * 4)
