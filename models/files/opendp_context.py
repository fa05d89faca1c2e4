"""An OpenDP Context, as data: its public margins become facts, its promise becomes a claim.

A margin whose lengths are invariant is published exactly, so it is a known marginal. The library
says itself that its guarantee is then weaker than advertised: it counts one contribution (or one
change) whatever is invariant. What a policy cannot say is refused by name, and nothing is guessed.

A context in a file is JSON, with the words of the library:

    {"columns": {"sex": ["F", "M"], "age": {"min": 0, "max": 115}},
     "margins": [{"by": ["sex"], "invariant": "lengths"}],
     "privacy_unit": {"contributions": 1},
     "privacy_loss": {"epsilon": 1.0}}

`columns` is a policy's [domain]: the library does not keep the values that a column may have. A
Context in memory is read by `opendp_live`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from blowproof.models.base.door import read_document
from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import exact
from blowproof.models.base.toml_values import (
    array,
    check_keys,
    choice,
    each,
    integer,
    table,
    text,
    within,
)
from blowproof.models.files.reading import policy_from
from blowproof.models.policy.policy import Policy

__all__ = ["OpenDPContext", "opendp_context", "read_opendp"]

KEYS = ("columns", "margins", "privacy_unit", "privacy_loss")
UNITS = ("contributions", "changes")
LOSSES = ("epsilon", "rho", "delta")
INVARIANTS = ("lengths", "keys")


@dataclass(frozen=True)
class OpenDPContext:
    """What a context says: the policy of its margins, and what it claims for how much change.

    `unit`: how many records are added and removed (contributions), or replaced (changes).
    """

    policy: Policy
    unit: Literal["contributions", "changes"]
    times: int
    measure: Literal["epsilon", "rho"]
    claimed: Fraction
    notes: tuple[str, ...] = ()

    @property
    def counted(self) -> dict[str, int]:
        """By norm, what the library takes for the sensitivity of a table of counts.

        k contributions change counts by k in all, and by k^2 in squares, if they are all in one
        cell; k changes by 2 k, and by 2 k^2.
        """
        both = 2 if self.unit == "changes" else 1
        return {"l1": both * self.times, "l2-squared": both * self.times**2}

    def really(self, size: Fraction, norm: str) -> Fraction:
        """Return what the claim is, if a table changes by so much in a norm.

        >>> office = {"columns": {"x": ["a", "b"]}, "privacy_unit": {"changes": 1},
        ...           "privacy_loss": {"epsilon": 1}}
        >>> opendp_context(office).really(Fraction(4), "l1")
        Fraction(2, 1)
        """
        return self.claimed * size / self.counted[norm]


def read_opendp(path: str | Path) -> OpenDPContext:
    """Return the context in a JSON file."""
    content = read_document(path)
    try:
        found = json.loads(content)
    except ValueError as error:
        reason = f"this is no JSON: {error}"
        raise PolicyError(reason, hint="write a JSON object").at(
            file=str(path), line=None
        ) from None
    try:
        return opendp_context(found)
    except PolicyError as error:
        raise error.at(file=str(path), line=error.line) from None


def opendp_context(found: Mapping[str, Any]) -> OpenDPContext:
    """Return what a context says, from its tables or from the library's own objects.

    `margins` may hold `dp.polars.Margin`s, `privacy_unit` and `privacy_loss` what `dp.unit_of` and
    `dp.loss_of` return.
    """
    items = table(dict(found), need="a table with the keys of a context")
    check_keys(items, KEYS)
    for key in ("columns", "privacy_unit", "privacy_loss"):
        if key not in items:
            raise PolicyError(f"the context has no {key}", hint=", ".join(KEYS))
    with within("margins"):
        margins = array(items.get("margins", []), of="margins")
        read = list(each(margins, _margin))
    unit, times = _unit(items["privacy_unit"])
    measure, claimed = _loss(items["privacy_loss"])
    notes = tuple(note for _, note in read if note)
    known: list[dict[str, object]] = [
        {"marginal": by} if by else {"count": {}} for by, _ in read if by is not None
    ]
    policy = policy_from({"domain": items["columns"], "known": known}, name="context")
    return OpenDPContext(policy, unit, times, measure, claimed, notes)


def _margin(value: object) -> tuple[list[str] | None, str]:
    """Return the columns of a margin with exact lengths (None: of none), and what is not used."""
    if isinstance(value, Mapping):
        given = dict(value)
    else:  # the library's own object, with what it keeps for itself
        given = {key: item for key, item in vars(value).items() if not key.startswith("_")}
    items = table(given, hint='write {"by": ["sex"], "invariant": "lengths"}')
    check_keys(items, ("by", "invariant", "max_length", "max_groups"))
    with within("by"):
        by = each(array(items.get("by", []), of="columns"), _column)
    invariant = items.get("invariant")
    if invariant is not None:
        with within("invariant"):
            choice(invariant, INVARIANTS, what="invariant")
    name = ", ".join(by) or "the whole table"
    if invariant == "keys":
        raise PolicyError(
            f"which groups of {name} hold records is public, and a policy has no such fact",
            key="invariant",
            hint='leave it out where every group of `columns` may be empty, or say "lengths"',
        )
    ends = [key for key in ("max_length", "max_groups") if items.get(key) is not None]
    note = f"{' and '.join(ends)} of {name}: not used, since S is about any counts" if ends else ""
    return (by if invariant == "lengths" else None), note


def _column(value: object) -> str:
    """Return a column's name; of an expression of the library, where it is nothing else."""
    if isinstance(value, str):
        return str(text(value))
    meta = getattr(value, "meta", None)
    if meta is not None and meta.is_column():
        return str(meta.output_name())
    raise PolicyError("a margin is by columns", hint='write the column\'s name: "sex"')


