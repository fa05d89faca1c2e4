"""designing-statistical-privacy-2015: what tables, answers and noise let somebody infer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from blowproof.models import Database, Domain, Exact, Labels, Policy
from blowproof.models.mechanisms.mechanism import Channel, Mechanism
from blowproof.verifier.certify.channels.exponential_sums import Number
from blowproof.verifier.claims.designing.sums import PAPER
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.parts import counted
from blowproof.verifier.odds.odds import odds

__all__ = ["CLAIMS"]

BITS = 100

# --- k-anonymity ---------------------------------------------------------------------------------


def _tables() -> Iterator[Instance]:
    for k in range(2, 6):
        for classes in range(1, 4):
            named = {"k": k, "classes": classes}
            yield Instance(shape=f"{classes} classes of {k} rows", parameters=named)


TABLES = family("1 to 3 classes of 2 to 5 equal rows", _tables)


def _after(instance: Instance) -> Exact:
    """How many rows are alike in the smallest class, after somebody marks the first row."""
    rows = [(c, 0) for c in range(instance.whole("classes")) for _ in range(instance.whole("k"))]
    marked = [(*row[:1], int(place == 0)) for place, row in enumerate(rows)]
    return min(marked.count(row) for row in marked)


POST_PROCESSING = Claim(
    id=f"{PAPER}/post-processing",
    source="Desiderata, 'Resilience to background knowledge'",
    quote="satisfies this property, but",
    statement="k-anonymity is not closed under post-processing (differential privacy is).",
    read_as="Some algorithm makes of a k-anonymous table one that is not, k at least 2; for "
    "differential privacy see pufferfish-2012, Theorem 5.1.",
    parts=(
        counted(
            "rows alike in the smallest class, one row being told apart afterwards",
            TABLES,
            lambda item: 1,
            _after,
        ),
    ),
    proof="The condition is on the rows of the output alone, and an algorithm may output any rows.",
)

FIRST = {"130**, 25-30": ("None", "Stroke", "Flu", "Cancer"),
         "902**, 60-70": ("Flu", "Stroke", "Flu", "Cancer")}  # fmt: skip
SECOND = {"130**, < 40": ("Cold", "Stroke", "Rash"),
          "1485*, >= 40": ("Cancer", "Flu", "Cancer")}  # fmt: skip


def _bobs() -> Iterator[Instance]:
    for one in FIRST:
        for two in SECOND:
            yield Instance(shape=f"{one} and {two}", parameters={"first": one, "second": two})


def _conditions(instance: Instance) -> Exact:
    """How many diseases a person in both classes may have."""
    return len(set(FIRST[instance.word("first")]) & set(SECOND[instance.word("second")]))


def _moved(instance: Instance) -> Exact:
    """By how much the odds of a stroke against all else move: prior odds are those of table (a)."""
    one, two = FIRST[instance.word("first")], SECOND[instance.word("second")]
    both = [x for x in one if x in two]
    return int(bool(both) and set(both) == {"Stroke"})


STROKE = Claim(
    id=f"{PAPER}/two-tables",
    source="Desiderata, 'Composition', Figure 1",
    quote="Bob must have had a",
    statement="From the 4-anonymous and the 3-anonymous table of Figure 1 together Alice can "
    "deduce that Bob, who is in both with one condition, had a stroke.",
    read_as="Bob is in the first class of each, as ZIP code and age tell her.",
    parts=(
        counted(
            "conditions that are in both classes",
            family("the classes of the two tables that can hold Bob", _bobs),
            lambda item: 1 if item.shape == "130**, 25-30 and 130**, < 40" else None,
            _conditions,
        ),
        counted(
            "whether a stroke is certain",
            family("the same", _bobs),
            lambda item: 1 if item.shape == "130**, 25-30 and 130**, < 40" else None,
            _moved,
        ),
    ),
    listed=True,
)

# --- answers and noise ---------------------------------------------------------------------------


def _epsilons() -> Iterator[Instance]:
    for hundredths in (1, 10):
        epsilon = Fraction(hundredths, 100)
        yield Instance(shape=f"epsilon = {float(epsilon)}", parameters={"epsilon": epsilon})


EPSILONS = family("epsilon = 0.01 and 0.1", _epsilons)


def _truthful(instance: Instance) -> Exact:
    """The probability of the truthful answer, in thousandths."""
    low, high = Number({instance.number("epsilon"): Fraction(1)}).between(BITS)
    ends = (round(1000 * e / (1 + e)) for e in (low, high))
    one, two = ends
    assert one == two
    return one


def _odds(instance: Instance) -> Exact:
    """By how many epsilons the odds between the record being there and not move."""
    rows = (
        ("exp(eps)/(1+exp(eps))", "1/(1+exp(eps))"),
        ("1/(1+exp(eps))", "exp(eps)/(1+exp(eps))"),
    )
    there = ("yes", "no")
    channel = Channel(of="record", inputs=there, outputs=there, rows=rows)
    policy = Policy(domain=Domain(there=Labels(list(there))), database=Database(size=1))
    epsilon = instance.number("epsilon")
    found = odds(Mechanism(channel=channel), policy, epsilon)
    assert found.exact and found.lower.loss is not None
    return Fraction(found.lower.loss) / epsilon


CHOOSING = Claim(
    id=f"{PAPER}/choosing-epsilon",
    source="Differential privacy, 'how to choose epsilon'",
    quote="based on how close the curator",
    statement="The most revealing answer to a yes-no question is true with probability "
    "exp(epsilon) / (1 + exp(epsilon)): about 0.525 for epsilon = 0.1 and 0.502 for 0.01.",
    read_as="Rounded to three places; odds move by exactly exp(epsilon).",
    parts=(
        counted(
            "probability of the truth, in thousandths",
            EPSILONS,
            lambda item: 525 if item.number("epsilon") == Fraction(1, 10) else 502,
            _truthful,
        ),
        counted("epsilons by which odds move", EPSILONS, lambda item: 1, _odds),
    ),
    listed=True,
)


def _tail() -> Iterator[Instance]:
    yield Instance(shape="an output of 10, standard deviation 1", parameters={"output": 10})


def _likelier(instance: Instance) -> Exact:
    """How many thousand times likelier the output is for a bit of 1, rounded down.

    exp(-(w - 1)^2 / 2) / exp(-w^2 / 2) = exp(w - 1/2).
    """
    power = instance.number("output") - Fraction(1, 2)
    low, high = Number({power: Fraction(1)}).between(BITS)
    assert low // 1000 == high // 1000
    return low // 1000


GAUSSIAN = Claim(
    id=f"{PAPER}/gaussian-tail",
    source="Desiderata, 'Minimizing probabilistic failure'",
    quote="13,000 times more likely to",
    statement="Standard Gaussian noise on a bit, output 10: it is 13,000 times more likely if the "
    "bit is 1 than if it is 0.",
    read_as="In whole thousands, rounded down: exp(19/2) is about 13,360.",
    parts=(
        counted(
            "thousands",
            family("the one output", _tail),
            lambda item: 13,
            _likelier,
        ),
    ),
    identities=(
        Identity(
            "the ratio of the two densities at w",
            "exp(-(w - 1)**2/2)/exp(-w**2/2)",
            "exp(w - 1/2)",
            real="w",
        ),
    ),
    listed=True,
)

CLAIMS = (POST_PROCESSING, STROKE, CHOOSING, GAUSSIAN)
