"""Named policies with known answers, shared by every test module.

`answer` is S(query, P) under the reading and scope named; `source` says where it stands, or why it
is so. A case that a property test has shrunk joins this list.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blowproof.models import (
    AttributeChange,
    Between,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Exact,
    Impossible,
    Integers,
    Labels,
    Literal,
    Marginal,
    NamedCount,
    PartitionBy,
    Policy,
    Reading,
    Steps,
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question with its answer."""

    name: str
    policy: Policy
    query: str = "histogram"
    reading: Reading = "published"
    answer: Exact
    source: str


def table(*sizes: int) -> Domain:
    """Attributes A, B, C, ... with unordered labels."""
    return Domain(
        {
            name: Labels([f"{name.lower()}{i}" for i in range(1, size + 1)])
            for name, size in zip("ABCDEF", sizes, strict=False)
        }
    )


def margins(domain: Domain, *sets: str, **options: object) -> Policy:
    """A policy that knows marginals, each named by its attributes' letters."""
    known = tuple(Marginal(list(names)) for names in sets)
    return Policy(domain=domain, known=known, **options)  # type: ignore[arg-type]


LINE = Domain(place=Integers(0, 3))
RANGE_ON_A_LINE = Policy(
    name="range-on-a-line",
    domain=LINE,
    secrets=Distance(metric="l1", threshold=1),
    known=(Count({"place": Between(1, 2)}),),
)


TRAP = Policy(
    name="trap",
    domain=LINE,
    secrets=Distance(metric="l1", threshold=1),
    known=(Count({"place": Between(1, 2)}, answer=1),),
    database=Database(size=3),
)
"""Noise for reading 1 is too small here: it skips two databases that attackers may be left with."""


def exam_queue(students: int) -> Policy:
    """Student i+1 has taken the exam only if student i has."""
    taken = {"taken": "yes"}
    clauses = tuple(
        Clause([Literal(i, taken), Literal(i + 1, taken, inside=False)]) for i in range(1, students)
    )
    return Policy(
        name="exam-queue",
        domain=Domain(taken=Labels(["no", "yes"])),
        known=clauses,
        database=Database(size=students),
        queries=(NamedCount("passes", taken),),
    )


def office(*people: str) -> Policy:
    """Records are conversations of two; how many each person had is known."""
    pairs = [f"{one}-{other}" for place, one in enumerate(people) for other in people[place + 1 :]]
    stars = [[pair for pair in pairs if person in pair.split("-")] for person in people]
    known = tuple(Count({"talk": star}) for star in stars)
    return Policy(name="office", domain=Domain(talk=Labels(pairs)), known=known)


