"""Least squares over everything released and everything public; then no number below 0; then whole.

The table x of all possible cells is unknown. Noisy answers y = Q x + noise are weighed by
1 / variance; known counts, exact releases and n hold exactly. Estimates with fractions are
unbiased, and those with the least variance of all that are linear. To cut off what is below 0 and
to round makes the errors smaller and biases them: what is near 0 comes out too large, and the rest
too small. By how much is found by drawing made-up noise on the estimate itself (`Estimated.bias`).

Nothing here sees the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.combining.measurements import Measurement
from blowproof.mechanisms.combining.monotone import Order
from blowproof.mechanisms.combining.operators import Intervals, Linear, cell_bins, operator_of
from blowproof.mechanisms.combining.whole import known_of_bins, rounded_near, whole_table
from blowproof.mechanisms.estimates.consistency import (
    MOST_ROUNDED,
    onto_facts,
)
from blowproof.mechanisms.estimates.positive import OntoKnown
from blowproof.mechanisms.expecting.uncertainty import LAPLACE, NORMAL
from blowproof.mechanisms.kinds.consistent import known_sums
from blowproof.mechanisms.parts.records import Records
from blowproof.models import (
    BoundQuery,
    BudgetError,
    InternalError,
    Policy,
    QueryError,
    setting,
)
from blowproof.models.base.kept import cached_property
from blowproof.models.base.threads import one_thread
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.verifier.databases.consistency import prepare

__all__ = ["MOST_CELLS", "NUMBERS", "Estimated", "Estimator", "Forward", "independent"]

Floats = NDArray[np.float64]
Step = Callable[[Floats], Floats]
NUMBERS = ("real", "positive", "whole")
MOST_CELLS = 2_000_000
MOST_DENSE = 1_500
ROUNDS, SEED = 40, 19
MANY, FEW_ROUNDS = 100_000, 15
"""Cells beyond which simulations of least squares have fewer rounds."""
TIGHT, ROUGH = 1e-11, 1e-7
"""How far least squares go: of estimates, and of simulated errors, which vary by far more. (At
1e-4, where some is measured well and some hardly, they are a twentieth of what is right.)"""
FIT_STEPS, AGAIN, STOPPED = 4_000, 3, 7
"""Of least squares: steps, how often it goes on from there, and what says that it was stopped."""
STEPS, FEW_STEPS, POWERS, CLOSE = 600, 80, 30, 1e-3
"""Of gradients: how many at the most, in a simulation, for the curvature; when they end."""
MOST_SIMULATED = 5_000
DETERMINED, BROKEN = 1e-5, 1e-2


class Forward(Protocol):
    """What answers are worked out by: a query, or several, as a map on the table of cells."""

    @property
    def height(self) -> int:
        """How many answers there are."""
        ...

    def forward(self, table: Floats) -> Floats:
        """Return the answers on a table of cells."""
        ...


@dataclass(frozen=True, eq=False)
class Estimated:
    """Estimates of a query's answers, their standard errors, and the mean of their bias.

    `ends` are those of intervals that hold the truth 95 times in 100, or more often.
    """

    values: Floats
    errors: Floats
    ends: tuple[Floats, Floats]
    bias: float | None
    how: str


class Estimator:
    """The table of cells as far as it is known from measurements and public facts.

    `size` is n, where it is public. `records`: what was measured is about them alone, and the
    known counts, which are about all, say nothing of them.
    """

    def __init__(
        self,
        policy: Policy,
        measurements: Sequence[Measurement],
        *,
        reading: Reading,
        answers: Answers | None = None,
        size: int | None = None,
        records: Records | None = None,
    ) -> None:
        if policy.domain.size > MOST_CELLS:
            raise BudgetError(
                f"{policy.domain.size:,} cells; {MOST_CELLS:,} at most are estimated together"
                "\n  try: a coarser domain"
            )
        self.policy = policy
        self._noisy = [item for item in measurements if not item.is_exact]
        self._agreed: tuple[NDArray[np.int64], Floats] | None = None
        self.records = records
        self._size = size = size if records is None else records.count
        self.unfinished = False  # whether some fit was stopped before its end
        self._know(measurements, reading, answers, size)

    def _know(
        self,
        measurements: Sequence[Measurement],
        reading: Reading,
        answers: Answers | None,
        size: int | None,
    ) -> None:
        """Gather the known sums over the cells that may hold records."""
        from scipy.sparse import csr_array, vstack

        found = prepare(setting(self.policy, answers), reading)
        given = found.scope == "given" and self.records is None
        rows: list[Any] = []
        known: list[Floats] = []
        if given:
            self.free, facts, numbers = known_sums(found, with_size=is_labelled(reading))
            rows, known = [facts], [numbers.astype(np.float64)]
        else:
            from blowproof.mechanisms.answers.masks import mask

            self.free = np.flatnonzero(~mask(found.impossible, self.policy.domain).ravel())
        exact = [(item.query, item.values) for item in measurements if item.is_exact]
        exact += [item.totals for item in measurements if item.totals is not None]
        for query, values in exact:
            kept = independent(query) if isinstance(query, Intervals) else None
            rows.append(_matrix(query if kept is None else kept[0], self.free))
            known.append(values if kept is None else values[kept[1]])
        if size is not None:
            rows.append(csr_array(np.ones((1, len(self.free)))))
            known.append(np.array([float(size)]))
        empty = csr_array((0, len(self.free)))
        matrix = csr_array(vstack(rows)) if rows else empty
        self.facts, self.known = _distinct(matrix, np.concatenate([np.zeros(0), *known]))
        self.whole_facts = bool((self.known == np.rint(self.known)).all())

    # --- least squares ---------------------------------------------------------------------------

    @cached_property
    def _settle(self) -> Callable[[Floats], Floats]:
        """Return what takes off a table all that the known sums say about it."""
        if not self.facts.shape[0]:
            return lambda table: table
        from scipy.sparse import eye_array
        from scipy.sparse.linalg import splu

        facts = self.facts
        scale = abs(facts).sum(axis=1).mean()
        square = (facts @ facts.T + 1e-9 * scale * eye_array(facts.shape[0])).tocsc()
        solve = splu(square).solve
        turned = facts.T.tocsr()

        def settled(table: Floats) -> Floats:
            for _ in range(2):  # the second pass takes off what the small ridge left
                table = table - turned @ solve(facts @ table)
            return np.asarray(table)

        return settled

    @cached_property
    def _start(self) -> Floats:
        """A table with the known sums, as even as they allow."""
        even = np.zeros(len(self.free))
        return onto_facts(even, self.facts, self.known, check=False)

    @cached_property
    def _onto(self) -> OntoKnown:
        return OntoKnown(self.facts, self.known)

    def _forward(self, table: Floats) -> list[Floats]:
        cells = np.zeros(self.policy.domain.size)
        cells[self.free] = table
        return [item.query.forward(cells) for item in self._noisy]

    def _solved(
        self,
        values: Sequence[Floats],
        start: Floats,
        close: float = TIGHT,
        most: int | None = None,
    ) -> Floats:
        """Return the table nearest to `start` that fits the noisy values best.

        `most`: steps after which it gives up.
        """
        from scipy.sparse.linalg import LinearOperator, lsmr

        weights = [1 / np.sqrt(item.variances) for item in self._noisy]
        if not weights:
            return start
        ends = np.cumsum([len(weight) for weight in weights])[:-1]
        settle = self._settle

        def forward(table: Floats) -> Floats:
            parts = self._forward(settle(table))
            return np.concatenate([w * part for w, part in zip(weights, parts, strict=True)])

        def back(answers: Floats) -> Floats:
            total = np.zeros(self.policy.domain.size)
            for item, w, part in zip(self._noisy, weights, np.split(answers, ends), strict=True):
                total += item.query.back(w * part)
            return settle(total[self.free])

        many = sum(len(weight) for weight in weights)
        shape = many, len(self.free)
        matrix = LinearOperator(shape, matvec=forward, rmatvec=back, dtype=np.float64)
        missing = np.concatenate([
            w * (value - part)
            for w, value, part in zip(weights, values, self._forward(start), strict=True)
        ])  # fmt: skip

        def fitted(begin: Floats | None) -> Any:
            return lsmr(matrix, missing, atol=close, btol=close, conlim=1e12,
                        maxiter=most or FIT_STEPS, x0=begin)  # fmt: skip

        found = fitted(None)
        for _ in range(AGAIN if most is None else 0):
            if found[1] != STOPPED:
                break
            found = fitted(found[0])
        if most is not None and found[2] >= most:
            raise BudgetError(f"least squares took more than {most} steps")
        self.unfinished |= found[1] == STOPPED
        return np.asarray(start + settle(found[0]))

    @cached_property
    def real(self) -> Floats:
        """The table by least squares alone: with fractions, and maybe with numbers below 0."""
        return self._solved([item.values for item in self._noisy], self._start)

    @one_thread()
    def table(self, numbers: str = "real") -> Floats:
        """Return all cells of the domain, row-major: real, positive, or whole."""
        cells = np.zeros(self.policy.domain.size)
        cells[self.free] = self._finished(numbers)
        return cells

    @cached_property
    def positive(self) -> Floats:
        """The table without numbers below 0 that fits best of all such tables."""
        return self._above_zero([item.values for item in self._noisy], self.real)

    @cached_property
    def _steepest(self) -> float:
        """The largest curvature of the sum of squares, by the power method; a little more."""
        draw = np.random.default_rng(SEED)
        table = draw.normal(size=len(self.free))
        size = 1.0
        for _ in range(POWERS):
            table = table / (float(np.linalg.norm(table)) or 1.0)
            table = self._slope(table, [np.zeros(len(item.variances)) for item in self._noisy])
            size = float(np.linalg.norm(table))
        return 1.05 * size

    def _slope(self, table: Floats, values: Sequence[Floats]) -> Floats:
        """Return the gradient of half the weighted sum of squares."""
        total = np.zeros(self.policy.domain.size)
        parts = self._forward(table)
        for item, part, value in zip(self._noisy, parts, values, strict=True):
            total += item.query.back((part - value) / item.variances)
        return np.asarray(total[self.free])

    def _above_zero(self, values: Sequence[Floats], start: Floats, most: int = STEPS) -> Floats:
        """Return the best fit among tables with the known sums and without numbers below 0.

        By projected gradients with momentum, from the nearest such table to `start`. That alone
        is the answer where all cells were measured alike; where some directions were not measured
        at all, it would give up what was for what was not.
        """
        onto = self._onto
        table = ahead = onto(start)
        step = self._steepest
        if not self._noisy or step <= 0:
            return table
        pace = 1.0
        for _ in range(most):
            moved = ahead - self._slope(ahead, values) / step
            new = onto(moved)
            change = new - table
            faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
            if float((ahead - new) @ change) > 0:  # it went too far: begin to speed up anew
                faster = 1.0
            ahead = new + (pace - 1) / faster * change
            table, pace = new, float(faster)
            if abs(change).max(initial=0) < CLOSE:
                break
        return table

    def _finished(self, numbers: str) -> Floats:
        if numbers == NUMBERS[0]:
            return self.real
        positive = self.positive
        if numbers == NUMBERS[1]:
            return positive
        facts, known = self.facts, self.known
        if self._agreed is not None and len(self.free) <= MOST_ROUNDED:
            from scipy.sparse import csr_array, vstack

            bins, whole = self._agreed
            cells = np.arange(len(bins))
            rows = csr_array((np.ones(len(bins)), (bins, cells)), shape=(len(whole), len(bins)))
            facts, known = csr_array(vstack([facts, rows])), np.concatenate([known, whole])

        def slope(table: Floats) -> Floats:
            return self._slope(table, [np.zeros(len(item.variances)) for item in self._noisy])

        return whole_table(positive, facts, known, slope, self._steepest)

    def _whole_answers(self, query: BoundQuery, operator: Linear) -> Floats:
        """Return answers from whole numbers of the coarsest cells that a query reads.

        Records that are made up later have the same numbers (`_agreed`).
        """
        if not self.whole_facts:  # what was released without noise is no number of records
            return np.rint(operator.forward(self.table(NUMBERS[1])))
        bins, many = self._read_by(query)
        if many >= len(self.free):
            return operator.forward(self.table(NUMBERS[2]))
        held: Floats = np.bincount(bins, weights=self.positive, minlength=many).astype(np.float64)
        whole = rounded_near(held, *known_of_bins(self.facts, self.known, bins, many))
        self._agreed = bins, whole
        return operator.forward(self._with_bins(bins, whole))

    def _read_by(self, query: BoundQuery) -> tuple[NDArray[np.int64], int]:
        """Return for each possible cell which one of those that a query tells apart it is in."""
        seen, bins = np.unique(self._places(query), return_inverse=True)
        return bins, len(seen)

    def _seen(self, query: BoundQuery) -> NDArray[np.int64]:
        """Return which of the cells that a query tells apart may hold anybody."""
        return np.unique(self._places(query))

    def _places(self, query: BoundQuery) -> NDArray[np.int64]:
        axes = tuple(sorted(query.axes_read(self.policy.domain)))
        return cell_bins(axes, self.policy.domain)[0][self.free]

    def _with_bins(self, bins: NDArray[np.int64], held: Floats) -> Floats:
        """Return a table of all cells with such numbers in the bins: where, a query cannot see."""
        _, first = np.unique(bins, return_index=True)
        cells = np.zeros(self.policy.domain.size)
        cells[self.free[first]] = held
        return cells

    # --- answers ---------------------------------------------------------------------------------

    @one_thread()
    def answers(
        self, query: BoundQuery, numbers: str = "real", order: Order | None = None
    ) -> Estimated:
        """Return a query's answers; refuse one that what is known does not determine.

        `order`: in which they are known to be.
        """
        operator = operator_of(query, self.policy.domain)
        self.require_determined(query, operator)
        errors, how = self.errors(operator)
        is_real, whole = numbers == NUMBERS[0], numbers == NUMBERS[2]
        if whole and (order is None or order.follows):
            values = self._whole_answers(query, operator)
        else:
            values = operator.forward(self.table(NUMBERS[1] if whole else numbers))
        step: Step | None = None
        if order is not None:
            held = order

            def step(table: Floats) -> Floats:
                return held.step(table, errors, whole=whole)

            values = step(values)
            self._keep(query, order, values, whole=whole)
        middle = values if is_real and step is None else operator.forward(self.table())
        ends = middle - self.reach * errors, middle + self.reach * errors
        if is_real and step is None:
            return Estimated(values, errors, ends, 0.0, how)
        if query.binary and not is_real:  # numbers of records
            ends = np.maximum(ends[0], 0.0), np.maximum(ends[1], 0.0)
        found: Floats | None
        bias: float | None
        if is_real and step is not None:
            found, bias = self._apart(values, operator, step)
        else:
            found, bias = self._simulated(query, operator, numbers, values, step)
        if found is None:
            return Estimated(values, errors, ends, bias, f"of least squares, {how}")
        return Estimated(values, found, ends, bias, f"simulated, {ROUNDS} rounds")

    def _keep(self, query: BoundQuery, order: Order, values: Floats, *, whole: bool) -> None:
        """Refuse an order that breaks what is known; let made-up records have the same counts."""
        if order.follows:  # it takes known prefixes as they are
            return
        bins, many = self._read_by(query)
        seen = values[self._seen(query)]
        facts, known = known_of_bins(self.facts, self.known, bins, many)
        if abs(facts @ seen - known).max(initial=0) > BROKEN:
            raise RefusedError(
                f"{query.name} in that order breaks a known count: nothing was estimated"
                "\n  try: leave --monotone out"
            )
        if whole:
            self._agreed = bins, seen

    def _apart(self, values: Floats, operator: Forward, step: Step) -> tuple[Floats, float]:
        """Return errors and the mean bias of least squares with a step afterwards."""
        apart = np.array([step(values + noise) - values for noise in self.noise(operator)])
        return np.sqrt((apart**2).mean(axis=0)), float(abs(apart.mean(axis=0)).mean())

    @property
    def reach(self) -> float:
        """How many standard errors hold the truth 95 times in 100: fewer of Gaussian noise.

        No more than that is known of what is cut off at 0 or rounded: where the true number is
        small, made-up noise on the estimate would find errors that are too small.
        """
        gaussian = all(
            item.release is not None and item.release.width == "variance" for item in self._noisy
        )
        return NORMAL if gaussian else LAPLACE

    @cached_property
    def every_cell(self) -> bool:
        """Whether it is seen at once that each cell follows from what was measured.

        Where no two cells share a bin, the bins add up along their order. The interval from low to
        high tells how far the sum up to high is from that up to low; where intervals (and n, from
        the first bin to the last) join all of these sums, all bins are told.
        """
        for query in (item.query for item in self._noisy):
            if not isinstance(query, Intervals):
                continue
            if len(np.unique(query.bins[self.free])) < len(self.free):
                continue
            ends = [np.append(query.low, 0), np.append(query.high, 0)]
            if self._size is not None:
                ends[1][-1] = query.many
            if _joined(query.many + 1, *ends):
                return True
        return False

    def require_determined(self, query: BoundQuery, operator: Forward) -> None:
        """Refuse what differs between two tables that fit all that is known equally well."""
        if self.every_cell:
            return
        draw = np.random.default_rng(SEED)
        other = self._settle(draw.normal(size=len(self.free)))
        nothing = [np.zeros(len(item.variances)) for item in self._noisy]
        unseen = self._solved(nothing, other)
        cells = np.zeros(self.policy.domain.size)
        cells[self.free] = unseen
        left = abs(operator.forward(cells)).max(initial=0)
        cells[self.free] = other
        if left > DETERMINED * (1 + abs(operator.forward(cells)).max(initial=0)):
            raise QueryError(
                f"{query.name} does not follow from what was released and what is public"
                "\n  try: a coarser query, or one more release"
            )

    @one_thread()
    def errors(self, operator: Forward) -> tuple[Floats, str]:
        """Return the standard errors of least squares: exactly where cells are few."""
        if len(self.free) <= MOST_DENSE and operator.height <= 4 * MOST_DENSE:
            return self._exact_errors(operator), "exact"
        squares, rounds = np.zeros(operator.height), 0
        for apart in self.noise(operator):
            squares += apart**2
            rounds += 1
        return np.sqrt(squares / rounds), f"simulated, {rounds} rounds"

    def noise(
        self, operator: Forward, rounds: int | None = None, most: int | None = None
    ) -> Iterator[Floats]:
        """Yield errors of least squares, as made-up normal noise of the same variances has them.

        `most`: steps of one round after which it gives up.
        """
        draw = np.random.default_rng(SEED)
        cells = np.zeros(self.policy.domain.size)
        usual = ROUNDS if len(self.free) <= MANY else FEW_ROUNDS
        for _ in range(usual if rounds is None else rounds):
            noise = [draw.normal(0, np.sqrt(item.variances)) for item in self._noisy]
            cells[self.free] = self._solved(noise, np.zeros(len(self.free)), ROUGH, most)
            yield operator.forward(cells)

    def _exact_errors(self, operator: Forward) -> Floats:
        """Return the roots of the diagonal of q (P A'A P)^+ q'."""
        many = len(self.free)
        inside = np.eye(many)
        settled = np.array([self._settle(row) for row in inside])
        rows = [np.concatenate([
            part / np.sqrt(item.variances)
            for item, part in zip(self._noisy, self._forward(row), strict=True)
        ] or [np.zeros(1)]) for row in settled]  # fmt: skip
        weighted = np.array(rows)
        covariance = np.linalg.pinv(weighted @ weighted.T, rcond=1e-12, hermitian=True)
        cells = np.zeros(self.policy.domain.size)
        asked = []
        for row in settled:
            cells[self.free] = row
            asked.append(operator.forward(cells))
        seen = np.array(asked)
        squares = ((covariance @ seen) * seen).sum(axis=0)
        return np.asarray(np.sqrt(np.maximum(0, squares)))

    def _simulated(
        self, query: BoundQuery, operator: Linear, numbers: str, values: Floats, step: Step | None
    ) -> tuple[Floats | None, float | None]:
        """Return errors and the mean bias on tables like the estimate; None where that takes long.

        Whole numbers are rounded one by one here, which adds what rounding adds, and no program.
        """
        if len(self.free) > MOST_SIMULATED:
            return None, None
        truth = self.positive if step is None else self._with_answers(query, values)
        draw = np.random.default_rng(SEED)
        start = self._start
        told = self._forward(truth)
        squares, sums = np.zeros(operator.height), np.zeros(operator.height)
        cells = np.zeros(self.policy.domain.size)
        cells[self.free] = truth
        before = operator.forward(cells)
        bins, many = self._read_by(query)
        for _ in range(ROUNDS):
            noisy = [part + draw.normal(0, np.sqrt(item.variances))
                     for item, part in zip(self._noisy, told, strict=True)]  # fmt: skip
            found = self._above_zero(noisy, self._solved(noisy, start), FEW_STEPS)
            if numbers == NUMBERS[2] and step is None:
                held = np.rint(np.bincount(bins, weights=found, minlength=many))
                answers = operator.forward(self._with_bins(bins, held))
            else:
                cells[self.free] = found
                answers = operator.forward(cells)
            apart = (answers if step is None else step(answers)) - before
            squares += apart**2
            sums += apart
        return np.sqrt(squares / ROUNDS), float(abs(sums / ROUNDS).mean())

    def _with_answers(self, query: BoundQuery, values: Floats) -> Floats:
        """Return a table without numbers below 0 that has such counts along an attribute."""
        bins, many = self._read_by(query)
        prefixes = query.prefix_axis is not None
        wanted = np.diff(values, prepend=0.0) if prefixes else values
        wanted = np.maximum(wanted, 0.0)[self._seen(query)]
        held = np.bincount(bins, weights=self.positive, minlength=many)
        even = wanted[bins] / np.bincount(bins, minlength=many)[bins]
        shares = np.divide(wanted, held, out=np.zeros(many), where=held > 0)[bins]
        return np.asarray(np.where(held[bins] > 0, self.positive * shares, even))


def _joined(many: int, first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    """Return whether edges join all of so many vertices."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(first)), (first, second)), shape=(many, many))
    return int(connected_components(edges, directed=False)[0]) == 1


def independent(query: Intervals) -> tuple[Intervals, NDArray[np.int64]]:
    """Return intervals that all others are sums and differences of, and their places: short ones.

    The interval from low to high is an edge between these two ends. What goes round a circle of
    edges adds up to 0, so a spanning forest tells the rest (and is told apart: no circle, no sum).

    >>> ends = np.array([0, 0, 1, 0, 2]), np.array([3, 1, 2, 2, 3])
    >>> found, places = independent(Intervals(np.arange(3), *ends, many=3))
    >>> places.tolist(), found.low.tolist(), found.high.tolist()
    ([1, 2, 4], [0, 1, 2], [1, 2, 3])
    """
    above = list(range(query.many + 1))
    kept: list[int] = []
    order = np.argsort(query.high - query.low, kind="stable")
    for place in order.tolist():
        ends = []
        for end in (int(query.low[place]), int(query.high[place])):
            at = end
            while above[at] != at:
                above[at] = at = above[above[at]]
            ends.append(at)
        if ends[0] == ends[1]:
            continue
        above[ends[0]] = ends[1]
        kept.append(place)
        if len(kept) == query.many:
            break
    places = np.array(sorted(kept), dtype=np.int64)
    return Intervals(query.bins, query.low[places], query.high[places], query.many), places


def _matrix(query: Linear, free: NDArray[np.int64]) -> Any:
    """Return a query that has few outputs, or one for each bin, as a sparse matrix."""
    from scipy.sparse import csr_array

    from blowproof.mechanisms.combining.operators import Mixed, Stepped

    if isinstance(query, Stepped):
        raise InternalError("steps are never released without noise")
    if isinstance(query, Mixed):
        return csr_array(query.factors @ _matrix(query.query, free))
    bins = query.bins[free]
    columns = np.arange(len(free))
    if not isinstance(query, Intervals):
        return csr_array(query.matrix[:, bins])
    ones = csr_array((np.ones(len(free)), (bins, columns)), shape=(query.many, len(free)))
    widths = query.high - query.low
    outputs = np.repeat(np.arange(query.height), widths)
    offset = np.arange(int(widths.sum())) - np.repeat(np.cumsum(widths) - widths, widths)
    inside = np.repeat(query.low, widths) + offset
    chosen = csr_array((np.ones(len(outputs)), (outputs, inside)), shape=(query.height, query.many))
    return csr_array(chosen @ ones)


def _distinct(matrix: Any, known: Floats) -> tuple[Any, Floats]:
    """Leave out rows that stand there twice: a published marginal that was also released."""
    seen: dict[tuple[bytes, bytes], int] = {}
    matrix.sort_indices()
    for row in range(matrix.shape[0]):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        seen.setdefault((matrix.indices[part].tobytes(), matrix.data[part].tobytes()), row)
    rows = sorted(seen.values())
    return matrix[rows], known[rows]
