"""Facts that cut a domain into more classes than anybody can list: refused in time, bounded."""

from __future__ import annotations

import random
import time
from collections import Counter as Tally

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blowproof.models import (
    Between,
    BudgetError,
    ContradictionError,
    Count,
    Database,
    Domain,
    Impossible,
    Integers,
    Labels,
    Policy,
    Reading,
    Region,
    parse_query,
    setting,
)
from blowproof.models.domain.class_diagram import MOST_STEPS, Diagram
from blowproof.models.domain.classes import collapse
from blowproof.models.domain.lookup import Lookup
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import FactModel, check_consistent, prepare
from blowproof.verifier.databases.value_classes import class_table, table_of
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.witnesses.few_classes import some_pair
from blowproof.verifier.witnesses.random_values import Drawing
from strategies import domains, unions

BITS = Domain({f"b{place}": Labels(["0", "1"]) for place in range(30)})


def regions(count: int, seed: int = 0) -> list[Region]:
    """Random regions over three attributes each."""
    rng = random.Random(seed)
    return [
        Region({f"b{place}": rng.choice("01") for place in sorted(rng.sample(range(30), 3))})
        for _ in range(count)
    ]


def counted(size: int = 100) -> Policy:
    """Forty counts with the answers of a random database."""
    rng = random.Random(1)
    people = [tuple(rng.randrange(2) for _ in range(30)) for _ in range(size)]
    areas = [(where, BITS.area([where])) for where in regions(40)]
    known = tuple(Count(where, answer=sum(x in area for x in people)) for where, area in areas)
    return Policy(domain=BITS, known=known, database=Database(size=size))


@given(st.data())
def test_what_is_left_out_is_in_no_class(data: st.DataObject) -> None:
    domain = data.draw(domains())
    areas = [domain.area(data.draw(unions(domain))) for _ in range(data.draw(st.integers(0, 3)))]
    zero = domain.area(data.draw(unions(domain)))
    listed = Tally(
        frozenset(number for number, area in enumerate(areas) if point in area)
        for point in domain.points()
        if point not in zero
    )
    classes = collapse(domain, areas, without=zero)
    assert {item.inside: item.size for item in classes} == listed
    for item in classes:
        points = [point for box in item.boxes() for point in box.points()]
        assert len(points) == item.size
        assert all(point in item and point not in zero for point in points)


def test_too_many_classes_are_refused_and_refused_at_once_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = tuple(Count(where) for where in regions(40))
    found = setting(Policy(domain=BITS, known=known))
    with pytest.raises(BudgetError, match="more than 20000 classes"):
        class_table(found)
    monkeypatch.setattr(
        "blowproof.models.domain.classes.Diagram", None
    )  # nothing is built any more
    for more in ((), (BITS.area([Region(b0="0", b1="1")]),)):
        with pytest.raises(BudgetError, match="more than 20000 classes"):
            class_table(found, more)


def test_a_large_diagram_of_few_classes_is_refused() -> None:
    with pytest.raises(BudgetError, match="too entangled"):
        collapse(BITS, [BITS.area(regions(60))])


def test_boxes_that_others_cover_do_not_grow_the_diagram() -> None:
    """Boxes x0 <= a for each axis: whichever holds first decides, so there are a few nodes."""
    domain = Domain({f"x{place}": Integers(0, 9) for place in range(20)})
    area = domain.area([Region({f"x{place}": Between(0, 4)}) for place in range(20)])
    diagram = Diagram(domain, [area])
    assert diagram.sizes(0, diagram.everything) == {0: 5**20, 1: 10**20 - 5**20}
    assert diagram._steps < MOST_STEPS / 100


def test_the_deadline_of_the_classes_is_kept() -> None:
    with pytest.raises(BudgetError, match="no time was left"):
        collapse(BITS, [BITS.area(regions(50, seed=3))], deadline=time.monotonic() + 0.05)


def test_a_list_of_regions_that_falls_into_too_many_pieces() -> None:
    with pytest.raises(BudgetError, match="too many pieces"):
        BITS.area(regions(60)).disjoint()


@pytest.mark.parametrize("reading", ["published", "add-remove", "markov"])
def test_n_bounds_what_no_engine_answers(reading: Reading) -> None:
    policy = counted()
    found = sensitivity(policy, reading=reading, time_limit=1)
    assert found.upper == (4 if reading == "markov" else 200)
    assert found.lower == 0 or found.witness is not None
    with pytest.raises(BudgetError):
        check_consistent(policy)


def test_that_nobody_checked_the_numbers_is_said() -> None:
    policy = counted()
    prepared = prepare(setting(policy), "published")
    assert prepared.unchecked is not None
    found = sensitivity(policy, time_limit=1)
    assert found.witness is not None or any("undecided" in note for note in found.notes)


def test_a_number_that_nothing_shows_to_be_determined_is_asked_for() -> None:
    policy = counted()
    open_ = Policy(domain=BITS, known=(*policy.known, Count({"b0": "0"})), database=policy.database)
    with pytest.raises(BudgetError, match="try: write its answer"):
        prepare(setting(open_), "published")


def test_impossible_values_alone_can_leave_nobody() -> None:
    nobody = Policy(domain=BITS, known=(Impossible({}),), database=Database(size=3))
    with pytest.raises(ContradictionError) as caught:
        check_consistent(nobody)
    assert set(caught.value.facts) == {"known[0]", "size"}
    empty = Policy(domain=BITS, known=(Impossible({}),), database=Database(size=0))
    assert FactModel.of(setting(empty)).classes == ()
    check_consistent(empty)


def test_counts_of_impossible_values_contradict_what_forbids_them() -> None:
    known = (Impossible({"b0": "0"}), Count({"b0": "0", "b1": "1"}, answer=2))
    with pytest.raises(ContradictionError) as caught:
        check_consistent(Policy(domain=BITS, known=known))
    assert set(caught.value.facts) == {"known[0]", "known[1]"}


@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove"])
def test_pairs_are_found_among_values_near_one_another(reading: Reading) -> None:
    free = Policy(domain=BITS, known=tuple(Count(where) for where in regions(40)))
    found = setting(free)
    question = Question(found, parse_query("histogram", free), reading)
    value, pair = some_pair(question, seconds=1)
    assert pair is not None and value >= 2
    assert check_pair(found, reading, pair)


def test_a_pair_is_put_among_drawn_records_with_the_known_numbers() -> None:
    prepared = prepare(setting(counted()), "published")
    drawing = Drawing(prepared)
    alike = next(
        item.take(2)
        for _ in range(100)
        for item in table_of(prepared, drawing.near()).classes
        if item.size > 1
    )
    pair = Pair(before=(alike[0],), after=(alike[1],))
    placed = drawing.around(pair, drawing.many(600), seconds=20)
    assert placed is not None and sum(placed.first().values()) == 100
    assert check_pair(prepared, "published", placed)
    twice = Pair(before=(alike[0],) * 101, after=(alike[1],) * 101)  # more records than there are
    assert drawing.around(twice, drawing.many(600), seconds=20) is None


def test_areas_of_a_value_without_a_diagram() -> None:
    areas = [BITS.area([where]) for where in regions(40)]
    lookup = Lookup(BITS, areas)
    rng = random.Random(5)
    for _ in range(200):
        point = tuple(rng.randrange(2) for _ in range(30))
        listed = sum(1 << number for number, area in enumerate(areas) if point in area)
        assert lookup.areas(point) == listed
