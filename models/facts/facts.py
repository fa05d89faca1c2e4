"""Publicly known facts as written: `Count`, `Marginal`, `Sum`, `Impossible`, `Clause`.

A count, or a sum of counts, has a known number or bounds; impossible values are a region without
records; a clause is an OR over single records. `bind` puts each on positions (`on_positions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import whole
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Box, Positions, Region
from blowproof.models.facts.on_positions import BoundClause, LinearFact

__all__ = [
    "Clause",
    "Count",
    "Impossible",
    "Known",
    "Literal",
    "Marginal",
    "Sum",
    "Where",
    "where",
]

Where = tuple[Region, ...]
MARGINAL_LIMIT = 200_000


def where(regions: object, *, key: str) -> Where:
    """Return a union of regions from one region, one mapping, or a list of them.

    >>> where({"sex": "F"}, key="count")
    ({sex = 'F'},)
    """
    if isinstance(regions, Region):
        return (regions,)
    if isinstance(regions, dict):
        return (_region(regions, key),)
    if isinstance(regions, Sequence) and not isinstance(regions, str):
        if not regions:
            raise PolicyError("the list of regions is empty", key=key, hint="use {} for everything")
        return tuple(_region(item, f"{key}[{place}]") for place, item in enumerate(regions))
    raise PolicyError(
        f"{regions!r} is not a region", key=key, hint='write e.g. { sex = "F", age = { max = 17 } }'
    )


def _region(item: object, key: str) -> Region:
    if isinstance(item, Region):
        return item
    if not isinstance(item, dict):
        raise PolicyError(f"{item!r} is not a region", key=key, hint='write e.g. { sex = "F" }')
    try:
        return Region(item)
    except PolicyError as error:
        raise error.inside(key) from None


def _numbers(
    having: str,
    key: str,
    number: int | None,
    at_least: int | None,
    at_most: int | None,
    *,
    least: int | None,
) -> None:
    """Refuse a number beside bounds, and bounds that contradict each other."""
    if number is not None:
        whole(number, key=key, least=least)
        if at_least is not None or at_most is not None:
            raise PolicyError(f"{having} or bounds, not both", key=key, hint="drop one")
    for name, bound in (("at_least", at_least), ("at_most", at_most)):
        if bound is not None:
            whole(bound, key=name, least=least)
    if at_least is not None and at_most is not None and at_least > at_most:
        raise PolicyError(
            f"at_least = {at_least} is above at_most = {at_most}", key="at_least", hint="swap them"
        )


@dataclass(frozen=True, init=False)
class Count:
    """One count query over a region or a union of regions: known, answered, or bounded.

    >>> Count({"sex": "F"}, answer=12)
    Count({sex = 'F'}, answer=12)
    """

    where: Where
    answer: int | None = field(kw_only=True)
    at_least: int | None = field(kw_only=True)
    at_most: int | None = field(kw_only=True)

    def __init__(
        self,
        where_: object,
        /,
        *,
        answer: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
    ) -> None:
        object.__setattr__(self, "where", where(where_, key="count"))
        _numbers("a count has an answer", "answer", answer, at_least, at_most, least=0)
        object.__setattr__(self, "answer", answer)
        object.__setattr__(self, "at_least", at_least)
        object.__setattr__(self, "at_most", at_most)

    @property
    def bounded(self) -> bool:
        """Whether the fact is a bound rather than an equality."""
        return self.at_least is not None or self.at_most is not None

    @property
    def answered(self) -> bool:
        """Whether a number is written."""
        return self.answer is not None

    def bind(self, domain: Domain, name: str) -> tuple[LinearFact, ...]:
        """Return the fact on positions."""
        area = _area(domain, self.where, "count")
        return (
            LinearFact(
                name=name,
                terms=((1, area),),
                answer=self.answer,
                at_least=self.at_least,
                at_most=self.at_most,
            ),
        )

    def __repr__(self) -> str:
        return f"Count({_show_where(self.where)}{_show_numbers(self)})"


@dataclass(frozen=True, init=False)
class Marginal:
    """Every count of a marginal, with or without its answers in row-major order.

    >>> Marginal(["sex"], answers=[3, 4])
    Marginal(['sex'], answers=[3, 4])
    """

    attributes: tuple[str, ...]
    answers: tuple[int, ...] | None = field(kw_only=True)
    answers_file: str | None = field(kw_only=True)

    def __init__(
        self,
        attributes: Iterable[str],
        *,
        answers: Iterable[int] | None = None,
        answers_file: str | None = None,
    ) -> None:
        names = (attributes,) if isinstance(attributes, str) else tuple(attributes)
        if not names:
            raise PolicyError(
                "the marginal names no attribute", key="marginal", hint="use count = {} for n"
            )
        numbers = None if answers is None else tuple(answers)
        for place, number in enumerate(numbers or ()):
            whole(number, key=f"answers[{place}]", least=0)
        object.__setattr__(self, "attributes", names)
        object.__setattr__(self, "answers", numbers)
        object.__setattr__(self, "answers_file", answers_file)

    @property
    def bounded(self) -> bool:
        """A marginal is never a bound."""
        return False

    @property
    def answered(self) -> bool:
        """Whether numbers are written."""
        return self.answers is not None

    def cells(self, domain: Domain) -> Iterator[tuple[str, Box]]:
        """Yield each cell's description and box, row-major."""
        axes = self._axes(domain)
        for places in product(*(range(domain.attribute(axis).size) for axis in axes)):
            sides = list(domain.whole.sides)
            for axis, place in zip(axes, places, strict=True):
                sides[axis] = Positions.span(place, place + 1)
            label = ", ".join(
                f"{domain.names[axis]} = {domain.attribute(axis).value(place)}"
                for axis, place in zip(axes, places, strict=True)
            )
            yield label, Box.of(sides)

    def _axes(self, domain: Domain) -> tuple[int, ...]:
        try:
            axes = domain.axes(self.attributes)
        except PolicyError as error:
            raise error.inside("marginal") from None
        size = prod(domain.attribute(axis).size for axis in axes)
        if size > MARGINAL_LIMIT:
            raise PolicyError(
                f"the marginal has {size} cells, and at most {MARGINAL_LIMIT} are supported",
                key="marginal",
                hint="leave out an attribute with many values, or publish coarser counts",
            )
        return axes

    def bind(self, domain: Domain, name: str) -> tuple[LinearFact, ...]:
        """Return one equality per cell."""
        size = prod(domain.attribute(axis).size for axis in self._axes(domain))
        if self.answers is not None and len(self.answers) != size:
            raise PolicyError(
                f"the marginal has {size} cells, but the number of answers is {len(self.answers)}",
                key="answers",
                hint="list one answer per cell, the last attribute varying fastest",
            )
        answers = self.answers or (None,) * size
        return tuple(
            LinearFact(name=f"{name} ({label})", terms=((1, Area((box,))),), answer=answer)
            for (label, box), answer in zip(self.cells(domain), answers, strict=True)
        )

    def __repr__(self) -> str:
        answers = "" if self.answers is None else f", answers={list(self.answers)}"
        return f"Marginal({list(self.attributes)!r}{answers})"


