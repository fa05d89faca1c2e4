"""What is written reads back to the same policy; the normal form ignores names and spelling."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from blowproof.models import (
    Count,
    Domain,
    Edges,
    Integers,
    Labels,
    PartitionCells,
    Policy,
    Region,
    Steps,
    parse_query,
)
from blowproof.models.files.reading import parse_policy, policy_from, read_policy
from blowproof.models.files.writing import canonical, digest, to_mapping, to_toml
from strategies import World, policies, query_texts, worlds

VALID = sorted((Path(__file__).parents[2] / "policies" / "valid").glob("*.toml"))


@given(policies(odd=True))
def test_toml_round_trip(policy: Policy) -> None:
    text = to_toml(policy)
    again = parse_policy(text, name="another")
    assert again == policy
    assert to_toml(again) == text


@given(policies(odd=True))
def test_mapping_round_trip_through_json(policy: Policy) -> None:
    assert policy_from(json.loads(json.dumps(to_mapping(policy)))) == policy


@given(policies(odd=True))
def test_normal_form_is_a_policy_and_a_fixed_point(policy: Policy) -> None:
    text = canonical(policy)
    again = policy_from(json.loads(text), name="another")
    assert canonical(again) == text
    assert digest(again) == digest(policy)


@given(policies())
def test_normal_form_means_the_same(policy: Policy) -> None:
    again = policy_from(json.loads(canonical(policy)))
    assert again.scope == policy.scope
    points = list(policy.domain.points())
    assert list(again.domain.points()) == points
    for point in points:
        assert again.signature(point) == policy.signature(point)
        assert again.possible(point) == policy.possible(point)
        for other in points:
            assert again.graph.is_edge(point, other) == policy.graph.is_edge(point, other)


@given(worlds())
def test_the_hidden_database_satisfies_the_facts(world: World) -> None:
    policy, hidden = world.policy, world.hidden
    assert all(policy.possible(point) for point in hidden)
    for fact, total in zip(policy.linear_facts, policy.totals(hidden), strict=True):
        assert policy.scope == "any" or fact.bounded or fact.answer is not None
        assert fact.holds(total)
    assert all(clause.holds(hidden) for clause in policy.clauses)
    assert policy.database.size in (None, len(hidden))


@given(policies())
def test_query_texts_fit(policy: Policy) -> None:
    for text in query_texts(policy):
        parse_query(text, policy)


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_files_round_trip(path: Path) -> None:
    policy = read_policy(path)
    again = parse_policy(to_toml(policy), folder=path.parent)
    assert again == policy
    assert digest(again) == digest(policy)


def test_exact_numbers_of_python_policies_read_back() -> None:
    domain = Domain(t=Steps(0, 2, "1/2"))
    half = domain["t"].value(1)
    policy = Policy(
        domain=domain,
        known=(Count({"t": half}), Count({"t": [half, 1]}), Count({"t": {"min": half}})),
        secrets=Edges([({"t": half}, {"t": 2})]),
    )
    assert parse_policy(to_toml(policy)).known == policy.known
    assert digest(parse_policy(to_toml(policy))) == digest(policy)


def spelled(*, name: str, count: object, cell: dict[str, object], domain: Domain) -> Policy:
    cells = PartitionCells([cell, {"age": {"max": 4}}])
    return Policy(name=name, domain=domain, known=(Count(count, answer=1),), secrets=cells)


def test_digest_ignores_names_and_spelling() -> None:
    domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 9))
    first = spelled(
        name="one", count={"sex": "F", "age": [4, 3, 5]}, cell={"age": {"min": 5}}, domain=domain
    )
    second = spelled(
        name="two",
        count=[{"age": {"min": "3", "max": 5}, "sex": ["F"]}],
        cell={"age": {"min": 5, "max": 9}, "sex": ["M", "F"]},
        domain=Domain(sex=Labels(["F", "M"]), age=Steps("0/1", 9, 1)),
    )
    assert digest(first) == digest(second)


def test_digest_sees_what_matters() -> None:
    policy = spelled(
        name="one",
        count={"sex": "F"},
        cell={"age": {"min": 5}},
        domain=Domain(sex=Labels(["F", "M"]), age=Integers(0, 9)),
    )
    others = [
        replace(policy, known=(Count({"sex": "M"}, answer=1),)),
        replace(policy, known=(Count({"sex": "F"}, answer=2),)),
        replace(policy, known=()),
        policy.with_answers("any"),
        replace(policy, domain=Domain(age=Integers(0, 9), sex=Labels(["F", "M"]))),
        replace(policy, domain=Domain(sex=Labels(["M", "F"]), age=Integers(0, 9))),
    ]
    digests = {digest(other) for other in others}
    assert len(digests) == len(others)
    assert digest(policy) not in digests


def test_long_lists_are_wrapped() -> None:
    domain = Domain(age=Integers(0, 99))
    cells = [Region(age={"min": low, "max": low + 9}) for low in range(0, 100, 10)]
    text = to_toml(Policy(domain=domain, secrets=PartitionCells(cells)))
    assert max(map(len, text.splitlines())) <= 100
    assert parse_policy(text).secrets == PartitionCells(cells)
