"""A private release, step by step: calibrate, check the data, spend the budget, draw, publish.

A mechanism is a `Plan`: what it will release at which scales (`description`), and how the published
answers follow from the noisy ones. All noise comes from `Draw`, which takes both the query and the
scale from the `Release` that is part of the description, and keeps a list of what it drew. So what
is declared and what is done cannot drift apart; the certifier judges the description.

Why this is private. A neighbour pair's answers differ by d_i in output i, a multiple of the grid g.
Noise g K with P(K = k) ~ exp(-|k| g / b_i) changes its probabilities by a factor of at most
exp(|d_i| / b_i), so the whole release by at most exp(sum_i |d_i| / b_i): Theorem 5.1 of
blowfish-2014 with the discrete Laplace distribution, for any neighbours, constraints included.
Scale 0 is allowed where all d_i are 0: an answer that no secret moves tells nothing about a secret.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np

from blowproof.mechanisms.agreement import require_agreement
from blowproof.mechanisms.errors import RefusedError
from blowproof.mechanisms.exact import true_answers
from blowproof.mechanisms.noise import discrete_laplace
from blowproof.mechanisms.vectors import Estimate, Vector
from blowproof.models import BoundQuery, Exact, Policy, PolicyError, exact, parse_query, show
from blowproof.models.data import Dataset
from blowproof.models.mechanism import Mechanism, Release, Selection
from blowproof.models.policy import Answers, Reading
from blowproof.verifier.answers import Answer, json_number
from blowproof.verifier.questions import sensitivity

__all__ = [
    "Budget",
    "Draw",
    "Oracle",
    "Plan",
    "Released",
    "Request",
    "calibrated_scale",
    "noisy",
    "release",
    "status_notes",
]

EXACT_NOTE = (
    "the scale is 0: no two neighbouring databases differ in this answer, so the exact one tells "
    "nothing about any secret of the policy"
)
T = TypeVar("T")
Oracle = Callable[[Policy, BoundQuery, Reading], Answer]
"""Answers S(f, P), with how sure it is."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be released: a query under a policy, for an epsilon.

    `oracle` answers sensitivities (None: the verifier, within `time_limit`); `options` are the
    mechanism's own, as texts.
    """

    policy: Policy
    query: str | BoundQuery = "histogram"
    epsilon: Fraction
    reading: Reading = "published"
    answers: Answers | None = None
    time_limit: float | None = None
    oracle: Oracle | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an epsilon that is no exact number above 0."""
        epsilon = Fraction(exact(self.epsilon, key="epsilon"))
        if epsilon <= 0:
            raise PolicyError(f"epsilon = {show(epsilon)} is not above 0", key="epsilon")
        object.__setattr__(self, "epsilon", epsilon)

    @property
    def bound(self) -> BoundQuery:
        """The query, bound to the policy."""
        return parse_query(self.query, self.policy) if isinstance(self.query, str) else self.query

    def sensitivity(self, query: BoundQuery | None = None) -> Answer:
        """Return S(f, P) of a query (None: the one asked for), in the chosen reading and scope."""
        asked = self.bound if query is None else query
        if self.oracle is not None:
            return self.oracle(self.policy, asked, self.reading)
        return sensitivity(
            self.policy,
            asked,
            reading=self.reading,
            answers=self.answers,
            time_limit=self.time_limit,
        )


def calibrated_scale(answer: Answer, epsilon: Fraction) -> Fraction:
    """Return S / epsilon for the proven upper bound S; refuse where nothing bounds it.

    >>> from blowproof.models import Domain, Labels
    >>> found = sensitivity(Policy(domain=Domain(sex=Labels(["F", "M"]))))
    >>> calibrated_scale(found, Fraction(1, 2))
    Fraction(4, 1)
    """
    if answer.upper is None:
        raise RefusedError(
            f"nothing bounds the sensitivity of {answer.query} under {answer.policy} (reading "
            f"{answer.reading}, answers {answer.answers}): no scale of noise is known to be enough"
            "\n  try: a longer --time-limit, or the scope --answers given"
        )
    return Fraction(answer.upper) / epsilon


def status_notes(answer: Answer) -> tuple[str, ...]:
    """Return what a reader must know about the sensitivity that was used."""
    notes = []
    if answer.status == "bounds" and answer.upper is not None:
        notes.append(
            f"undecided in time: {show(answer.lower)} <= S <= {show(answer.upper)}; the noise is "
            "set from the upper bound, which is safe and perhaps more than is needed"
        )
    if answer.upper == 0:
        notes.append(EXACT_NOTE)
    return tuple(notes)


class Draw:
    """The only source of noise: answers a `Release` on the data, and remembers that it did."""

    def __init__(self, policy: Policy, data: Dataset) -> None:
        self.policy = policy
        self.data = data
        self.drawn: list[Release] = []
        self.chosen: list[Selection] = []
        self.noisy: list[Vector] = []
        self._ready: dict[int, tuple[Release, Vector]] = {}

    def count(self, release: Release) -> Vector:
        """Return the true answers (kept, so that nothing can fail once the budget is spent)."""
        if id(release) not in self._ready:
            self._ready[id(release)] = release, true_answers(release, self.policy, self.data)
        return self._ready[id(release)][1]

    def __call__(self, release: Release) -> Vector:
        """Return the noisy answers of one release."""
        truth = self.count(release)
        self._ready.pop(id(release))
        self.drawn.append(release)
        self.noisy.append(noisy(release, truth))
        return self.noisy[-1]

    def choose(self, selection: Selection, how: Callable[[Vector], T]) -> T:
        """Return what `how` chooses, privately, from the true answers of the selection's query."""
        self.chosen.append(selection)
        return how(true_answers(selection.query, self.policy, self.data))


