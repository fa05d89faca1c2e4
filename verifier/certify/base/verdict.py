"""What the certifier says: proved, refuted or undecided, with the loss and what shows it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from blowproof.models import Domain, Exact, show
from blowproof.models.base.numbers import plain, total
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.names import NO_MORE
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.limits.limit import whole_limit

__all__ = [
    "INFINITE",
    "Assumption",
    "Certified",
    "Changed",
    "Delta",
    "Loss",
    "LossBounds",
    "Verdict",
    "shown",
]

INFINITE: Literal["inf"] = "inf"
Loss = int | Fraction | Literal["inf"]
"""A privacy loss: exact, or infinite (some answer is possible for one of two neighbours only)."""

Verdict = Literal["proved", "proved-assuming", "refuted", "undecided"]
"""`proved-assuming`: it follows from the description and from assumptions that nobody checked."""

LISTED_OUTPUTS = whole_limit(__name__, "LISTED_OUTPUTS")


@dataclass(frozen=True)
class Assumption:
    """What a verdict takes somebody's word for: a short name, and what it states."""

    name: str
    states: str


@dataclass(frozen=True, kw_only=True)
class LossBounds:
    """Bounds on the loss over all neighbours, and the pair that shows the lower one."""

    lower: Loss
    upper: Loss | None
    pair: Pair | None
    engine: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Delta:
    """The smallest delta at the promised epsilon, where that is what is worked out.

    `text` is the exact number, as p - q * exp(epsilon), where it is known; `low` and `high` are
    fractions around it, and `verdict` is what the exact numbers say about the promised delta.
    """

    text: str | None
    low: Fraction
    high: Fraction | None
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """Return the delta as the JSON of `certify` carries it."""
        return {
            "exact": self.text,
            "lower": show(self.low),
            "upper": None if self.high is None else show(self.high),
        }


@dataclass(frozen=True)
class Changed:
    """An output that tells the pair apart: by how much it changes, under which noise.

    `scale` is what says how wide the noise is, under the name `width`: a scale, or a variance. For
    bounded noise it is the grid, `reach` is how far the noise goes at the most, and `tells` the
    chance of an answer that only one of the two databases can give.
    """

    release: int
    output: str
    change: Exact
    scale: Fraction
    width: str = "scale"
    reach: Fraction | None = None
    tells: Fraction | None = None

    def under(self, release: Release) -> Changed:
        """Return the output with what its release says of the noise."""
        law = release.probabilities
        if not law:
            return replace(self, width=release.width)
        steps, held = int(self.change / release.grid), dict(enumerate(law))
        tells = max(
            total(p for k, p in held.items() if not held.get(k + away)) for away in (steps, -steps)
        )
        reach = len(law) // 2 * release.grid
        return replace(self, width=release.width, reach=reach, tells=Fraction(tells))

    def to_json(self) -> dict[str, Any]:
        """Return the output as the JSON of `certify` lists it; releases count from 1."""
        ends = {"reach": self.reach, "tells": self.tells}
        return {
            "release": self.release + 1,
            "output": self.output,
            "change": show(self.change),
            self.width if self.width == "variance" else "scale": show(self.scale),
            **{name: show(value) for name, value in ends.items() if value is not None},
        }


