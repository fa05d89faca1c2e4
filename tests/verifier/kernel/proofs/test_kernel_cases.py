"""Proofs by cases in reading 4, and in reading 1 under scope any with a G that is not complete.

Reading 4 against brute force. Scope any against the engine, and against the pairs that brute force
lists for few records. What is claimed below S never has a proof: searched for, or forged from one.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_kernel_bound_attacks import changed, shifted

from blowproof.models import (
    Between,
    BlowproofError,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Exact,
    Full,
    Impossible,
    Integers,
    Literal,
    Marginal,
    PartitionCells,
    Policy,
    Reading,
    Region,
    parse_query,
    setting,
)
from blowproof.models.policy.policy import Answers
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.brute import brute_neighbours, brute_sensitivity
from blowproof.verifier.kernel.check import FAULTS, world_of
from blowproof.verifier.kernel.document import Budget, Rejected, Unreadable
from blowproof.verifier.kernel.proofs.branching import Problem, check, conditions, problem_of
from blowproof.verifier.proofs.cases.search import Attempt, prove
from blowproof.verifier.proofs.claim import claim_of
from refusals import left_out
from strategies import policies, query_texts

LITTLE = Fraction(1, 1000)
STEPS = 10**7
COUNTS = ("count", "marginal", "sum", "impossible", "bound")


def problem(policy: Policy, text: str, reading: Reading, scope: Answers, value: Exact) -> Problem:
    """The kernel's problem of a pair that changes the query by more than a value."""
    query = parse_query(text, policy)
    nothing = Answer(
        policy="", query=query.name, reading=reading, answers=scope, lower=0, upper=0,
        status="exact", witness=None, engine="", seconds=0.0,
    )  # fmt: skip
    claim = claim_of(policy, query, nothing, prepare(setting(policy, scope), reading))
    return problem_of(world_of(claim, Budget())[0], value)


def attempt(asked: Problem, seconds: float = 10.0) -> Attempt:
    return prove(asked, deadline=time.monotonic() + seconds)


def accepted(asked: Problem, proof: Any) -> bool:
    try:
        check(asked, proof, Budget(STEPS))
    except (Rejected, Unreadable, *FAULTS):
        return False
    return True


