"""Values, records, cells and tables, spelled as a policy file spells them."""

from __future__ import annotations

from fractions import Fraction

from blowproof.models.base.numbers import plain, show
from blowproof.models.domain.attributes import Value
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Between, Condition, Point, Region

__all__ = ["cell_spec", "number_spec", "show_record", "show_value", "toml"]


def show_value(value: Value) -> str:
    """Return a value as a policy file writes it."""
    return repr(value) if isinstance(value, (int, str)) else f"'{show(value)}'"


def show_record(domain: Domain, point: Point) -> str:
    """Return a record as a policy file writes it.

    >>> from blowproof.models.domain.attributes import Integers, Labels
    >>> show_record(Domain(sex=Labels(["F", "M"]), age=Integers(10, 20)), (1, 3))
    "{sex = 'M', age = 13}"
    """
    pairs = zip(domain.names, domain.decode(point), strict=True)
    return "{" + ", ".join(f"{name} = {show_value(value)}" for name, value in pairs) + "}"


def number_spec(value: Value) -> str | int:
    """Return a value as TOML holds it: fractions as "p/q"."""
    if isinstance(value, Fraction):
        whole_or_not = plain(value)
        return whole_or_not if isinstance(whole_or_not, int) else show(value)
    return value


def cell_spec(regions: tuple[Region, ...]) -> object:
    """Return a cell as TOML holds it: a region, or a list of several."""
    tables = [{name: _condition_spec(c) for name, c in r.conditions} for r in regions]
    return tables[0] if len(tables) == 1 else tables


def _condition_spec(condition: Condition) -> object:
    if isinstance(condition, Between):
        ends = (("min", condition.min), ("max", condition.max))
        return {name: number_spec(end) for name, end in ends if end is not None}
    if isinstance(condition, tuple):
        return [number_spec(value) for value in condition]
    return number_spec(condition)


def toml(value: object) -> str:
    """Return the value in one line, as a policy file writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return show_value(value) if isinstance(value, (str, int, Fraction)) else repr(value)
