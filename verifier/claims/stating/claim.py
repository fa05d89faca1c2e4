"""What a claim is: a published statement as data, and the ways in which it can be checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from blowproof.models import BoundQuery, Exact, Policy, parse_query
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import BLOWFISH, Reading
from blowproof.models.queries.kinds import ClusterSizes, ClusterSums, MatrixQuery, WeightedSum
from blowproof.models.queries.query import Row
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.claims.stating.identity import Identity

__all__ = [
    "Amendment",
    "Asked",
    "Claim",
    "Cost",
    "Family",
    "Grade",
    "Instance",
    "Level",
    "Measure",
    "Parameter",
    "Part",
    "Relation",
    "Status",
    "Value",
    "Verdict",
    "in_readings",
]

Level = Literal["quick", "full"]
Relation = Literal["<=", "=", ">="]
Verdict = Literal["holds", "holds-checked", "refuted", "holds-amended", "not-checkable"]
"""`holds`: with a proof; `holds-checked`: on every instance that was listed, without one."""
Grade = Literal["misprint", "degenerate", "substantial"]
"""How a claim fails: by a slip of the pen, for one value, one record or an empty set only, or so
that it matters."""
Cost = Literal["privacy", "accuracy", "nothing"]
"""What trusting a wrong claim costs: too little noise, too much noise or error, or neither."""
Amendment = Literal["condition", "misprint", "formula"]
"""How a repair differs: a condition is added, a slip of the pen is corrected, or it is new."""
Status = Literal["", "theorem", "conjecture", "finding"]
"""What a result of our own is; empty for what a paper states."""
Parameter = Exact | str


@dataclass(frozen=True)
class Asked:
    """A query as text, so that it can be recorded and asked of a smaller policy.

    `rows` stand for the file of a cluster query (one centroid each), of a matrix, or of the
    weights (one row).

    >>> from blowproof.models import Domain, Integers
    >>> policy = Policy(domain=Domain(a=Integers(0, 3)))
    >>> Asked("cluster-sums", ((0,), (3,))).on(policy), Asked("cumulative(a)").on(policy)
    (cluster-sums, cumulative(a))
    """

    text: str = "histogram"
    rows: tuple[tuple[Exact, ...], ...] = ()

    def on(self, policy: Policy) -> BoundQuery:
        """Return the query, bound to a policy."""
        domain = policy.domain
        if self.text == "cluster-sizes":
            return ClusterSizes(domain, self.rows, self.text)
        if self.text == "cluster-sums":
            return ClusterSums(domain, self.rows, self.text)
        if self.text == "matrix":
            columns: tuple[Row, ...] = tuple(
                {place: row[rank] for place, row in enumerate(self.rows) if row[rank]}
                for rank in range(domain.size)
            )
            return MatrixQuery(domain, columns, self.text)
        if self.text.startswith("weighted-sum("):
            axis = domain.axis(self.text.removeprefix("weighted-sum(").removesuffix(")"))
            return WeightedSum(domain, axis, self.rows[0], self.text)
        return parse_query(self.text, policy)


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One thing that a claim speaks about: mostly a policy and a query.

    `shape` is a coarse name of its kind, by which instances are counted. `parameters` are numbers
    (or words) that the statement mentions and the policy does not have: epsilon, a fan-out, ...
    """

    shape: str
    policy: Policy | None = None
    query: Asked = Asked()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    sampled: bool = False

    @property
    def the_policy(self) -> Policy:
        """The policy, where the statement is about one."""
        assert self.policy is not None
        return self.policy

    def number(self, name: str) -> Fraction:
        """Return a numeric parameter."""
        value = self.parameters[name]
        assert not isinstance(value, str)
        return Fraction(value)

    def whole(self, name: str) -> int:
        """Return an integer parameter."""
        value = self.number(name)
        assert value.denominator == 1
        return value.numerator

    def word(self, name: str) -> str:
        """Return a parameter that is a word."""
        value = self.parameters[name]
        assert isinstance(value, str)
        return value


@dataclass(frozen=True)
class Value:
    """The exact side: lower <= value <= upper (None: unknown); a witness where there is one."""

    lower: Exact
    upper: Exact | None
    witness: Pair | None = None

    @staticmethod
    def of(number: Exact) -> Value:
        """Return a value that is known exactly."""
        return Value(number, number)


Measure = Callable[[Instance, float | None], Value]
"""What the claim is held against: an instance and a time limit in seconds -> the exact value.

It never calls the formula that is being checked. See `measures`.
"""
Formula = Callable[[Instance], Exact | None]
"""The claimed value, from the formula alone; None where the claim does not speak about it."""


