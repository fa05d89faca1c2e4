"""Several queries in one release, answered from everything that is drawn for any of them.

What is drawn for one query says something about the others, too: prefixes about the table, the
table about its margins. So a query may be answered by least squares over all noisy answers of the
release and all that is public, in place of what its own mechanism makes of its own. That is
unbiased and has the least variance of all unbiased linear answers (Gauss and Markov), that of its
own mechanism among them, if that is one. A mechanism that leans on an order or on a bound may be
better still, so `fitted` says which queries are answered so; who plans compares the two.

It is a step after the noise. What it does is settled before anything is drawn, and where it cannot
be done afterwards, each query has the answer of its own mechanism, and a note says so.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.combining.estimator import Estimator
from blowproof.mechanisms.combining.measurements import measured_in
from blowproof.mechanisms.combining.operators import Linear, operator_of
from blowproof.mechanisms.expecting.expected import Expected
from blowproof.mechanisms.kinds.together import Several, Together
from blowproof.mechanisms.release.release import Draw, Plan, Request
from blowproof.models import BlowproofError, BudgetError
from blowproof.models.base.kept import cached_property
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.mechanisms.trees_and_prefixes import bind_query

__all__ = ["FITTED", "MOST_CELLS", "Joint"]

Floats = NDArray[np.float64]
FITTED = "least squares"
FAILED = (
    "least squares over all that was drawn came to no end: each query has the answer of its own "
    "mechanism, whose errors are larger than those that stand here"
)
MOST_CELLS = 20_000
"""Of larger domains the error of such a fit takes longer than the rest of a plan."""
ROUNDS, STUDENT = 20, 2.09
"""Of a simulation, and how many standard errors of so few hold the mean 95 times in 100."""
STEPS = 150
"""Of least squares in one round; what takes more of them takes longer than the rest of a plan."""
MOST_EXACT = 500
"""Cells up to which it is worked out without simulations, while many plans are compared."""


@dataclass(frozen=True, eq=False)
class _Stack:
    """Several queries as one map on the table of cells, one after the other."""

    parts: tuple[Linear, ...]

    @property
    def height(self) -> int:
        return sum(part.height for part in self.parts)

    def forward(self, table: Floats) -> Floats:
        return np.concatenate([part.forward(table) for part in self.parts])

    def split(self, values: Floats) -> list[Floats]:
        return np.split(values, np.cumsum([part.height for part in self.parts])[:-1])


class _Noting:
    """What draws, and remembers it."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self.drawn: list[tuple[Release, Vector]] = []

    def __call__(self, release: Release) -> Vector:
        self.drawn.append((release, self._draw(release)))
        return self.drawn[-1][1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._draw, name)


