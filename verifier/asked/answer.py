"""What the verifier says: a neighbour pair, and an answer with how sure it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from blowproof.models import Domain, Exact, InternalError, Move, Point, show
from blowproof.models.domain.attributes import Value
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.verifier.kernel.check import Verdict

__all__ = ["Answer", "Decided", "OnBest", "Pair", "Status", "json_number", "json_value"]

Status = Literal["proved", "exact", "bounds"]
Decided = tuple[str, str, str]
"""Of a bound ("lower" or "upper"): who found it, and why it holds."""

OnBest = Callable[[Exact, Exact | None, "Pair | None"], None]
"""What an engine calls with better bounds, and with the pair that shows the lower one."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two databases: the records that change, and the ones that do not.

    Readings 1 and 2: record i holds `before[i]` in D1 and `after[i]` in D2. Readings 3 and 4:
    `before` are the records removed, `after` those added. Where it matters which record is which
    (clauses, weights), `records` gives the places of the changed ones (from 0) and `database` the
    whole of D1 in order.
    """

    before: tuple[Point, ...]
    after: tuple[Point, ...]
    unchanged: tuple[tuple[Point, int], ...] = ()
    records: tuple[int, ...] | None = None
    database: tuple[Point, ...] | None = None

    @staticmethod
    def labelled(first: Sequence[Point], second: Sequence[Point], *, keep: bool = False) -> Pair:
        """Return the pair of two labelled databases; `keep` retains which record is which."""
        places = [i for i, (x, y) in enumerate(zip(first, second, strict=True)) if x != y]
        rest = Counter(x for x, y in zip(first, second, strict=True) if x == y)
        return Pair(
            before=tuple(first[i] for i in places),
            after=tuple(second[i] for i in places),
            unchanged=tuple(sorted(rest.items())),
            records=tuple(places) if keep else None,
            database=tuple(first) if keep else None,
        )

    @staticmethod
    def multisets(first: Iterable[Point], second: Iterable[Point]) -> Pair:
        """Return the pair of two unlabelled databases."""
        one, two = Counter(first), Counter(second)
        return Pair(
            before=tuple(sorted((one - two).elements())),
            after=tuple(sorted((two - one).elements())),
            unchanged=tuple(sorted((one & two).items())),
        )

    @staticmethod
    def numbered(
        labels: Mapping[int, tuple[Point, Point]], others: Sequence[tuple[Point, Point]]
    ) -> Pair:
        """Return databases in which these records make these moves, and others are in between."""
        left = iter(others)
        count = len(labels) + len(others)
        every = [labels[r] if r in labels else next(left) for r in range(count)]
        return Pair.labelled([x for x, _ in every], [y for _, y in every], keep=True)

    def moves(self, reading: Reading) -> list[Move]:
        """Return the moves from D1 to D2, as a query sees them."""
        if reading in ("add-remove", "markov"):
            return [Move(x, None) for x in self.before] + [Move(None, y) for y in self.after]
        places: Sequence[int | None] = self.records or [None] * len(self.before)
        return [Move(*move) for move in zip(self.before, self.after, places, strict=True)]

    def first(self) -> Counter[Point]:
        """Return D1 as a histogram."""
        return Counter(self.before) + Counter(dict(self.unchanged))

    def second(self) -> Counter[Point]:
        """Return D2 as a histogram."""
        return Counter(self.after) + Counter(dict(self.unchanged))

    def reversed(self) -> Pair:
        """Return (D2, D1)."""
        database = self.database
        if database is not None and self.records is not None:
            changed = dict(zip(self.records, self.after, strict=True))
            database = tuple(changed.get(place, x) for place, x in enumerate(database))
        return replace(self, before=self.after, after=self.before, database=database)

    def to_json(self, domain: Domain) -> dict[str, Any]:
        """Return the pair as in the contract, with record numbers (from 1) where they matter."""
        document: dict[str, Any] = {
            "before": [json_value(domain, point) for point in self.before],
            "after": [json_value(domain, point) for point in self.after],
            "unchanged": [[json_value(domain, point), times] for point, times in self.unchanged],
        }
        if self.records is not None:
            document["records"] = [place + 1 for place in self.records]
        if self.database is not None:
            document["database"] = [json_value(domain, point) for point in self.database]
        return document

    def to_html(self, domain: Domain | None = None) -> str:
        """Return the pair as a table; without the domain, positions stand for values."""
        from blowproof.models.policy.notebook_html import pair_html

        return pair_html(domain, self.before, self.after, self.unchanged)

    def _repr_html_(self) -> str:
        """Return the pair for notebooks; `to_html(policy.domain)` shows the values."""
        return self.to_html()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """S(f, P) in a norm, or bounds on it: `upper` is None where nothing bounds it.

    `decided_by` says of each bound ("lower", "upper") who found it, and why it holds. `conjectured`
    is what a conjecture says that S is: nobody may take it for a bound. `final`: these are
    bounds, and more time does not make them better, as a note says.
    """

    policy: str
    query: str
    reading: Reading
    answers: Answers
    lower: Exact
    upper: Exact | None
    status: Status
    witness: Pair | None
    engine: str
    seconds: float
    notes: tuple[str, ...] = ()
    decided_by: tuple[Decided, ...] = ()
    proof: Verdict | None = None
    domain: Domain | None = field(default=None, repr=False, compare=False)
    norm: str = "l1"
    conjectured: Exact | None = None
    final: bool = False

    def __post_init__(self) -> None:
        """Refuse "proved" unless the kernel, in this process, accepted this very claim."""
        if self.status != "proved":
            return
        told = self.proof
        if (
            told is None
            or not told.accepted
            or not self.lower == self.upper == told.value == told.least
            or (self.norm, self.reading, self.answers) != (told.norm, told.reading, told.answers)
        ):
            raise InternalError("an answer is called proved, and the kernel did not accept it")

    def to_json(self, domain: Domain) -> dict[str, Any]:
        """Return the document of `blowproof sensitivity --json`."""
        guess = self.conjectured
        return {
            "schema": "blowproof/sensitivity/1",
            "policy": self.policy,
            "query": self.query,
            "norm": self.norm,
            "reading": self.reading,
            "answers": self.answers,
            "lower": json_number(self.lower),
            "upper": None if self.upper is None else json_number(self.upper),
            **({} if guess is None else {"conjectured": json_number(guess)}),
            "status": self.status,
            **({"more_time_helps": not self.final} if self.status == "bounds" else {}),
            "witness": None if self.witness is None else self.witness.to_json(domain),
            "engine": self.engine,
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
            "decided_by": [
                {"bound": end, "name": name, "why": why} for end, name, why in self.decided_by
            ],
        }

    def to_html(self, domain: Domain | None = None) -> str:
        """Return the answer and its pair of databases, with values where the domain is known."""
        from html import escape

        from blowproof.models.policy.notebook_html import bounds_html, table_html

        rows = [
            ["status", self.status],
            ["query", escape(self.query)],
            *([] if self.norm == "l1" else [["norm", self.norm]]),
            ["policy", escape(self.policy)],
            ["reading", self.reading],
            ["answers", self.answers],
            ["engine", f"{escape(self.engine)}, {self.seconds:.2f} s"],
        ]
        if self.witness is not None:
            rows.append(["differ", self.witness.to_html(domain or self.domain)])
        return table_html(rows, caption=f"<b>{bounds_html(self.lower, self.upper)}</b>")

    def _repr_html_(self) -> str:
        """Return the answer for notebooks."""
        return self.to_html()


def json_number(value: Exact) -> int | str:
    """Return an exact number as JSON carries it: an int, or a string "p/q"."""
    return value.numerator if value.denominator == 1 else show(value)


def json_value(domain: Domain, point: Point) -> list[int | str]:
    """Return a record as JSON carries it.

    >>> from blowproof.models import Labels, Steps
    >>> json_value(Domain(sex=Labels(["F", "M"]), temp=Steps(35, 42, "1/2")), (0, 1))
    ['F', '71/2']
    """
    return [_json_item(value) for value in domain.decode(point)]


def _json_item(value: Value) -> int | str:
    return value if isinstance(value, str) else json_number(value)
