"""Policies in words: what is protected, what is known, how one speaks of records and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import log10

from blowproof.models.base.numbers import Exact, show
from blowproof.models.domain.attributes import Value
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Between, Point, Region
from blowproof.models.facts.facts import (
    Clause,
    Count,
    Impossible,
    Known,
    Marginal,
    Sum,
)
from blowproof.models.facts.on_positions import LinearFact
from blowproof.models.policy.policy import Policy

__all__ = [
    "counted",
    "domain_words",
    "fact_label",
    "fact_words",
    "known_words",
    "number",
    "printable",
    "record_text",
    "scope_words",
    "secret_words",
    "short",
    "times",
    "value_text",
]


def printable(text: object) -> str:
    """Return a name from a file so that it cannot disturb a terminal.

    >>> printable("ward\\x1b[31m")
    'ward\\\\x1b[31m'
    """
    plain = str(text)
    return plain if plain.isprintable() else repr(plain)[1:-1]


def counted(count: int, noun: str) -> str:
    """Return "1 record" or "3 records".

    >>> counted(1, "record"), counted(3, "query")
    ('1 record', '3 queries')
    """
    if count == 1:
        return f"1 {noun}"
    return f"{large(count)} {noun[:-1] + 'ies' if noun.endswith('ry') else noun + 's'}"


def large(count: int) -> str:
    """Return a count that people can take in: exact up to a million million.

    >>> large(1234), large(10**15)
    ('1,234', 'about 10^15')
    """
    return f"{count:,}" if count < 10**12 else f"about 10^{len(str(count)) - 1}"


def number(value: Exact) -> str:
    """Return an exact number, with a decimal where the fraction is unwieldy.

    >>> number(Fraction(7, 2)), number(Fraction(22, 7)), number(40000)
    ('7/2', '22/7 (about 3.143)', '40,000')
    """
    if value.denominator <= 2:
        return short(value)
    try:
        about = float(value)
    except OverflowError:
        return short(value)
    return f"{short(value)} (about {about:.4g})" if about else short(value)


def short(value: Exact) -> str:
    """Return an exact number for a table; beyond 18 digits, only how large it is.

    >>> short(Fraction(22, 7)), short(40000), short(12 * 10**40)
    ('22/7', '40,000', 'about 10^41')
    """
    if abs(value.numerator) >= 10**18 and value.denominator == 1:
        return f"{'-' if value < 0 else ''}about 10^{_tens(abs(value.numerator))}"
    return f"{value.numerator:,}" if value.denominator == 1 else show(value)


LISTED, LETTERS = 8, 60
"""Of so many labels of an attribute, or letters, a sentence has only the first ones."""

MOST_NESTED = 1000
"""Attributes of more labels are not looked at for which label goes with which."""

LONG = 10_000
"""Bits of a number that Python may refuse to write out."""


def _tens(number: int) -> int:
    """Return the largest power of ten within a whole number; of a very long one, nearly.

    >>> _tens(999), _tens(1000), _tens(1 << 10**6)
    (2, 3, 301029)
    """
    return len(str(number)) - 1 if number.bit_length() < LONG else int(log10(number))


def times(ratio: Fraction) -> str:
    """Return how many times as much.

    >>> times(Fraction(2)), times(Fraction(3, 2))
    ('twice', '3/2 times')
    """
    return "twice" if ratio == 2 else f"{number(ratio)} times"


def value_text(value: Value) -> str:
    """Return one attribute's value; an empty label has to be seen."""
    if value == "":
        return "(empty)"
    return printable(value) if isinstance(value, str) else show(value)


def record_text(domain: Domain, point: Point, *, separator: str = ", ") -> str:
    """Return a record's values in domain order."""
    return separator.join(value_text(value) for value in domain.decode(point))


def domain_words(policy: Policy) -> str:
    """Return the attributes with their sizes, and how many values that makes."""
    parts = [f"{printable(name)} ({large(a.size)})" for name, a in policy.domain.attributes]
    size = counted(policy.domain.size, "value")
    return f"{' x '.join(parts)} = {size}" if len(parts) > 1 else f"{parts[0][:-1]} values)"


def secret_words(policy: Policy) -> str:
    """Return what nobody may find out about one record."""
    return policy.secrets.words(printable)


