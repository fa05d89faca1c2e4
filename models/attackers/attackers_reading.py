"""The table `[attackers]` of a mechanism file, there and back."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, cast

from blowproof.models.attackers.attackers import KINDS, Attackers, Kind, Seen
from blowproof.models.attackers.beliefs import Chain, Listed, Records, Scenario
from blowproof.models.attackers.secrets import Absence, Intervals, SecretPairs, Totals, Values
from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import plain, show
from blowproof.models.base.toml_values import (
    array,
    check_keys,
    choice,
    each,
    flag,
    number,
    table,
    text,
    within,
)

__all__ = ["ATTACKER_KEYS", "attackers", "attackers_table"]

ATTACKER_KEYS = ("kind", "given_facts", "listed", "pairs", "seen")
SCENARIO_KEYS = ("databases", "probabilities", "records", "start", "step")
SEEN_KEYS = ("query", "noise", "scale", "answer")
SEEN_NOISES: tuple[Literal["laplace", "discrete-laplace"], ...] = ("laplace", "discrete-laplace")
PAIR_KEYS = ("attribute", "width", "factor", "sum", "absent")


def attackers(value: object) -> Attackers:
    """Return the attackers of a table.

    >>> attackers({"kind": "any"}).kind
    'any'
    """
    with within("attackers"):
        items = table(value, hint="write [attackers] with one pair of brackets")
        check_keys(items, ATTACKER_KEYS)
        read: dict[str, Any] = {}
        if "kind" in items:
            with within("kind"):
                read["kind"] = cast("Kind", choice(items["kind"], KINDS, what="kind of attackers"))
        if "given_facts" in items:
            with within("given_facts"):
                read["given_facts"] = flag(items["given_facts"])
        if "listed" in items:
            with within("listed"):
                read["listed"] = tuple(each(array(items["listed"], of="beliefs"), _scenario))
        if "pairs" in items:
            with within("pairs"):
                read["pairs"] = _pairs(items["pairs"])
        if "seen" in items:
            with within("seen"):
                read["seen"] = tuple(each(array(items["seen"], of="numbers seen"), _seen))
    return Attackers(**read)


def _seen(value: object) -> Seen:
    items = table(value, hint='write { query = "count(ill)", scale = 2, answer = 7 }')
    check_keys(items, SEEN_KEYS)
    for key in ("query", "scale", "answer"):
        if key not in items:
            raise PolicyError(f"what was seen has no {key}", key=key, hint=f"write {key} = ...")
    with within("query"):
        query = text(items["query"])
    with within("scale"):
        scale = Fraction(number(items["scale"]))
        if scale <= 0:
            raise PolicyError(
                f"noise of scale {show(scale)} is none",
                hint="above 0; what was published without noise is a [[known]] fact of the policy",
            )
    with within("answer"):
        given = items["answer"]
        many = each(given, number) if isinstance(given, list) else [number(given)]
    noise = SEEN_NOISES[0]
    if "noise" in items:
        with within("noise"):
            choice(items["noise"], SEEN_NOISES, what="noise")
            noise = SEEN_NOISES[SEEN_NOISES.index(cast("Any", items["noise"]))]
    return Seen(query=query, scale=scale, answer=tuple(many), noise=noise)


def _scenario(value: object) -> Scenario:
    items = table(value, hint="write { databases = [...], probabilities = [...] }")
    check_keys(items, SCENARIO_KEYS)
    kinds: dict[frozenset[str], Callable[[dict[str, object]], Scenario]] = {
        frozenset({"databases", "probabilities"}): _listed,
        frozenset({"records"}): _records,
        frozenset({"start", "step"}): _chain,
    }
    read = kinds.get(frozenset(items))
    if read is None:
        raise PolicyError(
            f"a belief with {', '.join(items) or 'nothing'}",
            hint="databases and probabilities, or records, or start and step",
        )
    return read(items)


def _listed(items: dict[str, object]) -> Listed:
    with within("databases"):
        databases = tuple(
            each(array(items["databases"], of="databases"), lambda d: tuple(array(d, of="records")))
        )
    chances = _chances(items, "probabilities")
    if len(chances) != len(databases):
        raise PolicyError(
            f"{len(chances)} probabilities for {len(databases)} databases",
            key="probabilities",
            hint="one for each",
        )
    return Listed(databases, chances)


def _records(items: dict[str, object]) -> Records:
    with within("records"):
        return Records(tuple(each(array(items["records"], of="records"), _distribution)))


def _chain(items: dict[str, object]) -> Chain:
    start = _chances(items, "start")
    with within("step"):
        step = tuple(each(array(items["step"], of="rows"), _distribution))
        if len(step) != len(start) or any(len(row) != len(start) for row in step):
            raise PolicyError(
                f"{len(start)} states, and the steps are no square of that many rows",
                hint="a row for each state, with a probability for each",
            )
    return Chain(start, step)


def _chances(items: dict[str, object], key: str) -> tuple[Fraction, ...]:
    with within(key):
        return _distribution(items[key])


def _distribution(value: object) -> tuple[Fraction, ...]:
    """Return exact probabilities, not negative, that add up to 1."""
    chances = tuple(Fraction(x) for x in each(array(value, of="probabilities"), number))
    for place, chance in enumerate(chances):
        if chance < 0:
            raise PolicyError(
                f"{show(chance)} is negative", key=f"[{place}]", hint="a probability is 0 or more"
            )
    if sum(chances) != 1:
        raise PolicyError(
            f"the probabilities add up to {show(plain(sum(chances)))}, not to 1",
            hint='write exact fractions: "1/3"',
        )
    return chances


def _pairs(value: object) -> SecretPairs:
    if isinstance(value, str):
        choice(value, ("graph",), what="way to say the pairs")
        return Values()
    items = table(value, hint='write "graph", or { attribute = "income", width = 10 }')
    check_keys(items, PAIR_KEYS)
    if set(items) == {"absent"}:
        with within("absent"):
            absent = items["absent"]
            return Absence(tuple(absent) if isinstance(absent, list) else (absent,))
    sizes: dict[str, Fraction] = {}
    for key in ("width", "factor"):
        if key in items:
            with within(key):
                sizes[key] = Fraction(number(items[key]))
                least = 0 if key == "width" else 1
                if sizes[key] <= least:
                    raise PolicyError(f"{show(sizes[key])} is no {key}", hint=f"above {least}")
    if set(items) == {"sum", "width"}:
        with within("sum"):
            return Totals(text(items["sum"]), sizes["width"])
    if set(items) in ({"attribute", "width"}, {"attribute", "factor"}):
        with within("attribute"):
            return Intervals(text(items["attribute"]), sizes.get("width"), sizes.get("factor"))
    raise PolicyError(
        f"pairs with {', '.join(items) or 'nothing'}",
        hint="attribute with width or factor, or sum with width, or absent",
    )


def attackers_table(found: Attackers) -> dict[str, object]:
    """Return the attackers as a table; defaults are left out."""
    items: dict[str, object] = {"kind": found.kind}
    if not found.given_facts:
        items["given_facts"] = False
    if found.listed:
        items["listed"] = [_scenario_table(item) for item in found.listed]
    if not isinstance(found.pairs, Values):
        items["pairs"] = _pairs_table(found.pairs)
    if found.seen:
        items["seen"] = [
            {
                **{"query": item.query, "noise": item.noise, "scale": show(item.scale)},
                "answer": [show(value) for value in item.answer],
            }
            for item in found.seen
        ]
    return items


def _scenario_table(item: Scenario) -> dict[str, object]:
    if isinstance(item, Listed):
        databases = [_plain(records) for records in item.databases]
        return {"databases": databases, "probabilities": _shown(item.probabilities)}
    if isinstance(item, Records):
        return {"records": [_shown(row) for row in item.records]}
    return {"start": _shown(item.start), "step": [_shown(row) for row in item.step]}


def _pairs_table(pairs: SecretPairs) -> dict[str, object]:
    if isinstance(pairs, Absence):
        return {"absent": list(pairs.value)}
    if isinstance(pairs, Totals):
        return {"sum": pairs.attribute, "width": show(pairs.width)}
    assert isinstance(pairs, Intervals)
    sizes = {"width": pairs.width, "factor": pairs.factor}
    return {
        "attribute": pairs.attribute,
        **{key: show(size) for key, size in sizes.items() if size is not None},
    }


def _shown(chances: tuple[Fraction, ...]) -> list[str]:
    return [show(chance) for chance in chances]


def _plain(item: object) -> object:
    if isinstance(item, (list, tuple)):
        return [_plain(part) for part in item]
    return show(item) if isinstance(item, Fraction) else item
