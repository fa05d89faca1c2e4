"""Choices made from noisy costs: what a `Selection` gives away, worked out from its description.

*The bound.* Let y and y' be the answers on two neighbours, and d their difference. The deviation of
a bucket b of w answers is a norm of its answers less their mean, so it changes by at most s_w times
the sum of |d_i| in b, where s_w = 2 (w - 1) / w. Let the partition M be the outcome on y, and lower
the noise of each of its buckets b by (s_w + s) times the sum of |d_i| in b, where s belongs to the
widest bucket. M's own cost then falls, against what it was on y, by at least s times the |d_i| of
its buckets. Another partition M' shares some buckets with M, which change alike for both; its
others hold the same answers as M's others, and their costs have fallen by at most s times their
|d_i|. So M stays at least as much cheaper than M' as it was, whatever the fixed order of ties. What
was lowered are multiples of the grid, where the answers are counts. So a pair loses at most

    the sum over i of |d_i| * max over w of (s_w + s) / scale_w,

and all pairs at most that factor times S(query, P) in L1, for every policy and reading; with
buckets of any width and one scale b it is 4 S / b.

*A partition that is drawn* ("drawn-intervals"), with probability in proportion to e^(-cost /
scale), or one into blocks of a grid ("drawn-blocks"). A bucket costs the sum of |answer - median|:
that is the least of the sums of |answer - m| over all m, and each of them changes by at most the
sum of |d_i| in the bucket. So the costs of all partitions change by at most the sum of |d_i|; one
outcome's weight by that much one way, the sum of all weights the other way, and a pair loses at
most 2 / scale times that sum. It does not matter which partitions there are, as long as the data do
not say so.

*By all choices.* Where domains and databases are few, the probabilities of all partitions are
enclosed (`noisy_partitions`), and neighbours compared one by one. That refutes; and where n is
public, so that no database is left out, it proves as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from blowproof.models import BudgetError, PolicyError, QueryError, show
from blowproof.models.base.numbers import plain
from blowproof.models.base.toml_values import within
from blowproof.models.mechanisms.mechanism import BLOCKS, DRAWN, Mechanism, Release, Selection
from blowproof.models.mechanisms.stacked_releases import bind_release
from blowproof.models.policy.policy import Policy
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import INFINITE, Assumption, Loss, LossBounds
from blowproof.verifier.certify.noise.additive import additive_loss
from blowproof.verifier.certify.selections.best_score import BEST, best_score
from blowproof.verifier.certify.selections.choices import worst_choice
from blowproof.verifier.engines.one_move.worst_edge import one_secret_move

__all__ = ["both", "choice_factor", "with_selections"]

KNOWN = ("intervals", "pairs", DRAWN, BLOCKS, *BEST)


@dataclass(frozen=True)
class _Choice:
    """One choice: its number from 1, and its query as a release of scale 1."""

    number: int
    selection: Selection
    part: Part

    @property
    def known(self) -> bool:
        """Whether the costs are known: deviations of counts, or of anything if the noise has no
        grid.
        """
        query, item = self.part.query, self.selection
        lists = not query.per_record
        fits = item.noise == "laplace" or query.binary
        return item.candidates in KNOWN and lists and fits


def with_selections(
    asked: Asked, mechanism: Mechanism, found: LossBounds, epsilon: Fraction
) -> tuple[LossBounds, tuple[Assumption, ...]]:
    """Add what the choices of a mechanism give away, and say what had to be assumed for that.

    A choice alone may refute: whoever sees everything sees the choice.
    """
    assumptions: list[Assumption] = []
    for choice in _bound_choices(mechanism, asked.policy):
        if choice.selection.candidates in BEST:
            more = best_score(asked, choice.number, choice.selection, choice.part)
        elif choice.known:
            more = _computed(asked, choice, epsilon)
        else:
            more = _declared(asked, choice)
            assumptions.append(_assumption(choice))
        found = both(found, more)
    return found, tuple(assumptions)


def _bound_choices(mechanism: Mechanism, policy: Policy) -> Sequence[_Choice]:
    found = []
    for place, item in enumerate(mechanism.selections):
        with within(f"selection[{place}]"):
            release = Release(query=item.query, scale=Fraction(1))
            try:
                part = bind_release(release, policy)
            except QueryError as error:
                reason, _, hint = str(error).partition("\n  try: ")
                raise PolicyError(reason, key="query", hint=hint or None) from None
            choice = _Choice(place + 1, item, part)
            if not choice.known and item.step is None:
                raise PolicyError(
                    f"nothing says how much a record changes the costs of {item.candidates!r} for "
                    f"{part.query.name}",
                    key="step",
                    hint='write candidates = "intervals" or "pairs" with a query that counts, or '
                    "a step, which is then an assumption",
                )
        found.append(choice)
    return found


def both(one: LossBounds, two: LossBounds) -> LossBounds:
    """Return bounds on what two steps lose together: no more than the sum, no less than each."""
    upper: Loss | None = None
    if one.upper is not None and two.upper is not None:
        infinite = isinstance(one.upper, str) or isinstance(two.upper, str)
        upper = INFINITE if infinite else plain(Fraction(one.upper) + Fraction(two.upper))
    larger = two if _less(one.lower, two.lower) else one
    return replace(larger, upper=upper, engine=one.engine, notes=(*one.notes, *two.notes))


def _less(one: Loss, two: Loss) -> bool:
    if isinstance(one, str):
        return False
    return isinstance(two, str) or one < two


# --- costs that are known ------------------------------------------------------------------------


def choice_factor(selection: Selection, outputs: int | None) -> Fraction | None:
    """Return what a choice loses at most, divided by S of its query; None if nothing bounds it.

    `outputs`: how many answers the query has, where that is known.

    >>> choice_factor(Selection(query="histogram", candidates="pairs", scale=Fraction(8)), 10)
    Fraction(1, 4)
    """
    top = _widest(selection, outputs)
    if selection.candidates in (DRAWN, BLOCKS):
        return 2 / selection.scale if top != 0 else Fraction(0)
    powers = range(len(selection.scales) if top is None else top + 1)
    most = Fraction(2) if top is None else _step(top)
    worst = Fraction(0)
    for power in powers:
        last = top is None and power == len(selection.scales) - 1
        step = (most if last else _step(power)) + most
        scale = selection.scale_of(power)
        if step and not scale:
            return None
        worst = max(worst, step / scale if step else worst)
    return worst


def _step(power: int) -> Fraction:
    """Return s_w for w = 2**power: by how much one count more changes a deviation at the most."""
    return 2 - Fraction(2, 2**power)


def _widest(selection: Selection, outputs: int | None) -> int | None:
    """Return the power of two that the widest bucket holds; None where nothing bounds it."""
    if selection.candidates == "pairs":
        return 1 if outputs is None else min(1, outputs.bit_length() - 1)
    limits = [item for item in (selection.longest, outputs) if item is not None]
    return min(limits).bit_length() - 1 if limits else None


def _computed(asked: Asked, choice: _Choice, epsilon: Fraction) -> LossBounds:
    """Return the bound of the module's text; where it is not enough, look at all choices."""
    query, item = choice.part.query, choice.selection
    outputs = asked.setting.domain.size if query.separates else None
    factor = choice_factor(item, outputs)
    upper: Loss | None = 0
    if factor is None:
        upper, why = None, "some buckets have no noise, so that no shift of noise hides a record"
    elif factor:
        upper, why = _stretched(asked, choice.part, factor)
    else:
        why = "there is one partition only"
    found = LossBounds(
        lower=0,
        upper=upper,
        pair=None,
        engine="choices",
        notes=(f"choice {choice.number}, among {item.candidates}: {why}",),
    )
    drawn = item.candidates in (DRAWN, BLOCKS)
    if (
        outputs is None
        or drawn
        or (upper is not None and not isinstance(upper, str) and upper <= epsilon)
    ):
        return found
    worst = worst_choice(asked, item, outputs)
    if worst is None:
        return found
    least = worst.upper if upper is None else upper
    if worst.upper is not None and not isinstance(upper, str) and upper is not None:
        least = min(worst.upper, upper)
    said = f"choice {choice.number}, all choices compared: {worst.why}"
    return replace(
        found, lower=worst.lower, upper=least, pair=worst.pair, notes=(*found.notes, said)
    )