def _listed(names: Sequence[object]) -> str:
    words = [printable(name) for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def known_words(policy: Policy, size: int | None, *, limit: int = 6) -> list[str]:
    """Return the publicly known facts, one line each; many of them are counted.

    `size` is n where it is known, be it written, counted or implied.
    """
    lines = [fact_words(policy, fact) for fact in policy.known[:limit]]
    hidden = len(policy.known) - limit
    if hidden > 0:
        lines.append(f"... and {counted(hidden, 'more fact')}")
    if size is not None:
        lines.insert(0, f"the number of records: {large(size)}")
    return lines or ["nothing"]


def fact_words(policy: Policy, fact: Known) -> str:
    """Return one known fact in words."""
    match fact:
        case Marginal(attributes=names):
            cells = 1
            for name in names:
                cells *= policy.domain[name].size
            return f"how many records have each {_listed(names)} ({counted(cells, 'count')})"
        case Count(where=where):
            return f"how many records have {_regions(where)}{_numbers(fact)}"
        case Sum(terms=terms):
            text = "".join(_term(*term) for term in terms).removeprefix("+ ")
            return f"{text.rstrip()}{_numbers(fact)}"
        case Impossible(where=where):
            return _nesting(policy.domain, where) or f"nobody has {_regions(where)}"
        case Clause(literals=literals):
            parts = [
                f"record {item.record} {'has' if item.inside else 'does not have'} "
                f"{_regions(item.where)}"
                for item in literals
            ]
            return ", or ".join(parts)


def _nesting(domain: Domain, where: Sequence[Region]) -> str:
    """Say that regions without records leave each label of one attribute one label of another.

    "" where they say anything else.

    >>> from blowproof.models import Labels
    >>> towns = Domain(town=Labels(["a", "b", "c"]), state=Labels(["x", "y"]))
    >>> _nesting(towns, Impossible([{"town": ["a", "b"], "state": "y"},
    ...                             {"town": "c", "state": "x"}]).where)
    'each town has one state (3, in 2)'
    """
    names = [name for name, _ in where[0].conditions]
    if len(names) != 2 or any([n for n, _ in region.conditions] != names for region in where):
        return ""
    first, second = (domain[name] for name in names)
    if max(first.size, second.size) > MOST_NESTED:
        return ""
    axes = domain.axes(names)
    taken: dict[int, set[int]] = {place: set() for place in range(first.size)}
    for box in domain.area(where).boxes:
        others = set(box.sides[axes[1]])
        for place in box.sides[axes[0]]:
            taken[place] |= others
    if any(len(others) != second.size - 1 for others in taken.values()):
        return ""
    inner, outer = map(printable, names)
    return f"each {inner} has one {outer} ({large(first.size)}, in {large(second.size)})"


def fact_label(policy: Policy, fact: LinearFact) -> str:
    """Return a short name for one count of the known facts.

    >>> from blowproof.models import Labels
    >>> known = (Count({"sex": "F"}), Marginal(["sex", "ward"]))
    >>> domain = Domain(sex=Labels(["F", "M"]), ward=Labels(["a", "b"]))
    >>> policy = Policy(domain=domain, known=known)
    >>> [fact_label(policy, fact) for fact in policy.linear_facts[:2]]
    ['sex = F', 'F/a']
    """
    digits = fact.name.partition("]")[0].removeprefix("known[")
    if not digits.isdigit():
        return printable(fact.name)
    place = int(digits)
    match policy.known[place]:
        case Count(where=where):
            return _regions(where)
        case Marginal(attributes=names):
            box = fact.terms[0][1].boxes[0]
            axes = policy.domain.axes(names)
            values = [policy.domain.attribute(a).value(box.sides[a].nth(0)) for a in axes]
            if len(axes) == 1:
                return f"{printable(names[0])} = {value_text(values[0])}"
            return "/".join(value_text(value) for value in values)
        case _:
            return f"fact {place + 1}"


def _term(factor: int, where: Sequence[Region]) -> str:
    many = "" if abs(factor) == 1 else f"{abs(factor)} x "
    return f"{'-' if factor < 0 else '+'} {many}(records with {_regions(where)}) "


def _numbers(fact: Count | Sum) -> str:
    answer = fact.answer if isinstance(fact, Count) else fact.equals
    parts = [
        f"{word}{value}"
        for word, value in (("", answer), ("at least ", fact.at_least), ("at most ", fact.at_most))
        if value is not None
    ]
    return f": {', '.join(parts)}" if parts else ""


def _regions(where: Sequence[Region]) -> str:
    return " or ".join(_region(region) for region in where)


def _region(region: Region) -> str:
    return " and ".join(_conditions(region)) or "any value"


def _conditions(region: Region) -> Iterator[str]:
    for name, condition in region.conditions:
        label = printable(name)
        if isinstance(condition, Between):
            ends = [value_text(end) for end in (condition.min, condition.max) if end is not None]
            both = condition.min is not None and condition.max is not None
            sign = "in" if both else ">=" if condition.min is not None else "<="
            yield f"{label} {sign} {'..'.join(ends)}"
        elif isinstance(condition, tuple):
            values = _shortened([value_text(value) for value in condition])
            yield f"{label} in {'/'.join(values)}"
        else:
            yield f"{label} = {value_text(condition)}"


def _shortened(values: list[str]) -> list[str]:
    """Return labels as a sentence lists them: of many, or of long ones, only the first.

    >>> _shortened(["north", "south"]), _shortened([f"place number {at}" for at in range(40)])[3:]
    (['north', 'south'], ['place number 3', '... (36 more)'])
    """
    if len(values) <= LISTED + 1 and sum(map(len, values)) <= 2 * LETTERS:
        return values
    shown = next(
        (at for at in range(1, LISTED) if sum(map(len, values[: at + 1])) > LETTERS), LISTED
    )
    return [*values[:shown], f"... ({large(len(values) - shown)} more)"]


def scope_words(scope: str) -> str:
    """Return whose answers count, in words."""
    if scope == "any":
        return "any: the worst case over all numbers that the known facts can have"
    return "given: the known facts have the numbers that are written or counted"
