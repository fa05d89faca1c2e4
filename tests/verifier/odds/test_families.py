"""Beliefs by families: exact corners, algebraic values, boxes; never below Definition 3.1."""

import random
from fractions import Fraction
from itertools import product

import pytest

from blowproof.models import (
    BudgetError,
    Clause,
    Count,
    Database,
    Domain,
    Integers,
    Literal,
    Point,
    Policy,
)
from blowproof.models.attackers.attackers import Attackers
from blowproof.models.attackers.secrets import Absence, Intervals, Totals
from blowproof.models.mechanisms.mechanism import Channel, Mechanism, Release
from blowproof.verifier.odds.base.algebraic import peaks
from blowproof.verifier.odds.base.answer import Factor, Shown
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.base.board import OddsBoard
from blowproof.verifier.odds.families.search import Searched, searched
from blowproof.verifier.odds.odds import odds, undecided
from corpus import exam_queue
from tiny_attackers import Belief, a_channel, a_policy, beliefs, possible, reference, shown_belief

ONE = Fraction(1)
KINDS = ["equal", "bound", "clause"]


def found_for(policy: Policy, mechanism: Mechanism, kind: str) -> Searched:
    return searched(Asked.of(mechanism, policy, ONE, Attackers(kind=kind)))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["iid", "independent"])
