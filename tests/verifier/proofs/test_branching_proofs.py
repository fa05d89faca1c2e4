"""Proofs by cases over numbers of records: written, replayed, attacked, and against brute force."""

import copy
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    AttributeChange,
    BoundQuery,
    Clause,
    Count,
    Database,
    Domain,
    Edges,
    Exact,
    Integers,
    Labels,
    Literal,
    Marginal,
    Policy,
    Reading,
    Sum,
    UndeterminedError,
    parse_query,
    setting,
)
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.brute import brute_neighbours, brute_sensitivity
from blowproof.verifier.kernel.check import FAULTS, world_of
from blowproof.verifier.kernel.document import Budget, Rejected, Unreadable
from blowproof.verifier.kernel.goal import Terms, row
from blowproof.verifier.kernel.proofs.branching import Cases, Problem, check, conditions
from blowproof.verifier.kernel.proofs.branching import problem_of as problem_of_world
from blowproof.verifier.kernel.world import World as KernelWorld
from blowproof.verifier.proofs.cases.search import Attempt, prove
from blowproof.verifier.proofs.claim import claim_of
from corpus import CORPUS, Case, table
from refusals import refuse
from strategies import SECRETS, World, query_texts, worlds

COUNTS = ("count", "marginal", "sum", "impossible", "bound")
STEPS = 10**9
LITTLE = Fraction(1, 1000)


def kernel_world(policy: Policy, query: BoundQuery, reading: Reading) -> KernelWorld:
    """The kernel's view of a question under scope "given" (claiming nothing)."""
    prepared = prepare(setting(policy, "given"), reading)
    claim = Answer(
        policy=policy.name,
        query=query.name,
        reading=reading,
        answers="given",
        lower=0,
        upper=0,
        status="exact",
        witness=None,
        engine="",
        seconds=0.0,
    )
    return world_of(claim_of(policy, query, claim, prepared), Budget(STEPS))[0]


def problem_of(policy: Policy, query: str, reading: Reading, value: Exact) -> Problem:
    """The kernel's problem of a neighbour pair that changes the query by more than a value."""
    return problem_of_world(kernel_world(policy, parse_query(query, policy), reading), value)


def attempt(problem: Problem, seconds: float = 20.0) -> Attempt:
    return prove(problem, deadline=time.monotonic() + seconds)


def accepted(problem: Problem, proof: object) -> bool:
    try:
        check(problem, json.loads(json.dumps(proof)), Budget(STEPS))
    except (Rejected, Unreadable, *FAULTS):
        return False
    return True


# Against brute force


@dataclass(frozen=True)
class Question:
    """A small question with what brute force says."""

    policy: Policy
    query: str
    reading: Reading
    value: Exact


@st.composite
def questions(draw: st.DrawFn, max_values: int = 5, max_records: int = 3) -> Question:
    drawn = worlds(scope="given", kinds=COUNTS, max_values=max_values, max_records=max_records)
    world: World = draw(drawn)
    reading: Reading = draw(st.sampled_from(["published", "secret-moves", "add-remove"]))
    query = draw(st.sampled_from(query_texts(world.policy)))
    try:
        prepared = prepare(setting(world.policy, "given"), reading)
    except UndeterminedError as error:
        refuse(error)
    low, high = size_range(prepared, reading)
    assume(high is not None)
    assert high is not None
    sizes = range(low, high + 1)
    bound = parse_query(query, world.policy)
    found = brute_sensitivity(prepared, bound, reading, sizes=sizes, complete=True)
    return Question(world.policy, query, reading, found.lower)


@settings(max_examples=40)
@given(questions())
def test_the_sensitivity_is_proved_and_nothing_below_it(question: Question) -> None:
    asked = question.policy, question.query, question.reading
    problem = problem_of(*asked, question.value)
    found = attempt(problem)
    assert found.proof is not None, found.reason
    assert accepted(problem, found.proof)
    if question.value > 0:
        lower = problem_of(*asked, question.value - LITTLE)
        assert lower.goal < problem.goal
        assert attempt(lower).proof is None
        assert not accepted(lower, found.proof)


