"""The JSON Schema and the reader accept the same shapes."""

import copy
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, validators

from blowproof.models import Policy, PolicyError
from blowproof.models.files.policy_schema import schema
from blowproof.models.files.reading import policy_from
from blowproof.models.files.writing import canonical, to_mapping
from strategies import policies

FOLDER = Path(__file__).parents[2] / "policies"
VALID = sorted((FOLDER / "valid").glob("*.toml"))
MALFORMED = sorted((FOLDER / "malformed").glob("*.toml"))

# JSON Schema counts 3.0 as an integer; TOML and the reader do not.
STRICT = validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)
VALIDATOR = STRICT(schema())

# Mistakes of meaning, not of shape: no schema sees them.
MEANING = {
    *("answers-file-missing", "answers-too-few", "answers-too-many"),
    *("bound-under-any", "bounds-swapped", "by-unknown-attribute"),
    *("cell-outside-the-domain", "cells-miss-a-value"),
    *("clause-record-out-of-range", "clause-under-any", "clause-without-size"),
    *("distance-of-unknown-attribute", "edge-record-misses-an-attribute", "edge-to-itself"),
    *("impossible-outside-the-domain", "marginal-of-unknown-attribute", "max-off-the-grid"),
    *("min-above-max", "min-above-max-on-a-grid", "more-changes-than-attributes"),
    *("overlapping-cells", "query-defined-twice", "query-outside-the-domain"),
    *("region-empty-range", "region-list-outside-the-domain", "region-off-the-grid"),
    *("region-outside-the-domain", "region-range-of-unordered", "repeated-edge"),
    *("unknown-attribute-in-region", "unknown-label-in-region"),
}


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())


def described(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key's schema and every definition."""
    if isinstance(node, dict):
        for group in ("properties", "$defs"):
            for name, item in node.get(group, {}).items():
                if isinstance(item, dict):  # `false` forbids a key
                    yield f"{path}/{name}", item
        for name, item in node.items():
            yield from described(item, f"{path}/{name}")
    elif isinstance(node, list):
        for place, item in enumerate(node):
            yield from described(item, f"{path}/{place}")


def test_every_key_is_described_and_its_examples_fit() -> None:
    document = schema()
    found = dict(described(document))
    assert len(found) > 40
    for path, item in found.items():
        if "$ref" in item and len(item) == 1:
            continue  # described where it is defined
        assert {"title", "description", "examples"} <= set(item), path
        part = STRICT({**item, "$defs": document["$defs"]})
        assert [
            error.message for value in item["examples"] for error in part.iter_errors(value)
        ] == []


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_files_fit(path: Path) -> None:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    assert [error.message for error in VALIDATOR.iter_errors(tables)] == []


@given(policies(odd=True))
def test_written_policies_fit(policy: Policy) -> None:
    assert VALIDATOR.is_valid(to_mapping(policy))
    assert VALIDATOR.is_valid(json.loads(canonical(policy)))


def test_malformed_files_do_not_fit_unless_only_the_meaning_is_wrong() -> None:
    fitting = set()
    for path in MALFORMED:
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue  # not TOML, or not UTF-8
        if VALIDATOR.is_valid(tables):
            fitting.add(path.stem)
    assert fitting == MEANING


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every table, array and leaf below the top."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inner:
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))


def refused(tables: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the schema and the reader refuse the tables."""
    try:
        policy_from(tables)
    except PolicyError as error:
        assert str(error)
        return not VALIDATOR.is_valid(tables), True
    return not VALIDATOR.is_valid(tables), False


@given(st.data())
def test_a_value_of_a_wrong_type_is_refused_by_both(data: st.DataObject) -> None:
    tables = copy.deepcopy(to_mapping(data.draw(policies())))
    *path, last = data.draw(st.sampled_from(list(places(tables))))
    node: Any = tables
    for key in path:
        node = node[key]
    node[last] = data.draw(st.sampled_from([1.5, None, {"zz": 1}, {"zz": {}}, [[1]], float("inf")]))
    assert refused(tables) == (True, True)


@given(st.data())
def test_an_unknown_key_is_refused_by_both(data: st.DataObject) -> None:
    tables = copy.deepcopy(to_mapping(data.draw(policies())))
    spots = [(), *places(tables)]
    spot = data.draw(st.sampled_from([s for s in spots if isinstance(at(tables, s), dict)]))
    # In a region or a record this is an attribute with an impossible value.
    at(tables, spot)["zz"] = {"zz": 1}
    assert refused(tables) == (True, True)


def at(tables: Any, spot: tuple[Any, ...]) -> Any:
    """What stands at a path."""
    for key in spot:
        tables = tables[key]
    return tables
