"""What is known about S(f, P): bounds, who says so, and the pair that shows the lower one.

`Bounds` are values that can only get better (`meet`). A `Board` holds those of one question while
engines take turns: whoever knows better writes it there, and everybody reads it. It is the one
place where a pair is checked before it counts, and where two engines that contradict each other
are found out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from blowproof.models import BoundQuery, Exact, InternalError, Setting
from blowproof.models.base.clock import now
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.answer import Decided, Pair
from blowproof.verifier.asked.question import Listener, Progress
from blowproof.verifier.limits.limit import real_limit
from blowproof.verifier.neighbours.check import require_pair

__all__ = ["Board", "Bounds", "Reason"]

CHECK_SECONDS = real_limit(__name__, "CHECK_SECONDS")


class Reason(NamedTuple):
    """Who says that a bound holds, why, and through which reductions."""

    name: str
    why: str
    through: tuple[str, ...] = ()

    def told(self) -> str:
        """Return why, and through which easier questions.

        >>> Reason("search", "it ended", ("any answers", "complete graph")).told()
        'it ended, through: any answers, complete graph'
        """
        return ", through: ".join(filter(None, (self.why, ", ".join(self.through))))


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """lower <= S(f, P) <= upper (None: nothing bounds it); `pair` differs by `lower`.

    >>> one = Bounds(lower=2, below=Reason("search", "a pair"))
    >>> two = Bounds(upper=4, above=Reason("ceiling", "at most 2 records move"))
    >>> both = one.meet(two)
    >>> both.lower, both.upper, both.below.name, both.above.name, both.closed
    (2, 4, 'search', 'ceiling', False)
    """

    lower: Exact = 0
    upper: Exact | None = None
    pair: Pair | None = None
    below: Reason | None = None
    above: Reason | None = None

    @property
    def closed(self) -> bool:
        """Whether S is known."""
        return self.lower == self.upper

    @property
    def decided_by(self) -> tuple[Decided, ...]:
        """Who says so of each bound, and why."""
        ends = ("lower", self.below), ("upper", self.above)
        return tuple((end, why.name, why.told()) for end, why in ends if why is not None)

    def counted(self, size: Callable[[Exact], Exact]) -> Bounds:
        """Return the bounds of a query that counts each change as `size` says."""
        upper = None if self.upper is None else size(self.upper)
        return replace(self, lower=size(self.lower), upper=upper)

    def meet(self, other: Bounds) -> Bounds:
        """Return the better of both at either end; at a tie, these stay."""
        low = other if other.lower > self.lower else self
        tighter = other.upper is not None and (self.upper is None or other.upper < self.upper)
        high = other if tighter else self
        if high.upper is not None and low.lower > high.upper:
            raise InternalError(
                f"{_name(low.below)} shows a pair that differs by {low.lower}, and "
                f"{_name(high.above)} says that no pair differs by more than {high.upper}"
            )
        if low is high:
            return low
        return Bounds(
            lower=low.lower, upper=high.upper, pair=low.pair, below=low.below, above=high.above
        )


def _name(reason: Reason | None) -> str:
    return "an engine" if reason is None else f"{reason.name} ({reason.why})"


class Board:
    """The bounds of one question, for all who work on it; `listener` hears of better ones."""

    def __init__(
        self,
        setting: Setting,
        query: BoundQuery,
        reading: Reading,
        listener: Listener | None = None,
    ) -> None:
        self.setting, self.query, self.reading = setting, query, reading
        self.listener = listener
        self.known = Bounds()
        self.remarks: dict[str, None] = {}

    def settled(self) -> bool:
        """Whether the bounds meet."""
        return self.known.closed

    def ends(self) -> tuple[Exact, Exact | None]:
        """Return the bounds by now."""
        return self.known.lower, self.known.upper

    def worth(
        self, reason: Reason, *, upper: Exact | None = None, pair: Pair | None = None
    ) -> Bounds:
        """Return what somebody says: a pair is worth what the query's own code says it changes."""
        value: Exact = 0
        if pair is not None:
            value = self.query.difference(pair.moves(self.reading))
        return Bounds(lower=value, upper=upper, pair=pair, below=reason, above=reason)

    def take(self, told: Bounds) -> Bounds:
        """Keep what is better than what was known, and return what is known now.

        A pair counts once the independent check of pairs has accepted it.
        """
        before = self.known
        if told.pair is not None and told.lower > before.lower:
            self._check(told.pair)
        self.known = before.meet(told)
        if self.known is not before and self.listener is not None:
            known, why = self.known, told.below or told.above
            what = "" if why is None else why.told()
            self.listener(Progress(*self.ends(), what, known.pair, known.decided_by))
        return self.known

    def _check(self, pair: Pair) -> None:
        verdict = require_pair(self.setting, self.reading, pair, deadline=now() + CHECK_SECONDS)
        if verdict.minimality == "budget":
            self.remarks["the pair has too many parts for its minimality to be searched again"] = (
                None
            )
