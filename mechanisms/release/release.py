"""A private release, step by step: calibrate, check the data, spend the budget, draw, publish.

A mechanism is a `Plan`: what it will release at which scales (`description`), and how the published
answers follow from the noisy ones. All noise comes from `Draw`, which takes both the query and the
scale from the `Release` that is part of the description, and keeps a list of what it drew. So what
is declared and what is done cannot drift apart; the certifier judges the description before
anything is drawn (`gate`).

Why this is private. A neighbour pair's answers differ by d_i in output i, a multiple of the grid g.
Noise g K with P(K = k) ~ exp(-|k| g / b_i) changes its probabilities by a factor of at most
exp(|d_i| / b_i), so the whole release by at most exp(sum_i |d_i| / b_i): Theorem 5.1 of
blowfish-2014 with the discrete Laplace distribution, for any neighbours, constraints included.
Scale 0 is allowed where all d_i are 0: an answer that no secret moves tells nothing about a secret.
Gaussian noise g K with P(K = k) ~ exp(-(k g)^2 / (2 s_i)) loses sum_i d_i^2 / (2 s_i) in rho.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.parts.parallel import require_part
from blowproof.mechanisms.parts.records import Part
from blowproof.mechanisms.release.agreement import require_agreement
from blowproof.mechanisms.release.draw import Draw
from blowproof.mechanisms.release.form import Form
from blowproof.mechanisms.release.request import (
    EXACT_NOTE,
    STILL_NOTE,
    Oracle,
    Request,
    calibrated_scale,
    converted_note,
    status_notes,
)
from blowproof.mechanisms.release.worth import require_less_noise
from blowproof.models import Exact, InternalError, QueryError, show
from blowproof.models.base.errors import nearest
from blowproof.models.data.dataset import Dataset
from blowproof.models.mechanisms.mechanism import Mechanism, Release, Selection
from blowproof.verifier.asked.answer import Answer, json_number

__all__ = [
    "EXACT_NOTE",
    "NO_ACCOUNT",
    "STILL_NOTE",
    "Budget",
    "Draw",
    "Oracle",
    "Plan",
    "Released",
    "Request",
    "calibrated_scale",
    "noise_json",
    "release",
    "status_notes",
]


NO_ACCOUNT = "no account was kept: no ledger knows of this release, and nothing adds it up"


@dataclass(frozen=True, kw_only=True, eq=False)
class Released:
    """What is published, and what it rests on.

    `answers` are exact numbers, or floats where they are estimates made from noisy answers alone.
    `errors` are their standard errors, `ends` the lower and the upper ends of intervals that hold
    the truth with 95 %. `measured` are the noisy answers themselves. `description` says what was
    drawn. `form` is what people get to see in place of a number a row (None: that). `size` is n
    where it is public (of a release about some records, how many they are), `account` the number
    of the account that paid, `ledger` the random name of the ledger that it stands in. `loss` is
    what the certifier has proved that all of it loses at the most, of epsilon or of rho.
    """

    request: Request
    mechanism: str
    description: Mechanism
    answers: Vector | Estimate
    measured: tuple[Vector, ...]
    sensitivity: Answer | None
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    errors: Sequence[float] | None = None
    ends: tuple[Sequence[float], Sequence[float]] | None = None
    form: Form | None = None
    size: int | None = None
    account: int | None = None
    ledger: str | None = None
    loss: Fraction | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof release --json`."""
        request, found = self.request, self.sensitivity
        return {
            "schema": "blowproof/release/1",
            "policy": request.policy.name,
            "query": request.bound.name,
            "mechanism": self.mechanism,
            "reading": request.reading,
            "answers": request.policy.with_answers(request.answers).scope,
            "epsilon": show(request.epsilon) if request.rho is None else None,
            **({} if request.rho is None else {"rho": show(request.rho)}),
            "records": None if request.records is None else request.records.text,
            **({} if self.loss is None else {"private": "proved", "loss": show(self.loss)}),
            "sensitivity": None if found is None else found.to_json(request.policy.domain),
            "noise": [noise_json(item) for item in self.description],
            "columns": list(self.answers.names.columns),
            "values": [_number(value) for value in self.answers],
            "notes": list(self.notes),
            **self.details,
            **({} if self.form is None else {f"{self.form.thing}s": self.form.to_json()}),
        }


