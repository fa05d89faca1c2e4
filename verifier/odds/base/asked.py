"""What is asked: a mechanism, a policy with or without its facts, attackers, and until when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb

from blowproof.models import BudgetError, Impossible, Point, Policy, PolicyError, Setting, setting
from blowproof.models.attackers.attackers import Attackers
from blowproof.models.attackers.secrets import Totals, Values
from blowproof.models.base.clock import now
from blowproof.models.base.kept import cached_property
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.models.policy.policy import Answers
from blowproof.verifier.asked.question import Listener, Progress
from blowproof.verifier.certify.channels.exponential_sums import Quotient
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.odds.base.board import OddsBoard
from blowproof.verifier.odds.base.chances import Chances, chances_of
from blowproof.verifier.odds.base.seen import Before

__all__ = ["Asked", "Database"]

MOST_LISTED = whole_limit(__name__, "MOST_LISTED")

Database = tuple[Point, ...]
ONE = Quotient.of(1)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The question of `odds`; `policy` has no facts but impossible values if nobody knows them."""

    mechanism: Mechanism
    policy: Policy
    epsilon: Fraction
    attackers: Attackers
    answers: Answers | None = None
    deadline: float | None = None
    listener: Listener | None = None
    board: OddsBoard = field(default_factory=OddsBoard, compare=False)

    @staticmethod
    def of(  # noqa: PLR0913 # keyword-only options
        mechanism: Mechanism,
        policy: Policy,
        epsilon: Fraction,
        attackers: Attackers,
        *,
        answers: Answers | None = None,
        deadline: float | None = None,
        listener: Listener | None = None,
        board: OddsBoard | None = None,
    ) -> Asked:
        """Return the question; facts that attackers do not know are left out of the policy."""
        if not attackers.given_facts:
            kept = tuple(fact for fact in policy.known if isinstance(fact, Impossible))
            size = setting(policy, answers).size
            database = replace(policy.database, data=None, size=size)
            policy = replace(policy, known=kept, database=database)
        if attackers.kind == "independent" and not isinstance(attackers.pairs, (Values, Totals)):
            # A statement about one record is a mixture of those about single values, and a belief
            # may give two of them all of its trust: so the pairs are edges of a graph.
            policy = replace(policy, secrets=attackers.pairs.graph(policy))
            attackers = replace(attackers, pairs=Values())
        return Asked(
            mechanism=mechanism,
            policy=policy,
            epsilon=epsilon,
            attackers=attackers,
            answers=answers,
            deadline=deadline,
            listener=listener,
            board=board or OddsBoard(),
        )

    @cached_property
    def setting(self) -> Setting:
        """The policy under its scope, with the numbers that labelled records need."""
        return prepare(setting(self.policy, self.answers), "pufferfish", deadline=self.deadline)

    @cached_property
    def chances(self) -> Chances:
        """The probabilities of the mechanism's outputs."""
        return chances_of(self.mechanism, self.policy, self.epsilon)

    @cached_property
    def by_graph(self) -> bool:
        """Whether the secret pairs are the edges of the policy's graph, for every record."""
        return isinstance(self.attackers.pairs, Values)

    @property
    def left(self) -> float | None:
        """Seconds until the deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - now())

    @property
    def clock_deadline(self) -> float | None:
        """The deadline as a time of the clock on the wall, which the certifier goes by."""
        return None if self.left is None else now() + self.left

    @property
    def size(self) -> int:
        """How many records there are: a belief is about so many."""
        if self.setting.size is None:
            raise PolicyError(
                "these attackers need the number of records",
                key="database.size",
                hint="write size = N under [database]",
            )
        return self.setting.size

    def tell(self, what: str) -> None:
        """Say what is looked at, and how far odds are known to move (as a logarithm of them)."""
        if self.listener is not None:
            self.listener(Progress(0, None, what))

    def seen(self, database: Database) -> Quotient:
        """Return how likely a database makes what attackers have seen before."""
        return self.before.likelihood(database) if self.before.parts else ONE

    @cached_property
    def before(self) -> Before:
        """The noisy numbers that attackers have seen."""
        return Before(self.attackers.seen, self.policy)

    def in_time(self) -> None:
        """Raise TimeoutError past the deadline."""
        if self.deadline is not None and now() > self.deadline:
            raise TimeoutError

    def databases(self) -> list[Database]:
        """Return every database that the facts allow, records in order."""
        values = self._values()
        if len(values) ** self.size > MOST_LISTED:
            raise BudgetError(
                f"there may be {len(values)}^{self.size} of them; at most {MOST_LISTED} are listed"
                "\n  try: fewer records, a coarser domain, or attackers of the kind independent"
            )
        return [d for d in product(values, repeat=self.size) if self.possible(d)]

    def multisets(self) -> list[Database]:
        """Return every multiset of values that the facts allow; clauses are not for multisets."""
        values = self._values()
        count = comb(len(values) + self.size - 1, self.size)
        if count > MOST_LISTED:
            raise BudgetError(
                f"there may be {count} histograms of them; at most {MOST_LISTED} are listed"
                "\n  try: fewer records, a coarser domain, or attackers of the kind independent"
            )
        every = combinations_with_replacement(values, self.size)
        return [d for d in every if self.possible(d)]

    def _values(self) -> list[Point]:
        found = self.setting
        if found.scope == "any" and any(fact.name != "size" for fact in found.equalities):
            raise PolicyError(
                "beliefs over databases need the known numbers, and these facts have none",
                key="known",
                hint="write their answers, or given_facts = false under [attackers]",
            )
        return [x for x in found.domain.points() if x not in found.impossible]

    def possible(self, database: Sequence[Point]) -> bool:
        """Whether the facts (that attackers know) allow a database."""
        if any(x in self.setting.impossible for x in database):
            return False
        if self.setting.scope == "any":
            return len(database) == self.size
        return self.setting.satisfied_by(database)
