"""Graver bases by lifting: against 4ti2, Normaliz, the search, and plain enumeration."""

import random
import subprocess
import time
from itertools import combinations, product

import numpy as np
import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Database,
    Domain,
    Full,
    Impossible,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    Sum,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.engines.graver import lifting
from blowproof.verifier.engines.graver import rows as lifting_rows
from blowproof.verifier.engines.graver.lifting import graver_basis
from blowproof.verifier.engines.graver.symmetry import coefficients, symmetries
from blowproof.verifier.engines.search import engine, graver_lists
from blowproof.verifier.exact.lattice import integer_kernel
from solvers import needs

# --- matrices ------------------------------------------------------------------------------------


def table(shape, margins):
    """The signatures of the cells of a table, in columns."""
    cells = list(product(*map(range, shape)))
    keys = [(m, v) for m in margins for v in product(*(range(shape[i]) for i in m))]
    return [
        [int(all(c[i] == x for i, x in zip(m, v, strict=True))) for c in cells] for m, v in keys
    ]


def two_way(*shape):
    return table(shape, list(combinations(range(len(shape)), 2)))


def matrices(count, seed):
    """Small matrices of all kinds, zero rows, columns and multiples among them."""
    source = random.Random(seed)
    while count:
        size, height, largest = source.randint(1, 6), source.randint(1, 3), source.choice([1, 2, 4])
        rows = [[source.randint(-largest, largest) for _ in range(size)] for _ in range(height)]
        if source.random() < 0.4:
            rows = [[abs(x) for x in row] for row in rows]
        if largest == 1 or integer_kernel(rows, size).rank < 4:
            yield rows
            count -= 1


def basis(rows, **options):
    """The Graver basis of a matrix's kernel, from a computation that was not cut short."""
    found = graver_basis(rows, len(rows[0]), **options)
    assert found.complete
    return found.vectors


def up_to_sign(vectors):
    listed = [tuple(int(x) for x in z) for z in vectors]
    return {max(z, tuple(-x for x in z)) for z in listed}


def divides(part, whole):
    return all(0 <= x <= y or y <= x <= 0 for x, y in zip(part, whole, strict=True))


# --- the lattice ---------------------------------------------------------------------------------


def test_the_kernel_is_the_kernel_and_triangular():
    for rows in matrices(200, seed=1):
        size = len(rows[0])
        lattice = integer_kernel(rows, size)
        assert not (np.array(rows) @ lattice.basis).any()
        assert lattice.rank == size - np.linalg.matrix_rank(np.array(rows))
        top = lattice.basis[list(lattice.pivots)]
        assert (np.triu(top, 1) == 0).all()
        assert tuple(np.diag(top)) == lattice.steps
        assert all(step > 0 for step in lattice.steps)


def test_the_kernel_holds_every_small_solution():
    for rows in matrices(60, seed=2):
        size = len(rows[0])
        lattice = integer_kernel(rows, size)
        order = [*lattice.pivots, *(i for i in range(size) if i not in lattice.pivots)]
        points = np.array(list(product(range(-2, 3), repeat=size)), dtype=np.int64)
        inside = points[~(points @ np.array(rows).T).any(axis=1)]
        steps = np.array(lattice.steps, dtype=np.int64)
        assert coefficients(lattice.basis[order], steps, inside[:, order].T) is not None


# --- the basis -----------------------------------------------------------------------------------


@pytest.fixture(params=["with symmetries", "plain"])
def small_groups(request, monkeypatch):
    """Symmetries are used from the first vector on, or never."""
    monkeypatch.setattr(lifting, "FEW", 0 if request.param == "with symmetries" else 10**9)


def test_small_bases_are_exactly_the_irreducible_vectors(small_groups):
    """Every small vector of the kernel is divided; no listed vector is divided by a small one."""
    stepped = 0
    for rows in matrices(60, seed=3):
        size = len(rows[0])
        stepped += max(integer_kernel(rows, size).steps, default=0) > 1
        found = up_to_sign(basis(rows))
        both = [*found, *(tuple(-x for x in z) for z in found)]
        assert all(any(z) for z in found)
        points = np.array(list(product(range(-2, 3), repeat=size)))
        inside = points[~(points @ np.array(rows).T).any(axis=1)].tolist()
        small = [tuple(z) for z in inside if any(z)]
        for z in small:
            assert any(divides(g, z) for g in both)
        for g in found:
            assert not any(divides(z, g) for z in small if z != g)
        assert not np.array([np.array(rows) @ np.array(g) for g in found]).any()
    assert stepped > 3