@dataclass(frozen=True)
class Family:
    """Instances, smallest first: exhaustive up to a stated size, then sampled with a seed.

    `shapes` says in words what the full family holds, `quickly` what the quick one does.
    """

    shapes: str
    instances: Callable[[Level], Iterator[Instance]]
    quickly: str = ""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One way to take a claim: `measure` `relation` `claimed` on every instance of a family.

    `small`: what it costs when the claimed number is below the exact one; `large`: above it.
    `amended` marks a check of the repaired statement, which bears on no verdict as printed.
    `degenerate` says of an instance that is degenerate for this statement why it is ("": it is
    not), beyond what is so for every statement (`grades`). `kernel`: the measure accepts only what
    the kernel has checked a certificate of, so that the part proves the claim up to that size.
    """

    name: str
    family: Family
    claimed: Formula
    measure: Measure
    relation: Relation = "="
    reading: Reading | None = None
    answers: Answers | None = None
    small: Cost = "privacy"
    large: Cost = "accuracy"
    amended: bool = False
    degenerate: Callable[[Instance], str] = lambda instance: ""
    kernel: bool = False

    def failure(self, claimed: Exact, value: Value) -> Cost | None:
        """Return what it costs to trust the claim here, if the value contradicts it."""
        if self.relation != ">=" and value.lower > claimed:
            return self.small
        if self.relation != "<=" and value.upper is not None and value.upper < claimed:
            return self.large
        return None

    def decided(self, claimed: Exact, value: Value) -> bool:
        """Whether the value tells that the claim is right here, no failure being found."""
        below = value.upper is not None and value.upper <= claimed
        above = value.lower >= claimed
        return {"<=": below, ">=": above, "=": below and above}[self.relation]


def in_readings(
    part: Part, make: Callable[[Reading], Measure], readings: tuple[Reading, ...] = BLOWFISH
) -> tuple[Part, ...]:
    """Return the same check in several readings."""
    return tuple(replace(part, reading=reading, measure=make(reading)) for reading in readings)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A published statement in our words, and how it is checked.

    `source` and `quote` say where it stands: a locator, and at most a few words by which the
    sentence is found. `read_as`: in one line, how the sentence was read. A claim without parts is
    not checkable, and `why_not` says why. `repaired` states the amended claim, `amendment` says of
    what kind it is; the parts with `amended` check it. `explanation` is for the paper's author: why
    the statement fails, and what that means.

    What makes it hold in general (or its repair): `proof`, the argument by hand, which stands here
    or, in short, here and in full in `proof_in`; `identities`, the algebra, proved by sympy at each
    run; parts with `kernel`; or `listed`: the instances are all that the sentence speaks about.
    A claim that holds without any of these is `holds-checked`. `status` marks a result of our own,
    as opposed to a paper's, for the table of these.
    """

    id: str
    source: str
    statement: str
    quote: str = ""
    read_as: str = ""
    parts: tuple[Part, ...] = ()
    repaired: str = ""
    amendment: Amendment = "formula"
    explanation: str = ""
    proof: str = ""
    proof_in: str = ""
    identities: tuple[Identity, ...] = ()
    listed: bool = False
    status: Status = ""
    why_not: str = ""

    @property
    def paper(self) -> str:
        """The stem of the paper's file."""
        return self.id.partition("/")[0]

    @property
    def proved_by(self) -> tuple[str, ...]:
        """What makes the claim, or its repair, hold beyond the instances; empty: nothing does."""
        found = [f"algebra ({len(self.identities)} by sympy)"] if self.identities else []
        kernel = dict.fromkeys(part.family.shapes for part in self.parts if part.kernel)
        found += [f"certificates, checked by the kernel, for {shapes}" for shapes in kernel]
        found += ["a list of all there is"] if self.listed else []
        found += [f"by hand in {self.proof_in or 'this row'}"] if self.proof else []
        return tuple(found)

    def repairs(self, failed: Callable[[Part], frozenset[Cost]]) -> bool:
        """Whether there is a repair, and none of its own checks fails."""
        return bool(self.repaired) and not any(failed(part) for part in self.parts if part.amended)

    def grade(
        self,
        failed: Callable[[Part], frozenset[Cost]],
        properly: Callable[[Part], frozenset[Cost]],
    ) -> Grade | None:
        """Return how the claim fails, given what fails at all and what on proper instances."""
        printed = [part for part in self.parts if not part.amended]
        if not any(failed(part) for part in printed):
            return None
        if self.amendment == "misprint" and self.repairs(failed):
            return "misprint"
        return "substantial" if any(properly(part) for part in printed) else "degenerate"

    def verdict(self, failed: Callable[[Part], frozenset[Cost]]) -> Verdict:
        """Return the verdict, given how each part failed (nothing: it holds).

        A claim that fails is `holds-amended` if the repair only corrects a misprint, or adds a
        condition and trusting the claim without it costs no privacy; else it is `refuted`. A
        repair that fails itself repairs nothing.
        """
        if not self.parts:
            return "not-checkable"
        costs = frozenset(cost for part in self.parts if not part.amended for cost in failed(part))
        if not costs:
            return "holds" if self.proved_by else "holds-checked"
        mild = self.amendment == "misprint" or (
            self.amendment == "condition" and "privacy" not in costs
        )
        return "holds-amended" if self.repairs(failed) and mild else "refuted"
