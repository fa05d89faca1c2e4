"""What a plan compares: an option is a way to answer the whole workload, with its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import sqrt
from typing import Any

from blowproof.mechanisms.combining.joint import Joint
from blowproof.mechanisms.expecting.expected import Expected
from blowproof.mechanisms.kinds.together import Together
from blowproof.mechanisms.release.release import Plan, noise_json
from blowproof.models import show

__all__ = ["Drawn", "Option", "Refused", "marked", "weighted"]

LATE = ("time limit", "--time-limit")
"""How a mechanism says that there was too little time for it."""


@dataclass(frozen=True)
class Drawn:
    """One release of an option: a mechanism, its budget, and the queries that follow from it.

    `budget` is an epsilon, or a rho where that is promised.

    `queries` are places in the workload, `errors` theirs.
    """

    mechanism: str
    settings: Mapping[str, str]
    budget: Fraction
    queries: tuple[int, ...]
    errors: tuple[Expected, ...]


@dataclass(frozen=True, eq=False)
class Option:
    """A way to answer every query of the workload; `plan` is what would be drawn."""

    plan: Plan
    parts: tuple[Drawn, ...]
    weights: tuple[Fraction, ...]
    names: tuple[str, ...]
    dominated_by: int | None = field(default=None)

    @property
    def errors(self) -> tuple[Expected, ...]:
        """The error of each query, in the order of the workload."""
        found = {
            query: error
            for part in self.parts
            for query, error in zip(part.queries, part.errors, strict=True)
        }
        return tuple(found[place] for place in range(len(self.weights)))

    @property
    def rmse(self) -> float:
        """The root of the weighted mean of the queries' squared errors."""
        return weighted([item.rmse for item in self.errors], self.weights)

    @property
    def usual(self) -> float:
        """The same over all made-up data, and not the worst of them only."""
        found = [item.rmse if item.usual is None else item.usual for item in self.errors]
        return weighted(found, self.weights)

    @property
    def mechanism(self) -> str:
        """The mechanism, or `workload` where several queries are answered together."""
        return self.plan.name

    @property
    def text(self) -> str:
        """The option as a person reads it."""
        names = [", ".join([part.mechanism, *(f"{k} {v}" for k, v in part.settings.items())])
                 for part in self.parts]  # fmt: skip
        return " + ".join(dict.fromkeys(names))

    @property
    def short(self) -> str:
        """The same without long lists of what is measured."""
        names = [_short(part) for part in self.parts]
        return " + ".join(dict.fromkeys(names)) + (", fitted together" if self.fitted else "")

    @property
    def fitted(self) -> tuple[str, ...]:
        """The queries that are answered from everything that is drawn."""
        plan = self.plan
        return tuple(self.names[at] for at in plan.fitted) if isinstance(plan, Joint) else ()

    def settled(self, part: Drawn) -> Mapping[str, str]:
        """Return the settings of a release, with those that its mechanism worked out itself."""
        plan = self.plan
        made = plan.plans[part.queries[0]] if isinstance(plan, Together) else plan
        return {**part.settings, **made.worked_out}

    def _part_json(self, part: Drawn) -> dict[str, Any]:
        return {
            "mechanism": part.mechanism,
            "settings": dict(self.settled(part)),
            "budget": show(part.budget),
            "queries": [self.names[place] for place in part.queries],
        }

    def to_json(self) -> dict[str, Any]:
        """Return the option as `blowproof plan --json` writes it."""
        of = {query: part for part in self.parts for query in part.queries}
        queries = [
            {
                "query": name,
                **error.to_json(),
                "mechanism": of[place].mechanism,
                "budget": show(of[place].budget),
            }
            for place, (name, error) in enumerate(zip(self.names, self.errors, strict=True))
        ]
        settings: dict[str, Any] = dict(self.settled(self.parts[0]))
        if isinstance(self.plan, Together):
            settings = {"releases": [self._part_json(part) for part in self.parts]}
            if self.fitted:
                settings["joint"] = list(self.fitted)
        description = self.plan.description
        return {
            "mechanism": self.mechanism,
            "settings": settings,
            "rmse": self.rmse,
            "queries": queries,
            "private": "proved",
            "dominated_by": self.dominated_by,
            "noise": None if description is None else [noise_json(item) for item in description],
        }


def _short(part: Drawn) -> str:
    settings = dict(part.settings)
    measured = settings.pop("measure", None)
    many = [] if measured is None else [f"{measured.count('*') or 1} measured"]
    return ", ".join([part.mechanism, *many, *(f"{k} {v}" for k, v in settings.items())])


@dataclass(frozen=True)
class Refused:
    """A mechanism that does not come into question for a query, and why."""

    mechanism: str
    query: str
    why: str

    @property
    def late(self) -> bool:
        """Whether there was too little time for it; what is final names no longer one."""
        return any(sign in self.why for sign in LATE)

    def to_json(self) -> dict[str, Any]:
        """Return it as a plan has it."""
        return {"mechanism": self.mechanism, "query": self.query, "why": self.why}


def marked(options: Sequence[Option]) -> list[Option]:
    """Say of each option which better one is at least as good for every query."""
    found = []
    for place, option in enumerate(options):
        over = next((at for at in range(place) if _dominates(options[at], option)), None)
        found.append(replace(option, dominated_by=over))
    return found


def _dominates(one: Option, two: Option) -> bool:
    pairs = list(zip(one.errors, two.errors, strict=True))
    never_worse = all(a.rmse <= b.rmse and a.max95 <= b.max95 for a, b in pairs)
    return never_worse and any(a.rmse < b.rmse for a, b in pairs)


def weighted(errors: Sequence[float], weights: Sequence[Fraction]) -> float:
    """Return the root of the weighted mean of squares.

    >>> round(weighted([3.0, 4.0], [Fraction(1), Fraction(1)]), 4)
    3.5355
    """
    squares = sum(float(weight) * error**2 for weight, error in zip(weights, errors, strict=True))
    return sqrt(squares / float(sum(weights)))
