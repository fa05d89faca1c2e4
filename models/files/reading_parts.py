"""Reading the attributes under [domain]."""

from __future__ import annotations

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.toml_values import (
    array,
    check_keys,
    each,
    flag,
    found,
    integer,
    number,
    table,
    within,
)
from blowproof.models.domain.attributes import Attribute, Integers, Labels, Steps

__all__ = ["attribute"]

ATTRIBUTE_HINT = 'write ["F", "M"], { labels = [...], ordered = true } or { min = 0, max = 115 }'
LABEL_KEYS = ("labels", "ordered")
STEP_KEYS = ("min", "max", "step")


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
