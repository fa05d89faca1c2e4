"""Is the noise worth its price? Asked before the charge; whoever wants it all the same says so.

Noise is refused that is set from an upper bound more than four times the lower one, for then a
better bound may be had for some patience. And noise is refused whose scale is larger than the
answers it is added to can be: n times the most that one record adds to an output. n is used where
it is public, which is always so where records are labelled: neighbours have the same number of
them, so that the refusal tells nothing that the answers would hide. Where n is secret (`add-remove`
and `markov` without a size), nothing is compared with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.models import Policy, show
from blowproof.models.mechanisms.mechanism import Release, Selection
from blowproof.models.mechanisms.trees_and_prefixes import bind_query
from blowproof.models.policy.in_words import short
from blowproof.verifier.certify.base.verdict import Certified

__all__ = ["require_close_bounds", "require_less_noise"]

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