def _stretched(asked: Asked, part: Part, factor: Fraction) -> tuple[Loss | None, str]:
    """Return the factor times S of the query: the loss of a release with noise of that width."""
    quiet = replace(asked, listener=None)  # its lower bound is no lower bound on the loss
    try:
        found = additive_loss(quiet, (replace(part, weights=(1 / factor,)),))
    except BudgetError as error:
        return None, f"S({part.query.name}) is not known: {error}"
    if found.upper is None:
        return None, f"S({part.query.name}) is not bounded"
    if isinstance(found.upper, str):
        return INFINITE, f"S({part.query.name}) is not bounded"
    times = show(factor)
    return found.upper, f"loses at most {times} * S({part.query.name}) = {show(found.upper)}"


# --- costs that are declared ---------------------------------------------------------------------


def _declared(asked: Asked, choice: _Choice) -> LossBounds:
    """Return the bound that follows from a declared step, where one record moves.

    The mover's two buckets in the outcome are shifted by two steps each.
    """
    item, scale = choice.selection, min(choice.selection.scales)
    upper: Loss | None = None
    why = "neighbours may differ in several records, or some candidates have no noise"
    if item.step is not None and scale and one_secret_move(asked.setting, asked.reading):
        upper = plain(4 * item.step / scale)
        why = f"loses at most {show(upper)}, if a step is as the file says"
    said = f"choice {choice.number}, among {item.candidates}: {why}"
    return LossBounds(lower=0, upper=upper, pair=None, engine="choices", notes=(said,))


def _assumption(choice: _Choice) -> Assumption:
    item, name = choice.selection, choice.part.query.name
    assert item.step is not None
    return Assumption(
        f"selection-{choice.number}",
        f"one record that joins or leaves changes the cost of any candidate ({item.candidates!r} "
        f"for {name!r}) by at most {show(item.step)}, and a move changes two candidates of the "
        "outcome",
    )