def mutants(draw: st.DrawFn, proof: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The proof with a few places changed: numbers, nodes, cuts."""
    for _ in range(12):
        found = copy.deepcopy(proof)
        for _ in range(draw(st.integers(1, 3))):
            part = found[draw(st.sampled_from(["nodes", "nodes", "cuts", "groups"]))]
            if not part:
                continue
            place = draw(st.integers(0, len(part) - 1))
            kind = draw(st.integers(0, 3))
            if kind == 0:
                del part[place]
            elif kind == 1:
                part[place] = copy.deepcopy(part[draw(st.integers(0, len(part) - 1))])
            else:
                nudge(draw, part[place])
        yield found


def nudge(draw: st.DrawFn, item: Any) -> None:
    """Change one number somewhere inside."""
    while isinstance(item, list) and item:
        place = draw(st.integers(0, len(item) - 1))
        if type(item[place]) is int:
            item[place] += draw(st.sampled_from([-2, -1, 1, 2]))
            return
        item = item[place]


@settings(max_examples=15)
@given(questions(max_values=4), st.data())
def test_no_mutant_proves_a_false_claim(question: Question, data: st.DataObject) -> None:
    assume(question.value > 0)
    asked = question.policy, question.query, question.reading
    false = problem_of(*asked, question.value - LITTLE)
    found = attempt(problem_of(*asked, question.value))
    assert found.proof is not None

    @st.composite
    def attacks(draw: st.DrawFn) -> list[dict[str, Any]]:
        assert found.proof is not None
        return list(mutants(draw, found.proof))

    for attack in data.draw(attacks()):
        assert not accepted(false, attack)


# Rows and cuts hold for every neighbour pair


def value_of(terms: Terms, counts: list[int]) -> int:
    return sum(times * counts[variable] for variable, times in terms)


@dataclass(frozen=True)
class Listed:
    """A problem whose cells are single values, and all neighbour pairs as numbers of records."""

    problem: Problem
    pairs: list[list[int]]
    changes: list[Exact]


@st.composite
def listings(
    draw: st.DrawFn, kinds: Sequence[str] = COUNTS, secrets: Sequence[str] = SECRETS
) -> Listed:
    """Every value is a cell: the query tells all of them apart."""
    drawn = worlds(scope="given", kinds=kinds, secrets=secrets, max_values=5, max_records=3)
    world: World = draw(drawn)
    reading: Reading = draw(st.sampled_from(["published", "published", "secret-moves"]))
    policy = world.policy
    query = parse_query(f"marginal({','.join(policy.domain.names)})", policy)
    prepared = prepare(setting(policy, "given"), reading)
    assert prepared.size is not None
    kernel = kernel_world(policy, query, reading)
    problem = problem_of_world(kernel, 0)
    cells = {cell.point: number for number, cell in enumerate(kernel.kinds()[0])}
    moves = {(move.source, move.target): m for m, move in enumerate(problem.moves, len(cells))}
    pairs, changes = [], []
    for pair in brute_neighbours(prepared, reading, sizes=[prepared.size], every_label=False):
        pairs.append(counted(pair, cells, moves))
        changes.append(query.difference(pair.moves(reading)))
    return Listed(problem, pairs, changes)


def counted(
    pair: Pair, cells: dict[tuple[int, ...], int], moves: dict[tuple[int | None, int | None], int]
) -> list[int]:
    counts = [0] * (len(cells) + len(moves))
    for point, times in pair.first().items():
        counts[cells[point]] += times
    for x, y in zip(pair.before, pair.after, strict=True):
        counts[moves[cells[x], cells[y]]] += 1
    return counts


@settings(max_examples=25)
@given(listings())
def test_rows_hold_for_every_neighbour_pair(listed: Listed) -> None:
    problem, first = listed.problem, len(listed.problem.cells)
    for counts, change in zip(listed.pairs, listed.changes, strict=True):
        for terms, least in problem.rows():
            assert value_of(terms, counts) >= least
        outputs: Counter[object] = Counter()
        for move, times in zip(problem.moves, counts[first:], strict=True):
            for output, number in move.change:
                outputs[output] += number * times
        assert sum(map(abs, outputs.values())) == change


PARTLY = ("attribute", "by", "distance", "edges")


@settings(max_examples=30)
@given(
    st.one_of(
        listings(),
        listings(kinds=("bound",), secrets=PARTLY),
        listings(kinds=(), secrets=PARTLY),
    ),
    st.integers(0, 2**32),
)
def test_cuts_hold_for_every_neighbour_pair(listed: Listed, seed: int) -> None:
    """Whatever cut the kernel admits, no neighbour pair fulfils all of its conditions."""
    problem, random = listed.problem, Random(seed)
    assume(problem.moves and listed.pairs)
    for _ in range(120):
        some = random.sample(
            range(len(problem.moves)), min(len(problem.moves), random.randint(1, 3))
        )
        part = [([m], random.choice([1, 1, 2])) for m in some]
        plain = random.choices(problem.plain, k=random.randint(0, 2)) if problem.plain else []
        try:
            found = conditions(problem, random.randint(1, 3), part, [(p, 1) for p in plain])
        except Rejected:
            continue
        for counts in listed.pairs:
            assert any(value_of(terms, counts) < least for terms, least in found)


@settings(max_examples=25)
@given(listings())
def test_cuts_of_proofs_hold_for_every_neighbour_pair(listed: Listed) -> None:
    goal = max((int(change) for change in listed.changes), default=0) + 1
    problem = listed.problem._replace(goal=goal)
    found = attempt(problem)
    assert found.proof is not None, found.reason
    groups = found.proof["groups"]
    for base, part, plain in found.proof["cuts"]:
        moves = [(groups[g], times) for g, times in part]
        others = [(problem.plain[p], times) for p, times in plain]
        for counts in listed.pairs:
            assert any(
                value_of(terms, counts) < least
                for terms, least in conditions(problem, base, moves, others)
            )


# Named attacks

CENSUS = Policy(
    name="two-regions",
    domain=table(2, 3),
    known=(Marginal(["A"], answers=[3, 3]),),
    database=Database(size=6),
)
CHAIN = Policy(
    name="bounds-on-a-chain",
    domain=Domain(A=Labels(["a", "b", "c"], ordered=True), B=Labels(["x", "y"])),
    secrets=AttributeChange(),
    known=(Count({"A": "a"}, at_least=1, at_most=2), Count({"B": "x"}, at_least=2, at_most=3)),
    database=Database(size=5),
)


@pytest.fixture(scope="module")
def census() -> tuple[Problem, dict[str, Any]]:
    problem = problem_of(CENSUS, "histogram", "published", 4)
    found = attempt(problem)
    assert found.proof is not None
    return problem, found.proof


def move(problem: Problem, source: int, target: int) -> int:
    return next(m for m, x in enumerate(problem.moves) if (x.source, x.target) == (source, target))


def test_census_is_two_cells_and_four_kinds(census: tuple[Problem, dict[str, Any]]) -> None:
    problem, proof = census
    assert len(problem.cells) == 2 and len(problem.moves) == 4 and problem.goal == 6
    check(problem, proof, Budget(STEPS))


def test_cuts_that_are_not_justified(census: tuple[Problem, dict[str, Any]]) -> None:
    problem, _ = census
    there, back, idle = move(problem, 0, 1), move(problem, 1, 0), move(problem, 0, 0)
    assert conditions(problem, 1, [([there], 1), ([back], 1)], [])
    for reason, base, part in (
        ("breaks an equality", 1, [([there], 1)]),
        ("breaks an equality", 1, [([there], 2), ([back], 1)]),
        ("differ in effect", 1, [([there, idle], 1), ([back], 1)]),
        ("names a move twice", 1, [([idle], 1), ([idle], 1)]),
        ("no part", 1, []),
        ("no part", 4, [([idle], 1)]),
        ("less than one", 1, [([idle], 0)]),
        ("less than one", 1, [([there], -1), ([back], -1)]),
    ):
        with pytest.raises(Rejected, match=reason):
            conditions(problem, base, part, [])


def test_a_cut_never_removes_the_part_itself(census: tuple[Problem, dict[str, Any]]) -> None:
    """The last condition asks for one secret move more than the part has."""
    problem, _ = census
    there, back = move(problem, 0, 1), move(problem, 1, 0)
    found = conditions(problem, 1, [([there], 1), ([back], 1)], [])
    counts = [3, 3, *(int(m in (there, back)) for m in range(len(problem.moves)))]
    failing = [least - value_of(terms, counts) for terms, least in found]
    assert sorted(failing) == [0, 0, 1]


def test_3b_needs_plain_moves_only_and_nobody_else() -> None:
    problem = problem_of(CHAIN, "histogram", "published", 0)
    plain = [m for m, x in enumerate(problem.moves) if not x.secret]
    effect = {m: problem.moves[m].effect for m in plain}
    swap = next((m, k) for m in plain for k in plain if effect[m] == tuple(-x for x in effect[k]))
    part = [([m], 1) for m in swap]
    assert len(conditions(problem, 2, part, [])) == 2
    with pytest.raises(Rejected, match="keeps no secret move"):
        conditions(problem, 1, part, [])
    with pytest.raises(Rejected, match="moves records for 3"):
        conditions(problem, 2, part, [(problem.plain[0], 1), (problem.plain[0][::-1], 1)])


LADDER = Policy(
    domain=Domain(v=Integers(0, 4)),
    secrets=Edges([({"v": 1}, {"v": 2}), ({"v": 3}, {"v": 2})]),
    known=(Sum([(1, {"v": 1}), (2, {"v": [2, 4]})], equals=3),),
    database=Database(size=4),
)


def test_records_that_move_plainly_must_be_there() -> None:
    """Beside the one that D3 keeps (base 1), or with the one that it frees (base 2)."""
    problem = problem_of(LADDER, "histogram", "published", 0)
    first = len(problem.cells)
    up = move(problem, 1, 2)
    assert problem.moves[up].secret and {(1, 0), (1, 4), (0, 1)} <= set(problem.plain)
    kept = conditions(problem, 1, [([up], 1)], [((1, 0), 1)])
    assert kept[2:] == [(((1, 1),), 2)]  # another record is at value 1
    for source, target, least in ((1, 4, 0), (0, 1, 1)):
        freed = conditions(problem, 2, [([up], 1)], [((source, target), 1)])
        out = [(first + m, -1) for m, x in enumerate(problem.moves) if x.source == source]
        assert freed[2:] == [(((source, 1), *out), least)]


def test_bounds_are_those_of_the_base() -> None:
    """D3 breaks a bound of D1 plus the part (base 1), or of D2 less the part (base 2)."""
    problem = problem_of(CHAIN, "histogram", "published", 0)
    first = len(problem.cells)
    raising = next(m for m, x in enumerate(problem.moves) if x.secret and x.effect == (0, 1, 0))
    for base, least in ((1, -1), (2, 2)):  # A's a: -(total + 1) >= -2, total - 1 >= 1
        terms, number = conditions(problem, base, [([raising], 1)], [])[-1]
        changes = any(variable >= first for variable, _ in terms)
        assert changes == (base == 2) and number == least


def test_cases_leave_nothing_out(census: tuple[Problem, dict[str, Any]]) -> None:
    problem, proof = census
    cases = Cases(problem, proof, Budget(STEPS))
    split = cases.of((), "split", [[0, 1]], 3)
    assert split == [([(((0, -1),), -3)], ()), ([(((0, 1),), 4)], ())]
    found = cases.cuts[0]
    for place, (rows, signs) in enumerate(cases.of((), "cut", 0)):
        terms, least = found[place]
        fails = (tuple((variable, -times) for variable, times in terms), 1 - least)
        assert rows == [*found[:place], fails] and signs == ()
    assert len(cases.of((), "cut", 0)) == len(found)
    (up, rise), (down, fall) = cases.of((), "sign", 0)
    assert (up[0][1], down[0][1]) == (0, 1) and (rise, fall) == ((1,), (-1,))
    assert down[0][0] == tuple((variable, -times) for variable, times in up[0][0])
    assert row([(0, 2), (1, -4)], 3) == (((0, 1), (1, -2)), 2)  # 2 x - 4 y >= 3: x - 2 y >= 2


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("truncated", lambda nodes: nodes[:-1]),
        ("goes on", lambda nodes: [*nodes, nodes[-1]]),
        ("empty", lambda nodes: []),
        ("a leaf of nothing", lambda nodes: [["leaf", []]]),
        ("the goal taken a negative number of times", lambda nodes: [["leaf", [[-1, -1]]]]),
        ("a row turned round", lambda nodes: [["leaf", [[-1, 1], [3, -1]]]]),
        ("a row that does not exist", lambda nodes: [["leaf", [[-1, 1], [99, 1]]]]),
        ("a row counted from the end", lambda nodes: [["leaf", [[-2, 1]]]]),
        ("a cut that does not exist", lambda nodes: [["cut", 99], *nodes]),
        ("a variable that does not exist", lambda nodes: [["split", [[99, 1]], 0], *nodes]),
        ("a node of no kind", lambda nodes: [["so it is"], *nodes]),
        ("a node that is no list", lambda nodes: [7, *nodes]),
        ("true for one", lambda nodes: [["leaf", [[True, 1]]]]),
    ],
)
def test_trees_that_are_no_proofs(
    census: tuple[Problem, dict[str, Any]], name: str, change: Any
) -> None:
    problem, proof = census
    assert not accepted(problem, {**proof, "nodes": change(proof["nodes"])}), name


def test_the_sign_of_an_output_counts_once() -> None:
    """Assumed twice, it would be taken off the goal's form twice."""
    problem = problem_of(
        Policy(domain=table(3), database=Database(size=2)), "histogram", "published", 0
    )
    signs: list[Any] = [["sign", 0], ["sign", 0]]
    with pytest.raises(Rejected, match="twice"):
        check(problem, {"groups": [], "cuts": [], "nodes": signs * 9}, Budget(STEPS))


def test_the_budget_ends_a_long_proof(census: tuple[Problem, dict[str, Any]]) -> None:
    problem, proof = census
    with pytest.raises(Rejected, match="steps"):
        check(problem, proof, Budget(50))


def test_endless_splits_are_refused(census: tuple[Problem, dict[str, Any]]) -> None:
    problem, proof = census
    nodes = [["split", [[0, 1]], 2]] * 5_000
    assert not accepted(problem, {**proof, "nodes": nodes})


def test_a_false_claim_is_answered_with_a_pair() -> None:
    found = attempt(problem_of(CENSUS, "histogram", "published", 2))
    assert found.proof is None and found.pair is not None
    assert "no D3 refutes" in found.reason


# Large n, the corpus


def bounded(n: int) -> Policy:
    return Policy(
        name=f"bounds-{n}",
        domain=Domain(A=Labels(["a", "b", "c"]), B=Labels(["x", "y"]), C=Integers(0, 9)),
        known=(
            Count({"A": "a"}, at_least=n // 4, at_most=n // 2),
            Count({"B": "x"}, at_least=n // 3, at_most=n // 3 + 1),
        ),
        database=Database(size=n),
    )


def test_size_of_the_proof_does_not_grow_with_n() -> None:
    cases = []
    for n in (100, 10**6):
        found = attempt(problem_of(bounded(n), "histogram", "published", 4))
        assert found.proof is not None, found.reason
        cases.append(len(found.proof["nodes"]))
    assert cases[1] <= 2 * cases[0]


GIVEN = [
    case
    for case in CORPUS
    if case.policy.scope == "given"
    and not any(isinstance(fact, Clause) for fact in case.policy.known)
]


@pytest.mark.parametrize("case", GIVEN, ids=lambda case: case.name)
def test_corpus(case: Case) -> None:
    problem = problem_of(case.policy, case.query, case.reading, case.answer)
    assert attempt(problem).proof is not None


def test_clauses_have_no_proof_of_this_kind() -> None:
    policy = Policy(
        domain=table(2),
        known=(Clause([Literal(1, {"A": "a1"})]),),
        database=Database(size=2),
    )
    with pytest.raises(Rejected, match="not for single records"):
        problem_of(policy, "histogram", "published", 0)
