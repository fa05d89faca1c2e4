"""The parts of `strategies`: domains, regions, secret graphs.

Strategies are kept (`kept`): hypothesis validates each one that is new, which takes longer than to
draw from it.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

from blowproof.models import (
    Attribute,
    AttributeChange,
    Distance,
    Domain,
    Edges,
    Full,
    Integers,
    Labels,
    PartitionBy,
    PartitionCells,
    Point,
    Region,
    Steps,
    Value,
    show,
)

SECRETS = ("full", "attribute", "by", "cells", "distance", "edges")
NAMES = ("a", "b", "c")


kept = lru_cache(maxsize=2000)
"""Who asks again gets the same strategy, which draws the same: domains are frozen."""


@kept
def upto(most: int, *, least: int = 0) -> st.SearchStrategy[int]:
    """least..most with the least half as often: plain lists would be empty half of the time."""
    return st.sampled_from([k for k in range(least, most + 1) for _ in range(2 - (k == least))])


@kept
def whole(least: int, most: int) -> st.SearchStrategy[int]:
    """least..most."""
    return st.integers(least, most)


@kept
def one(items: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    """One of the items."""
    return st.sampled_from(items)


@kept
def some(
    items: tuple[Any, ...], least: int = 1, most: int | None = None
) -> st.SearchStrategy[list[Any]]:
    """Distinct ones of the items."""
    return st.lists(one(items), min_size=least, max_size=most, unique=True)


@kept
def places(size: int) -> st.SearchStrategy[list[int]]:
    """One to three positions of an attribute."""
    return st.lists(whole(0, size - 1), min_size=1, max_size=3, unique=True)


BOOLEANS = st.booleans()


# Domains


def written(value: Value) -> str | int:
    """A value as a policy file writes it."""
    if isinstance(value, Fraction):
        return show(value) if value.denominator != 1 else int(value)
    return value


@kept
def label_texts(odd: bool) -> st.SearchStrategy[str]:
    """Label and attribute names: plain letters, or anything that TOML can hold."""
    plain = st.sampled_from("uvwxyz")
    return st.one_of(plain, st.text(st.characters(exclude_categories=["Cs"]))) if odd else plain


@kept
def labels_of(size: int, odd: bool, numbers: bool) -> st.SearchStrategy[list[Any]]:
    """So many labels."""
    item = whole(-3, 9) if numbers else label_texts(odd)
    return st.lists(item, min_size=size, max_size=size, unique=True)


STARTS = (Fraction(1), Fraction(1, 3))
STEPS = (Fraction(1, 2), Fraction(2), Fraction(2, 3), Fraction(1))


@kept
@st.composite
def attributes(draw: st.DrawFn, *, max_size: int = 4, odd: bool = False) -> Attribute:
    """One attribute of any type with 1..max_size values."""
    size = draw(upto(max_size, least=1))
    form = draw(one(("labels", "ordered", "integers", "steps")))
    if form in ("labels", "ordered"):
        numbers = draw(BOOLEANS) if odd else False
        return Labels(draw(labels_of(size, odd, numbers)), ordered=form == "ordered")
    low = draw(whole(-2, 2))
    if form == "integers":
        return Integers(low, low + size - 1)
    step = draw(one(STEPS))
    start = low * draw(one(STARTS))
    return Steps(start, start + (size - 1) * step, step)


@kept
@st.composite
def domains(draw: st.DrawFn, *, max_values: int = 12, odd: bool = False) -> Domain:
    """1..3 attributes with 1..4 values each, at most max_values values in all."""
    names: Sequence[str] = NAMES
    if odd:
        names = draw(labels_of(3, odd, False))
    found: dict[str, Attribute] = {}
    room = max_values
    for name in names[: draw(whole(1, 3))]:
        found[name] = draw(attributes(max_size=min(4, room), odd=odd))
        room //= found[name].size
    return Domain(found)


# Regions


@kept
@st.composite
def conditions(draw: st.DrawFn, attribute: Attribute) -> Any:
    """One value, a list of values, or a range with one end or two."""
    form = draw(one(("value", "list", "range") if attribute.ordered else ("value", "list")))
    place = whole(0, attribute.size - 1)
    if form == "value":
        return written(attribute.value(draw(place)))
    if form == "list":
        return [written(attribute.value(chosen)) for chosen in draw(places(attribute.size))]
    low, high = sorted((draw(place), draw(place)))
    ends = {"min": written(attribute.value(low)), "max": written(attribute.value(high))}
    return {name: ends[name] for name in draw(one((("min", "max"), ("min",), ("max",))))}


@kept
@st.composite
def regions(draw: st.DrawFn, domain: Domain) -> Region:
    """A conjunction over some of the attributes; {} too."""
    amount = draw(upto(min(2, len(domain))))
    names = draw(some(tuple(domain.names), amount, amount))
    return Region({name: draw(conditions(domain[name])) for name in names})


@kept
def unions(domain: Domain) -> st.SearchStrategy[list[Region]]:
    """A region, or a union of up to three, which may overlap."""
    return st.lists(regions(domain), min_size=1, max_size=3)


def record(domain: Domain, point: Point) -> dict[str, Value]:
    """A point as a table."""
    return dict(zip(domain.names, map(written, domain.decode(point)), strict=True))


# Secrets


@kept
@st.composite
def cells(draw: st.DrawFn, domain: Domain) -> PartitionCells:
    """A partition: a split of one attribute, or any grouping of the values."""
    if draw(BOOLEANS):
        name = draw(one(tuple(domain.names)))
        groups = draw(groupings(range(domain[name].size)))
        return PartitionCells(
            [Region({name: [written(domain[name].value(p)) for p in group]}) for group in groups]
        )
    groups = draw(groupings(list(domain.points())))
    return PartitionCells([[Region(record(domain, p)) for p in group] for group in groups])


@st.composite
def groupings(draw: st.DrawFn, items: Sequence[Any]) -> list[list[Any]]:
    """The items in one to three non-empty groups."""
    groups: dict[int, list[Any]] = {}
    for item in items:
        groups.setdefault(draw(whole(0, 2)), []).append(item)
    return list(groups.values())


@kept
@st.composite
def distances(draw: st.DrawFn, domain: Domain) -> Distance:
    """Any metric and threshold, on all attributes or on some."""
    return Distance(
        metric=draw(one(("l1", "l2", "linf"))),
        threshold=draw(one((1, 2, 3, "3/2", "4/3", "1/2"))),
        strict=draw(BOOLEANS),
        attributes=draw(none_or_some(tuple(domain.names))),
    )


@kept
def none_or_some(names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """None, or some of the names."""
    return st.one_of(st.none(), some(names))


@kept
@st.composite
def edge_lists(draw: st.DrawFn, domain: Domain) -> Edges:
    """Up to eight distinct edges, none if there is a single value."""
    points = list(domain.points())
    pairs = [(x, y) for x in points for y in points if x < y]
    amount = draw(upto(min(8, len(pairs))))
    edge = st.sampled_from(pairs) if pairs else st.nothing()
    chosen = draw(st.lists(edge, min_size=amount, max_size=amount, unique=True))
    turned = [(y, x) if draw(BOOLEANS) else (x, y) for x, y in chosen]
    return Edges([(record(domain, x), record(domain, y)) for x, y in turned])


def secret_graphs(domain: Domain, kinds: Sequence[str] = SECRETS) -> st.SearchStrategy[Any]:
    """A secret graph of one of the kinds: full, attribute, by, cells, distance, edges."""
    return _secret_graphs(domain, tuple(kinds))


@kept
def _secret_graphs(domain: Domain, kinds: tuple[str, ...]) -> st.SearchStrategy[Any]:
    found: dict[str, st.SearchStrategy[Any]] = {
        "full": st.just(Full()),
        "attribute": whole(1, len(domain)).map(lambda c: AttributeChange(changes=c)),
        "by": some(tuple(domain.names)).map(PartitionBy),
        "cells": cells(domain),
        "distance": distances(domain),
        "edges": edge_lists(domain),
    }
    return st.one_of(*(found[kind] for kind in kinds))
