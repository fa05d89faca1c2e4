"""Columns that tell of the same thing: a school and its district, a town's number and its name.

A school lies in one district. In a domain of all pairs of both, somebody can be at a school of one
district and belong to another: there is no such person, everybody knows that, and S is another
number where there could be. A second name for the same thing is in no policy at all. What is found
here is a suggestion, as in `inferred`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from blowproof.models.data.columns_at import Columns, columns_of
from blowproof.models.data.inferred import Inferred
from blowproof.models.data.table_at import TableAt
from blowproof.models.domain.attributes import Integers, Labels

__all__ = ["Nested", "related"]

ROWS = 5
"""A value has so many rows on average, or it is chance that they agree in another column."""

MOST_COLUMNS = 16
"""More columns than this are not compared by twos."""

MOST_WRITTEN = 20_000
"""Nor is a nesting written out that would name more labels than this."""


@dataclass(frozen=True)
class Nested:
    """Each label of the column `inner` has one label of `outer`.

    `groups` has the labels of `inner` that go with each label of `outer`, in the domain's order;
    a label of `outer` that goes with none is not named.
    """

    inner: str
    outer: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]

    def impossible(self, outers: Sequence[str]) -> list[dict[str, list[str]]]:
        """Return the regions that hold nobody: labels of `inner` with those that are not theirs.

        >>> towns = Nested("town", "state", (("NY", ("Troy",)), ("MA", ("Ware", "Otis"))))
        >>> towns.impossible(["MA", "NY"])[1]
        {'town': ['Ware', 'Otis'], 'state': ['NY']}
        """
        return [
            {self.inner: list(members), self.outer: [other for other in outers if other != label]}
            for label, members in self.groups
        ]


def related(
    data: str | Path | TableAt, rows: int, columns: Iterable[Inferred]
) -> tuple[list[Inferred], list[Nested]]:
    """Return the columns without second names, and which lie within which, each in the next one.

    Of two columns that name the same things the first stays, or the one of labels. What has too few
    rows to a value is not compared, nor are two columns of numbers.
    """
    found = list(columns)
    labels = {
        item.name: item.attribute for item in found if isinstance(item.attribute, Labels | Integers)
    }
    if len(labels) < 2:
        return found, []
    with columns_of(data) as opened:
        at = {name: opened.names.index(name) for name in labels}
        each = opened.together([(place, place) for place in at.values()])
        values = dict(zip(labels, each, strict=True))
        small = [name for name in labels if rows >= ROWS * values[name]][:MOST_COLUMNS]
        twos = [
            (a, b)
            for a in small
            for b in small
            if a != b and (isinstance(labels[a], Labels) or isinstance(labels[b], Labels))
        ]
        if not twos:
            return found, []
        counts = dict(zip(twos, opened.together([(at[a], at[b]) for a, b in twos]), strict=True))
        twins = dict(_twins(small, labels, values, counts))
        found = [_left_out(item, twins) for item in found]
        alone = {item.name for item in found if item.alone}
        kept = {
            name: attribute
            for name, attribute in labels.items()
            if isinstance(attribute, Labels) and name in small and name not in twins
        }
        within = {
            (a, b)
            for a in kept
            for b in kept
            if a != b and a not in alone and counts[a, b] == values[a] > values[b] > 1
        }
        return found, list(_nested(opened, at, kept, within))


def _twins(
    small: Sequence[str],
    labels: Mapping[str, object],
    values: dict[str, int],
    counts: dict[tuple[str, str], int],
) -> Iterator[tuple[str, str]]:
    """Yield each column that is a second name, and the one that it names again."""
    kept: list[str] = []
    for name in sorted(small, key=lambda name: not isinstance(labels[name], Labels)):
        for other in kept:
            if (other, name) not in counts or values[name] <= 2:
                continue
            if {values[other], counts[name, other], counts[other, name]} == {values[name]}:
                yield name, other
                break
        else:
            kept.append(name)


def _left_out(item: Inferred, twins: dict[str, str]) -> Inferred:
    if item.name not in twins:
        return item
    words = f"it says the same as {twins[item.name]}"
    return replace(item, kind="left out", attribute=None, words=words, alone=0, alike=())


def _nested(
    opened: Columns,
    at: Mapping[str, int],
    labels: Mapping[str, Labels],
    within: set[tuple[str, str]],
) -> Iterator[Nested]:
    for inner, outer in sorted(within, key=lambda pair: (at[pair[0]], at[pair[1]])):
        between = any((inner, k) in within and (k, outer) in within for k in labels)
        large = labels[outer].size ** 2 + labels[inner].size > MOST_WRITTEN
        if between or large:
            continue
        has = dict(opened.pairs(at[inner], at[outer]))
        groups = (
            (str(label), tuple(str(x) for x in labels[inner].labels if has.get(str(x)) == label))
            for label in labels[outer].labels
        )
        yield Nested(inner, outer, tuple(group for group in groups if group[1]))