def noisy(release: Release, truth: Vector) -> Vector:
    """Return the true answers plus discrete Laplace noise at the scales of the release."""
    if release.noise != "discrete-laplace":
        raise RefusedError(
            f"noise is drawn on an exact grid: discrete-laplace, not {release.noise}"
        )
    if truth.grid != release.grid:
        raise RefusedError(f"the answers lie on the grid {truth.grid}, the noise on {release.grid}")
    scales = [scale / release.grid for scale in release.scales]
    if len(scales) == 1:
        units = truth.units + discrete_laplace(scales[0], len(truth))
    else:
        units = truth.units + _mixed(scales, truth)
    return Vector(units, truth.grid, truth.names, truth.runs)


def _mixed(scales: list[Fraction], truth: Vector) -> Any:
    """Return noise whose scale changes from run to run (default: from output to output)."""
    runs = truth.runs or (1,) * len(truth)
    if len(runs) != len(scales):
        raise RefusedError(f"{len(scales)} scales are declared for {len(runs)} groups of outputs")
    of_output = np.repeat(np.arange(len(runs)), runs)
    parts: dict[Fraction, list[int]] = {}
    for place, scale in enumerate(scales):
        parts.setdefault(scale, []).append(place)
    result: Any = np.zeros(len(truth), dtype=np.int64)
    for scale, places in parts.items():
        chosen = np.isin(of_output, places)
        drawn = discrete_laplace(scale, int(chosen.sum()))
        result = result.astype(np.result_type(result, drawn))
        result[chosen] = drawn
    return result


@dataclass(frozen=True, kw_only=True, eq=False)
class Released:
    """What is published, and what it rests on.

    `answers` are exact numbers, or floats where they are estimates made from noisy answers alone.
    `measured` are those noisy answers themselves. `description` says what was drawn.
    """

    request: Request
    mechanism: str
    description: Mechanism
    answers: Vector | Estimate
    measured: tuple[Vector, ...]
    sensitivity: Answer | None
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

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
            "epsilon": show(request.epsilon),
            "sensitivity": None if found is None else found.to_json(request.policy.domain),
            "noise": [_release_json(item) for item in self.description],
            "columns": list(self.answers.names.columns),
            "values": [_number(value) for value in self.answers],
            "notes": list(self.notes),
            **self.details,
        }


def _number(value: Exact | float) -> int | str | float:
    return value if isinstance(value, float) else json_number(value)


def _release_json(item: Release) -> dict[str, Any]:
    query = item.query if isinstance(item.query, str) else repr(item.query)
    scale = [show(number) for number in item.scales]
    return {
        "query": query,
        "noise": item.noise,
        "scale": scale if isinstance(item.scale, tuple) else scale[0],
        "grid": show(item.grid),
    }


class Plan(ABC):
    """A mechanism made ready for one request, before it has seen the data.

    `description` is complete where nothing depends on earlier answers; else it is None, and the
    releases are described as they are drawn, to epsilon in all.
    """

    name: str
    postprocessing: tuple[str, ...] = ()

    def __init__(self, request: Request) -> None:
        self.request = request
        self.sensitivity: Answer | None = None
        self.description: Mechanism | None = None
        self.notes: tuple[str, ...] = ()

    @abstractmethod
    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the answers, from what `draw` returns and from nothing else about the data."""

    def described(self, *releases: Release, selections: Sequence[Selection] = ()) -> Mechanism:
        """Return a description of these releases and choices under this mechanism's name."""
        return Mechanism(
            name=self.name,
            releases=releases,
            postprocessing=self.postprocessing,
            selections=tuple(selections),
        )


class Budget(Protocol):
    """Whatever keeps account of epsilon."""

    def spend(self, request: Request, mechanism: str) -> tuple[str, ...]:
        """Write the spending down for good, or raise; return notes for the reader."""
        ...


def release(plan: Plan, data: Dataset, *, budget: Budget | None = None) -> Released:
    """Carry out a plan: check the data, write down the spending, and only then draw noise."""
    request = plan.request
    require_agreement(request.policy, request.answers, data)
    draw = Draw(request.policy, data)
    for item in plan.description or ():
        draw.count(item)
    spent = () if budget is None else budget.spend(request, plan.name)
    answers = plan.run(draw)
    description = plan.described(*draw.drawn, selections=draw.chosen)
    if plan.description is not None and description.releases != plan.description.releases:
        raise RefusedError(f"{plan.name} drew other noise than it declared")  # pragma: no cover
    return Released(
        request=request,
        mechanism=plan.name,
        description=description,
        answers=answers,
        measured=tuple(draw.noisy),
        sensitivity=plan.sensitivity,
        notes=(*plan.notes, *spent),
    )