@dataclass(frozen=True, kw_only=True)
class Certified:
    """A mechanism judged by its description, against one promise.

    `lower` and `upper` bound the loss over all neighbours, in both directions, in the measure of
    the promise (epsilon, rho, or epsilon at the promised delta); they are equal where the search
    ended. `delta` is the delta at the promised epsilon, where that is worked out instead.
    A channel has e^loss instead: `exp_loss` as an expression where it is exact, and decimals around
    it at this epsilon; its loss is a number only where that is rational.
    `outputs` are those that tell the witness's databases apart most, of `outputs_changed` that do;
    `channel_outputs` the answers that do it most, one for each changed record where every record
    has its own. `assumptions` are what the upper bound rests on besides the description.
    `scalable`: the loss is inversely proportional to the scales, or the variances.
    """

    mechanism: str
    policy: str
    reading: Reading
    answers: Answers
    promise: Promise
    verdict: Verdict
    lower: Loss | None
    upper: Loss | None
    witness: Pair | None
    outputs: tuple[Changed, ...] = ()
    outputs_changed: int = 0
    delta: Delta | None = None
    exp_loss: str | None = None
    exp_between: tuple[str, str] | None = None
    channel_outputs: tuple[str, ...] = ()
    postprocessing: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    scalable: bool = True
    engine: str = ""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def final(self) -> bool:
        """Whether more time would find nothing more: the loss is exact, or the search said so."""
        exact = self.lower is not None and self.lower == self.upper
        return exact or any(note.startswith(NO_MORE) for note in self.notes)

    @property
    def loss(self) -> Loss | None:
        """The exact loss, where it is known as a number."""
        return self.lower if self.lower == self.upper else None

    @property
    def scales_times(self) -> Exact | None:
        """By what all scales may be (above 1: must be) multiplied to lose no more than promised.

        Variances, where rho is promised and all noise is Gaussian.

        The proven upper bound decides; None where there is none, where no noise helps, or
        where choices are made, whose loss is another function of their scales.
        """
        if self.upper is None or self.upper == INFINITE or not self.scalable:
            return None
        return plain(Fraction(self.upper) / self.promise.limit)

    @property
    def divergence(self) -> Exact | None:
        """The pair's Renyi divergence of order 2, at least, where that refutes a promised rho.

        Under rho-zCDP the divergence of order a is a * rho at the most; that of order 2 is what is
        worked out of a pair (exactly, for Gaussian noise on a grid that holds all changes).
        """
        lower = self.lower
        if self.promise.measure != "rho" or lower is None or isinstance(lower, str):
            return None
        return plain(2 * Fraction(lower)) if lower > self.promise.limit else None

    @property
    def widths(self) -> str:
        """What `scales_times` multiplies, in words."""
        return "variances" if self.promise.measure == "rho" else "scales"

    def to_json(self, domain: Domain) -> dict[str, Any]:
        """Return the document of `blowproof certify --json`."""
        document: dict[str, Any] = {
            "schema": "blowproof/certify/1",
            "mechanism": self.mechanism,
            "policy": self.policy,
            "reading": self.reading,
            "answers": self.answers,
            "verdict": self.verdict,
            "status": self.verdict,
            "measure": self.promise.measure,
            **self.promise.to_json(),
        }
        if self.exp_between is not None:
            document["exp_loss"] = self.exp_loss
            document["exp_loss_between"] = list(self.exp_between)
        else:
            times = self.scales_times
            document["scales_times"] = None if times is None else show(times)
        if self.divergence is not None:
            allowed = show(2 * self.promise.limit)
            divergence = show(self.divergence)
            document["refuted_at"] = {"order": 2, "divergence": divergence, "allowed": allowed}
        document |= {
            "loss": shown(self.loss),
            "lower": shown(self.lower),
            "upper": shown(self.upper),
            **self._in_measure(),
            "witness": None if self.witness is None else self._witness(domain),
            "postprocessing": list(self.postprocessing),
            "assumptions": [item.name for item in self.assumptions],
            "assumed": {item.name: item.states for item in self.assumptions},
            "engine": self.engine,
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
        }
        return document

    def _in_measure(self) -> dict[str, Any]:
        """Return rho, where that is what was asked for, and the exact delta."""
        found: dict[str, Any] = {}
        if self.promise.measure == "rho":
            found["rho"] = shown(self.loss)
        if self.delta is not None:
            found["delta_at_epsilon"] = self.delta.to_json()
        return found

    def _witness(self, domain: Domain) -> dict[str, Any]:
        assert self.witness is not None
        found = self.witness.to_json(domain)
        if self.exp_between is not None:
            found["outputs"] = list(self.channel_outputs)
        else:
            found["outputs"] = [item.to_json() for item in self.outputs[:LISTED_OUTPUTS]]
            found["outputs_changed"] = self.outputs_changed
        return found


def shown(loss: Loss | None) -> str | None:
    """Return a loss as JSON carries it: "p/q", "inf", or None where it is not known."""
    if loss is None or isinstance(loss, str):
        return loss
    return show(loss)
