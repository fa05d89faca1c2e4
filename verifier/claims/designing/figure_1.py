"""designing-statistical-privacy-2015: the tables of Figure 1, and the release of one record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from blowproof.models import Exact
from blowproof.verifier.claims.designing.sums import PAPER
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]

Row = tuple[str, str, str]
FIRST: tuple[Row, ...] = (
    *(("130**", "25-30", disease) for disease in ("None", "Stroke", "Flu", "Cancer")),
    *(("902**", "60-70", disease) for disease in ("Flu", "Stroke", "Flu", "Cancer")),
)
SECOND: tuple[Row, ...] = (
    *(("130**", "< 40", disease) for disease in ("Cold", "Stroke", "Rash")),
    *(("1485*", ">= 40", disease) for disease in ("Cancer", "Flu", "Cancer")),
)
TABLES = {"(a)": (FIRST, 4), "(b)": (SECOND, 3)}


def _tables() -> Iterator[Instance]:
    for name, (_, printed) in TABLES.items():
        yield Instance(shape=name, parameters={"table": name, "printed": printed})


def _smallest_group(instance: Instance) -> Exact:
    rows, _ = TABLES[instance.word("table")]
    return min(Counter((code, age) for code, age, _ in rows).values())


ANONYMOUS = Claim(
    id=f"{PAPER}/figure-1-anonymous",
    source="Figure 1",
    quote="Examples of k-anonymity",
    statement="Table (a) is 4-anonymous and table (b) is 3-anonymous.",
    read_as="ZIP code and age are the quasi-identifier; the smallest group as printed.",
    parts=(
        counted(
            "the smallest group",
            family("the two tables", _tables),
            lambda item: item.whole("printed"),
            _smallest_group,
        ),
    ),
    listed=True,
)


def _sizes(most: int) -> Iterator[Instance]:
    for records in range(2, most + 1):
        yield Instance(shape=f"{records} records", parameters={"records": records})


def _delta(instance: Instance) -> Exact:
    """Return the least delta for epsilon = 0: the largest difference of any set's probabilities."""
    records = instance.whole("records")
    one, two = Counter([0] * records), Counter([0] * (records - 1) + [1])
    values = {*one, *two}
    return sum((Fraction(max(0, one[x] - two[x]), records) for x in values), Fraction(0))


RANDOM_RECORD = Claim(
    id=f"{PAPER}/random-record",
    source="Minimizing probabilistic failure, after Definition 3",
    quote="always violates",
    statement="Releasing the record of a random individual is (epsilon, delta)-differentially "
    "private if there are more than 1/delta records, and always violates somebody's privacy.",
    read_as="The largest difference in the probability of any set, for records that are replaced; "
    "our copy of the sentence is damaged.",
    parts=(
        counted(
            "the least delta, against 1/N",
            family("2 to 50 records", lambda: _sizes(50)),
            lambda item: Fraction(1, item.whole("records")),
            _delta,
            "<=",
            small="privacy",
        ),
    ),
    proof="One record is drawn with probability 1/N, and all other outcomes are alike; what is "
    "drawn is released as it is.",
)

CLAIMS = (ANONYMOUS, RANDOM_RECORD)
