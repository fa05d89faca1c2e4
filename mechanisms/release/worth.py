"""Is the noise worth its price? Asked before the charge; whoever wants it all the same says so.

Noise is refused that is set from an upper bound more than four times the lower one, for then a
better bound may be had for some patience. And noise is refused whose scale is larger than the
answers it is added to can be: n times the most that one record adds to an output. n is used where
it is public, which is always so where records are labelled: neighbours have the same number of
them, so that the refusal tells nothing that the answers would hide. Where n is secret (`add-remove`
and `markov` without a size), nothing is compared with it.

*Whoever bounds noise bounds S.* Let f = A r be what follows from a release r, A linear, and let no
column of A add up to more than a, without signs: then S(f) <= a S(r) in l1, for |A x|_1 <= a |x|_1;
and in l2-squared S(f) <= S(f in l1)^2, as |x|_2 <= |x|_1. So where S(f) was asked for, and all that
came out is a bound that no data can be told from (`require_width`), none is found for r that is of
any use: it would have been one for f. Nothing is proved by that, and nothing needs to be: it says
which questions are worth the time (`out_of_reach`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.release.calibrate import require_width
from blowproof.mechanisms.release.request import Request
from blowproof.models import BoundQuery, Policy, show
from blowproof.models.mechanisms.mechanism import Release, Selection
from blowproof.models.mechanisms.trees_and_prefixes import bind_query
from blowproof.models.policy.in_words import short
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.certify.base.verdict import Certified

__all__ = ["out_of_reach", "require_close_bounds", "require_less_noise"]

WIDE = 4
_TRY = (
    ": nothing was drawn and nothing spent\n"
    "  try: {}a coarser query, another mechanism, or --accept-wide-bounds"
)


def require_close_bounds(found: Certified, name: str) -> None:
    """Refuse noise from an upper bound on the loss that is more than four times the lower one."""
    lower, upper = found.lower, found.upper
    if not isinstance(lower, (int, Fraction)) or not isinstance(upper, (int, Fraction)):
        return
    if upper > WIDE * lower and found.engine != "argument":
        times = "of which no part is shown to be needed" if not lower else (
            f"at least {short(int(upper / Fraction(lower)))} times what is shown to be needed"
        )  # fmt: skip
        raise RefusedError(
            f"{name} would draw noise from an upper bound, {times}"
            + _TRY.format("" if found.final else "a longer --time-limit, ")
        )


def require_less_noise(
    items: Iterable[Release | Selection], policy: Policy, size: int, name: str
) -> None:
    """Refuse noise that is larger than anything it is added to, n being public."""
    judged = list(_judged(items, policy, size))
    if judged and all(width > most for _, width, most in judged):
        what, width, most = min(judged, key=lambda item: item[1:])
        square = "the square of " * (what == "variance")
        raise RefusedError(
            f"{name} would draw noise of {what} {show(width)}, and {square}what it is added to is "
            f"at most {show(most)} on these records"
            + _TRY.format(f"a larger --{'rho' if square else 'epsilon'}, ")
        )


def _judged(
    items: Iterable[Release | Selection], policy: Policy, size: int
) -> Iterator[tuple[str, Fraction, Fraction]]:
    """Yield the least scale of each release that has noise, and the largest answer it can have.

    Of Gaussian noise, the variance and the square.
    """
    for item in items:
        most = bind_query(item.query, policy).largest_answer(policy.domain, size)
        gaussian = isinstance(item, Release) and item.width == "variance"
        width = min(item.widths if isinstance(item, Release) else item.scales)
        if width and most is not None:
            what = "variance" if gaussian else "scale"
            yield what, width, Fraction(most) ** (2 if gaussian else 1)


def out_of_reach(request: Request, query: BoundQuery, *, table: bool) -> str:
    """Return why no noise that a query follows from is of any use, by what S is known of; else "".

    `table`: whether the counts of all values follow from it as well.
    """
    for asked, answer in request.said:
        if asked.name != query.name and not (table and is_histogram(asked)):
            continue
        if answer.status == "bounds" and answer.upper is not None and _is_useless(request, answer):
            digits = len(str(int(answer.upper)))
            square = " (a square)" * (answer.norm == "l2-squared")
            return (
                f"S of {asked.name} is at least {short(answer.lower)}, and all that bounds it from "
                f"above is a number of {digits} digits{square}: no data can be told from such noise"
            )
    return ""


def _is_useless(request: Request, answer: Answer) -> bool:
    """Whether noise from an upper bound is wider than any data."""
    assert answer.upper is not None
    squared = answer.norm == "l2-squared" and request.rho is not None
    per = 2 * request.rho if squared and request.rho is not None else request.epsilon
    try:
        require_width(Fraction(answer.upper) / per, answer.query, squared=squared)
    except RefusedError:
        return True
    return False
