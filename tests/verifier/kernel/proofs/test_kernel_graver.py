"""Kind `graver`: the kernel's own Graver bases, proofs for small policies, and attacks on them."""

import copy
import random
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import floor
from operator import add, mul
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import (
    BlowproofError,
    Domain,
    Labels,
    Marginal,
    Policy,
    Reading,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.engines.graver.lifting import graver_basis
from blowproof.verifier.kernel import Unreadable, check
from blowproof.verifier.kernel.check import upper_bound, world_of
from blowproof.verifier.kernel.document import Budget, Exact, Rejected
from blowproof.verifier.kernel.graver_basis import basis, splits
from blowproof.verifier.kernel.world import Effects
from blowproof.verifier.proofs import write
from blowproof.verifier.proofs.claim import claim_of
from blowproof.verifier.proofs.graver import NOTHING, gravers, proofs_with
from blowproof.verifier.proofs.write import certify_answer
from refusals import answered, refuse
from spelling import spelled
from strategies import policies, query_texts

Document = dict[str, Any]
Vector = tuple[int, ...]

STEPS = 3_000_000
LIMIT = 10.0


# bases -------------------------------------------------------------------------------------------


def both(vectors: list[Vector] | list[list[int]]) -> list[Vector]:
    return sorted({tuple(sign * x for x in z) for z in vectors for sign in (1, -1)})


def small_columns(rng: random.Random, most: int) -> list[Vector]:
    height, size = rng.randint(0, 4), rng.randint(1, 6)
    return [tuple(rng.randint(-most, most) for _ in range(height)) for _ in range(size)]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_bases_are_those_of_the_engine(most: int) -> None:
    rng = random.Random(most)
    for _ in range(100):
        columns = small_columns(rng, most)
        rows = [list(row) for row in zip(*columns, strict=True)]
        found = basis(columns, Budget(STEPS))
        assert len(both(found)) == 2 * len(found)
        assert both(found) == both(graver_basis(rows, len(columns)).vectors.tolist())


def test_bases_are_the_vectors_that_do_not_split() -> None:
    """By the definition, within a box that holds all of the basis."""
    rng = random.Random(8)
    for _ in range(60):
        columns = [tuple(rng.randint(-2, 2) for _ in range(2)) for _ in range(3)]
        kernel = {
            z
            for z in product(range(-9, 10), repeat=3)
            if any(z) and all(sum(map(mul, z, row)) == 0 for row in zip(*columns, strict=True))
        }
        least = [z for z in kernel if not any(part(y, z) for y in kernel if y != z)]
        found = both(basis(columns, Budget(STEPS)))
        assert [z for z in found if max(map(abs, z)) <= 9] == sorted(least)


def part(y: Vector, z: Vector) -> bool:
    return all(a * b >= 0 and abs(a) <= abs(b) for a, b in zip(y, z, strict=True))


def test_nothing_in_a_lattice_of_rank_0_and_units_without_equations() -> None:
    assert basis([(1, 0), (0, 3)], Budget(STEPS)) == []
    assert basis([], Budget(STEPS)) == []
    assert both(basis([(), ()], Budget(STEPS))) == [(-1, 0), (0, -1), (0, 1), (1, 0)]
    assert both(basis([(0,), (1,)], Budget(STEPS))) == [(-1, 0), (1, 0)]


def test_lattices_without_a_step_of_1() -> None:
    assert both(basis([(2,), (3,)], Budget(STEPS))) == [(-3, 2), (3, -2)]
    assert both(basis([(2, 0), (3, 0), (0, 1)], Budget(STEPS))) == [(-3, 2, 0), (3, -2, 0)]


def test_a_long_basis_ends_with_the_budget() -> None:
    with pytest.raises(Rejected, match="steps"):
        basis([(k,) for k in range(40, 80)], Budget(STEPS))
    with pytest.raises(Rejected, match="memory"):
        basis([(0,)] * 4000, Budget(10**9))
    with pytest.raises(Rejected, match="too large"):
        basis([(10**30,), (10**30 + 1,), (10**30 + 7,)], Budget(10**7))


@given(st.data())
@settings(max_examples=60)
def test_what_splits(data: st.DataObject) -> None:
    """Against all sums of pieces."""
    numbers = st.tuples(*[st.integers(-2, 2)] * 3)
    effects = st.tuples(*[st.integers(-1, 1)] * 2)
    drawn = data.draw(st.dictionaries(numbers.filter(any), effects, min_size=1, max_size=6))
    z = data.draw(numbers.filter(any))
    pieces = [(frozenset((k, v) for k, v in enumerate(y) if v), e) for y, e in drawn.items()]
    reached = {(0, 0, 0): {(0, 0)}}
    todo = [(0, 0, 0)]
    while todo:
        y = todo.pop()
        for more, effect in drawn.items():
            total = tuple(map(add, y, more))
            if part(more, z) and part(total, z):
                new = {tuple(map(add, e, effect)) for e in reached[y]} - reached.get(total, set())
                if new:
                    reached.setdefault(total, set()).update(new)
                    todo.append(total)
    proper = (sums for y, sums in reached.items() if any(y) and y != z)
    wanted = any((0, 0) in sums for sums in proper)
    found = splits({k: v for k, v in enumerate(z) if v}, pieces, Budget(STEPS))
    linear = all(len(sums) == 1 for sums in reached.values())  # so it is with true effects
    assert found <= wanted and (found == wanted or not linear)


# proofs ------------------------------------------------------------------------------------------


def table(shape: tuple[int, ...], *sets: str) -> Policy:
    names = zip("ABCDEF", shape, strict=False)
    domain = Domain({n: Labels([f"{n}{k}" for k in range(size)]) for n, size in names})
    return Policy(domain=domain, known=tuple(Marginal(list(names)) for names in sets))


def claimed(policy: Policy, query: str, reading: Reading, answer: Answer) -> Document:
    prepared = prepare(setting(policy), reading)
    return claim_of(policy, parse_query(query, policy), answer, prepared)


def world_and_moves(claim: Document) -> tuple[Effects, Exact]:
    world, value = world_of(claim, Budget(10 * STEPS))
    return Effects(world), value


def proofs(claim: Document, rng: random.Random, value: Exact | None = None) -> Iterator[Document]:
    """Proofs with random facts first, and those that the writer would try."""
    moves, said = world_and_moves(claim)
    if not moves.effects:
        return
    scaled = floor(Fraction(said if value is None else value) * moves.scale)
    width = len(moves.effects[0])
    first = [i for i in range(width) if rng.random() < 0.5]
    yield from proofs_with(moves, first, scaled, LIMIT)
    yield from proofs_with(moves, list(range(width)), scaled, LIMIT)


def told(claim: Document, proof: Document, value: Exact) -> str:
    """What the kernel says: accepted, refused, or that the proof is too long."""
    world, _ = world_of(claim, Budget(STEPS))
    try:
        upper_bound(world, proof, value)
    except Rejected as reason:
        return "long" if reason.limit else "refused"
    except Unreadable:
        return "refused"
    return "accepted"


def accepts(claim: Document, proof: Document, value: Exact) -> bool:
    return told(claim, proof, value) == "accepted"


def test_random_questions_of_adding_and_removing() -> None:
    """S is accepted, whatever facts come first, and nothing below it is."""
    tried: Counter[str] = Counter()

    @given(policies(scope="any", max_values=6, max_records=3), st.integers(0, 2**20))
    @settings(max_examples=60)
    def asked(policy: Policy, seed: int) -> None:
        ask_about(policy, seed, tried)

    asked()
    assert tried["accepted"] > 40


def ask_about(policy: Policy, seed: int, tried: Counter[str]) -> None:
    rng = random.Random(seed)
    query = rng.choice(query_texts(policy))
    try:
        answer = sensitivity(policy, query, reading="add-remove", time_limit=LIMIT)
        claim = claimed(policy, query, "add-remove", answer)
    except BlowproofError as error:
        refuse(error)
    answered(answer.status == "exact", "bounds")
    for proof in proofs(claim, rng):
        result = told(claim, proof, answer.lower)
        tried[result] += 1  # with symmetries, where weights alone do not do, it is refused
        assert result != "refused" or proof["rest"]["symmetries"], proof
        assert not accepts(claim, proof, answer.lower - Fraction(1, 7))


def test_nothing_below_the_largest_change_is_accepted() -> None:
    """In all readings to which the lemma applies, against brute force."""
    attacks: Counter[str] = Counter()

    @given(policies(max_values=4, max_records=3), st.integers(0, 2**20))
    @settings(max_examples=60)
    def attacked(policy: Policy, seed: int) -> None:
        attack(policy, seed, attacks)

    attacked()
    assert attacks["tried"] > 60


def attack(policy: Policy, seed: int, attacks: Counter[str]) -> None:
    rng = random.Random(seed)
    reading: Reading = rng.choice(("published", "secret-moves", "add-remove"))
    query = rng.choice(query_texts(policy))
    try:
        prepared = prepare(setting(policy), reading)
        nothing = Answer(
            policy="", query=query, reading=reading, answers=policy.scope, lower=0, upper=0,
            status="exact", witness=None, engine="", seconds=0.0,
        )  # fmt: skip
        claim = claimed(policy, query, reading, nothing)
        sizes = range(4) if prepared.size is None else [prepared.size]
        pairs = brute_neighbours(prepared, reading, sizes=sizes, every_label=True)
        bound = parse_query(query, policy)
        changes = {bound.difference(pair.moves(reading)) for pair in pairs}
        tried = list(proofs(claim, rng, 10**6))
    except (BlowproofError, Rejected):
        return
    for proof in [*tried, {**tried[0], "rest": NOTHING}] if changes and tried else []:
        for mutant in (proof, changed(proof, rng)):
            assert not accepts(claim, mutant, max(changes) - Fraction(1, 7)), (claim, mutant)
            attacks["tried"] += 1


def changed(proof: Document, rng: random.Random) -> Document:
    """The proof with something left out or exchanged."""
    mutant: Document = copy.deepcopy(proof)
    rest = mutant["rest"] = spelled(mutant["rest"])
    steps = rest["steps"]
    what = rng.choice(("first", "cut", "drop", "marks", "symmetry", "choice"))
    place = rng.randrange(len(steps) + 1)
    if what == "first":
        mutant["first"] = mutant["first"][1:] if rng.random() < 0.5 else [*mutant["first"], 0]
    elif what in ("cut", "drop"):
        del rest["nodes"][place : None if what == "cut" else place + 1]
    elif what == "marks":
        rest["steps"] = [[d, c, rng.randrange(2), rng.randrange(2)] for d, c, _, _ in steps]
    elif what == "symmetry":
        rest["symmetries"].append(rng.sample(range(rest["effects"]), rest["effects"]))
    else:
        rest["steps"] = [[d, -choice, *marks] for d, choice, *marks in steps]
    return mutant


# tables ------------------------------------------------------------------------------------------

SLICES: list[tuple[tuple[int, ...], str, int]] = [
    ((2, 2, 3), "A", 8),  # three pieces weigh 12, but do not fit into two slices
    ((2, 2, 3), "C", 8),
    ((2, 3, 3), "C", 12),
    ((2, 3, 4), "C", 12),
]


def sliced(shape: tuple[int, ...], axis: str) -> tuple[Document, Exact, list[int]]:
    """Two-way margins: the claim, S, and the facts that tell the values of an attribute apart."""
    policy = table(shape, "AB", "AC", "BC")
    answer = sensitivity(policy, reading="add-remove")
    claim = claimed(policy, "histogram", "add-remove", answer)
    moves, _ = world_and_moves(claim)
    full, place = moves.world.policy.box({}), "ABC".index(axis)
    first = [
        i
        for i, fact in enumerate(moves.world.equalities)
        if any(box[place] != full[place] for _, area in fact.terms for box in area)
    ]
    return claim, answer.lower, first


@pytest.mark.parametrize(("shape", "axis", "expected"), SLICES)
def test_tables_by_slices(shape: tuple[int, ...], axis: str, expected: int) -> None:
    claim, value, first = sliced(shape, axis)
    assert value == expected
    moves, _ = world_and_moves(claim)
    found = list(proofs_with(moves, first, int(value), LIMIT))
    accepted = [proof for proof in found if check({**claim, "proof": proof}).accepted]
    assert accepted
    for proof in accepted:
        assert not accepts(claim, proof, value - 1)
        _attack(claim, proof, value)


def _attack(claim: Document, proof: Document, value: Exact) -> None:
    """Each node left out, each node twice, each fact left out: nothing of it is accepted."""
    rest = proof["rest"]
    for place in range(len(rest["nodes"])):
        for part_of in (slice(place, place + 1), slice(place, None)):
            mutant = copy.deepcopy(proof)
            del mutant["rest"]["nodes"][part_of]
            assert not accepts(claim, mutant, value)
        mutant = copy.deepcopy(proof)
        mutant["rest"]["nodes"].insert(place, rest["nodes"][place])
        assert not accepts(claim, mutant, value)
    assert not accepts(claim, {**proof, "rest": NOTHING}, value)
    for effects in (0, rest["effects"] - 1, rest["effects"] + 1):
        assert not accepts(claim, {**proof, "rest": {**rest, "effects": effects}}, value)
    for fact in (-1, 10**6, 10**40):
        assert not accepts(claim, {**proof, "first": [*proof["first"], fact]}, value)
    assert accepts(claim, {**proof, "first": proof["first"][::-1] * 2}, value)


def test_symmetries_do_not_do_where_the_slices_decide() -> None:
    """The weights alone say 12, and an image of a multiset may fit where the multiset does not."""
    claim, value, first = sliced((2, 2, 3), "A")
    moves, _ = world_and_moves(claim)
    with_symmetries, without = proofs_with(moves, first, int(value), LIMIT)
    assert with_symmetries["rest"]["symmetries"] and not without["rest"]["symmetries"]
    assert not accepts(claim, with_symmetries, value)
    assert accepts(claim, with_symmetries, 12) and accepts(claim, without, value)


def test_all_facts_first_leave_nothing_to_search() -> None:
    claim, value, _ = sliced((2, 3, 3), "C")
    moves, _ = world_and_moves(claim)
    every = list(range(len(moves.effects[0])))
    found = {len(p["first"]): p for p in gravers(moves, int(value), time.monotonic() + 100)}
    assert len(found) > 1  # slices too
    proof = found[len(every)]
    assert proof == {"kind": "graver", "first": every, "rest": NOTHING}
    assert check({**claim, "proof": proof}).accepted
    assert not accepts(claim, proof, value - 1)
    for fact in proof["first"]:
        fewer = {**proof, "first": [i for i in proof["first"] if i != fact]}
        # a margin's last fact follows from the others: then nothing is lost
        assert not accepts(claim, fewer, value - 1)


def test_tables_that_searches_alone_do_not_prove(monkeypatch: pytest.MonkeyPatch) -> None:
    """With pieces, 3 x 3 x 3 is a matter of a second; the search over moves gets no time here."""
    policy = table((3, 3, 3), "AB", "AC", "BC")
    answer = sensitivity(policy, reading="add-remove", time_limit=60)
    assert answer.lower == 24
    monkeypatch.setattr(write, "SHORT", 10**9)
    answer, found = certify_answer(policy, parse_query("histogram", policy), answer)
    assert (answer.status, found.kind) == ("proved", "graver")


def test_pieces_are_judged_by_the_query() -> None:
    """Weights say 12; the count of one cell changes by 1."""
    policy = table((2, 3, 3), "AB", "AC", "BC")
    for query, expected in (("marginal(A)", 0), ("histogram", 12)):
        answer = sensitivity(policy, query, reading="add-remove", time_limit=60)
        assert answer.lower == expected
        claim = claimed(policy, query, "add-remove", answer)
        for proof in proofs(claim, random.Random(1)):
            if not proof["rest"]["symmetries"]:
                assert accepts(claim, proof, expected)


def test_other_readings_and_bounds_are_refused() -> None:
    claim, value, first = sliced((2, 2, 3), "C")
    moves, _ = world_and_moves(claim)
    proof = list(proofs_with(moves, first, int(value), LIMIT))[-1]
    verdict = check({**claim, "reading": "markov", "proof": proof})
    assert not verdict.accepted
