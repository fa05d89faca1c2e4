"""Reading regions and values of attributes, as policy files write them."""

from __future__ import annotations

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import exact
from blowproof.models.base.toml_values import check_keys, each, found, table, within
from blowproof.models.domain.attributes import Value
from blowproof.models.domain.regions import Between, Condition, Region

__all__ = ["plain_value", "regions"]

REGION_HINT = 'write e.g. { sex = "F", age = { max = 17 } }'


def regions(value: object) -> tuple[Region, ...]:
    """Return a union of regions from one table or an array of tables."""
    if isinstance(value, (list, tuple)):
        if not value:
            raise PolicyError("the list of regions is empty", hint="use {} for everything")
        return tuple(each(value, _region))
    return (_region(value),)


def _region(value: object) -> Region:
    """Return one region."""
    conditions = {}
    for name, condition in table(value, need="a region", hint=REGION_HINT).items():
        with within(name):
            conditions[name] = _condition(condition)
    return Region(conditions)


def _condition(value: object) -> Condition:
    if isinstance(value, dict):
        check_keys(value, ("min", "max"))
        ends: dict[str, Value] = {}
        for name, end in value.items():
            with within(name):
                ends[name] = plain_value(end)
        return Between(**ends)
    if isinstance(value, (list, tuple)):
        if not value:
            raise PolicyError("the list of values is empty", hint="name at least one value")
        return tuple(each(value, plain_value))
    return plain_value(value)


def plain_value(value: object) -> Value:
    """Return one value of an attribute: a label, an integer or a string \"p/q\"."""
    if isinstance(value, float):
        exact(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        hint = 'a value is a label, an integer or a string "p/q"'
        raise PolicyError(f"found {found(value)}, need a value", hint=hint)
    return value