CORPUS: tuple[Case, ...] = (
    Case(
        name="no-facts",
        policy=Policy(domain=table(2, 3)),
        answer=2,
        source="one record moves, blowfish-2014 section 5",
    ),
    Case(
        name="one-value",
        policy=Policy(domain=table(1)),
        answer=0,
        source="no record can change",
    ),
    Case(
        name="example-8.3",
        policy=margins(table(2, 2, 3), "AB"),
        answer=8,
        source="blowfish-2014 examples 8.1 to 8.3",
    ),
    Case(
        name="range-on-a-line",
        policy=RANGE_ON_A_LINE,
        reading="secret-moves",
        answer=4,
        source="blowfish-2014 theorem 8.6: 2(1 + 1); corollary 8.3 says 2",
    ),
    Case(
        name="range-on-a-line-published",
        policy=RANGE_ON_A_LINE,
        answer=2,
        source="0 -> 1 with 2 -> 3 is refuted: 2 -> 0 compensates plainly; what is left cancels",
    ),
    Case(
        name="range-on-a-line-pufferfish",
        policy=RANGE_ON_A_LINE,
        reading="pufferfish",
        answer=4,
        source="0 -> 1 with 2 -> 3: an attacker who doubts only these two is left with both",
    ),
    Case(
        name="trap-published",
        policy=TRAP,
        answer=2,
        source="SEMANTICS section 2, reading 5: the third record may move 2 -> 0 plainly",
    ),
    Case(
        name="trap-pufferfish",
        policy=TRAP,
        reading="pufferfish",
        answer=4,
        source="SEMANTICS section 2, reading 5: the odds move by e^(2 epsilon)",
    ),
    Case(
        name="exam-queue-pufferfish",
        policy=exam_queue(4),
        query="count(passes)",
        reading="pufferfish",
        answer=4,
        source="pufferfish-2012 example 9.2: any two states, 0 and 4 among them",
    ),
    Case(
        name="two-margins-2x3-published",
        policy=margins(table(2, 3), "A", "B"),
        answer=8,
        source="SEMANTICS section 2: twice the Graver basis's 4",
    ),
    Case(
        name="two-margins-2x3-add-remove",
        policy=margins(table(2, 3), "A", "B"),
        reading="add-remove",
        answer=4,
        source="exact-cuboids-draft lemma 4.1: 2 min(2, 3)",
    ),
    Case(
        name="two-margins-3x3-add-remove",
        policy=margins(table(3, 3), "A", "B"),
        reading="add-remove",
        answer=6,
        source="exact-cuboids-draft lemma 4.1: 2 min(3, 3)",
    ),
    Case(
        name="structural-zero-add-remove",
        policy=Policy(
            domain=table(3, 3),
            known=(Marginal(["A"]), Marginal(["B"]), Impossible({"A": "a1", "B": "b2"})),
        ),
        reading="add-remove",
        answer=6,
        source="exact-cuboids-draft example 3.3: the cyclic shift avoids (a1, b2)",
    ),
    Case(
        name="three-margins-3x3x3-add-remove",
        policy=margins(table(2, 2, 2), "A", "B", "C"),
        reading="add-remove",
        answer=6,
        source="exact-cuboids-draft after example 4.1, x = 2",
    ),
    Case(
        name="two-margins-markov",
        policy=margins(table(3, 3), "A", "B"),
        reading="markov",
        answer=4,
        source="exact-cuboids-draft definition 3.1: at most four cells",
    ),
    Case(
        name="margins-of-2x3-with-a-free-attribute",
        policy=margins(table(2, 3, 2), "A", "B"),
        answer=16,
        source="twice the longest irreducible, 8; classes have two values",
    ),
    Case(
        name="partition-histogram",
        policy=Policy(domain=table(3, 2), secrets=PartitionBy(["A"])),
        query="partition",
        answer=0,
        source="blowfish-2014 section 5: the sensitivity of h_P is 0",
    ),
    Case(
        name="sum-under-a-distance",
        policy=Policy(
            domain=Domain(age=Integers(0, 9)), secrets=Distance(metric="l1", threshold=3)
        ),
        query="sum(age)",
        answer=3,
        source="one record moves by the threshold",
    ),
    Case(
        name="sum-in-half-steps",
        policy=Policy(
            domain=Domain(temp=Steps(35, 37, "1/2")),
            secrets=Distance(metric="l1", threshold=1, strict=True),
        ),
        query="sum(temp)",
        answer=Steps(0, 1, "1/2").step,
        source="the largest step below 1 on a grid of halves",
    ),
    Case(
        name="cumulative-on-a-line",
        policy=Policy(
            domain=Domain(age=Integers(0, 4)), secrets=Distance(metric="l1", threshold=2)
        ),
        query="cumulative(age)",
        answer=2,
        source="blowfish-2014 section 7.2: theta prefixes change",
    ),
    Case(
        name="ranges-on-a-line",
        policy=Policy(
            domain=Domain(age=Integers(0, 2)), secrets=Distance(metric="l1", threshold=1)
        ),
        query="ranges(age)",
        answer=3,
        source="one inner prefix sum changes, and it is an end of 3 of the 6 ranges",
    ),
    Case(
        name="attribute-secrets-one-margin",
        policy=Policy(domain=table(3, 2), secrets=AttributeChange(), known=(Marginal(["A"]),)),
        reading="secret-moves",
        answer=4,
        source="theorem 8.5 says 6, but an odd cycle over a binary attribute must cancel somewhere",
    ),
    Case(
        name="exam-queue",
        policy=exam_queue(4),
        answer=2,
        source="pufferfish-2012 example 9.1: only neighbouring states of the queue are minimal",
    ),
    Case(
        name="answer-of-zero",
        policy=Policy(
            domain=Domain(x=Labels(["p", "q", "r"])),
            known=(Count({"x": "p"}, answer=0),),
            database=Database(size=2),
        ),
        answer=2,
        source="no record holds p, one of the others moves between q and r",
    ),
    Case(
        name="everything-known",
        policy=Policy(
            domain=Domain(x=Labels(["p", "q"])),
            known=(Marginal(["x"], answers=[1, 0]),),
        ),
        answer=0,
        source="the only database",
    ),
    Case(
        name="single-values-two-counts",
        policy=Policy(
            domain=Domain(x=Labels(["p", "q"])),
            known=(Marginal(["x"], answers=[1, 1]),),
        ),
        answer=0,
        source="the two records swap: neighbours, but with equal histograms",
    ),
    Case(
        name="bound-that-binds",
        policy=Policy(
            domain=Domain(x=Labels(["p", "q", "r"])),
            secrets=Edges([({"x": "p"}, {"x": "q"})]),
            known=(Count({"x": "q"}, at_most=1),),
            database=Database(size=2),
        ),
        answer=2,
        source="a record moves between p and q while q holds at most one",
    ),
    # The headline numbers of examples/, on domains as small as they can be.
    Case(
        name="example-census",
        policy=margins(table(2, 2), "A"),
        answer=4,
        source="one record each way across the border, two cells each; a third would be a part",
    ),
    Case(
        name="example-census-by-tenure",
        policy=margins(table(2, 2, 2), "AC"),
        answer=8,
        source="blowfish-2014 theorem 8.4: once around the four known cells, two cells each",
    ),
    Case(
        name="example-exam-queue",
        policy=exam_queue(5),
        query="count(passes)",
        answer=1,
        source="passes are a prefix of the queue; from one prefix to a longer one there are steps",
    ),
    Case(
        name="example-salaries",
        policy=Policy(
            domain=Domain(band=Labels(["0k", "30k", "60k", "90k", "120k"], ordered=True)),
            secrets=Distance(metric="l1", threshold=1),
            known=(Count({"band": Between("90k", None)}),),
        ),
        answer=4,
        source="60k -> 90k is secret, 120k -> 30k makes up for it plainly; with one count known no "
        "irreducible multiset has more than two moves",
    ),
    Case(
        name="example-survey",
        policy=Policy(
            domain=Domain(age=Labels(["0-14", "15-64", "65+"], ordered=True), works=Labels("yn")),
            secrets=AttributeChange(),
            known=(Marginal(["age"], answers=[2, 3, 1]), Impossible({"age": "0-14", "works": "y"})),
        ),
        answer=4,
        source="the one cell 0-14 can only swap back, so two groups change, two cells each",
    ),
    Case(
        name="example-locations",
        policy=Policy(
            domain=Domain(place=Integers(0, 7)),
            secrets=Distance(metric="l1", threshold=1),
            known=tuple(Count({"place": Between(low, low + 1)}) for low in (1, 3, 5)),
        ),
        answer=8,
        source="in at one of three disjoint places, around all, and out: four moves, one of them "
        "secret; no irreducible multiset has more (a path through three counts)",
    ),
    Case(
        name="example-genome",
        policy=margins(table(3, 2, 2), "A", secrets=AttributeChange(changes=2)),
        answer=6,
        source="once around the three known cells, each record changing B or C too, so that no two "
        "cells coincide; three moves are the most (theorem 8.4 for the complete graph)",
    ),
    Case(
        name="example-staff",
        policy=office("Ana", "Ben", "Cem", "Dee"),
        answer=8,
        source="Normaliz: the Hilbert basis of the moves between the six pairs (engine hilbert)",
    ),
    Case(
        name="clause-that-says-nothing",
        policy=Policy(
            domain=Domain(a=Integers(1, 3)),
            secrets=Distance(metric="l1", threshold=1),
            known=(Clause([Literal(1, {})]),),
            database=Database(size=4),
        ),
        reading="pufferfish",
        answer=2,
        source="nothing ties records to one another, so that one of them changes alone",
    ),
)