def four(rows, size, folder):
    text = "\n".join(" ".join(map(str, row)) for row in rows)
    (folder / "x.mat").write_text(f"{len(rows)} {size}\n{text}\n")
    subprocess.run(["4ti2-graver", "-q", str(folder / "x")], check=True)
    numbers = list(map(int, (folder / "x.gra").read_text().split()))[2:]
    return up_to_sign(zip(*[iter(numbers)] * size, strict=True))


@needs("4ti2-graver")
def test_bases_agree_with_4ti2(tmp_path, small_groups):
    tables = [two_way(2, 2, 2, 2), two_way(2, 3, 3), table((2, 2, 3), [(0,), (1,), (2,)])]
    for rows in [*matrices(60, seed=4), *tables]:
        size = len(rows[0])
        found = basis(rows)
        assert len(up_to_sign(found)) == len(found)
        assert up_to_sign(found) == four(rows, size, tmp_path)


@pytest.mark.parametrize(
    ("shape", "count", "degree"),
    [((3, 3, 3), 795, 12), ((3, 3, 4), 19_722, 18), ((2, 2, 2, 2), 140, 9)],
)
def test_known_bases_of_tables(shape, count, degree):
    """The numbers that 4ti2 gives, too."""
    rows = two_way(*shape)
    found = basis(rows)
    assert len(found) == len(up_to_sign(found)) == count
    assert np.abs(found).sum(axis=1).max() == 2 * degree


def test_symmetries_change_nothing():
    rows = two_way(3, 3, 3)
    plain = basis(rows, symmetry=False)
    assert up_to_sign(plain) == up_to_sign(basis(rows))


def test_equal_hash_values_are_noticed(monkeypatch):
    """Hash values that tell nothing apart, now and then, cost time, never a vector."""
    rows = two_way(2, 3, 3)
    expected = up_to_sign(basis(rows))
    good, once, calls, tries = lifting_rows.hash_values, lifting._Lift._through_the_levels, [], []

    def poor(vectors, factors):
        calls.append(len(vectors))
        if len(calls) < 500 and len(calls) % 5 == 0:
            return np.ones(len(vectors), np.uint64)
        return good(vectors, factors)

    def counted(lift):
        tries.append(lift.width)
        return once(lift)

    monkeypatch.setattr(lifting_rows, "hash_values", poor)
    monkeypatch.setattr(lifting._Lift, "_through_the_levels", counted)
    assert up_to_sign(basis(rows)) == expected
    assert len(tries) > len(set(tries))


def test_generated_groups_keep_the_lattice_and_are_large_enough():
    """One row of ones: all permutations of the others keep the lattice and the last coordinate."""
    lattice = integer_kernel([[1] * 5], 5)
    order = [*lattice.pivots, *(i for i in range(5) if i not in lattice.pivots)]
    basis, steps = lattice.basis[order], np.array(lattice.steps, dtype=np.int64)
    found = symmetries(basis, steps)
    group = {tuple(range(5))}
    while True:
        more = {tuple(p[i] for i in g.places) for g in found for p in group} | group
        if more == group:
            break
        group = more
    assert len(group) == 24
    assert all(p[4] == 4 for p in group)
    for permutation in found:
        moved = basis[permutation.places] * permutation.signs[:, None]
        assert coefficients(basis, steps, moved) is not None


def test_limits_are_kept(monkeypatch):
    rows = table((3, 3, 3), [(0,), (1,), (2,)])
    graver_basis([(1, 1, 1, 1)], 4)
    start = time.monotonic()
    early = graver_basis(rows, 27, deadline=start + 0.2)
    assert not early.complete
    assert not early.stopped
    monkeypatch.setattr(lifting, "MOST_ENTRIES", 1_000)
    assert "too many" in graver_basis(two_way(3, 3, 3), 27).stopped
    with pytest.raises(OverflowError, match="entries"):
        graver_basis([(100_003, 1, 0), (0, 1, 99_991)], 3)


@pytest.mark.parametrize("most", [100, 1_000, 4_000])
def test_what_is_known_when_stopped_belongs_to_the_basis(most, monkeypatch):
    rows = two_way(3, 3, 3)
    everything = up_to_sign(basis(rows))
    monkeypatch.setattr(lifting, "MOST_ENTRIES", most)
    part = graver_basis(rows, 27)
    assert not part.complete
    assert 0 < len(part.vectors) < 795
    assert up_to_sign(part.vectors) < everything


