"""All choices of a selection, on every pair of neighbours among few and small databases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb, log

from blowproof.models import BudgetError
from blowproof.models.base.clock import now
from blowproof.models.base.numbers import plain
from blowproof.models.mechanisms.mechanism import Selection
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import INFINITE, Loss
from blowproof.verifier.certify.channels.exponential_sums import enclosure
from blowproof.verifier.certify.selections.noisy_partitions import NoisyChoice, Partition
from blowproof.verifier.databases.consistency import size_range
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["ChoiceRatio", "WorstChoice", "choice_ratio", "log_between", "worst_choice"]

MOST_CELLS = whole_limit(__name__, "MOST_CELLS")
MOST_DATABASES = whole_limit(__name__, "MOST_DATABASES")
MOST_WORK = whole_limit(__name__, "MOST_WORK")
LARGEST = whole_limit(__name__, "LARGEST")
FINE = whole_limit(__name__, "FINE")

Counts = tuple[int, ...]


@dataclass(frozen=True)
class ChoiceRatio:
    """How much likelier some outcome is for one histogram than for another, at the most.

    `low` is at least attained, by `outcome`; None is infinite. `high`: no outcome is more; None is
    unknown.
    """

    low: Fraction | None
    high: Fraction | None
    outcome: str


def choice_ratio(choice: NoisyChoice, one: Counts, two: Counts) -> ChoiceRatio | None:
    """Return the largest ratio of probabilities; None where nothing can be worked out."""
    if choice.listable:
        return _ratio(choice.probabilities(one), choice.probabilities(two))
    if not choice.tells_alone:
        return None
    alone = tuple(range(1, choice.size + 1))
    return replace(_ratio({alone: choice.alone(one)}, {alone: choice.alone(two)}), high=None)


Around = tuple[Fraction, Fraction]


def _ratio(one: dict[Partition, Around], two: dict[Partition, Around]) -> ChoiceRatio:
    low, high, outcome = Fraction(0), Fraction(1), ""
    unknown = False
    for ends, (least, most) in one.items():
        below, above = two[ends]
        if least and not above:
            return ChoiceRatio(None, None, _words(ends))
        if above and least / above > low:
            low, outcome = least / above, _words(ends)
        unknown = unknown or (bool(most) and not below)
        high = max(high, most / below) if below else high
    return ChoiceRatio(low, None if unknown else high, outcome)


def _words(ends: Partition) -> str:
    starts = (0, *ends[:-1])
    spans = [
        str(low + 1) if high == low + 1 else f"{low + 1}-{high}"
        for low, high in zip(starts, ends, strict=True)
    ]
    return f"the buckets {', '.join(spans)}"


@dataclass(frozen=True, kw_only=True)
class WorstChoice:
    """What a choice loses over the pairs that were compared; `upper` is None where some were not.

    `pair` shows the lower one.
    """

    lower: Loss
    upper: Loss | None
    pair: Pair | None
    why: str


def worst_choice(asked: Asked, selection: Selection, outputs: int) -> WorstChoice | None:
    """Compare neighbours one by one; None where no choice can be worked out."""
    if selection.candidates != "intervals" or selection.penalty is None or outputs > MOST_CELLS:
        return None
    choice = NoisyChoice(selection, outputs)
    try:
        if not choice.listable and not choice.tells_alone:
            return None
        return _compared(asked, choice)
    except BudgetError:  # exponents, or databases, beyond what is looked at
        return None


def _compared(asked: Asked, choice: NoisyChoice) -> WorstChoice | None:
    sizes, complete = _sizes(asked, choice)
    best, most = ChoiceRatio(Fraction(1), Fraction(1), ""), Fraction(1)
    pair, why = None, "no pair of them is told apart"
    seen: set[tuple[Counts, Counts]] = set()
    for found, one, two in _histograms(asked, sizes):
        if (one, two) in seen:
            continue
        if asked.deadline is not None and now() > asked.deadline:
            complete = False
            break
        seen |= {(one, two)}
        ratio = choice_ratio(choice, one, two)
        if ratio is None:
            return None
        if ratio.low is None:
            said = f"{ratio.outcome}: possible for one of two neighbours only"
            return WorstChoice(lower=INFINITE, upper=INFINITE, pair=found, why=said)
        complete = complete and ratio.high is not None
        most = max(most, ratio.high or most)
        if best.low is not None and ratio.low > best.low:
            best, pair = ratio, found
            why = f"{ratio.outcome} tell the counts {list(one)} from {list(two)} most"
    records = ", ".join(map(str, sizes))
    end = "" if complete else f"; no more than some databases of n = {records} were compared"
    lower = max(Fraction(0), log_between(best.low or Fraction(1))[0])
    upper = log_between(most)[1] if most > 1 else Fraction(0)
    return WorstChoice(
        lower=plain(lower), upper=plain(upper) if complete else None, pair=pair, why=f"{why}{end}"
    )


def _sizes(asked: Asked, choice: NoisyChoice) -> tuple[list[int], bool]:
    """Return the numbers of records to look at, and whether these are all there can be."""
    low, high = size_range(asked.setting, asked.reading)
    last = low + LARGEST if high is None else high
    few: list[int] = []
    for n in range(low, last + 1):
        if not _few(choice, [*few, n]):
            break
        few.append(n)
    return few, high is not None and len(few) == high - low + 1


def _few(choice: NoisyChoice, sizes: list[int]) -> bool:
    """Whether the databases with so many records can be compared."""
    cells = choice.size
    histograms = sum(comb(n + cells - 1, n) for n in sizes)
    return sum(cells**n for n in sizes) <= MOST_DATABASES and (
        not choice.listable or histograms * choice.work <= MOST_WORK
    )


def _histograms(asked: Asked, sizes: list[int]) -> Iterator[tuple[Pair, Counts, Counts]]:
    """Yield the neighbours with their complete histograms, in both directions."""
    places = {point: place for place, point in enumerate(asked.setting.domain.points())}
    named = bool(asked.setting.clauses)  # else one numbering of equal databases stands for all
    for pair in brute_neighbours(asked.setting, asked.reading, sizes=sizes, every_label=named):
        both = []
        for database in (pair.first(), pair.second()):
            counts = [0] * len(places)
            for point, times in database.items():
                counts[places[point]] += times
            both.append(tuple(counts))
        one, two = both
        yield pair, one, two
        yield pair.reversed(), two, one


def log_between(ratio: Fraction) -> tuple[Fraction, Fraction]:
    """Return fractions below and above the logarithm of a positive number.

    >>> low, high = log_between(Fraction(2))
    >>> float(low), float(high)
    (0.69314718, 0.693147182)
    """
    step = Fraction(1, FINE)
    guess = Fraction(round((log(ratio.numerator) - log(ratio.denominator)) * FINE), FINE)
    low, high = guess - step, guess + step  # a float tells so much; what follows makes sure
    while enclosure(low, 128)[1] > ratio:
        low -= step
    while enclosure(high, 128)[0] < ratio:
        high += step
    return low, high
