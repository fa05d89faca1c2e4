"""What the certifier says: proved, refuted or undecided, with the loss and what shows it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from blowproof.models import Domain, Exact, show
from blowproof.models.base.numbers import plain
from blowproof.models.policy.policy import Answers, Reading
from blowproof.verifier.asked.answer import Pair

__all__ = ["INFINITE", "Assumption", "Bounds", "Certified", "Changed", "Loss", "Verdict", "shown"]

INFINITE: Literal["inf"] = "inf"
Loss = int | Fraction | Literal["inf"]
"""A privacy loss: exact, or infinite (some answer is possible for one of two neighbours only)."""

Verdict = Literal["proved", "proved-assuming", "refuted", "undecided"]
"""`proved-assuming`: it follows from the description and from assumptions that nobody checked."""

LISTED_OUTPUTS = 20


@dataclass(frozen=True)
class Assumption:
    """What a verdict takes somebody's word for: a short name, and what it states."""

    name: str
    states: str


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Bounds on the loss over all neighbours, and the pair that shows the lower one."""

    lower: Loss
    upper: Loss | None
    pair: Pair | None
    engine: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Changed:
    """An output that tells the pair apart: by how much it changes, under which noise."""

    release: int
    output: str
    change: Exact
    scale: Fraction

    def to_json(self) -> dict[str, Any]:
        """Return the output as the JSON of `certify` lists it; releases count from 1."""
        return {
            "release": self.release + 1,
            "output": self.output,
            "change": show(self.change),
            "scale": show(self.scale),
        }


@dataclass(frozen=True, kw_only=True)
class Certified:
    """A mechanism judged by its description, at one epsilon.

    `lower` and `upper` bound the loss over all neighbours, in both directions; they are equal where
    the search ended. A channel has e^loss instead: `exp_loss` as an expression where it is exact,
    and decimals around it at this epsilon; its loss is a number only where that is rational.
    `outputs` are those that tell the witness's databases apart most, of `outputs_changed` that do;
    `channel_outputs` the answers that do it most, one for each changed record where every record
    has its own. `assumptions` are what the upper bound rests on besides the description.
    `scalable`: the loss is inversely proportional to the scales, as that of additive noise is.
    """

    mechanism: str
    policy: str
    reading: Reading
    answers: Answers
    epsilon: Fraction
    verdict: Verdict
    lower: Loss | None
    upper: Loss | None
    witness: Pair | None
    outputs: tuple[Changed, ...] = ()
    outputs_changed: int = 0
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
    def loss(self) -> Loss | None:
        """The exact loss, where it is known as a number."""
        return self.lower if self.lower == self.upper else None

    @property
    def scales_times(self) -> Exact | None:
        """By what all scales may be (above 1: must be) multiplied to lose no more than epsilon.

        The proven upper bound decides; None where there is none, where no noise helps, or
        where choices are made, whose loss is another function of their scales.
        """
        if self.upper is None or self.upper == INFINITE or not self.scalable:
            return None
        return plain(Fraction(self.upper) / self.epsilon)

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
            "epsilon": show(self.epsilon),
        }
        if self.exp_between is not None:
            document["exp_loss"] = self.exp_loss
            document["exp_loss_between"] = list(self.exp_between)
        else:
            times = self.scales_times
            document["scales_times"] = None if times is None else show(times)
        document |= {
            "loss": shown(self.loss),
            "lower": shown(self.lower),
            "upper": shown(self.upper),
            "witness": None if self.witness is None else self._witness(domain),
            "postprocessing": list(self.postprocessing),
            "assumptions": [item.name for item in self.assumptions],
            "assumed": {item.name: item.states for item in self.assumptions},
            "engine": self.engine,
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
        }
        return document

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