def forged(proof: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """The proof as it is, and with parts changed."""
    rng = random.Random(number)
    yield proof
    yield from (changed(proof, rng) for _ in range(30))
    yield from shifted(proof)


def nothing_below(asked: Problem, lower: Problem, number: int, seconds: float = 0.5) -> None:
    """S has a proof, and no proof is found, or forged from this one, for less."""
    found = attempt(asked)
    assert found.proof is not None, found.reason
    assert accepted(asked, found.proof)
    assert lower.goal < asked.goal
    assert attempt(lower, seconds).proof is None
    for proof in forged(found.proof, number):
        assert not accepted(lower, proof)


# Reading 4


def largest(policy: Policy, text: str) -> Exact | None:
    """S in reading 4 by brute force; None where that is too much."""
    try:
        prepared = prepare(setting(policy, "given"), "markov")
        low, high = size_range(prepared, "markov")
        if high is None or high > 6:
            return None
        query, sizes = parse_query(text, policy), range(low, high + 1)
        return brute_sensitivity(prepared, query, "markov", sizes=sizes, complete=True).lower
    except BlowproofError as error:
        left_out(error)
        return None


@settings(max_examples=40)
@given(
    policies(scope="given", kinds=COUNTS, max_values=6, max_records=4),
    st.data(),
    st.integers(0, 2**20),
)
def test_four_moves_against_brute_force(policy: Policy, data: st.DataObject, number: int) -> None:
    text = data.draw(st.sampled_from(query_texts(policy)))
    value = largest(policy, text)
    assume(value is not None)
    assert value is not None
    asked = problem(policy, text, "markov", "given", value)
    if value > 0:
        lower = problem(policy, text, "markov", "given", value - LITTLE)
        nothing_below(asked, lower, number)
    else:
        assert accepted(asked, attempt(asked).proof)


@settings(max_examples=25)
@given(
    policies(scope="given", kinds=("clause", "count", "bound"), max_values=4, max_records=3),
    st.data(),
)
def test_clauses_in_reading_4_only_leave_pairs_out(policy: Policy, data: st.DataObject) -> None:
    """They are not in the problem: what is proved holds, and S has a proof where they rule nothing
    out that changes more.
    """
    text = data.draw(st.sampled_from(query_texts(policy)))
    value = largest(policy, text)
    assume(value)
    assert value is not None
    asked = problem(policy, text, "markov", "given", value)
    lower = problem(policy, text, "markov", "given", value - LITTLE)
    assert attempt(lower, 0.5).proof is None
    found = attempt(asked)
    assert found.proof is None or accepted(asked, found.proof)


def test_no_d3_in_reading_4() -> None:
    policy = Policy(domain=Domain(x=Integers(0, 5)), known=(Count({"x": Between(0, 2)}),))
    asked = problem(policy, "histogram", "markov", "any", 0)
    there, back = asked.moves[0], asked.moves[1]
    assert (there.target, back.source) == (0, 0)
    with pytest.raises(Rejected, match="no part"):
        conditions(asked, 1, [([0], 1), ([1], 1)], [])


def test_each_value_changes_by_one_at_most() -> None:
    """Four records of one value are no four cells; a third value lets four cells change."""
    for size, value in ((1, 0), (2, 2), (3, 2), (4, 4)):
        known = (Count({"x": Between(0, size - 1)}),)
        policy = Policy(domain=Domain(x=Integers(0, size - 1)), known=known)
        asked = problem(policy, "histogram", "markov", "any", value)
        assert attempt(asked).proof is not None
        if value:
            lower = problem(policy, "histogram", "markov", "any", value - 1)
            nothing_below(asked, lower, size)


def test_long_rows_and_bounds_in_reading_4() -> None:
    known = [Count({"x": Between(10 * k, 10 * k + 5)}, at_most=20) for k in range(1, 6)]
    policy = Policy(
        domain=Domain(x=Integers(0, 299)), known=tuple(known), database=Database(size=40)
    )
    answer, found = certified(policy, "sum(x)", reading="markov", time_limit=60)
    if answer.status == "proved":
        assert found.kind == "branching"
    asked = problem(policy, "sum(x)", "markov", "given", 2 * 298)
    assert attempt(asked, 30).proof is not None
    lower = problem(policy, "sum(x)", "markov", "given", 2 * 298 - 1)
    assert attempt(lower, 5).proof is None


def test_a_query_that_the_facts_tell_has_a_short_proof() -> None:
    """Sums of a known marginal do not change, whatever sign is assumed of them."""
    policy = Policy(
        domain=Domain(a=Integers(0, 9), b=Integers(0, 4)),
        known=(Marginal(["a"]), Marginal(["b"])),
    )
    for reading in ("markov", "published"):
        found = attempt(problem(policy, "cumulative(a)", reading, "any", 0))
        assert found.proof is not None
        assert found.cases < 50


# Reading 1, scope any, a G that is not complete


def small(rng: random.Random) -> tuple[Policy, str]:
    """A few facts, and a graph in which plain moves matter."""
    size = rng.randint(3, 6)
    points = range(size)
    known = tuple(
        Count({"x": sorted(rng.sample(points, rng.randint(1, size - 1)))})
        for _ in range(rng.randint(1, 3))
    )
    zeros = (Impossible({"x": 0}),) if rng.random() < 0.1 else ()
    pairs = [(x, y) for x in points for y in points if x < y]
    some = rng.sample(pairs, rng.randint(1, min(size, len(pairs))))
    groups: dict[int, list[int]] = {}
    for x in points:
        groups.setdefault(rng.randrange(2), []).append(x)
    graph = rng.choice(
        (
            Edges([({"x": x}, {"x": y}) for x, y in some]),
            Edges([({"x": x}, {"x": y}) for x, y in some]),
            Distance(threshold=1),
            PartitionCells([[Region({"x": group})] for group in groups.values()]),
        )
    )
    policy = Policy(domain=Domain(x=Integers(0, size - 1)), secrets=graph, known=(*known, *zeros))
    return policy, rng.choice(("histogram", "histogram", "cumulative(x)", "sum(x)"))


def worst(policy: Policy, text: str) -> Exact:
    """The largest change that pairs of up to three records make."""
    query, prepared = parse_query(text, policy), prepare(setting(policy, "any"), "published")
    pairs = brute_neighbours(prepared, "published", sizes=range(4), every_label=False)
    return max((query.difference(pair.moves("published")) for pair in pairs), default=0)


def test_scope_any_where_plain_moves_refute() -> None:
    """Where S is below the bound of the complete graph; and nothing below S is proved."""
    tried: Counter[str] = Counter()
    for number in range(2000):
        policy, text = small(random.Random(number))
        answer = sensitivity(policy, text, time_limit=3)
        whole = Policy(domain=policy.domain, secrets=Full(), known=policy.known)
        if answer.status == "bounds" or answer.lower == sensitivity(whole, text).lower:
            continue
        assert worst(policy, text) <= answer.lower
        tried["of interest"] += 1
        asked = problem(policy, text, "published", "any", answer.lower)
        if answer.lower > 0:
            lower = problem(policy, text, "published", "any", answer.lower - LITTLE)
            nothing_below(asked, lower, number)
        else:
            assert accepted(asked, attempt(asked).proof)
        if tried["of interest"] == 12:
            break
    assert tried["of interest"] == 12


def cuts_hold(policy: Policy, number: int, times: int = 150) -> int:
    """Whatever cut the kernel admits, each pair of up to three records fails a condition of it."""
    rng = random.Random(number)
    asked = problem(policy, "marginal(x)", "published", "any", 0)
    cells = {x: k for k, x in enumerate(x for x in range(9) if (x,) not in _zeros(policy))}
    moves = {(move.source, move.target): m for m, move in enumerate(asked.moves)}
    prepared = prepare(setting(policy, "any"), "published")
    pairs = []
    for pair in brute_neighbours(prepared, "published", sizes=range(4), every_label=False):
        counts = [0] * (len(asked.cells) + len(asked.moves))
        for (x,), (y,) in zip(pair.before, pair.after, strict=True):
            counts[cells[x]] += 1
            counts[len(asked.cells) + moves[cells[x], cells[y]]] += 1
        pairs.append(counts)
    held = 0
    for _ in range(times if pairs else 0):
        some = rng.sample(range(len(asked.moves)), min(len(asked.moves), rng.randint(1, 3)))
        part = [([m], rng.choice((1, 1, 2))) for m in some]
        plain = rng.choices(asked.plain, k=rng.randint(0, 2)) if asked.plain else []
        try:
            found = conditions(asked, rng.randint(1, 3), part, [(p, 1) for p in plain])
        except Rejected:
            continue
        held += 1
        for counts in pairs:
            assert any(sum(k * counts[v] for v, k in terms) < least for terms, least in found)
    return held


def _zeros(policy: Policy) -> set[tuple[int, ...]]:
    return {(0,) for fact in policy.known if isinstance(fact, Impossible)}


def test_cuts_hold_under_scope_any() -> None:
    assert sum(cuts_hold(small(random.Random(k))[0], k) for k in range(40)) > 300


def test_a_certificate_under_scope_any() -> None:
    """S is 2 (4 with full secrets): beside one record that moves, the other can move plainly."""
    policy = Policy(
        domain=Domain(x=Integers(0, 3)),
        secrets=PartitionCells([Region({"x": [0, 2]}), Region({"x": [1, 3]})]),
        known=(Count({"x": [2, 3]}),),
    )
    answer, found = certified(policy, "histogram", time_limit=20)
    assert (answer.lower, answer.status, found.kind) == (2, "proved", "branching")
    assert sensitivity(Policy(domain=policy.domain, known=policy.known)).lower == 4
    assert worst(policy, "histogram") == 2


def test_clauses_and_weights_are_refused_elsewhere() -> None:
    policy = Policy(
        domain=Domain(x=Integers(0, 1)),
        known=(Clause([Literal(1, {"x": 1})]),),
        database=Database(size=2),
    )
    for reading in ("published", "secret-moves", "add-remove"):
        with pytest.raises(Rejected, match="not for single records"):
            problem(policy, "histogram", reading, "given", 0)