def _number(value: Exact | float) -> int | str | float:
    return value if isinstance(value, float) else json_number(value)


def noise_json(item: Release) -> dict[str, Any]:
    """Return what is drawn as documents have it."""
    query = item.query if isinstance(item.query, str) else repr(item.query)
    widths = [show(number) for number in item.widths]
    return {
        "query": query,
        "noise": item.noise,
        item.width: widths if item.many else widths[0],
        "grid": show(item.grid),
        **({"groups": item.groups} if item.groups != 1 else {}),
        **{
            key: [list(row) for row in rows]
            for key, rows in (("facets", item.facets), ("fixed", item.fixed))
            if rows
        },
    }


class Plan(ABC):
    """A mechanism made ready for one request, before it has seen the data.

    `description` is complete where nothing depends on earlier answers; else it is None, the
    releases are described as they are drawn, to epsilon in all, and `opening` is what comes first
    whatever the data are. `run` draws nothing else.
    """

    name: str
    postprocessing: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """What `Request.options` may set."""
    merges = False
    """Whether counts that differ may get one number, where the noise hides the difference."""

    def __init__(self, request: Request) -> None:
        for key in request.options:
            if key not in self.settings:
                hint = nearest(key, self.settings, what="setting") or "leave it out"
                raise QueryError(f"{self.name!r} has no setting {key!r}\n  try: {hint}")
        self.request = request
        self.sensitivity: Answer | None = None
        self.description: Mechanism | None = None
        self.opening: tuple[Release | Selection, ...] = ()
        self.notes: tuple[str, ...] = ()

    @abstractmethod
    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the answers, from what `draw` returns and from nothing else about the data."""

    def draws_as(self, other: Plan) -> bool:
        """Whether the answers follow from what the other plan draws; then it is drawn once."""
        return self.description is not None and self.description == other.description

    @property
    def worked_out(self) -> Mapping[str, str]:
        """Settings that were left out and worked out with questions, in time: a plan keeps them."""
        return {}

    def for_intervals(self) -> Plan:
        """Return the plan whose rehearsed errors this one's intervals are made of: mostly its own.

        Another draws the same and gains less where data are kind, which nobody may rely on.
        """
        return self

    def described(self, *releases: Release, selections: Sequence[Selection] = ()) -> Mechanism:
        """Return a description of these releases and choices under this mechanism's name."""
        return Mechanism(
            name=self.name,
            releases=releases,
            postprocessing=self.postprocessing,
            selections=tuple(selections),
        )


class Budget(Protocol):
    """Whatever keeps account of epsilon.

    One that has a `number` says which account it is, and by `name` in which ledger.
    """

    def spend(self, request: Request, mechanism: str, data: Dataset) -> tuple[str, ...]:
        """Write the spending on these data down for good, or raise; return notes for the reader."""
        ...


def release(plan: Plan, data: Dataset, *, budget: Budget | None = None) -> Released:
    """Carry out a plan: check the data, write down the spending, and only then draw noise."""
    request = plan.request
    require_agreement(request.policy, request.answers, data)
    if request.records is not None:
        require_part(request.policy, request.reading, request.answers, [request.records])
        data = Part(data, request.records)
        _ = data.size  # a record that is not there is an error by now
    draw = Draw(plan, data)
    first = (*(plan.description or ()), *plan.opening)
    known = request.policy.size_known(request.reading)
    if not request.accept_wide_bounds and known:
        require_less_noise(first, request.policy, data.size, plan.name)
    draw.prepare(*first)
    spent = (NO_ACCOUNT,) if budget is None else budget.spend(request, plan.name, data)
    answers = plan.run(draw)
    declared = None if plan.description is None else list(plan.description.releases)
    if draw.drawn != declared if declared is not None else not draw.drawn:
        raise InternalError(f"{plan.name} drew less noise than it declared")
    description = plan.described(*draw.drawn, selections=draw.chosen)
    pure = all(item.width == "scale" and any(item.widths) for item in draw.drawn)
    converted = converted_note(request) if pure else ()
    return Released(
        request=request,
        mechanism=plan.name,
        description=description,
        answers=answers,
        measured=tuple(draw.noisy),
        sensitivity=plan.sensitivity,
        notes=(*plan.notes, *converted, *spent),
        size=data.size if known else None,
        account=getattr(budget, "number", None),
        loss=draw.loss,
        ledger=getattr(budget, "name", None),
    )
