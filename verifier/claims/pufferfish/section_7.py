"""pufferfish-2012, section 7: intervals, relative errors, and metrics on databases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from blowproof.models import Exact
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]

NEVER = 10**6
"""More steps than any chain has: two databases that no chain joins."""


def _widths(most: int) -> Iterator[Instance]:
    for k in range(1, most + 1):
        for step in (Fraction(1), Fraction(1, 3)):
            yield Instance(shape="incomes", parameters={"k": k, "step": step})


INCOMES = family("k to 6, incomes in steps of 1 or 1/3", lambda: _widths(3), lambda: _widths(6))


def _interval_loss(instance: Instance) -> Exact:
    """The loss, in epsilons, of noise of scale 4 k / epsilon over neighbouring intervals."""
    k, step = instance.number("k"), instance.number("step")
    places = [step * n for n in range(int(8 * k / step) + 1)]
    furthest = Fraction(0)
    for low in places:
        one = [x for x in places if low <= x < low + 2 * k]
        two = [x for x in places if low + 2 * k <= x < low + 4 * k]
        if one and two:
            furthest = max(furthest, two[-1] - one[0])
    return furthest / (4 * k)


LEMMA_7_1 = Claim(
    id="pufferfish-2012/lemma-7.1",
    source="Section 7, Lemma 7.1",
    quote="has density",
    statement="A sum with noise of density epsilon / (8 k) exp(-epsilon |x| / (4 k)) protects "
    "incomes to within k.",
    read_as="Neighbouring intervals of width 2k, by the farthest incomes in them.",
    parts=(
        counted("loss in epsilons", INCOMES, lambda item: 1, _interval_loss, "<=", small="privacy"),
    ),
    proof="Two incomes in neighbouring half-open intervals of width 2 k differ by less than 4 k, "
    "and all other incomes have the same distribution given either.",
)


def _factors() -> Iterator[Instance]:
    for tenth in (1, 2, 5):
        yield Instance(shape="relative error", parameters={"error": Fraction(tenth, 10)})


FACTORS = family("errors of 10, 20 and 50 percent", _factors)


def _reach(c: Fraction) -> Fraction:
    """How far above y the interval [c y, y / c] reaches, relative to y."""
    return 1 / c - 1


def _powers() -> Iterator[Instance]:
    for y in range(1, 6):
        yield Instance(shape="powers of 2", parameters={"log_y": y})


POWERS = family("y = 2, 4, ..., 32 and c = 1/2", _powers)


def _misplaced(instance: Instance, center: Fraction) -> int:
    """How many t = 2^k lie in one of [y / 2, 2 y] and log t in [center - 1, center + 1] only."""
    log_y = instance.whole("log_y")
    return sum((abs(k - log_y) <= 1) != (abs(k - center) <= 1) for k in range(-4, 40))


SECTION_7_1_2 = Claim(
    id="pufferfish-2012/section-7.1.2",
    source="Section 7.1.2",
    quote="to within 10%",
    statement="To protect an income to within 10 percent, c = 0.1 in the interval [c y, y / c); "
    "and t is in it iff log t is between y + log c and y - log c.",
    read_as="The two formulas as printed.",
    parts=(
        counted("relative error of the interval", FACTORS, lambda item: item.number("error"),
                lambda item: _reach(item.number("error"))),
        counted("numbers misplaced", POWERS, lambda item: 0,
                lambda item: _misplaced(item, Fraction(2 ** item.whole("log_y")))),
        counted("relative error with c = 1 / (1 + error)", FACTORS,
                lambda item: item.number("error"),
                lambda item: _reach(1 / (1 + item.number("error"))), amended=True),
        counted("numbers misplaced, by log y", POWERS, lambda item: 0,
                lambda item: _misplaced(item, item.number("log_y")), amended=True),
    ),
    repaired="c = 1 / 1.1 for 10 percent; log t is between log y + log c and log y - log c.",
    amendment="misprint",
    explanation="With c = 0.1 the interval reaches from a tenth to ten times the income, and the "
    "logarithm of y is printed as y.",
    proof="1 / c - 1 is the error; the logarithm is increasing.",
)  # fmt: skip


def _bounds() -> Iterator[Instance]:
    for t in (Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(10)):
        yield Instance(shape="exp(epsilon)", parameters={"exp_epsilon": t})


FOURFOLD = Claim(
    id="pufferfish-2012/section-7.3",
    source="Section 7.3, after Theorem 7.1",
    quote="in terms of an odds-ratio bound",
    statement="4 epsilon-Pufferfish bounds odds ratios by 4 exp(epsilon).",
    read_as="4 exp(epsilon) against exp(4 epsilon).",
    parts=(
        counted("exp(4 epsilon)", family("four epsilons", _bounds),
                lambda item: 4 * item.number("exp_epsilon"),
                lambda item: item.number("exp_epsilon") ** 4, small="privacy"),
        counted("exp(4 epsilon), as the theorem has it", family("four epsilons", _bounds),
                lambda item: item.number("exp_epsilon") ** 4,
                lambda item: item.number("exp_epsilon") ** 4, amended=True),
    ),
    repaired="exp(4 epsilon).",
    amendment="misprint",
    explanation="The theorem multiplies epsilon by four, not the odds: 4 exp(epsilon) is less "
    "from epsilon = log(4) / 3 on, and more below.",
    proof="Definition 3.1 with 4 epsilon in the place of epsilon.",
)  # fmt: skip


def _lines() -> Iterator[Instance]:
    for step in (1, 2, 3):
        for delta in (1, 2, 3, 4):
            for count in (2, 5, 9):
                yield Instance(
                    shape=f"a line in steps of {step}",
                    parameters={"step": step, "delta": delta, "count": count},
                )


LINES = family("2, 5 or 9 databases on a line, in steps of 1 to 3, delta 1 to 4", _lines)


def _places(instance: Instance) -> list[int]:
    return [instance.whole("step") * n for n in range(instance.whole("count"))]


def _premise(places: Sequence[int], delta: int) -> bool:
    """For two different databases within delta, one within delta of the first, not the second."""
    near = [(a, b) for a in places for b in places if a != b and abs(a - b) <= delta]
    return all(any(abs(a - c) <= delta < abs(b - c) for c in places) for a, b in near)


def _steps(places: Sequence[int], delta: int, one: int, two: int) -> int:
    """How many steps of at most delta lead from one database to another."""
    reached, number = {one}, 0
    while two not in reached:
        more = {c for c in places if any(abs(c - a) <= delta for a in reached)}
        if more == reached:
            return NEVER
        reached, number = more, number + 1
    return number


def _longest(instance: Instance) -> Exact:
    """The most steps between a database within delta of some D and one beyond, within 2 delta."""
    places, delta = _places(instance), instance.whole("delta")
    return max(
        (
            _steps(places, delta, a, b)
            for center in places
            for a in places
            if abs(a - center) <= delta
            for b in places
            if delta < abs(b - center) <= 2 * delta
        ),
        default=0,
    )


def _joined(instance: Instance) -> bool:
    """Whether any two databases within 3 delta are joined by three steps of at most delta."""
    places, delta = _places(instance), instance.whole("delta")
    return all(
        _steps(places, delta, a, b) <= 3 for a in places for b in places if abs(a - b) <= 3 * delta
    )


THEOREM_7_1 = Claim(
    id="pufferfish-2012/theorem-7.1",
    source="Section 7, Theorem 7.1",
    quote="up to a four-fold degradation",
    statement="Where two databases within delta always have a third within delta of the one "
    "alone, (epsilon, delta)-modified ZLW privacy is 4 epsilon-Pufferfish for secrets to within "
    "delta.",
    read_as="The converse, for metrics that meet the printed condition.",
    parts=(
        counted(
            "loss in epsilons",
            LINES,
            lambda item: 4 if _premise(_places(item), item.whole("delta")) else None,
            _longest,
            "<=",
            small="privacy",
        ),
        counted(
            "loss in epsilons, where three steps join what is within 3 delta",
            LINES,
            lambda item: 3 if _joined(item) else None,
            _longest,
            "<=",
            small="privacy",
            amended=True,
        ),
    ),
    repaired="If any two databases within 3 delta are joined by three steps of at most delta: "
    "then even 3 epsilon.",
    amendment="condition",
    explanation="The condition asks for nothing where no two databases are within delta. Two "
    "databases at distance 2 and delta = 1: modified ZLW privacy is about no pair, and the "
    "secrets of Equation 13 tell the two apart.",
    proof="A database within delta of D and one within 2 delta are within 3 delta of each other.",
)

CLAIMS = (LEMMA_7_1, SECTION_7_1_2, THEOREM_7_1, FOURFOLD)