@dataclass(frozen=True, init=False)
class Sum:
    """A linear fact: integer times of counts, with `equals`, `at_least` or `at_most`.

    >>> Sum([(1, {"sex": "F"}), (-1, {"sex": "M"})], equals=0)
    Sum([(1, {sex = 'F'}), (-1, {sex = 'M'})], equals=0)
    """

    terms: tuple[tuple[int, Where], ...]
    equals: int | None = field(kw_only=True)
    at_least: int | None = field(kw_only=True)
    at_most: int | None = field(kw_only=True)

    def __init__(
        self,
        terms: Iterable[tuple[int, object]],
        *,
        equals: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
    ) -> None:
        parts = []
        for place, (times, regions) in enumerate(terms):
            whole(times, key=f"sum[{place}].times")
            if times == 0:
                raise PolicyError(
                    "times = 0 says nothing",
                    key=f"sum[{place}].times",
                    hint="leave the term out",
                )
            parts.append((times, where(regions, key=f"sum[{place}].count")))
        if not parts:
            raise PolicyError(
                "the sum has no terms",
                key="sum",
                hint='write [{ times = 1, count = { sex = "F" } }]',
            )
        _numbers("a sum has equals", "equals", equals, at_least, at_most, least=None)
        object.__setattr__(self, "terms", tuple(parts))
        object.__setattr__(self, "equals", equals)
        object.__setattr__(self, "at_least", at_least)
        object.__setattr__(self, "at_most", at_most)

    @property
    def bounded(self) -> bool:
        """Whether the fact is a bound rather than an equality."""
        return self.at_least is not None or self.at_most is not None

    @property
    def answered(self) -> bool:
        """Whether a number is written."""
        return self.equals is not None

    def bind(self, domain: Domain, name: str) -> tuple[LinearFact, ...]:
        """Return the fact on positions."""
        terms = tuple(
            (times, _area(domain, regions, f"sum[{place}].count"))
            for place, (times, regions) in enumerate(self.terms)
        )
        return (
            LinearFact(
                name=name,
                terms=terms,
                answer=self.equals,
                at_least=self.at_least,
                at_most=self.at_most,
            ),
        )

    def __repr__(self) -> str:
        terms = ", ".join(f"({times}, {_show_where(regions)})" for times, regions in self.terms)
        return f"Sum([{terms}]{_show_numbers(self)})"