class Joint(Together):
    """Plans of single queries, drawn in one go; those in `fitted` are answered from all of it."""

    def __init__(self, request: Request, plans: Sequence[Plan], fitted: Collection[int]) -> None:
        super().__init__(request, plans)
        if self.description is None:
            raise RefusedError("what is drawn is not known beforehand: nothing is fitted to it")
        self.fitted = tuple(sorted(fitted))
        if self.fitted and FITTED not in self.postprocessing:
            self.postprocessing = (*self.postprocessing, FITTED)
            self.description = self.described(*self.description.releases)
        if self.fitted:
            names = ", ".join(self.plans[at].request.bound.name for at in self.fitted)
            self.notes += (f"answered by least squares over all that is drawn: {names}",)

    def only(self, fitted: Collection[int]) -> Joint:
        """Return the same with other queries answered from everything."""
        found = Joint(self.request, self.plans, fitted)
        found.__dict__["_rehearsal"] = self._rehearsal
        return found

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the answers of all queries."""
        kept = _Noting(draw)
        found = super().run(kept)  # type: ignore[arg-type] # it hands out what the draw does
        assert isinstance(found, Several)
        if not self.fitted:
            return found
        try:
            estimator = self._estimator(kept.drawn, draw.public_size(self.request))
            table = estimator.table()
            if estimator.unfinished:
                raise BudgetError("least squares was stopped")
        except (BlowproofError, ArithmeticError, ValueError, np.linalg.LinAlgError):  # it is paid
            self.notes = (*self.notes, FAILED)
            return found
        parts, by = list(found.parts), list(found.by)
        for at in self.fitted:
            name, own = parts[at]
            operator = operator_of(self.plans[at].request.bound, self.request.policy.domain)
            parts[at] = name, Estimate(operator.forward(table), own.names)
            by[at] = "estimate"
        return Several(parts, by)

    # --- what it is worth ------------------------------------------------------------------------

    def _estimator(
        self, drawn: Sequence[tuple[Release, Sequence[Fraction] | Vector]], size: int | None
    ) -> Estimator:
        request = self.request
        return Estimator(
            request.policy,
            [measured_in(release, values, request.policy) for release, values in drawn],
            reading=request.reading, answers=request.answers, size=size,
        )  # fmt: skip

    @cached_property
    def _rehearsal(self) -> tuple[Estimator, _Stack]:
        """What would be fitted, with zeros in place of what is drawn, on which no error depends."""
        request = self.request
        domain = request.policy.domain
        assert self.description is not None
        nothing = []
        for release in self.description.releases:
            height = operator_of(bind_query(release.query, request.policy), domain).height
            nothing.append((release, [Fraction(0)] * height))
        size = 0 if request.policy.size_known(request.reading) else None
        estimator = self._estimator(nothing, size)
        operators = [operator_of(plan.request.bound, domain) for plan in self.plans]
        for plan, operator in zip(self.plans, operators, strict=True):
            estimator.require_determined(plan.request.bound, operator)
        return estimator, _Stack(tuple(operators))

    def expected(self) -> list[Expected]:
        """Return the error of each query, were it answered by least squares over everything.

        Exactly for few cells, else simulated: by made-up normal noise of the same variances.
        """
        estimator, stack = self._rehearsal
        if len(estimator.free) <= MOST_EXACT:
            errors = stack.split(estimator.errors(stack)[0])
            pairs = zip(self.plans, errors, strict=True)
            return [self._expected(plan, found**2, "exact", None) for plan, found in pairs]
        draws = [stack.split(noise) for noise in estimator.noise(stack, ROUNDS, STEPS)]
        found = []
        for plan, *rounds in zip(self.plans, *draws, strict=True):
            squares = np.array(rounds) ** 2
            means = squares.mean(axis=1)
            wide = STUDENT * float(means.std(ddof=1)) / math.sqrt(len(means))
            mean = float(means.mean())
            around = math.sqrt(max(0.0, mean - wide)), math.sqrt(mean + wide)
            found.append(self._expected(plan, squares.mean(axis=0), "simulated", around))
        return found

    def _expected(
        self, plan: Plan, squares: Floats, how: str, around: tuple[float, float] | None
    ) -> Expected:
        largest = _largest(np.sqrt(squares), tails=self._is_laplace(plan))
        return Expected(math.sqrt(float(squares.mean())), largest, how, between=around)

    def _is_laplace(self, plan: Plan) -> bool:
        """Whether a query's own numbers have Laplace noise here: its errors are no sums of many."""
        assert self.description is not None
        return any(
            release.width == "scale"
            and bind_query(release.query, self.request.policy) == plan.request.bound
            for release in self.description.releases
        )

    def uncertain(self, place: int) -> tuple[Floats, Floats] | None:
        """Return the standard errors of a query that is fitted, and halves of its intervals."""
        if place not in self.fitted:
            return None
        errors = self._errors[place]
        return errors, self._rehearsal[0].reach * errors

    @cached_property
    def _errors(self) -> list[Floats]:
        estimator, stack = self._rehearsal
        return stack.split(estimator.errors(stack)[0])


def _largest(errors: Floats, *, tails: bool) -> float:
    """Return what the largest of independent numbers stays within 95 times in 100.

    Normal numbers with these standard errors: nearly so, since most errors are sums of many; with
    `tails`, at least what as many Laplace numbers stay within.

    >>> round(_largest(np.array([1.0]), tails=False), 2)
    1.96
    >>> round(_largest(np.array([1.0]), tails=True), 2)
    2.12
    """
    from scipy.special import ndtr

    widest = float(errors.max(initial=0))
    if not widest:
        return 0.0
    some = errors[errors > 0]
    low, high = 0.0, 12 * widest
    for _ in range(50):
        middle = (low + high) / 2
        within = float(np.log1p(-2 * ndtr(-middle / some)).sum())
        low, high = (low, middle) if within >= math.log(0.95) else (middle, high)
    missed = -math.expm1(math.log(0.95) / len(errors))
    laplace = -math.log(missed) / math.sqrt(2) * float(np.sqrt((errors**2).mean()))
    return max(high, laplace) if tails else high
