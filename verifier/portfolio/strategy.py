"""What the plan is made of: a `Strategy` bounds S(f, P), a `Reduction` asks an easier question.

Neither decides when it is asked: that is for `plan` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from blowproof.models import Exact
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question

__all__ = ["Reduction", "Strategy", "Together"]


@dataclass(frozen=True)
class Reduction:
    """An easier question in the place of the one that was asked, which the plan answers.

    `apply` returns the easier question; None: there is none after all. `upper` says what an upper
    bound of its S says about the question that was asked (None: nothing). `bring_back` turns the
    pair of an answer into databases of the question that was asked. The plan checks them; but of a
    large pair a check may not end, and then minimality rests on the docstring of the reduction: one
    that guesses has to check in full by itself.
    """

    apply: Callable[[Question], Question | None]
    bring_back: Callable[[Question, Answer], Pair | None]
    upper: Callable[[Question, Exact], Exact | None]


@dataclass(frozen=True)
class Together:
    """Easier questions that bound S from above together: by the largest of their bounds."""

    cases: tuple[Reduction, ...]


@dataclass(frozen=True)
class Strategy:
    """One way to bound S(f, P).

    `refuses` says why a question is not one for it, or ""; `run` returns what it
    found, or None; or easier questions, which the plan asks in turns: each of a list speaks for
    itself.
    A theorem needs no search; an engine searches, and may be asked alone (`--engine`); a reduction
    asks an easier question; a witness is a pair looked for directly.
    `norms`: in which norms its bounds hold; what says nothing is about l1 alone. `plans`: it shares
    its time out among steps, so that it has to be told how much there is. `endless`: it proposes
    one pair after the other, and may do so for years. `part_of`: an engine that takes it along
    where that is asked alone ("auto": none).
    """

    name: str
    kind: Literal["theorem", "engine", "reduction", "witness"]
    does: str
    run: Callable[[Question], Answer | list[Reduction] | Together | None] | Reduction
    refuses: Callable[[Question], str] = lambda question: ""
    norms: tuple[str, ...] = ("l1",)
    plans: bool = False
    endless: bool = False
    part_of: str = ""

    def why_not(self, question: Question) -> str:
        """Return why the question is not one for it, or ""."""
        norm = question.query.measure.name
        if norm not in self.norms:
            return f"it is about {' and '.join(self.norms)}, not {norm}"
        return self.refuses(question)