BY_NAME = {case.name: case for case in CORPUS}


@dataclass(frozen=True, kw_only=True)
class InNorms:
    """One question in l1, l2-squared, linf and range, with its answers."""

    name: str
    policy: Policy
    query: str = "histogram"
    reading: Reading = "published"
    answers: tuple[Exact, Exact, Exact, Exact]
    source: str


SEXES = Policy(
    domain=Domain(sex=Labels(["F", "M"]), age=Integers(0, 2)), known=(Marginal(["sex"]),)
)

IN_NORMS: tuple[InNorms, ...] = (
    InNorms(
        name="no-facts",
        policy=BY_NAME["no-facts"].policy,
        answers=(2, 2, 1, 2),
        source="one record moves: a cell loses 1, another gains 1",
    ),
    InNorms(
        name="sexes-by-age-cumulative",
        policy=SEXES,
        query="cumulative(age)",
        answers=(4, 8, 2, 2),
        source="by hand: both sexes go from age 0 to 2, and two counts change by 2",
    ),
    InNorms(
        name="sexes-by-age-stacked",
        policy=SEXES,
        query="marginal(age) + 1/2*cumulative(age)",
        answers=(6, 12, 2, 4),
        source="by hand: the same moves; ages 0 and 2 change by -2 and 2 besides",
    ),
    InNorms(
        name="two-margins-2x2",
        policy=margins(table(2, 2), "A", "B"),
        answers=(4, 4, 1, 2),
        source="by hand: the square move changes all four cells by 1",
    ),
    InNorms(
        name="two-margins-2x3",
        policy=margins(table(2, 3), "A", "B"),
        answers=(8, 12, 2, 4),
        source="by hand: (2, -1, -1; -2, 1, 1), which no worst pair of moves exceeds (Normaliz)",
    ),
    InNorms(
        name="two-margins-2x3-add-remove",
        policy=margins(table(2, 3), "A", "B"),
        reading="add-remove",
        answers=(4, 4, 1, 2),
        source="the Graver basis of a 2 x 3 table: square moves only",
    ),
    InNorms(
        name="exam-queue",
        policy=exam_queue(3),
        answers=(2, 2, 1, 2),
        source="brute force",
    ),
    InNorms(
        name="cumulative-on-a-line",
        policy=RANGE_ON_A_LINE,
        query="cumulative(place)",
        answers=(3, 3, 1, 1),
        source="brute force; a record in the range goes up or down, another comes after it",
    ),
    InNorms(
        name="one-count-and-a-sum",
        policy=Policy(
            domain=Domain(sex=Labels(["F", "M"]), age=Integers(0, 3)),
            known=(Count({"sex": "F"}),),
        ),
        query="histogram + 1/4*sum(age)",
        answers=(Fraction(11, 2), 13, Fraction(3, 2), Fraction(5, 2)),
        source="by hand: two records trade the sexes and go from age 0 to 3: four cells by 1 (or "
        "two, if they meet), and the sum by 6, with weight 1/4",
    ),
)
"""What SEMANTICS section 7 says, by hand: the pair that is worst in l1 need not be worst in all."""