# --- sensitivities -------------------------------------------------------------------------------

CUBE = Domain(A=Labels(["p", "q"]), B=Labels(["r", "s", "t"]), C=Integers(0, 2))
SQUARE = Domain(A=Labels(["p", "q"]), C=Integers(0, 2))
SLICE = {"A": "p", "B": ["r", "s"], "C": 1}
POLICIES = {
    "two-way": Policy(domain=CUBE, known=(Marginal(["A", "B"]), Marginal(["A", "C"]))),
    "one-way with a zero": Policy(
        domain=CUBE,
        known=(Marginal(["A"]), Marginal(["B"]), Impossible({"A": "q", "C": 2})),
    ),
    "size": Policy(domain=CUBE, known=(Marginal(["B"]),), database=Database(size=5, answers="any")),
    "sums": Policy(
        domain=CUBE,
        known=(Sum([(2, {"A": "p"}), (-3, {"B": "r"})]), Count({"C": Between(0, 1)})),
    ),
    "nothing": Policy(domain=CUBE),
}
QUERIES = ("histogram", "marginal(A,C)", "sum(C)", "count(slice)", "cumulative(C)")


def asked(policy, query, **options):
    named = NamedCount("slice", SLICE)
    policy = Policy(
        domain=policy.domain, known=policy.known, database=policy.database, queries=(named,)
    )
    return sensitivity(policy, query, reading="add-remove", **options)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("name", POLICIES)
def test_sensitivities_agree_with_the_search(name, query, monkeypatch):
    listed = asked(POLICIES[name], query, engine="search")
    with monkeypatch.context() as patched:
        patched.setattr(engine, "taking_turns", lambda solve, **_: solve)
        searched = asked(POLICIES[name], query, engine="search", time_limit=20)
    assert listed.status == searched.status == "exact"
    assert listed.upper == searched.upper
    assert (listed.witness is None) == (listed.upper == 0)


@pytest.mark.parametrize("query", ["histogram", "marginal(A,C)", "sum(C)"])
@pytest.mark.parametrize("secrets", [Full(), AttributeChange(changes=1)])
def test_secret_moves_agree_with_the_search(secrets, query, monkeypatch):
    """Readings 1 and 2 use lists, too, where moves cancel."""
    known = (Marginal(["A"]), Marginal(["C"]))
    policy = Policy(domain=SQUARE, known=known, secrets=secrets)
    calls = []

    def noted(*arguments, **options):
        calls.append(arguments)
        return graver_basis(*arguments, **options)

    monkeypatch.setattr(lifting, "graver_basis", noted)
    listed = sensitivity(policy, query, reading="secret-moves", engine="search")
    monkeypatch.setattr(engine, "taking_turns", lambda solve, **_: solve)
    searched = sensitivity(policy, query, reading="secret-moves", engine="search", time_limit=20)
    assert listed.status == searched.status == "exact"
    assert listed.upper == searched.upper
    assert calls or query == "histogram"


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("name", ["two-way", "sums", "size"])
def test_sensitivities_agree_with_normaliz(name, query):
    pytest.importorskip("PyNormaliz")
    listed = asked(POLICIES[name], query, engine="auto")
    basis = asked(POLICIES[name], query, engine="hilbert")
    assert listed.status == basis.status == "exact"
    assert listed.upper == basis.upper


def test_sensitivities_are_no_smaller_than_brute_force_finds():
    for name in ("one-way with a zero", "sums"):
        for query in ("histogram", "marginal(A,C)"):
            small = asked(POLICIES[name], query, engine="brute", max_size=2)
            assert small.lower <= asked(POLICIES[name], query).upper


def test_turns_end_when_either_side_does(monkeypatch):
    """Where the list outgrows the memory, the search goes on alone, and the other way round."""
    monkeypatch.setattr(lifting, "MOST_ENTRIES", 100)
    alone = asked(POLICIES["two-way"], "histogram", engine="search", time_limit=60)
    monkeypatch.undo()
    monkeypatch.setattr(engine, "SEARCH_EFFECTS", 0)
    listed = asked(POLICIES["two-way"], "histogram", engine="search", time_limit=60)
    assert alone.status == listed.status == "exact"
    assert alone.upper == listed.upper
    monkeypatch.setattr(graver_lists, "MOST_COLUMNS", 0)
    bounded = asked(POLICIES["two-way"], "histogram", engine="search", time_limit=1)
    assert bounded.lower <= alone.upper <= bounded.upper