@dataclass(frozen=True, init=False)
class Impossible:
    """A structural zero: no record can hold a value of the region.

    >>> Impossible({"sex": "M", "ward": "c"})
    Impossible({sex = 'M', ward = 'c'})
    """

    where: Where

    def __init__(self, where_: object, /) -> None:
        object.__setattr__(self, "where", where(where_, key="impossible"))

    def __repr__(self) -> str:
        return f"Impossible({_show_where(self.where)})"


@dataclass(frozen=True, init=False)
class Literal:
    """Record `record` (1..n) holds a value inside the region, or outside it."""

    record: int
    where: Where
    inside: bool = field(kw_only=True)

    def __init__(self, record: int, where_: object, /, *, inside: bool = True) -> None:
        object.__setattr__(self, "record", whole(record, key="record", least=1))
        object.__setattr__(self, "where", where(where_, key="in" if inside else "not_in"))
        object.__setattr__(self, "inside", inside)

    def __repr__(self) -> str:
        word = "" if self.inside else ", inside=False"
        return f"Literal({self.record}, {_show_where(self.where)}{word})"


@dataclass(frozen=True, init=False)
class Clause:
    """An OR over single records: the general deterministic constraint."""

    literals: tuple[Literal, ...]

    def __init__(self, literals: Iterable[Literal]) -> None:
        items = tuple(literals)
        if not items:
            raise PolicyError(
                "the clause is empty, so it is never true",
                key="clause",
                hint='write [{ record = 1, in = { sex = "F" } }]',
            )
        object.__setattr__(self, "literals", items)

    def bind(self, domain: Domain, name: str) -> BoundClause:
        """Return the clause on positions."""
        literals = []
        for place, literal in enumerate(self.literals):
            key = f"clause[{place}].{'in' if literal.inside else 'not_in'}"
            area = _area(domain, literal.where, key)
            literals.append((literal.record - 1, area, literal.inside))
        return BoundClause(name, tuple(literals))

    def __repr__(self) -> str:
        return f"Clause({list(self.literals)!r})"


Known = Count | Marginal | Sum | Impossible | Clause


def _area(domain: Domain, regions: Where, key: str) -> Area:
    try:
        return domain.area(regions)
    except PolicyError as error:
        raise error.inside(key) from None


def _show_where(regions: Where) -> str:
    return repr(regions[0]) if len(regions) == 1 else repr(list(regions))


def _show_numbers(fact: Count | Sum) -> str:
    names = ("answer", "equals", "at_least", "at_most")
    numbers = [(name, getattr(fact, name, None)) for name in names]
    return "".join(f", {name}={number}" for name, number in numbers if number is not None)
