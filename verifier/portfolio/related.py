"""What the neighbours of one policy say about those of another, under one scope.

Let X and Y be policies on one domain without clauses, and N(P) the neighbour pairs of P in a
reading. Under scope "any" both know equality counts and impossible values only. Two databases are
*alike* under P if they hold possible values and agree on every count that P publishes: I_Q runs
over the classes of this relation. Y is *finer* than X if every count that X publishes follows from
one marginal or count of Y; then databases alike in their counts under Y are so under X.

Under scope "given" there is one class, the databases with the numbers of P and within its bounds.
Y is finer than X if besides the numbers are the same (those of X, or sums of Y's that have to be),
X's bounds are among Y's, and n is the same: then Y's databases are X's, but for impossible values.

N(Y) is within N(X), so that S(f, Y) <= S(f, X) for every query f:

1. Both are finer than the other, the same values are impossible, and the secrets are the same (in
   readings 3 and 4 they play no part): the definitions are the same word for word.
2. Y is the same but for more impossible values; any reading but 1, or reading 1 with complete G.
   There a pair is judged by its own changes alone: D3 holds, for each record, its value in D1 or
   in D2 (reading 5: see `neighbours/joint_certainty`). Those values are possible in Y if those of
   the pair are, so D3 is in I_Q of Y iff it is in that of X. (In reading 1 with other G, D3 may use
   a value that Y lacks.)
3. Y is finer than X, reading 4: nothing is minimal there, and I_Q only gets smaller.
4. Y has fewer secrets, X all of them; reading 2: every change stays secret, and minimality does not
   look at G. In reading 1 without bounds, a pair of Y has changes that are irreducible over all
   moves (SEMANTICS section 4), which makes it a pair of the complete graph.

What holds one after the other holds together. A pair of X is one of Y besides if Y is finer, calls
impossible what X does and perhaps more, and has the same secrets, and the pair fits Y's facts:
every condition of readings 1 to 4 says that there is no D3 in I_Q, which is smaller now; and an
attacker of reading 5 who is certain of a database stays so where fewer are left. So an added fact
lets pairs travel, and hence lower bounds; upper bounds it lets travel in reading 4
alone, for a fact can also take away the D3 that rules a larger pair out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from blowproof.models import (
    BlowproofError,
    BoundQuery,
    Exact,
    Marginal,
    Point,
    Policy,
    Setting,
    setting,
)
from blowproof.models.base.kept import cached_property
from blowproof.models.facts.on_positions import LinearFact
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Known", "Outline", "fits", "pairs_travel", "within"]

WITHOUT_SECRETS = ("add-remove", "markov")
MOST_AXES = whole_limit(__name__, "MOST_AXES")
MOST_SUMS = whole_limit(__name__, "MOST_SUMS")


class Known(NamedTuple):
    """What another policy's question has found: a bound from above, or a pair that fits here."""

    reading: Reading
    query: BoundQuery
    upper: Exact | None
    pair: Pair | None
    name: str
    answers: Answers = "any"


