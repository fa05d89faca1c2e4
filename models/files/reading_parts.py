"""Reading the attributes under [domain] and the secret graph under [secrets]."""

from __future__ import annotations

from collections.abc import Callable

from blowproof.models.base.errors import PolicyError
from blowproof.models.domain.attributes import Attribute, Integers, Labels, Steps, Value
from blowproof.models.files.reading_facts import plain_value, regions
from blowproof.models.files.toml_values import (
    array,
    check_keys,
    choice,
    each,
    flag,
    found,
    integer,
    number,
    table,
    text,
    within,
)
from blowproof.models.secrets import (
    AttributeChange,
    Distance,
    Edges,
    Full,
    PartitionBy,
    PartitionCells,
    SecretsSpec,
)

__all__ = ["attribute", "secrets"]

ATTRIBUTE_HINT = 'write ["F", "M"], { labels = [...], ordered = true } or { min = 0, max = 115 }'
LABEL_KEYS = ("labels", "ordered")
STEP_KEYS = ("min", "max", "step")
KEYS_OF_SECRETS = {
    "full": (),
    "attribute": ("changes",),
    "partition": ("by", "cells"),
    "distance": ("metric", "threshold", "strict", "attributes"),
    "edges": ("pairs",),
}
METRICS = ("l1", "l2", "linf")


def attribute(value: object) -> Attribute:
    """Return an attribute from a list of labels, a table with labels, or one with min and max."""
    if isinstance(value, (list, tuple)):
        return Labels(each(value, _label))
    items = table(value, need="an array of labels or a table", hint=ATTRIBUTE_HINT)
    if "labels" in items:
        elsewhere = dict.fromkeys(STEP_KEYS, "keep the labels or the numbers, not both")
        owner = "an attribute with labels"
        check_keys(items, LABEL_KEYS, elsewhere=elsewhere, owner=owner)
        return _labels(items)
    elsewhere = {"ordered": "leave it out: numbers are ordered"}
    owner = "an attribute without labels"
    check_keys(items, STEP_KEYS, elsewhere=elsewhere, owner=owner)
    if not items:
        raise PolicyError("the attribute is an empty table", hint=ATTRIBUTE_HINT)
    for key in ("min", "max"):
        if key not in items:
            raise PolicyError(f"the attribute has no {key}", hint="write { min = 0, max = 115 }")
    return _steps(items) if "step" in items else _integers(items)


def _label(value: object) -> str | int:
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return value
    raise PolicyError(f"found {found(value)}, need a label", hint="put every label in quotes")


def _labels(items: dict[str, object]) -> Labels:
    ordered = False
    if "ordered" in items:
        with within("ordered"):
            ordered = flag(items["ordered"])
    with within("labels"):
        return Labels(each(array(items["labels"], of="labels"), _label), ordered=ordered)


def _integers(items: dict[str, object]) -> Integers:
    ends = {}
    for key in ("min", "max"):
        with within(key):
            ends[key] = integer(items[key], hint='fractions need a step, e.g. step = "1/2"')
    return Integers(**ends)


def _steps(items: dict[str, object]) -> Steps:
    numbers = {}
    for key in ("min", "max", "step"):
        with within(key):
            numbers[key] = number(items[key])
    return Steps(**numbers)


def secrets(value: object) -> SecretsSpec:
    """Return the secret graph's description; without a kind, an empty table means full."""
    items = table(value, hint='write [secrets], then kind = "full"')
    if "kind" not in items:
        every = ("kind", *(key for keys in KEYS_OF_SECRETS.values() for key in keys))
        check_keys(items, every)
        if items:
            key = next(iter(items))
            kind = next(kind for kind, keys in KEYS_OF_SECRETS.items() if key in keys)
            raise PolicyError(f"{key!r} is given without a kind", hint=f'add kind = "{kind}"')
        return Full()
    with within("kind"):
        kind = choice(items.pop("kind"), KEYS_OF_SECRETS, what="kind")
    elsewhere = {
        key: f'{key} goes with kind = "{other}"'
        for other, keys in KEYS_OF_SECRETS.items()
        for key in keys
        if other != kind
    }
    check_keys(items, KEYS_OF_SECRETS[kind], elsewhere=elsewhere, owner=f'kind = "{kind}"')
    return _READERS[kind](items)


def _full(items: dict[str, object]) -> SecretsSpec:
    return Full()


def _attribute(items: dict[str, object]) -> SecretsSpec:
    if "changes" not in items:
        return AttributeChange()
    with within("changes"):
        changes = integer(items["changes"])
    return AttributeChange(changes=changes)


def _names(items: dict[str, object], key: str) -> list[str]:
    with within(key):
        return each(array(items[key], of="attribute names", hint=f'write {key} = ["sex"]'), text)


def _partition(items: dict[str, object]) -> SecretsSpec:
    if len(items) != 1:
        reason = "both by and cells" if items else "neither by nor cells"
        hint = 'write by = ["sex"], or cells = [{ age = { max = 17 } }, { age = { min = 18 } }]'
        raise PolicyError(f"the partition has {reason}", hint=hint)
    if "by" in items:
        return PartitionBy(_names(items, "by"))
    with within("cells"):
        cells = each(array(items["cells"], of="regions"), regions)
    return PartitionCells(cells)


def _distance(items: dict[str, object]) -> SecretsSpec:
    for key, hint in (
        ("metric", 'write metric = "l1", "l2" or "linf"'),
        ("threshold", "write threshold = 5"),
    ):
        if key not in items:
            raise PolicyError(f"the distance has no {key}", hint=hint)
    with within("metric"):
        metric = choice(items["metric"], METRICS, what="metric")
    with within("threshold"):
        threshold = number(items["threshold"])
    strict = False
    if "strict" in items:
        with within("strict"):
            strict = flag(items["strict"])
    names = _names(items, "attributes") if "attributes" in items else None
    return Distance(metric=metric, threshold=threshold, strict=strict, attributes=names)


def _edges(items: dict[str, object]) -> SecretsSpec:
    hint = "write pairs = [[{ age = 1 }, { age = 2 }]]"
    if "pairs" not in items:
        raise PolicyError("the edges have no pairs", hint=hint)
    with within("pairs"):
        return Edges(each(array(items["pairs"], of="pairs", hint=hint), _pair))


def _pair(value: object) -> tuple[dict[str, Value], dict[str, Value]]:
    records = array(value, of="two records", hint="write [{ age = 1 }, { age = 2 }]")
    if len(records) != 2:
        raise PolicyError(
            f"an edge joins two records, found {len(records)}",
            hint="write [{ age = 1 }, { age = 2 }]",
        )
    first, second = each(records, _record)
    return first, second


def _record(value: object) -> dict[str, Value]:
    result: dict[str, Value] = {}
    for name, item in table(value, need="a record", hint="write { age = 1 }").items():
        with within(name):
            result[name] = plain_value(item)
    return result


_READERS: dict[str, Callable[[dict[str, object]], SecretsSpec]] = {
    "full": _full,
    "attribute": _attribute,
    "partition": _partition,
    "distance": _distance,
    "edges": _edges,
}
