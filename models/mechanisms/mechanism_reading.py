"""Reading the tables of a mechanism file: releases, choices, and a channel."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, cast

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.toml_values import (
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
from blowproof.models.mechanisms.mechanism import (
    COSTS,
    NOISES,
    Channel,
    Noise,
    Prefixes,
    Release,
    Selection,
    Tree,
)

__all__ = ["CHANNEL_KEYS", "RELEASE_KEYS", "channel", "releases", "selections"]

WIDTHS = ("scale", "variance", "probabilities")
ROWS = ("facets", "fixed")
RELEASE_KEYS = ("query", "tree", "prefixes", "noise", *WIDTHS, "grid", "groups", "along", *ROWS)
TREE_KEYS = ("attribute", "fan_out", "block", "first", "last", "blocks")
PREFIX_KEYS = ("attribute", "every", "whole")
SELECTION_KEYS = ("query", "candidates", "scale", "noise", "penalty", "longest", "step")
QUERY_KINDS = ("query", "tree", "prefixes")
CHANNEL_KEYS = ("of", "inputs", "outputs", "rows")


def releases(value: object) -> tuple[Release, ...]:
    """Return the releases of an array of tables."""
    hint = "write [[release]] with two brackets, once per release"
    with within("release"):
        items = array(value, of="tables", hint=hint)
        if not items:
            raise PolicyError("the mechanism releases nothing", hint=hint)
        return tuple(each(items, _release))


def _release(value: object) -> Release:
    items = table(value)
    check_keys(items, RELEASE_KEYS)
    kinds = [key for key in QUERY_KINDS if key in items]
    if len(kinds) != 1:
        reason = f"has both {kinds[0]} and {kinds[1]}" if kinds else "has no query"
        raise PolicyError(f"the release {reason}", hint=f"write one of {', '.join(QUERY_KINDS)}")
    with within(kinds[0]):
        query = _QUERIES[kinds[0]](items[kinds[0]])
    noise = "laplace"
    if "noise" in items:
        with within("noise"):
            noise = choice(items["noise"], NOISES, what="noise")
    if "grid" in items and noise == "laplace":
        hint = 'write noise = "discrete-laplace", or leave the grid out'
        raise PolicyError("Laplace noise has no grid", key="grid", hint=hint)
    grid = Fraction(1)
    if "grid" in items:
        with within("grid"):
            grid = Fraction(number(items["grid"]))
    given: dict[str, Any] = {}
    if "groups" in items:
        given["groups"] = _integer(items, "groups", 1)
    if "along" in items:
        with within("along"):
            names = array(items["along"], of="attributes", hint='write ["x", "y"]')
            given["along"] = tuple(each(names, text))
    for key in ROWS:
        if key in items:
            with within(key):
                given[key] = _rows(items[key])
    for key in WIDTHS:
        if key in items:
            with within(key):
                given[key] = _WIDTH[key](items[key])
    return Release(query=query, noise=cast("Noise", noise), grid=grid, **given)


def _rows(value: object) -> tuple[tuple[int, ...], ...]:
    hint = "write [[1, 0], [0, 1], [1, 1]]"
    rows = array(value, of="rows of whole numbers", hint=hint)
    return tuple(each(rows, lambda row: tuple(each(array(row, of="numbers", hint=hint), integer))))


def selections(value: object) -> tuple[Selection, ...]:
    """Return the choices of an array of tables."""
    with within("selection"):
        items = array(value, of="tables", hint="write [[selection]], once per choice")
        return tuple(each(items, _selection))


def _selection(value: object) -> Selection:
    items = table(value)
    check_keys(items, SELECTION_KEYS)
    for key in ("query", "candidates", "scale"):
        if key not in items:
            raise PolicyError(f"the selection has no {key}", hint=", ".join(SELECTION_KEYS))
    read: dict[str, Any] = {}
    for key, item in items.items():
        with within(key):
            read[key] = _SELECTED.get(key, text)(item)
    if "noise" in read:
        with within("noise"):
            choice(read["noise"], COSTS, what="noise")
    *narrower, scale = scales if isinstance(scales := read.pop("scale"), tuple) else (scales,)
    return Selection(scale=scale, narrower=tuple(narrower), **read)


def _scale(value: object) -> Fraction | tuple[Fraction, ...]:
    if isinstance(value, (list, tuple)):
        if not value:
            raise PolicyError("the list of scales is empty", hint="write one scale per output")
        return tuple(each(value, _one_scale))
    return _one_scale(value)


def _one_scale(value: object) -> Fraction:
    scale = Fraction(number(value))
    if scale < 0:
        raise PolicyError(f"the scale {scale} is negative", hint="a scale is 0 or more")
    return scale


def _variance(value: object) -> Fraction | tuple[Fraction, ...]:
    if isinstance(value, (list, tuple)):
        if not value:
            raise PolicyError("the list of variances is empty", hint="write one for each output")
        return tuple(each(value, _one_variance))
    return _one_variance(value)


def _one_variance(value: object) -> Fraction:
    variance = Fraction(number(value))
    if variance <= 0:
        raise PolicyError(f"the variance {variance} is not above 0", hint="write 1 or 1/2")
    return variance


def _probabilities(value: object) -> tuple[Fraction, ...]:
    items = array(value, of="fractions", hint='write ["1/4", "1/2", "1/4"]')
    return tuple(each(items, lambda item: Fraction(number(item))))


def _query(value: object) -> str:
    hint = "a query of the contract, or tree = { ... } or prefixes = { ... }"
    return text(value, hint=hint)


def _tree(value: object) -> Tree:
    items = table(value, hint='write { attribute = "age", fan_out = 16 }')
    check_keys(items, TREE_KEYS)
    numbers = {
        key: _integer(items, key, least)
        for key, least in (("fan_out", 2), ("block", 1), ("first", 0), ("last", 0))
        if key in items
    }
    if "fan_out" not in numbers:
        raise PolicyError("the tree has no fan_out", hint="write fan_out = 2")
    blocks = None
    if "blocks" in items:
        with within("blocks"):
            ends = each(array(items["blocks"], of="two integers", hint="write [0, 3]"), integer)
            if len(ends) != 2 or not 0 <= ends[0] <= ends[1]:
                hint = "write the first and the last block, from 0: [0, 3]"
                raise PolicyError(f"found {ends}, need two numbers in order", hint=hint)
            blocks = (ends[0], ends[1])
    if numbers.get("last", numbers.get("first", 0)) < numbers.get("first", 0):
        raise PolicyError("the last level is above the first", key="last", hint="level 0: the root")
    return Tree(
        attribute=_attribute(items),
        fan_out=numbers["fan_out"],
        block=numbers.get("block"),
        first=numbers.get("first", 0),
        last=numbers.get("last"),
        blocks=blocks,
    )


def _prefixes(value: object) -> Prefixes:
    items = table(value, hint='write { attribute = "age", every = 10 }')
    check_keys(items, PREFIX_KEYS)
    whole = False
    if "whole" in items:
        with within("whole"):
            whole = flag(items["whole"])
    every = _integer(items, "every", 1) if "every" in items else 1
    return Prefixes(attribute=_attribute(items), every=every, whole=whole)


_WIDTH: dict[str, Callable[[object], object]] = {
    "scale": _scale,
    "variance": _variance,
    "probabilities": _probabilities,
}

_SELECTED: dict[str, Callable[[object], object]] = {
    "scale": _scale,
    "penalty": lambda value: Fraction(number(value)),
    "step": lambda value: Fraction(number(value)),
    "longest": integer,
}

_QUERIES: dict[str, Callable[[object], str | Tree | Prefixes]] = {
    "query": _query,
    "tree": _tree,
    "prefixes": _prefixes,
}


def _attribute(items: dict[str, object]) -> str:
    if "attribute" not in items:
        raise PolicyError("no attribute is named", hint='write attribute = "age"')
    with within("attribute"):
        return text(items["attribute"])


def _integer(items: dict[str, object], key: str, least: int) -> int:
    with within(key):
        value = integer(items[key])
        if value < least:
            raise PolicyError(f"{value} is below {least}", hint=f"use {least} or more")
        return value


def channel(value: object) -> Channel:
    """Return a channel; its probabilities are looked at when it is certified."""
    with within("channel"):
        items = table(value, hint="write [channel] with one pair of brackets")
        check_keys(items, CHANNEL_KEYS)
        for key in CHANNEL_KEYS:
            if key not in items:
                hint = f"a channel has {', '.join(CHANNEL_KEYS)}"
                raise PolicyError(f"the channel has no {key}", hint=hint)
        with within("of"):
            of = choice(items["of"], ("record", "database"), what="kind of input")
        with within("inputs"):
            inputs = array(items["inputs"], of="inputs")
            if not inputs:
                raise PolicyError("there are no inputs", hint="list the values that go in")
        with within("outputs"):
            outputs = each(array(items["outputs"], of="names", hint='write ["yes", "no"]'), _name)
            if len(set(outputs)) < len(outputs):
                raise PolicyError("two outputs have the same name", hint="join them, or rename one")
        with within("rows"):
            rows = array(items["rows"], of="rows", hint='write [["3/4", "1/4"], ...]')
            if len(rows) != len(inputs):
                raise PolicyError(f"{len(rows)} rows for {len(inputs)} inputs", hint="one for each")
            read = tuple(each(rows, lambda row: _row(row, len(outputs))))
        kind = cast("Literal['record', 'database']", of)
        return Channel(of=kind, inputs=tuple(inputs), outputs=tuple(outputs), rows=read)


def _name(value: object) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)


def _row(value: object, width: int) -> tuple[str, ...]:
    items = array(value, of="probabilities")
    if len(items) != width:
        raise PolicyError(f"{len(items)} probabilities for {width} outputs", hint="one for each")
    return tuple(each(items, _entry))


def _entry(value: object) -> str:
    if isinstance(value, float):
        number(value)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        hint = 'write "3/4" or "exp(eps)/(1+exp(eps))"'
        raise PolicyError(f"found {found(value)}, need a probability", hint=hint)
    return str(value)
