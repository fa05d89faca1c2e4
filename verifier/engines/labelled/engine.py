"""Engine "sat": S(f, P) and neighbours for the labelled readings, by propose - refute - cut.

A master model proposes databases D1 and D2 in I_Q whose f differs by more than the best so far; a
second one looks for the D3 that refutes their minimality; each D3 becomes a cut for all the pairs
that it refutes (`cuts`, with the argument). When the master has no proposal left, the best
pair is the answer.

Reading order: table (what is known), database (as variables), master (propose), refuter (refute),
cuts (cut), objective (more than the best), this file.

n is a number: the setting's, under scope "given". Under "any", `sizes` names the n to look at; the
answers are free there, but the same in D1, D2 and D3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from blowproof.models import BoundQuery, Exact, InternalError, Point, QueryError, Setting
from blowproof.models.base.closing import Closing
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Ends, Listener, Progress
from blowproof.verifier.engines.labelled.cuts import Cuts
from blowproof.verifier.engines.labelled.master import Master
from blowproof.verifier.engines.labelled.objective import change_of, objective_of, trivial_bound
from blowproof.verifier.engines.labelled.refuter import Refuter, refuting_part
from blowproof.verifier.engines.labelled.table import (
    Databases,
    Deadline,
    Table,
    TimeUpError,
    tabulate,
)
from blowproof.verifier.exact.arrangements import arrangements_of_blocks
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.check import check_pair

__all__ = ["LabelledNeighbours", "Models", "labelled_neighbours", "labelled_sensitivity"]

CHECK_BUDGET = whole_limit(__name__, "CHECK_BUDGET")


def labelled_sensitivity(  # noqa: PLR0913 # keyword-only options
    setting: Setting,
    query: BoundQuery,
    reading: Reading,
    *,
    time_limit: float | None = None,
    listener: Listener | None = None,
    values: Sequence[Point] | None = None,
    sizes: Sequence[int] | None = None,
    complete: bool = False,
    known: Ends | None = None,
) -> Answer:
    """Return S(f, P) of a prepared setting for the readings that label records.

    `values`: the only values that records take (default: all possible ones); whether fewer of them
    are enough is the caller's business. Under scope "any" the answer is a lower bound, unless the
    caller knows that no n outside of `sizes` matters (`complete`). When stopped, the upper bound is
    the triangle inequality's: the sum over records of the largest change that one record makes.
    `known` tells bounds that others have found by now: only more than the lower one is looked for,
    and no answer exceeds the upper one.
    """
    search = _ProposeAndRefute(setting, query, reading, Deadline(time_limit), listener)
    search.known = known
    ended = search.run(_sizes(setting, query, sizes), values)
    bounded = setting.scope == "given" or complete
    upper = search.best if ended else search.upper
    exact = bounded and search.best == upper
    return Answer(
        policy=setting.policy.name,
        query=query.name,
        reading=reading,
        answers=setting.scope,
        lower=search.best,
        upper=upper if bounded else None,
        status="exact" if exact else "bounds",
        witness=search.witness,
        engine="sat",
        seconds=search.clock.seconds,
        notes=tuple(search.notes),
    )


def labelled_neighbours(
    setting: Setting,
    reading: Reading,
    *,
    time_limit: float | None = None,
    values: Sequence[Point] | None = None,
    sizes: Sequence[int] | None = None,
    every_label: bool = True,
) -> LabelledNeighbours:
    """Return a stream of the ordered pairs (D1, D2) in N(P), each once, the records labelled.

    With `every_label` False, one pair stands for all its relabellings (of the records that no
    clause names). The stream ends early at the time limit; its `complete` says whether it did.
    """
    _check_reading(reading)
    clock = Deadline(time_limit)
    return LabelledNeighbours(
        setting, reading, _sizes(setting, None, sizes), values, clock, every_label
    )


def _check_reading(reading: Reading) -> None:
    if not is_labelled(reading):
        raise QueryError(
            f"the engine 'sat' labels records, and the reading {reading!r} does not\n"
            "  try: --engine auto"
        )


def _sizes(
    setting: Setting, query: BoundQuery | None, sizes: Sequence[int] | None
) -> Sequence[int]:
    if setting.scope == "given":
        assert setting.size is not None, "the setting is not prepared"
        return (setting.size,)
    if sizes is not None:
        return sizes
    if query is not None and query.per_record:
        return (len(query.weights),)  # type: ignore[attr-defined]
    raise QueryError(
        'under scope "any" the engine "sat" needs to be told which n to look at\n'
        "  try: --engine auto"
    )


class _ProposeAndRefute:
    """The search for S(f, P): its best pair so far, and what may still be found."""

    def __init__(
        self,
        setting: Setting,
        query: BoundQuery,
        reading: Reading,
        clock: Deadline,
        listener: Listener | None,
    ) -> None:
        _check_reading(reading)
        self.setting, self.query, self.reading = setting, query, reading
        self.clock, self.listener = clock, listener
        self.best: Exact = 0
        self.upper: Exact | None = None
        self.known: Ends | None = None
        self.witness: Pair | None = None
        self.notes: list[str] = []
        self._proposals = self._cuts = 0

    def run(self, sizes: Sequence[int], values: Sequence[Point] | None) -> bool:
        """Search every n; return False when the time limit came first."""
        tables = [tabulate(self.setting, n, self.query, values) for n in sizes]
        self.upper = max((trivial_bound(table, self.query) for table in tables), default=0)
        self._learn()
        ended = self.best == self.upper
        try:
            for table in () if ended else tables:
                self._search(table)
            ended = True
        except TimeUpError:
            ended = False
        self.notes.append(f"{self._proposals} pairs proposed, {self._cuts} cuts")
        return ended

    def _search(self, table: Table) -> None:
        """Propose, refute, cut, until there is nothing to propose."""
        if table.size == 0 or len(table.values) < 2:
            return
        with Models.of(table, self.reading, self.clock) as models:
            objective = objective_of(models.master, self.query)
            objective.demand_more_than(self.best)
            while True:
                if self._learn():
                    objective.demand_more_than(self.best)
                if self.best == self.upper:
                    return
                pair = models.master.propose(self.clock)
                if pair is None:
                    return
                self._proposals += 1
                if objective.change(pair) <= self.best:
                    if objective.exact:
                        raise InternalError("the SAT engine proposed a change that is no larger")
                    models.master.exclude(pair)
                elif models.cut_off(pair, self.clock):
                    self._cuts = models.cuts.count
                else:
                    self._improve(table, pair)
                    objective.demand_more_than(self.best)
                    models.forbid_larger(pair)

    def _learn(self) -> bool:
        """Take over what others have found; return whether some pair is better than the best."""
        floor, cap = (0, None) if self.known is None else self.known()
        better = floor > self.best
        self.best = max(self.best, floor)
        if cap is not None and self.upper is not None:
            self.upper = max(self.best, min(self.upper, cap))
        return better

    def _improve(self, table: Table, pair: Databases) -> None:
        keep = self.query.per_record or bool(self.setting.clauses)
        witness, remark = _checked(self.setting, self.reading, table, pair, self.clock)
        if remark and remark not in self.notes:
            self.notes.append(remark)
        self.best = change_of(table, self.query, pair.first, pair.second)
        self.witness = witness if keep else _unlabelled(witness)
        if self.listener is not None:
            self.listener(Progress(self.best, self.upper, f"n = {table.size}", self.witness))


class LabelledNeighbours(Iterator[Pair]):
    """A stream of neighbour pairs; `complete` is True once it has ended with all of them."""

    def __init__(
        self,
        setting: Setting,
        reading: Reading,
        sizes: Sequence[int],
        values: Sequence[Point] | None,
        clock: Deadline,
        every_label: bool,
    ) -> None:
        self.complete = False
        self._setting, self._reading, self._clock = setting, reading, clock
        self._every_label = every_label
        self._tables = [tabulate(setting, n, None, values) for n in sizes]
        self._stream = self._pairs()

    def __next__(self) -> Pair:
        return next(self._stream)

    def _pairs(self) -> Iterator[Pair]:
        try:
            for table in self._tables:
                yield from self._pairs_of(table)
        except TimeUpError:
            return
        self.complete = True

    def _pairs_of(self, table: Table) -> Iterator[Pair]:
        if table.size == 0 or len(table.values) < 2:
            return
        with Models.of(table, self._reading, self._clock) as models:
            while (pair := models.master.propose(self._clock)) is not None:
                if models.cut_off(pair, self._clock):
                    continue
                _checked(self._setting, self._reading, table, pair, self._clock)
                models.master.exclude(pair)
                models.forbid_larger(pair)
                relabelled = _relabellings(table, pair) if self._every_label else (pair,)
                for each in relabelled:
                    yield _as_pair(table, each)
                    self._clock.left()


@dataclass(frozen=True)
class Models(Closing):
    """The two solvers of one n, and what turns the answers of one into demands on the other."""

    master: Master
    refuter: Refuter
    cuts: Cuts
    reading: Reading

    @staticmethod
    def of(table: Table, reading: Reading, clock: Deadline) -> Models:
        """Build the models."""
        master = Master(table, reading, clock)
        return Models(master, Refuter(master.table, reading, clock), Cuts(master), reading)

    @property
    def parts(self) -> bool:
        """Whether parts of a pair refute it: in reading 5 only where all facts are equalities."""
        setting = self.master.table.setting
        return self.reading != "pufferfish" or not (setting.bounds or setting.clauses)

    def forbid_larger(self, pair: Databases) -> None:
        """Forbid what makes more moves than a neighbour pair, as its D2 is a D3 then."""
        if self.parts:
            self.cuts.forbid_more(pair, pair.second)
        else:
            self.master.exclude(pair)

    def cut_off(self, pair: Databases, clock: Deadline) -> bool:
        """Refute a pair and cut off all that is refuted with it; False iff it is minimal.

        Where pairs need not be minimal, the exact test of joint certainty judges each.
        """
        before = self.cuts.count
        if not self.parts:
            return self._no_attackers_pair(pair, clock)
        for refutation in self.refuter.refutations(pair, clock):
            self.cuts.add(pair, refutation)
        return self.cuts.count > before

    def _no_attackers_pair(self, pair: Databases, clock: Deadline) -> bool:
        """Reading 5 with bounds or clauses: cut a pair off that a part refutes, or a mixture."""
        table = self.master.table
        part = refuting_part(table, pair, clock)
        if part is not None:
            self.cuts.forbid_split(pair, *part)
            return True
        verdict = check_pair(table.setting, self.reading, _as_pair(table, pair))
        if verdict.minimality == "budget":
            raise TimeUpError
        if not verdict:
            self.cuts.count += 1
            self.master.exclude(pair)
        return not verdict

    def close(self) -> None:
        """Free both solvers."""
        self.master.close()
        self.refuter.close()


def _as_pair(table: Table, pair: Databases) -> Pair:
    return Pair.labelled(table.points(pair.first), table.points(pair.second), keep=True)


def _unlabelled(pair: Pair) -> Pair:
    return Pair(before=pair.before, after=pair.after, unchanged=pair.unchanged)


def _checked(
    setting: Setting, reading: Reading, table: Table, pair: Databases, clock: Deadline
) -> tuple[Pair, str]:
    """Return the pair, and a remark if it outgrew the independent checker.

    What the checker cannot decide within the budget, a fresh model with another solver and another
    encoding of the sums decides once more.
    """
    found = _as_pair(table, pair)
    verdict = check_pair(setting, reading, found, budget=CHECK_BUDGET)
    if verdict:
        return found, ""
    if verdict.minimality != "budget":
        raise InternalError(f"engine sat proposed a pair that is not one: {verdict.reason}")
    counted = table.all_secret() if reading == "pufferfish" else table
    second = Refuter(counted, reading, clock, engine="cadical195", encoding="adder")
    refuted = next(second.refutations(pair, clock), None)
    second.close()
    if refuted is not None:
        raise InternalError("two solvers disagree on whether a pair is minimal")
    return found, "a pair outgrew the independent checker; CaDiCaL confirms that it is minimal"


def _relabellings(table: Table, pair: Databases) -> Iterator[Databases]:
    """Yield the different pairs that permuting the records within their blocks gives."""
    stocks = [
        Counter(sorted((pair.first[i], pair.second[i]) for i in records))
        for records in table.blocks
    ]
    order = [i for records in table.blocks for i in records]
    for choice in arrangements_of_blocks(stocks):
        placed = dict(zip(order, (move for block in choice for move in block), strict=True))
        moves = [placed[i] for i in table.records]
        yield Databases(tuple(x for x, _ in moves), tuple(y for _, y in moves))
