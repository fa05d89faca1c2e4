"""Queries that the facts determine: S(f, P) = 0, by a rank test, before any search.

Let z be the histogram of D2 less that of D1. Each equality gives A z = 0, where A has a column for
each possible value, and where n is the same in D1 and D2, the entries of z add up to 0. Where each
output of a linear query is, over the possible values, a rational combination of rows of A (and of
the row of ones where n is the same), the query's change F z is 0 for every pair of databases with
the known facts, whatever the reading, the secret graph, bounds and clauses: these only leave fewer
pairs. So S(f, P) = 0.

A query that reads only attributes of one published marginal is seen without the test: a record adds
to an answer what its cell says, so that each output is a sum over the cells, and these are known.

Values with the same signature must then have equal rows of the query, so the test runs over classes
of values. The other direction is not claimed: a query may be fixed by bounds, or by n being small.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping
from itertools import islice
from math import inf, lcm

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BoundQuery, Box, BudgetError, Exact, Marginal, Point, Setting
from blowproof.models.base.clock import SHORT, now
from blowproof.models.base.numbers import magnitude
from blowproof.models.domain.classes import ValueClass
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.exact.span import Span
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["determined", "is_determined", "of_one_marginal"]

LISTED = whole_limit(__name__, "LISTED")
SAMPLE = whole_limit(__name__, "SAMPLE")
SECONDS = real_limit(__name__, "SECONDS")
MOST_OUTPUTS = whole_limit(__name__, "MOST_OUTPUTS")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
WIDE = whole_limit(__name__, "WIDE")

Row = Mapping[Hashable, Exact]


def determined(question: Question) -> Answer | None:
    """Return S(f, P) = 0 where the known facts fix the query; None where they do not show it."""
    started = time.perf_counter()
    end = now() + SECONDS
    if question.deadline is not None:
        end = min(end, question.deadline)
    if not is_determined(question.setting, question.query, question.reading, deadline=end):
        return None
    why = "the known facts determine the query: each output is a combination of them"
    return question.answer(0, 0, why, engine="rank", since=started)


def is_determined(
    setting: Setting, query: BoundQuery, reading: Reading, *, deadline: float | None = None
) -> bool:
    """Whether every output is seen to be a rational combination of the facts (and of n)."""
    if query.per_record:
        return False
    query = query.plainest()
    if of_one_marginal(setting, query):
        return True
    try:
        found = _rows_by_class(setting, query, deadline)
    except (BudgetError, TimeoutError):
        return False
    if found is None:
        return False
    table, rows = found
    if not rows:
        return True  # no value is possible
    known = table.effects.T
    if is_labelled(reading):
        known = np.vstack([known, np.ones((1, len(rows)), dtype=np.int64)])
    targets = _matrix(rows)
    if targets is None:
        return False
    try:
        span = Span(known, end=inf if deadline is None else deadline)
    except TimeoutError:
        return False
    return all(_combined(span, target, deadline) for target in targets)


def _combined(span: Span, target: NDArray[np.int64], deadline: float | None) -> bool:
    """Whether an output is seen to be a combination of the facts, and in time."""
    return span.combination(target) is not None and (deadline is None or now() <= deadline)


def of_one_marginal(setting: Setting, query: BoundQuery) -> bool:
    """Whether the row of a value depends on attributes alone of which every count is published."""
    read = query.axes_read(setting.domain)
    published = (fact for fact in setting.policy.known if isinstance(fact, Marginal))
    return any(read.issubset(setting.domain.axes(fact.attributes)) for fact in published)


def _rows_by_class(
    setting: Setting, query: BoundQuery, deadline: float | None
) -> tuple[ClassTable, list[Row]] | None:
    """Return classes with the query's row on each; None where it differs within a signature."""
    table = class_table(setting, deadline=deadline)
    if query.separates and any(item.size > 1 for item in table.classes):
        return None
    for item in table.classes:  # most queries differ between two values that are seen at once
        _in_time(deadline)
        sample = [query.row(point) for point in _few(item)]
        if any(row != sample[0] for row in sample):
            return None
    total = sum(item.size for item in table.classes)
    if total <= LISTED:
        rows = []
        for item in table.classes:
            _in_time(deadline)
            every = [query.row(point) for box in item.boxes() for point in box.points()]
            if any(row != every[0] for row in every):
                return None
            rows.append(every[0])
        return table, rows
    if query.separates:  # one value each
        return table, _firsts(query, table)
    areas = query.areas(setting.domain)
    if areas is None:
        return None
    finer = class_table(setting, tuple(areas), deadline=deadline)
    return (table, _firsts(query, table)) if len(finer.classes) == len(table.classes) else None


def _firsts(query: BoundQuery, table: ClassTable) -> list[Row]:
    return [query.row(item.take(1)[0]) for item in table.classes]


def _in_time(deadline: float | None) -> None:
    if deadline is not None and now(SHORT) > deadline:
        raise TimeoutError


def _few(item: ValueClass) -> Iterator[Point]:
    """Yield the ends of the first boxes of a class."""
    for box in islice(item.boxes(), SAMPLE):
        yield from _ends(box)


def _ends(box: Box) -> Iterator[Point]:
    yield box.nth(0)
    if box.size > 1:
        yield box.nth(1)
        yield box.nth(box.size - 1)


def _matrix(rows: list[Row]) -> NDArray[np.int64] | None:
    """Return the outputs as rows of whole numbers, one column a class; None where too large."""
    outputs: dict[Hashable, int] = {}
    for row in rows:
        for output in row:
            outputs.setdefault(output, len(outputs))
    if len(outputs) > MOST_OUTPUTS or len(outputs) * len(rows) > MOST_ENTRIES:
        return None
    scales: list[int] = [1] * len(outputs)
    for row in rows:
        for output, value in row.items():
            place = outputs[output]
            scales[place] = lcm(scales[place], value.denominator)
            if scales[place] > WIDE or magnitude(value) > WIDE:
                return None
    matrix = np.zeros((len(outputs), len(rows)), dtype=np.int64)
    for number, row in enumerate(rows):
        for output, value in row.items():
            matrix[outputs[output], number] = int(value * scales[outputs[output]])
    return matrix