@pytest.mark.parametrize("seed", range(25))
def test_families_are_never_below_a_belief_and_their_own_comes_near(kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    policy = a_policy(rng, KINDS)
    databases = possible(policy)
    channel, rows = a_channel(rng, databases)
    found = found_for(policy, Mechanism(channel=channel), kind)
    size = len(databases[0])
    for belief in beliefs(rng, list(policy.domain.points()), size, 25):
        told = reference(policy, rows, [belief[0]] * size if kind == "iid" else belief)
        assert told is None or told <= found.upper.between(64)[1]
    if found.shown is not None:
        told = reference(policy, rows, shown_belief(found, policy, size))
        assert told is not None
        assert told >= found.lower.between(64)[0] * Fraction(99, 100)


@pytest.mark.parametrize("seed", range(10))
def test_families_agree_with_the_theorem_where_facts_are_equalities(seed: int) -> None:
    """Two ways that share nothing: the loss over pairs of reading 5, and the best family."""
    rng = random.Random(500 + seed)
    policy = a_policy(rng, ["equal"])
    mechanism = Mechanism(channel=a_channel(rng, possible(policy))[0])
    assert found_for(policy, mechanism, "independent").lower.text == (
        odds(mechanism, policy, ONE).lower.text
    )


def by_count(chances: list[Fraction], size: int) -> Mechanism:
    """A channel whose first output depends on how many records hold 1."""
    inputs = list(product(range(2), repeat=size))
    rows = tuple((str(chances[sum(d)]), str(1 - chances[sum(d)])) for d in inputs)
    named = tuple([[x] for x in d] for d in inputs)
    return Mechanism(channel=Channel(of="database", inputs=named, outputs=("a", "b"), rows=rows))


@pytest.mark.parametrize(
    ("tenths", "text"),
    [
        ([6, 6, 5, 5], "sqrt(5)/2"),
        ([3, 4, 1, 8, 9], "root of 381*y**4 + 184*y**3 - 3767*y**2 + 956*y + 2263"),
    ],
)
def test_one_belief_for_all_records_may_have_an_algebraic_answer(
    tenths: list[int], text: str
) -> None:
    """Where neither limit is the worst, the answer is a root, and a grid comes near it."""
    size = len(tenths) - 1
    chances = [Fraction(x, 10) for x in tenths]
    policy = Policy(domain=Domain(v=Integers(0, 1)), database=Database(size=size))
    found = odds(by_count(chances, size), policy, ONE, attackers=Attackers(kind="iid"))
    assert found.exact and found.lower.text.startswith(text)
    assert found.shown is not None
    assert found.shown.reached.between(64)[0] > found.lower.between(64)[0] * Fraction(999, 1000)
    rows: dict[tuple[Point, ...], list[Fraction]] = {
        tuple((x,) for x in d): [chances[sum(d)], 1 - chances[sum(d)]]
        for d in product(range(2), repeat=size)
    }
    for k in range(1, 30):
        belief: Belief
        belief = [{(0,): Fraction(30 - k, 30), (1,): Fraction(k, 30)}] * size
        told = reference(policy, rows, belief)
        assert told is not None and told <= found.lower.between(64)[1]


def test_peaks_are_exact() -> None:
    """(2 z) / (1 + z^2) is largest at 1, and (1 + 4 z) / (2 + 3 z^2) at a root."""
    (peak,) = peaks([Fraction(0), Fraction(2)], [Fraction(1), Fraction(0), Fraction(1)])
    assert peak.exact == 1
    (peak,) = peaks([Fraction(1), Fraction(4)], [Fraction(2), Fraction(0), Fraction(3)])
    assert peak.low <= Fraction(14011, 10000) and peak.exact is not None


def test_boxes_bound_what_no_corner_decides() -> None:
    """Three values, three other records: the worst family is inside; bounds from both sides."""

    def chance(d: tuple[int, ...]) -> Fraction:
        mixed = set(d[1:]) == {0, 1, 2}
        return Fraction(9 if d[0] == 1 else 1, 10) if mixed else Fraction(1, 2)

    inputs = list(product(range(3), repeat=4))
    rows = tuple((str(chance(d)), str(1 - chance(d))) for d in inputs)
    named = tuple([[x] for x in d] for d in inputs)
    channel = Channel(of="database", inputs=named, outputs=("a", "b"), rows=rows)
    policy = Policy(domain=Domain(v=Integers(0, 2)), database=Database(size=4))
    found = odds(Mechanism(channel=channel), policy, ONE, attackers=Attackers(kind="iid"))
    low, high = found.lower.between(64)[0], found.upper.between(64)[1] if found.upper else None
    assert high is not None and low <= high < low * Fraction(102, 100)


# known answers ------------------------------------------------------------------------------------


def laplace(query: str, scale: int) -> Mechanism:
    return Mechanism(releases=(Release(query=query, scale=Fraction(scale)),))


@pytest.mark.parametrize("students", [1, 2, 7, 12])
@pytest.mark.parametrize("kind", ["independent", "any"])
def test_the_exam_queue_is_exact_for_every_number_of_students(students: int, kind: str) -> None:
    attackers = Attackers(kind=kind)  # type: ignore[arg-type]
    found = odds(laplace("count(passes)", 1), exam_queue(students), ONE, attackers=attackers)
    assert found.exact and found.lower.text == f"exp({students})"


def test_incomes_are_protected_to_within_a_width() -> None:
    """Lemma 7.1: intervals of width 2 k; incomes in two of them differ by less than 4 k."""
    policy = Policy(domain=Domain(income=Integers(0, 100)), database=Database(size=5))
    pairs = Intervals("income", width=Fraction(10))
    found = odds(laplace("sum(income)", 20), policy, ONE, attackers=Attackers(pairs=pairs))
    assert found.exact and found.lower.loss == Fraction(19, 20)


def test_relative_intervals_and_absence_are_graphs() -> None:
    policy = Policy(domain=Domain(v=Integers(1, 8)), database=Database(size=2))
    relative = Attackers(pairs=Intervals("v", factor=Fraction(2)))
    assert odds(laplace("sum(v)", 1), policy, ONE, attackers=relative).lower.loss == 5  # 2 or 7
    absent = Attackers(pairs=Absence((1,)))
    assert odds(laplace("sum(v)", 1), policy, ONE, attackers=absent).lower.loss == 7


def test_intervals_as_a_graph_agree_with_their_statements() -> None:
    """The graph of `Intervals` joins x and y iff some pair of statements holds them apart."""
    policy = Policy(domain=Domain(v=Integers(1, 9)), database=Database(size=1))
    for pairs in (
        Intervals("v", width=Fraction(2)),
        Intervals("v", width=Fraction(3, 2)),
        Intervals("v", factor=Fraction(3, 2)),
        Intervals("v", factor=Fraction(7, 5)),
    ):
        graph = pairs.graph(policy).bind(policy.domain)
        apart = set()
        for one, two in pairs.pairs(policy, 1):
            for x, y in product(policy.domain.points(), repeat=2):
                if one.holds([x]) and two.holds([y]):
                    apart |= {(x, y), (y, x)}
        every = product(policy.domain.points(), repeat=2)
        assert apart == {(x, y) for x, y in every if graph.is_edge(x, y)}


def test_totals_against_independent_records() -> None:
    """A sum in [a, a + 1) against [a + 1, a + 2): one record moves by one, or many do."""
    policy = Policy(domain=Domain(v=Integers(0, 2)), database=Database(size=2))
    attackers = Attackers(pairs=Totals("v", Fraction(1)))
    found = odds(laplace("sum(v)", 1), policy, ONE, attackers=attackers)
    assert found.exact and found.lower.loss == 1
    wide = odds(laplace("histogram", 1), policy, ONE, attackers=attackers)
    assert wide.lower.loss == 2 and wide.exact


def test_a_clause_alone_has_an_exact_answer() -> None:
    """One of two records holds 1: told that one does not, the other one does."""
    either = Clause([Literal(1, {"v": [1]}), Literal(2, {"v": [1]})])
    policy = Policy(
        domain=Domain(v=Integers(0, 1)),
        known=(either,),
        database=Database(size=2, answers="given"),
    )
    found = odds(laplace("histogram", 2), policy, ONE)
    assert (found.exact, found.lower.loss) == (True, 1)


# what is said, and what is not --------------------------------------------------------------------


def test_identical_records_are_asked_about_where_facts_have_no_numbers() -> None:
    """Scope "any": the numbers of a worst pair are among those that attackers may know."""
    policy = Policy(domain=Domain(v=Integers(0, 3)), known=(Count({"v": [0, 1]}),))
    found = odds(laplace("histogram", 2), policy, ONE, attackers=Attackers(kind="iid"))
    assert found.exact and found.lower.loss == 2
    assert found.shown is not None and "every_record" in found.shown.prior


def test_what_independent_attackers_reach_is_nothing_to_identical_ones() -> None:
    """Where databases cannot be listed, only the upper bound is shared."""
    policy = Policy(
        domain=Domain(v=Integers(0, 9)),
        known=(Count({"v": list(range(5))}, answer=10),),
        database=Database(size=30),
    )
    board = OddsBoard()
    kind = Attackers(kind="iid")
    found = odds(laplace("histogram", 2), policy, ONE, attackers=kind, board=board)
    assert found.lower.loss == 0 and found.upper is not None and found.upper.loss == 2
    assert board.lower.loss == 0 and board.shown is None


def test_no_secret_in_doubt_is_said() -> None:
    policy = Policy(
        domain=Domain(v=Integers(0, 1)),
        known=(Count({"v": [1]}, answer=2),),
        database=Database(size=2),
    )
    found = odds(laplace("histogram", 2), policy, ONE, attackers=Attackers(kind="iid"))
    assert found.lower.loss == 0 and any("no secret is in doubt" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["independent", "iid", "any"])
def test_a_search_that_is_stopped_leaves_its_best_belief_on_the_board(kind: str) -> None:
    """Whoever stops it, by a clock or by Ctrl-C, has bounds that are sound, and a belief."""
    board = OddsBoard()
    policy = exam_queue(4)

    class Stop(Exception):
        pass

    def stop(asked: Asked) -> None:
        told = board.reached

        def reached(lower: Factor, shown: Shown | None) -> bool:
            told(lower, shown)
            raise Stop

        board.reached = reached  # type: ignore[method-assign]

    attackers = Attackers(kind=kind)  # type: ignore[arg-type]
    noise = laplace("count(passes)", 1)
    with pytest.raises(Stop):
        odds(noise, policy, ONE, attackers=attackers, board=board, on_asked=stop)
    found = undecided(noise, policy, ONE, board, "stopped")
    assert found.shown is not None and not found.lower.above(Factor.exp(4))
    assert found.upper is None or not Factor.exp(4).above(found.upper)
    assert found.verdict in ("exceeded", "undecided")


def test_a_belief_too_large_to_be_worked_out_leaves_the_one_before() -> None:
    board = OddsBoard()
    known = Shown(prior=None, secret=("a", "b"), output=None, reached=Factor.exp(1))

    def too_large() -> Shown | None:
        raise BudgetError("too many parts of the changes")

    board.told(Factor.exp(1), lambda: known)
    board.told(Factor.exp(2), too_large)
    assert board.shown is known and board.lower.loss == 2
    board.told(Factor.exp(3), too_large)
    assert board.shown is known and board.lower.loss == 3