@dataclass(frozen=True, eq=False)
class Outline:
    """A policy as its neighbours under a scope depend on it; see `of` for which have one."""

    policy: Policy
    given: Setting | None = None
    """Its numbers, under scope "given"."""

    @staticmethod
    def of(policy: Policy, answers: Answers = "any") -> Outline | None:
        """Return the outline, or None for a policy with clauses, with bounds under scope "any", or
        with counts under "given" whose numbers nobody has written.
        """
        if policy.clauses:
            return None
        if answers == "any":
            bounded = any(fact.bounded for fact in policy.linear_facts)
            return None if bounded else Outline(policy)
        try:
            found = setting(policy, "given")
        except BlowproofError:
            return None  # the question itself says so
        known = all(fact.answer is not None for fact in found.equalities)
        return Outline(policy, found) if known else None

    @cached_property
    def margins(self) -> frozenset[frozenset[int]]:
        """The attributes of every marginal that is published, and of every part of one."""
        found: set[frozenset[int]] = set()
        for fact in self.policy.known:
            if isinstance(fact, Marginal):
                axes = self.policy.domain.axes(fact.attributes)
                parts = range(len(axes) + 1) if len(axes) <= MOST_AXES else (len(axes),)
                found |= {frozenset(some) for many in parts for some in combinations(axes, many)}
        return frozenset(found)

    @cached_property
    def counts(self) -> dict[int, frozenset[int]]:
        """The other counts that are published (`_number`), with the attributes they look at."""
        full = self.policy.domain.whole.sides
        known = enumerate(self.policy.known)
        listed = tuple(f"known[{place}]" for place, fact in known if isinstance(fact, Marginal))
        found: dict[int, frozenset[int]] = {}
        for fact in self.policy.linear_facts:
            if not fact.bounded and not fact.name.startswith(listed):
                boxes = [box for _, area in fact.terms for box in area.boxes]
                found[_number(fact.terms)] = frozenset(
                    at for box in boxes for at, side in enumerate(box.sides) if side != full[at]
                )
        if self.policy.database.size is not None:
            found[_number(())] = frozenset()  # n, which every marginal says too
        return found

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The answers of all counts, under scope "given"."""
        facts = () if self.given is None else self.given.equalities
        return {_number(fact.terms): fact.answer for fact in facts if fact.answer is not None}

    @cached_property
    def limits(self) -> frozenset[tuple[int, int | None, int | None]]:
        """The bounds."""
        facts = () if self.given is None else self.given.bounds
        return frozenset((_number(fact.terms), fact.at_least, fact.at_most) for fact in facts)

    @cached_property
    def zeros(self) -> frozenset[int]:
        """What is impossible."""
        return frozenset(map(_number, self.policy.impossible.boxes))

    @cached_property
    def domain(self) -> int:
        """The domain, as a number."""
        return _number(self.policy.domain)

    @cached_property
    def secrets(self) -> int:
        """The secrets, as a number."""
        return _number(self.policy.secrets)

    @cached_property
    def complete(self) -> bool:
        """Whether every two values are secret."""
        return self.policy.graph.complete

    def finer(self, other: Outline) -> bool:
        """Whether every count of the other follows from one marginal or count of this."""
        return (
            other.margins <= self.margins
            and other._beyond(self.margins) <= self.counts.keys()
            and (self.given is other.given or self._agrees(other))
        )

    def _agrees(self, other: Outline) -> bool:
        """Whether the other's numbers are these, or sums of these, and its bounds are among these;
        found once.
        """
        if other not in self._agreed:
            one, two = self.given, other.given
            self._agreed[other] = (
                one is not None
                and two is not None
                and one.size == two.size
                and other.limits <= self.limits
                and len(one.equalities) * len(two.equalities) <= MOST_SUMS
                and all(self._says(fact) == fact.answer for fact in two.equalities)
            )
        return self._agreed[other]

    @cached_property
    def _agreed(self) -> dict[Outline, bool]:
        return {}

    def _says(self, fact: LinearFact) -> int | None:
        """Return what a count is by these numbers: as it stands, or as a sum of a marginal's."""
        assert self.given is not None
        number, domain = _number(fact.terms), self.policy.domain
        if number in self.numbers:
            return self.numbers[number]
        axes = domain.restricted([area for _, area in fact.terms])
        for place, known in enumerate(self.policy.known):
            if isinstance(known, Marginal) and axes <= frozenset(domain.axes(known.attributes)):
                cells = [c for c in self.given.equalities if c.name.startswith(f"known[{place}]")]
                return sum(fact.coefficient(_held(cell)) * (cell.answer or 0) for cell in cells)
        return None

    def _beyond(self, margins: frozenset[frozenset[int]]) -> frozenset[int]:
        """Return the counts that follow from none of these marginals; found once for each set."""
        if margins not in self._rest:
            self._rest[margins] = frozenset(
                terms for terms, axes in self.counts.items() if axes not in margins
            )
        return self._rest[margins]

    @cached_property
    def _rest(self) -> dict[frozenset[frozenset[int]], frozenset[int]]:
        return {}

    def alike(self, other: Outline, reading: Reading) -> bool:
        """Whether the secrets are the same, or play no part."""
        return reading in WITHOUT_SECRETS or self.secrets == other.secrets


def _held(cell: LinearFact) -> Point:
    """Return a value that a cell of a marginal counts."""
    return cell.terms[0][1].boxes[0].nth(0)


_numbers: dict[object, int] = {}


def _number(item: object) -> int:
    """Return a number for a part of a policy: equal parts have one, and it is quickly compared."""
    return _numbers.setdefault(item, len(_numbers))


def within(here: Outline, there: Outline, reading: Reading) -> bool:
    """Whether every neighbour pair of a policy (`here`) is known to be one of another (`there`)."""
    if here.domain != there.domain or not here.finer(there):
        return False
    complete = here.complete and there.complete
    secrets = here.alike(there, reading) or (
        there.complete
        and (reading == "secret-moves" or (reading == "published" and not here.limits))
    )
    counts = reading == "markov" or there.finer(here)
    free = reading != "published" or there.complete
    zeros = here.zeros == there.zeros or (free and here.zeros >= there.zeros)
    return counts and zeros and (secrets or complete)


def pairs_travel(here: Outline, there: Outline, reading: Reading) -> bool:
    """Whether a pair of another policy (`there`) is one `here` if it fits the facts (`fits`)."""
    if within(there, here, reading):
        return True
    same = here.domain == there.domain and here.alike(there, reading)
    return same and here.zeros >= there.zeros and here.finer(there)


def fits(setting: Setting, pair: Pair) -> bool:
    """Whether both databases of a pair hold possible values and agree on every known count; under
    scope "given", whether they are of the known size and have the known numbers.
    """
    held: Iterable[tuple[int, ...]] = (*pair.before, *pair.after, *(x for x, _ in pair.unchanged))
    if any(point in setting.impossible for point in held):
        return False
    if setting.scope == "given":
        first = pair.first()
        if setting.size not in {None, first.total()}:
            return False
        both = [(fact, (first, pair.second())) for fact in (*setting.equalities, *setting.bounds)]
        return all(fact.holds(fact.total(held)) for fact, ends in both for held in ends)
    return all(
        sum(map(fact.coefficient, pair.before)) == sum(map(fact.coefficient, pair.after))
        for fact in setting.equalities
    )