def _unit(value: object) -> tuple[Literal["contributions", "changes"], int]:
    with within("privacy_unit"):
        if isinstance(value, tuple) and len(value) == 2:
            kind = getattr(value[0], "type", None)
            names = {"SymmetricDistance": "contributions", "ChangeOneDistance": "changes"}
            if str(kind) not in names:
                raise PolicyError(
                    f"neighbours by {kind} are not what a policy says",
                    hint="dp.unit_of(contributions=1), or dp.unit_of(changes=1)",
                )
            value = {names[str(kind)]: value[1]}
        items = table(value, hint='write {"contributions": 1}')
        check_keys(items, UNITS)
        if len(items) != 1:
            raise PolicyError("one unit of privacy is needed", hint='{"contributions": 1}')
        ((key, number),) = items.items()
        with within(key):
            times = integer(number)
            if times < 1:
                raise PolicyError(f"{times} is below 1", hint="use 1 or more")
        return ("changes" if key == "changes" else "contributions"), times


def _loss(value: object) -> tuple[Literal["epsilon", "rho"], Fraction]:
    with within("privacy_loss"):
        if isinstance(value, tuple) and len(value) == 2:
            kind = str(getattr(value[0], "type", value[0]))
            names = {"MaxDivergence": "epsilon", "ZeroConcentratedDivergence": "rho"}
            if kind not in names:
                raise PolicyError(f"a loss in {kind} is not compared", hint="epsilon, or rho")
            value = {names[kind]: value[1]}
        items = table(value, hint='write {"epsilon": 1.0}')
        check_keys(items, LOSSES)
        if len(items) != 1 or "delta" in items:
            raise PolicyError("one loss is compared: epsilon, or rho", hint='{"epsilon": 1.0}')
        ((key, number),) = items.items()
        with within(key):
            claimed = _number(number)
        return ("rho" if key == "rho" else "epsilon"), claimed


def _number(value: object) -> Fraction:
    """Return a number as it was written: floats are what the library has, and only a claim here."""
    if isinstance(value, float):
        try:
            value = Fraction(repr(value))
        except ValueError:
            raise PolicyError(f"{value!r} is not a finite number", hint="write 1.0") from None
    found = Fraction(exact(value))
    if found <= 0:
        raise PolicyError(f"{found} is not above 0", hint="write 1.0")
    return found