@dataclass(frozen=True, kw_only=True)
class KnownPair:
    """Two databases that are neighbours, or are not."""

    name: str
    policy: Policy
    reading: Reading
    before: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...], ...]
    neighbours: bool
    source: str


PAIRS: tuple[KnownPair, ...] = (
    KnownPair(
        name="example-8.3",
        policy=margins(table(2, 2, 3), "AB"),
        reading="published",
        before=(("a1", "b1", "c1"), ("a1", "b2", "c1"), ("a2", "b1", "c1"), ("a2", "b2", "c1")),
        after=(("a1", "b2", "c2"), ("a2", "b1", "c2"), ("a2", "b2", "c2"), ("a1", "b1", "c2")),
        neighbours=True,
        source="blowfish-2014 example 8.3",
    ),
    KnownPair(
        name="example-3.3",
        policy=BY_NAME["structural-zero-add-remove"].policy,
        reading="add-remove",
        before=(("a1", "b1"), ("a2", "b2"), ("a3", "b3")),
        after=(("a2", "b1"), ("a3", "b2"), ("a1", "b3")),
        neighbours=True,
        source="exact-cuboids-draft figure 3",
    ),
    KnownPair(
        name="example-3.3-as-its-text-has-it",
        policy=BY_NAME["structural-zero-add-remove"].policy,
        reading="add-remove",
        before=(("a1", "b1"), ("a2", "b2"), ("a3", "b3")),
        after=(("a2", "b1"), ("a3", "b1"), ("a1", "b3")),
        neighbours=False,
        source="exact-cuboids-draft example 3.3: a misprint, b1 would hold two records",
    ),
    KnownPair(
        name="example-3.4",
        policy=margins(table(3, 3, 3), "A", "B", "C"),
        reading="add-remove",
        before=(("a1", "b1", "c1"), ("a2", "b2", "c2"), ("a3", "b3", "c3")),
        after=(("a1", "b2", "c3"), ("a2", "b3", "c1"), ("a3", "b1", "c2")),
        neighbours=True,
        source="exact-cuboids-draft example 3.4",
    ),
)
