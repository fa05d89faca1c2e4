"""The parts of a mechanism as tables: the way back of `mechanism_reading`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import plain, show
from blowproof.models.mechanisms.mechanism import Channel, Prefixes, Release, Selection, Tree

__all__ = ["channel_table", "release_table", "selection_table"]

Table = dict[str, object]

_CONTRACT = re.compile(
    r"(histogram|partition|(marginal|difference|cumulative|range|ranges|rectangles|sum|count|matrix|cluster-sizes|"
    r"cluster-sums|weighted-sum)\(.+\))",
    re.DOTALL,
)


def release_table(release: Release) -> Table:
    """Return a release as a table; defaults are left out."""
    items = _query(release)
    if release.noise != "laplace":
        items["noise"] = release.noise
    widths = [_number(width) for width in release.widths]
    items[release.width] = widths if release.many or release.probabilities else widths[0]
    if release.groups != 1:
        items["groups"] = release.groups
    if release.along:
        items["along"] = list(release.along)
    for key, rows in (("facets", release.facets), ("fixed", release.fixed)):
        if rows:
            items[key] = [list(row) for row in rows]
    if release.grid != 1:
        items["grid"] = _number(release.grid)
    return items


def _query(release: Release) -> Table:
    query = release.query
    if isinstance(query, Tree):
        return {"tree": _tree(query)}
    if isinstance(query, Prefixes):
        prefixes: Table = {"attribute": query.attribute, "every": query.every}
        return {"prefixes": {**prefixes, "whole": True} if query.whole else prefixes}
    name = query if isinstance(query, str) else query.name
    if not isinstance(query, str) and not _CONTRACT.fullmatch(name):
        raise PolicyError(
            f"the query {name!r} was made by a program, and has no text",
            hint="write its matrix to a file, and release matrix(FILE)",
        )
    return {"query": name}


def _tree(tree: Tree) -> Table:
    items: Table = {"attribute": tree.attribute, "fan_out": tree.fan_out}
    options = {
        "block": tree.block,
        "first": tree.first or None,
        "last": tree.last,
        "blocks": list(tree.blocks) if tree.blocks is not None else None,
    }
    return {**items, **{key: value for key, value in options.items() if value is not None}}


def _number(value: Fraction | int) -> int | str:
    whole = plain(value)
    return whole if isinstance(whole, int) else show(whole)


def selection_table(selection: Selection) -> Table:
    """Return a choice as a table; defaults are left out."""
    items: Table = {"query": selection.query, "candidates": selection.candidates}
    scales = [_number(scale) for scale in selection.scales]
    items["scale"] = scales if selection.narrower else scales[0]
    if selection.noise != "discrete-laplace":
        items["noise"] = selection.noise
    if selection.penalty is not None:
        items["penalty"] = _number(selection.penalty)
    if selection.longest is not None:
        items["longest"] = selection.longest
    if selection.step is not None:
        items["step"] = _number(selection.step)
    return items


def channel_table(channel: Channel) -> Table:
    """Return a channel as a table."""
    return {
        "of": channel.of,
        "inputs": [_plain(item) for item in channel.inputs],
        "outputs": list(channel.outputs),
        "rows": [list(row) for row in channel.rows],
    }


def _plain(item: object) -> object:
    """Tuples become arrays, fractions strings, as TOML has neither."""
    if isinstance(item, Fraction):
        return _number(item)
    if isinstance(item, Mapping):
        return {str(key): _plain(value) for key, value in item.items()}
    if isinstance(item, Sequence) and not isinstance(item, str):
        return [_plain(part) for part in item]
    return item
