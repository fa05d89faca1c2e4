"""data-dependent-blowfish, section 5.1: the first step of DAWA, as its public implementation is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from blowproof.models.base.numbers import plain
from blowproof.models.mechanisms.mechanism import Selection
from blowproof.verifier.certify.selections.choices import choice_ratio, log_between
from blowproof.verifier.certify.selections.noisy_partitions import NoisyChoice
from blowproof.verifier.claims.data_dependent.partitions import counts_of
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part, Value
from blowproof.verifier.claims.stating.families import family

__all__ = ["CLAIMS", "noisy_everywhere", "public_choice"]


def public_choice(size: int, epsilon: Fraction, penalty: Fraction) -> Selection:
    """Return the choice as the public implementation makes it: buckets of 1, 2, 4, ... values.

    Laplace noise of scale (2 - 1/w - 1/size) / epsilon on the cost of w > 1 values, none on one.
    """
    widths = [1 << power for power in range(1, size.bit_length())]
    scales = [(2 - Fraction(1, width) - Fraction(1, size)) / epsilon for width in widths]
    return Selection(
        query="histogram",
        candidates="intervals",
        noise="laplace",
        narrower=(Fraction(0), *scales[:-1]),
        scale=scales[-1],
        penalty=penalty,
    )


def noisy_everywhere(size: int, epsilon: Fraction, penalty: Fraction) -> Selection:
    """Return the repair for buckets of one or two values: noise of 2 / epsilon on every cost."""
    return Selection(
        query="histogram",
        candidates="intervals",
        scale=2 / epsilon,
        penalty=penalty,
        longest=2,
    )


@dataclass(frozen=True)
class _Loss:
    """The loss of a choice, in epsilons, between a histogram and those with one record more.

    Of the public one, by the outcome that every value is alone; of the other by all outcomes.
    """

    choice: Callable[[int, Fraction, Fraction], Selection]

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        counts, epsilon = tuple(counts_of(instance)), instance.number("epsilon_1")
        selection = self.choice(len(counts), epsilon, 1 / instance.number("epsilon_2"))
        choice = NoisyChoice(selection, len(counts))
        lower, upper = Fraction(1), Fraction(1)
        for place in range(len(counts)):
            other = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
            for one, two in ((counts, other), (other, counts)):
                if choice.listable:
                    found = choice_ratio(choice, one, two)
                    assert found is not None
                    assert found.low is not None
                    assert found.high is not None
                    low, high = found.low, found.high
                else:
                    (a, b), (c, d) = choice.alone(one), choice.alone(two)
                    low, high = a / d, b / c
                lower, upper = max(lower, low), max(upper, high)
        least = log_between(lower)[0] / epsilon if lower > 1 else Fraction(0)
        most = log_between(upper)[1] / epsilon if upper > 1 else Fraction(0)
        return Value(plain(max(Fraction(0), least)), plain(most))


def _histograms(sizes: tuple[int, ...], largest: int) -> Iterator[Instance]:
    """Yield histograms of so many values with counts up to `largest`, those of 8 all alike."""
    for size in sizes:
        base = largest + 1
        for counts in product(range(base), repeat=size) if size < 8 else [(0,) * 8, (1,) * 8]:
            yield Instance(
                shape=f"{size} values",
                parameters={
                    "values": size,
                    "counts_in_base": base,
                    "counts": sum(count * base**place for place, count in enumerate(counts)),
                    "epsilon_1": 1,
                    "epsilon_2": Fraction(1, 4),
                },
            )


FIRST_STEP = Claim(
    id="data-dependent-blowfish/section-5.1-first-step",
    status="finding",
    source="Section 5.1",
    quote="The first step of DAWA",
    statement="The first step of DAWA, as its public implementation draws it, chooses consecutive "
    "buckets epsilon-differentially privately (one record added or removed).",
    read_as="As the public implementation draws it; add or remove one record.",
    parts=(
        Part(
            name="the loss by the outcome that every value is alone, in epsilons",
            family=family(
                "every histogram of 3 or 4 values with counts 0 to 2, and two of 8 values",
                lambda: _histograms((3,), 2),
                lambda: _histograms((3, 4, 8), 2),
            ),
            claimed=lambda instance: 1,
            measure=_Loss(public_choice),
            relation="<=",
            small="privacy",
        ),
        Part(
            name="the loss by all outcomes, with noise on every cost, in epsilons",
            family=family(
                "every histogram of 2 or 3 values with counts 0 to 2, buckets of one or two",
                lambda: _histograms((2, 3), 1),
                lambda: _histograms((2, 3), 2),
            ),
            claimed=lambda instance: 1,
            measure=_Loss(noisy_everywhere),
            relation="<=",
            small="privacy",
            amended=True,
        ),
    ),
    repaired="With discrete Laplace noise of scale 2 s / epsilon on the cost of every bucket, one "
    "value or more, where s = 2 - 2/w and w is the width of the widest.",
    amendment="formula",
    explanation="The public implementation adds no noise to the cost of one-value buckets. Their "
    "deviation does not depend on the data, but the noise was to hide the change of all the wider "
    "buckets at once: that every value is alone says of each of them, by itself, that it was too "
    "dear, and one record makes all those that hold its value dearer. So the loss adds up over "
    "them: 12/7 epsilon on three values, 6.14 on eight, and more without end.",
    proof="Let M be the outcome, and lower the noise of the bucket that holds the record's value "
    "by s for its own growth and by s for what another partition may have gained; M stays "
    "cheapest. The shift costs 2 s / scale.",
)

CLAIMS = (FIRST_STEP,)
