"""Facts that no secret move ties together: groups, and what S is no more than."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Literal

import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    PartitionBy,
    Policy,
    Setting,
    parse_query,
    setting,
)
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.plan import answer
from blowproof.verifier.portfolio.group_by_group import no_groups
from blowproof.verifier.proofs.write import certify_answer
from blowproof.verifier.reductions.fewer_facts import freed
from blowproof.verifier.reductions.linked_facts import linked_facts, with_facts
from blowproof.verifier.theorems.beside import facts_beside

QUERIES = ("histogram", "sum(x)", "marginal(x,y)", "cumulative(x)", "marginal(s)")
NORMS = ("l1", "l2-squared", "linf", "range")


def drawn(rng: random.Random, *, given: bool) -> Policy:
    """A few facts over three attributes, of which secrets change one, or a few near values."""
    domain = Domain(
        x=Integers(0, rng.randint(1, 2)),
        y=Integers(0, rng.randint(0, 2)),
        s=Labels(["F", "M"][: rng.randint(1, 2)]),
    )
    known: list[Count | Impossible | Marginal] = []
    for axis in rng.sample(["x", "y", "s"], rng.randint(1, 3)):
        known.append(Marginal([axis]))
    if rng.random() < 0.6:
        region = {"x": rng.choice([0, 1]), "s": "F"} if rng.random() < 0.5 else {"y": 0}
        known.append(Count(region))
    if rng.random() < 0.2:
        known.append(Impossible({"x": 1, "y": 0}))
    secrets = rng.choice(
        [
            AttributeChange(changes=1),
            AttributeChange(changes=1),
            PartitionBy(["s"]),
            PartitionBy(["x"]),
            Distance(metric="l1", threshold=1),
        ]
    )
    if not given:
        return Policy(domain=domain, known=tuple(known), secrets=secrets)
    free = Policy(domain=domain, known=tuple(known), secrets=secrets)
    points = [x for item in class_table(setting(free)).classes for x in item.take(9)]
    records = [rng.choice(points) for _ in range(rng.randint(1, 3))]
    numbered: list[Count | Impossible | Marginal] = []
    for fact in known:
        if isinstance(fact, Marginal):
            axes = domain.axes(fact.attributes)
            sizes = [domain.attributes[axis][1].size for axis in axes]
            counts = Counter(record[axes[0]] for record in records)
            numbered.append(Marginal(fact.attributes, answers=[counts[k] for k in range(sizes[0])]))
        elif isinstance(fact, Count):
            (bound,) = fact.bind(domain, "known")
            total = sum(bound.coefficient(record) for record in records)
            if rng.random() < 0.4:
                numbered.append(Count(fact.where, at_least=max(0, total - rng.randint(0, 1))))
            else:
                numbered.append(Count(fact.where, answer=total))
        else:
            numbered.append(fact)
    return Policy(
        domain=domain,
        known=tuple(numbered),
        secrets=secrets,
        database=Database(size=len(records), answers="given"),
    )


def policies(*, given: bool) -> Iterator[tuple[int, Policy]]:
    for seed in range(170 if given else 120):
        yield seed, drawn(random.Random(seed), given=given)


@pytest.mark.parametrize(("given", "engine"), [(True, "brute"), (False, "search")])
def test_no_pair_is_worse_than_in_its_group(
    given: bool, engine: Literal["brute", "search"]
) -> None:
    spoken = closed = 0
    for seed, policy in policies(given=given):
        query, norm = QUERIES[seed % len(QUERIES)], NORMS[seed % len(NORMS)]
        for measure in {"l1", norm} if given else {"l1"}:
            bound = parse_question(query, policy, measure)
            question = Question(prepare(setting(policy), "secret-moves"), bound, "secret-moves")
            if no_groups(question):
                continue
            told = answer(question, "groups")
            if told.upper is None:
                continue
            truth = sensitivity(
                policy, query, reading="secret-moves", engine=engine, norm=measure, time_limit=30
            )
            assert truth.lower == truth.upper
            spoken += 1
            closed += told.upper == truth.lower
            assert told.upper >= truth.lower, (seed, query, measure)
    assert spoken >= 25
    assert closed >= 10


@pytest.mark.parametrize("turned", [False, True])
def test_a_record_that_changes_another_group_is_no_pair(turned: bool) -> None:
    """In the group of boroughs a record may change its tenure alone; all facts forbid that."""
    domain = Domain(borough=Labels("abc"), tenure=Labels(["o", "r"]), rooms=Integers(1, 2))
    known = (Marginal(["borough"]), Count({"borough": ["a", "b"]}), Marginal(["tenure"]))
    policy = Policy(
        domain=domain,
        known=known[::-1] if turned else known,
        secrets=AttributeChange(changes=1),
        queries=(NamedCount("large", {"tenure": "o", "rooms": 2}),),
    )
    query = parse_query("count(large)", policy)
    question = Question(prepare(setting(policy), "secret-moves"), query, "secret-moves")
    told = answer(question, "groups")
    assert told.witness is not None
    assert check_pair(question.setting, "secret-moves", told.witness).holds
    assert (told.lower, told.upper) == (1, 1)


def groups_by_definition(found: Setting) -> set[frozenset[int]]:
    """Link facts that one edge changes, edge by edge."""
    facts = (*found.equalities, *found.bounds)
    groups: list[set[int]] = []
    for x, y in found.graph.edges(limit=10_000):
        if x in found.impossible or y in found.impossible:
            continue
        changed = {k for k, fact in enumerate(facts) if fact.coefficient(x) != fact.coefficient(y)}
        if changed:
            apart = [group for group in groups if not group & changed]
            together = set().union(changed, *(group for group in groups if group & changed))
            groups = [*apart, together]
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("given", [True, False])
def test_linked_is_what_edges_change_together(given: bool) -> None:
    several = 0
    for _, policy in policies(given=given):
        found = setting(policy)
        told = {frozenset(group) for group in linked_facts(found)}
        assert told == groups_by_definition(found)
        several += len(told) > 1
    assert several >= 20


def test_facts_that_no_edge_changes_stay_where_numbers_are_given() -> None:
    policy = Policy(
        domain=Domain(x=Integers(0, 1), y=Integers(0, 1), z=Integers(0, 1)),
        secrets=PartitionBy(["z"]),
        known=(
            Count({"x": 0, "z": 0}, answer=1),
            Count({"y": 0, "z": 1}, answer=1),
            Marginal(["z"], answers=[2, 1]),
        ),
        database=Database(size=3, answers="given"),
    )
    found = setting(policy)
    groups = linked_facts(found)
    among = {place for group in groups for place in group}
    assert sorted(map(sorted, groups)) == [[0], [1]]
    names = [fact.name for fact in with_facts(found, [1], among=among).equalities]
    assert names == [found.equalities[k].name for k in (1, 2, 3, 4)]
    assert names[-1] == "size"
    free = setting(policy, "any")
    assert len(with_facts(free, [1], among=among).equalities) == 1


def households(towns: int, *, data: bool) -> Policy:
    """Households by town and by size are known; sizes and incomes that are near are secret."""
    domain = Domain(
        town=Labels([f"t{k}" for k in range(towns)]), size=Integers(1, 8), income=Integers(0, 200)
    )
    numbers = [500] * towns
    sizes = [500 * towns // 8] * 8
    return Policy(
        domain=domain,
        secrets=Distance(metric="linf", threshold=5, attributes=["size", "income"]),
        known=(
            Marginal(["town"], answers=numbers if data else None),
            Count({"town": ["t0", "t1"]}, answer=1000 if data else None),
            Marginal(["size"], answers=sizes if data else None),
        ),
        queries=(NamedCount("large", {"size": [5, 6, 7, 8], "income": {"max": 20}}),),
    )


@pytest.mark.parametrize("data", [False, True])
@pytest.mark.parametrize(
    ("query", "most"), [("sum(income)", 40), ("ranges(income)", 7880), ("count(large)", 4)]
)
def test_totals_that_no_secret_move_changes_are_left_out(
    query: str, most: int, *, data: bool
) -> None:
    """A cycle through the eight sizes, income by 5 more at each move: with 40 towns as with one."""
    told = sensitivity(households(40, data=data), query, reading="secret-moves", time_limit=60)
    assert (told.lower, told.upper) == (most, most)


def schools(count: int, districts: int) -> Policy:
    """Schools in districts, subjects, and how many passed in each district."""
    each = count // districts
    return Policy(
        domain=Domain(
            school=Integers(0, count - 1), subject=Integers(0, 3), score=Integers(0, 100)
        ),
        secrets=PartitionBy(["school"]),
        known=(
            Marginal(["school", "subject"]),
            *(
                Count({"school": Between(k * each, k * each + each - 1), "score": Between(50, 100)})
                for k in range(districts)
            ),
        ),
    )


def test_districts_of_schools_are_apart() -> None:
    """Cycles stay in a school, and pairs in a district: of ten schools, whatever the others do."""
    found = sensitivity(schools(30, 3), reading="secret-moves", time_limit=3)
    assert found.lower == found.upper == 56


def test_what_its_groups_say_is_proved_of_the_whole() -> None:
    """Two margins of 3 x 3 with nearby values secret: a move changes one of the margins."""
    domain = Domain(a=Labels("123", ordered=True), b=Labels("123", ordered=True))
    policy = Policy(
        domain=domain,
        secrets=Distance(metric="l1", threshold=1),
        known=(Marginal(["a"]), Marginal(["b"])),
    )
    query = parse_query("histogram", policy)
    found = sensitivity(policy, query, reading="secret-moves")
    proved, certificate = certify_answer(policy, query, found)
    assert certificate is not None
    assert (found.status, proved.status, certificate.kind) == ("exact", "proved", "cycles")


def test_a_cycle_stays_in_its_component() -> None:
    """Four cells each: two cycles of four moves, b |A| + a |B| <= 3 * 4 + 4 * 4 moves."""
    policy = schools(10, 1)
    question = Question(
        setting(policy), parse_query("histogram", policy), "secret-moves", deadline=None
    )
    told = facts_beside(question)
    assert told is not None
    assert told.upper == 2 * (3 * 4 + 4 * 4)
    whole = facts_beside(Question(setting(policy), parse_query("histogram", policy), "published"))
    assert whole is not None and whole.upper == 2 * (41**2 // 2)


def test_components_bound_every_irreducible() -> None:
    """Two components of two cells each, and one of a single cell; one or two counts beside."""
    for seed in range(30):
        rng = random.Random(seed)
        domain = Domain(g=Integers(0, 1), c=Integers(0, 1), v=Integers(0, rng.randint(1, 3)))
        high = domain.attributes[2][1].size - 1
        known: list[Count | Marginal | Impossible] = [Marginal(["g", "c"])]
        known.append(Count({"v": Between(1, high)}))
        if rng.random() < 0.4:
            known.append(Count({"v": high, "c": 1}))
        if rng.random() < 0.4:
            known.append(Impossible({"g": 1, "c": 1}))
        policy = Policy(domain=domain, known=tuple(known), secrets=PartitionBy(["g"]))
        told = facts_beside(
            Question(setting(policy), parse_query("histogram", policy), "secret-moves")
        )
        truth = sensitivity(policy, reading="secret-moves", engine="search", time_limit=30)
        assert truth.lower == truth.upper
        assert told is not None and told.upper is not None
        assert told.lower <= truth.lower <= told.upper


def test_a_policy_that_lost_facts_still_lists_those_of_a_group() -> None:
    """A bound before them is left out, so that their places are not those of their names."""
    policy = Policy(
        domain=Domain(x=Integers(0, 1), y=Integers(0, 1)),
        secrets=AttributeChange(),
        known=(
            Count({"x": 0, "y": 0}, at_least=1),
            Count({"x": 0}, answer=2),
            Count({"y": 0}, answer=2),
        ),
        database=Database(size=4),
    )
    free = freed(prepare(setting(policy), "secret-moves"))
    groups = linked_facts(free)
    assert len(groups) == 2
    for group in groups:
        some = with_facts(free, group, among={0, 1})
        assert some.as_listed
        assert len(some.policy.known) == 1
