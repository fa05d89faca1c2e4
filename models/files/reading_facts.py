"""Reading regions and the tables under [[known]]."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from blowproof.models.base.errors import BlowproofError, PolicyError
from blowproof.models.base.toml_values import (
    array,
    check_keys,
    each,
    integer,
    table,
    text,
    within,
)
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.region_reading import regions
from blowproof.models.facts.facts import (
    Clause,
    Count,
    Impossible,
    Known,
    Literal,
    Marginal,
    Sum,
    Where,
)

__all__ = ["known_fact"]

KEYS_OF_KIND = {
    "marginal": ("answers", "answers_file"),
    "count": ("answer", "at_least", "at_most"),
    "sum": ("equals", "at_least", "at_most"),
    "impossible": (),
    "clause": (),
}
BESIDE = {
    ("marginal", "answer"): "list them: answers = [...]",
    ("count", "answers"): "one count has one number: answer = N",
    ("count", "equals"): "write answer = N",
    ("sum", "answer"): "write equals = N",
    ("sum", "answers"): "write equals = N",
}
ALL_KEYS = (*KEYS_OF_KIND, "answer", "answers", "answers_file", "equals", "at_least", "at_most")


def known_fact(value: object, domain: Domain, folder: Path | None) -> Known:
    """Return the fact of one [[known]] table."""
    items = table(value)
    kind = _kind(items)
    allowed = (kind, *KEYS_OF_KIND[kind])
    elsewhere = {key: BESIDE.get((kind, key), f"keys: {', '.join(allowed)}") for key in ALL_KEYS}
    owner = f"{'an' if kind == 'impossible' else 'a'} {kind} fact"
    check_keys(items, allowed, elsewhere=elsewhere, owner=owner)
    if kind == "marginal":
        return _marginal(items, domain, folder)
    return _READERS[kind](items)


def _kind(items: dict[str, object]) -> str:
    kinds = [key for key in KEYS_OF_KIND if key in items]
    if len(kinds) == 1:
        return kinds[0]
    if not kinds:
        check_keys(items, ALL_KEYS)
        raise PolicyError(
            "the fact has no kind", hint=f"write exactly one of {', '.join(KEYS_OF_KIND)}"
        )
    first, second = sorted(kinds, key=list(items).index)[:2]
    raise PolicyError(
        f"one table holds both {first} and {second}",
        key=second,
        hint="write each fact in a [[known]] table of its own",
    )


def _integers(items: dict[str, object], names: tuple[str, ...]) -> dict[str, int]:
    result = {}
    for name in names:
        if name in items:
            with within(name):
                result[name] = integer(items[name])
    return result


def _where(items: dict[str, object], key: str) -> Where:
    with within(key):
        return regions(items[key])


def _count(items: dict[str, object]) -> Known:
    return Count(_where(items, "count"), **_integers(items, KEYS_OF_KIND["count"]))


def _sum(items: dict[str, object]) -> Known:
    with within("sum"):
        terms = each(
            array(items["sum"], of="terms", hint="write [{ times = 1, count = {} }]"), _term
        )
    return Sum(terms, **_integers(items, KEYS_OF_KIND["sum"]))


def _term(value: object) -> tuple[int, Where]:
    items = table(value, hint="write { times = 1, count = {} }")
    check_keys(items, ("times", "count"))
    for key in ("times", "count"):
        if key not in items:
            raise PolicyError(f"the term has no {key}", hint="write { times = 1, count = {} }")
    with within("times"):
        times = integer(items["times"], hint="multiply the whole fact to make times an integer")
    return times, _where(items, "count")


def _impossible(items: dict[str, object]) -> Known:
    return Impossible(_where(items, "impossible"))


def _clause(items: dict[str, object]) -> Known:
    hint = "write [{ record = 1, in = {} }]"
    with within("clause"):
        literals = each(array(items["clause"], of="literals", hint=hint), _literal)
    return Clause(literals)


def _literal(value: object) -> Literal:
    hint = 'write { record = 1, in = { sex = "F" } }'
    items = table(value, hint=hint)
    check_keys(items, ("record", "in", "not_in"))
    sides = [key for key in ("in", "not_in") if key in items]
    if len(sides) != 1:
        reason = "has both in and not_in" if sides else "has neither in nor not_in"
        raise PolicyError(f"the literal {reason}", hint=hint)
    if "record" not in items:
        raise PolicyError("the literal names no record", hint=hint)
    record = _integers(items, ("record",))["record"]
    return Literal(record, _where(items, sides[0]), inside=sides[0] == "in")


_READERS: dict[str, Callable[[dict[str, object]], Known]] = {
    "count": _count,
    "sum": _sum,
    "impossible": _impossible,
    "clause": _clause,
}


def _marginal(items: dict[str, object], domain: Domain, folder: Path | None) -> Known:
    with within("marginal"):
        names = each(array(items["marginal"], of="attribute names", hint='write ["sex"]'), text)
    if "answers" in items and "answers_file" in items:
        raise PolicyError(
            "the marginal has answers and an answers_file", key="answers_file", hint="drop one"
        )
    if "answers_file" in items:
        with within("answers_file"):
            file = text(items["answers_file"])
        return Marginal(names, answers=_table(file, names, domain, folder), answers_file=file)
    if "answers" in items:
        with within("answers"):
            numbers = each(array(items["answers"], of="integers"), integer)
        return Marginal(names, answers=numbers)
    return Marginal(names)


def _table(file: str, names: list[str], domain: Domain, folder: Path | None) -> list[int]:
    from blowproof.models.files.tables import read_table

    with within("marginal"):
        axes = domain.axes(names)
    with within("answers_file"):
        try:
            return list(read_table((folder or Path()) / file, domain, axes))
        except PolicyError:
            raise
        except BlowproofError as error:
            reason, _, hint = str(error).partition("\n  try: ")
            raise PolicyError(reason, hint=hint or None) from None
