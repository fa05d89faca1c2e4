"""What no private mechanism can do: a lower bound on the RMSE of any of them, for each query.

Let databases D_0, D_1, ..., D_k each be a neighbour of the one before, and f change by the same d
with every step. Take them all alike beforehand. After any output of an epsilon-private mechanism,
the probabilities p_0, ..., p_k of where one is change by a factor of at most 1/q = e^epsilon per
step, and whoever guesses output j errs by d_j^2 times the variance of p at least. So the worst
database is no better than the mean of these.

*The variance.* Let m be the mean of p, with at least t steps of room on both sides. Given X >= m,
p_i / (p_i + p_(i+1) + ...) is at most that of a geometric number cut off at t, T, so that
X - ceil(m) is stochastically no less than T; the same from the other side. So the variance is at
least E T^2. With flat beginnings, the mean lies within t of an end with probability at most
8 t / (k + 1) (where it is below t, half of p lies below 2 t, by Markov), and the bound is the best
(1 - 8 t / (k + 1)) E T^2; for many steps q (1 + q) / (1 - q)^2, which is 2 / epsilon^2 for small
epsilon. With one step, p_0 and p_1 are at least 1 / (1 + e^epsilon): e^epsilon / (1 + e^epsilon)^2.

*Short chains.* Among mechanisms that guess whole numbers, none has less expected squared error, all
places of the chain being as likely, than the geometric mechanism cut off at both ends, its output
replaced by the best guess (Ghosh, Roughgarden and Sundararajan 2009, for all losses that grow with
the distance). Whoever guesses the mean of p, and rounds it, errs by 1/4 more at the most. So the
bound is what that one errs (`_of_geometric`), less 1/4; for ever longer chains it tends to the
variance of two-sided geometric noise.

*The worst change at every step.* Where facts are equality counts, what the records of a neighbour
pair do is done once more by other records, as long as there are any: a chain. That takes counts
that are large beside 1 / epsilon, which is said.

*Many outputs at once.* Of independent chains, with records of their own, all are unknown together,
and telling the others changes nothing: each output has the bound of a chain that changes it. Chains
of single records: a record moves along an edge of G between two values that no fact tells apart, as
often as there are records.

*A rho* in place of epsilon: over k steps the outputs of two databases have a divergence of at most
k^2 rho (order 1), so a distance of at most k (rho / 2)^(1/2) in total variation, and whoever
guesses errs by k^2 / 4 times 1 less that, on average. Long chains: the one-dimensional case of
`spectral_bound`, 1 / (e^(2 rho) - 1).

*Many answers that one record changes together* (`spectral_bound`): by singular values.

*Few records*: chains share n. Fewer chains are longer, and what is not in a chain counts as known;
the bound is the best of some numbers of chains, those first that change most.

*All noise* (`noise_program`): of a few outputs, the least error of noise that is the same for all
data, by a linear program.

*Exchanges between all cells* (`of_exchanges`), where any record may be in any of d cells, and n is
known. Take all databases of n records as alike, be p the probabilities after some output, T the
guess (its sum is n: else a better one has it), and z = k - T. Let x be the |z_i|, u = min(x, 1), s
the sum of u, a and b its parts of the z_i above and below 0, and N the sum of the z_i above 0, and
so of the others. For the move v from i to j be g_v(z) = max(z_i, 0) max(-z_j, 0) / N. The sum over
k of g_v(z) (p(k - v) - p(k)) is that of p(k) (g_v(z + v) - g_v(z)), and p(k - v) >= q p(k), but for
k at the border, whose share goes to 0 as n grows. So with c = 1 - q the sums over all moves have

    c E N >= E D,   D = N - (N - a)(N - b) / (N - 1) = s - 1 - (a - 1)(b - 1) / (N - 1) for N > 1,

and D = N for N <= 1: a move that leaves z_i > 0 and z_j < 0 with their signs takes 1 off N, and
after any other g_v is 0. For N > 1 both a and b are from 1 to N, so that 2 <= s <= 2 N, and (a -
1)(b - 1) <= (s - 2)^2 / 4 <= (N - 1) s^2 / 4 N. For any m > 0, E |z|^2 is at least E H, with H =
|z|^2 + (4 m / c) (D - c N). As x^2 >= 2 r x - r^2 u for r >= 2, |z|^2 >= s h(t) with t = N / s:
h(t) = 4 t^2 from 1 on (r = 2 t), and 8 t - 4 below (r = 2). So

    H >= A s - 4 m / c,   A = min over t >= 1/2 of h(t) - 4 m t + (4 m / c) (1 - 1 / 4 t),

for N <= 1 as well, where s = 2 N and H >= s (2 m / c - 2 m), the term of t = 1/2. And E s is at
least 2 q d / (1 + q): along a line of moves between i and another cell p changes by 1 / q at the
most, so that the two points next to T_i, at distances f and 1 - f, have (1 - f) p_0 + f p_1, which
is largest for f = 0 or 1, of no more than (1 - q) / (1 + q) of the line. So the mean square is at
least (2 q / (1 + q)) A - 4 m / c d, whatever m is. For small epsilon and many cells that is 4 /
epsilon^2, where chains of two cells have 2, and Laplace noise 8.

*Groups of two cells* (`of_pairs`): k groups that keep their known sums, in all of which a record
may move at once. Be x in Z^k the counts of one cell of each, so that every u in {-1, 1}^k leads to
a neighbour; take all x of a large region as alike, be p the probabilities after some output, T the
guess and z = x - T. Be w odd, w(t) = (3 t - t^3) / 2 up to 1 and 1 beyond, and A(x, u) the product
of (1 + u_i w(z_i / C)) / 2: chances of directions, which lead outwards. As p(x + u) >= q p(x),

    1 - q >= sum over x and u of A(x, u) (p(x) - p(x + u)) = E (1 - sum over u of A(x - u, u)),

and that sum over u is the product of the 1 - d_i, with d_i half of w((z_i + 1) / C) - w((z_i - 1) /
C): the mean, from z_i - 1 to z_i + 1, of a slope that is (3 / 2 C) (1 - t^2 / C^2), or 0 where that
is below. So 0 <= d_i <= 3 / 2 C, and d_i >= (3 / 2 C) (1 - (z_i^2 + 1/3) / C^2). Be S the sum of
the d_i, at most s = 3 k / 2 C. The product is at most e^-S, and 1 - e^-S, which is concave, at
least S (1 - e^-s) / s. So E S <= s (1 - q) / (1 - e^-s), and the mean of the E z_i^2 is at least

    C^2 (1 - (1 - q) / (1 - e^-s)) - 1/3   for any C > 0.

For small epsilon that is k^2 / 3 epsilon^2 (C = k / epsilon), and the cube of `k-norm` has (k + 1)
(k + 2) / 3 epsilon^2: for many groups no noise is better.

*The cube* (`of_cubes`): where the differences of neighbours fill a product of bodies, no point has
a probability above 1 / sum over z of exp(-epsilon |z|), and a distribution with so small a maximum
has the second moment of a ball at least. That says more where many outputs change together; it
takes counts that are large beside 1 / epsilon, which is said.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, singledispatch
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.masks import mask
from blowproof.mechanisms.planning.noise_program import MOST_OUTPUTS, least_noise
from blowproof.mechanisms.planning.spectral_bound import (
    change_of_a_step,
    least_in_a_chain,
    spectral_rmse,
)
from blowproof.models import BoundQuery, Exact, LinearFact, Move, Point, Policy, Setting, setting
from blowproof.models.base.numbers import magnitude
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.queries.kinds import Cumulative, Histogram, MarginalQuery, Ranges
from blowproof.models.secrets import OffsetGraph
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.certify.noise.k_norm import output_axes, published_axes

__all__ = [
    "LowerBound",
    "joint_bound",
    "least_variance",
    "lower_bound",
    "of_cubes",
    "of_exchanges",
    "of_pairs",
]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
MOST_LISTED, MOST_VALUES, MOST_LONG, SAMPLED = 1_000_000, 100_000, 2_000, 300
MOST_ENTRIES, MOST_IDLE = 1_000_000, 200_000
"""Changes of answers that are looked at: in all, and in a row none of which is the largest so far.
There every move counts as the quarter of a row more, which it takes to work it out.
"""
MOST_SEEN = 5_000_000
"""Entries of rows that are worked out for moves, however few of them a move changes."""
LONGEST, SHORT = 4_000, 600
AT_ONCE = 40
"""Facts: MOST_LISTED groups, each in two parts for each of these facts, are below 2**63."""
FEW_VALUES = 40
TRIED, HALVED, MANY = 60, 60, 10
"""Numbers m that are tried, and steps to the least A for each; and how many times 1 / epsilon a
count is on average that is large."""
DATA_INDEPENDENT = "whole-number noise that does not depend on the data"
PAIR = "the worst pair of neighbours"
CHAIN = "a chain of neighbours, with the worst change at every step"
SINGLE = "chains of neighbours, one record more moved at every step"
VOLUME = "how many answers neighbours lead to (the volume of their differences)"
EXCHANGES = "records that move between all cells at once"
OUTWARDS = "records that move in all groups at once, away from any guess"
SPECTRAL = "chains of neighbours in many directions together (singular values)"
LARGE = "counts that are large beside 1 / epsilon"


@dataclass(frozen=True)
class LowerBound:
    """No mechanism has a smaller RMSE on its worst database; `by` says which argument shows it."""

    rmse: float
    by: str
    assumes: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the bound as a plan has it."""
        return {"rmse": self.rmse, "by": self.by, "assumes": self.assumes}


def _least(epsilon: float, rho: float | None, steps: int | None) -> float:
    """Return the least variance of a place in a chain, for an epsilon or a rho."""
    if rho is None:
        return least_variance(epsilon, steps)
    direct = least_in_a_chain(change_of_a_step(epsilon, rho), steps)
    step = math.sqrt(rho / 2)
    best = 2 / (3 * step)
    tried = {1, math.floor(best), math.ceil(best)} if steps is None else {
        1, min(steps, math.floor(best)), min(steps, math.ceil(best))
    }  # fmt: skip
    return max(direct, *(k**2 / 4 * (1 - k * step) for k in tried))


def least_variance(epsilon: float, steps: int | None) -> float:
    """Return the least variance of a place in a chain of so many steps (None: without end).

    >>> round(least_variance(0.1, None), 1), round(least_variance(1.0, 1), 3)
    (199.6, 0.197)
    """
    q = math.exp(-epsilon)
    if q == 0:
        return 0.0
    if steps is None:
        wide = math.expm1(-epsilon) ** 2
        return max(q * (1 + q) / wide, 2 * q / wide - 1 / 4)
    best = q / (1 + q) ** 2 if steps >= 1 else 0.0
    best = max(best, _of_geometric(q, min(steps, SHORT)) - 1 / 4)
    for t in _rooms(steps, epsilon):
        best = max(best, (1 - 8 * t / (steps + 1)) * _cut_off(q, t))
    return best


@lru_cache(maxsize=256)
def _of_geometric(q: float, steps: int) -> float:
    """Return the least error of guesses from a geometric number that is cut off at both ends.

    Outputs beyond an end are the end, so the chance of that is 1 / (1 - q) times as large.

    >>> round(_of_geometric(0.0, 5), 6), round(_of_geometric(1.0, 2), 6)  # all is told; nothing is
    (0.0, 0.666667)
    """
    places = np.arange(steps + 1, dtype=np.float64)
    chances = (1 - q) * np.power(q, abs(places[:, None] - places))
    chances[:, [0, -1]] = np.power(q, np.stack([places, places[::-1]], axis=1))
    chances /= chances.sum(axis=1, keepdims=True)
    total = chances.sum(axis=0)
    mean = np.divide(places @ chances, total, out=np.zeros_like(total), where=total > 0)
    around = np.divide(places**2 @ chances, total, out=np.zeros_like(total), where=total > 0)
    each = around - mean**2 + (np.rint(mean) - mean) ** 2
    return float((each * total).sum() / (steps + 1))


def _rooms(steps: int, epsilon: float) -> Iterator[int]:
    """Yield some sizes of t to try: about the width of the noise, where the chain has that room."""
    for times in (1, 2, 3, 4, 6, 8, 12):
        t = math.ceil(min(times / epsilon, steps / 16))
        if 1 <= t <= steps / 8:
            yield t


def _cut_off(q: float, t: int) -> float:
    """Return E T^2 for P(T = s) in proportion to q^s, s = 0..t."""
    s = np.arange(min(t, LONGEST) + 1, dtype=np.float64)
    mass = np.power(q, s)
    return float((s**2 * mass).sum() / mass.sum())


def lower_bound(  # noqa: PLR0913 # keyword-only
    query: BoundQuery,
    policy: Policy,
    epsilon: Fraction,
    *,
    rho: Fraction | None = None,
    reading: Reading,
    answers: Answers | None,
    size: int | None,
    found: Answer | None,
) -> LowerBound | None:
    """Return the best of the bounds above that hold here; None where none does.

    `found`: what is known of S(f, P), whose pair is a chain of one step.
    """
    outputs = query.outputs(policy.domain)
    if outputs is None or query.per_record or (found is not None and found.upper == 0):
        return None
    rate, square = float(epsilon), None if rho is None else float(rho)
    bounds = []
    if found is not None and found.witness is not None:
        moves = found.witness.moves(reading)
        changes = Part(query, (Fraction(1),)).changes(moves)
        squares = sum(float(Fraction(value)) ** 2 for value in changes.values())
        bounds.append(_bound(squares * _least(rate, square, 1), outputs.count, PAIR))
        here = setting(policy, answers)
        if is_labelled(reading) and not here.bounds and not here.clauses:
            endless = math.sqrt(squares * _least(rate, square, None) / outputs.count)
            bounds.append(LowerBound(endless, CHAIN, LARGE))
    if is_labelled(reading):
        found_here = setting(policy, answers)
        squares = _by_single_moves(query, found_here, (rate, square), size, outputs.count)
        bounds.append(_bound(squares, outputs.count, SINGLE))
        bounds += joint_bound([query], [1.0], found_here, (rate, square), size)
        if square is None:
            bounds += _of_groups(query, found_here, rate, reading)
            bounds += _of_all_cells(query, found_here, rate, outputs.count, size)
            bounds += _of_all_noise(query, found_here, rate, found, reading, outputs.count)
    return max(bounds, key=lambda item: item.rmse, default=None)


def joint_bound(
    queries: Sequence[BoundQuery],
    weights: Sequence[float],
    found: Setting,
    promise: tuple[float, float | None],
    size: int | None,
) -> list[LowerBound]:
    """Return what singular values say of several queries together, in labelled readings."""
    rmse = spectral_rmse(queries, weights, found, promise, size)
    return [LowerBound(rmse, SPECTRAL)] if rmse else []


def _bound(squares: float, outputs: int, by: str) -> LowerBound:
    return LowerBound(math.sqrt(squares / outputs), by)


def _by_single_moves(
    query: BoundQuery,
    found: Setting,
    promise: tuple[float, float | None],
    size: int | None,
    outputs: int,
) -> float:
    """Return the sum, over the outputs, of what chains of single records say of each."""
    if found.clauses or (found.scope == "given" and _facts(found)):
        return 0.0  # how many records a chain may use is the facts' business
    gains = _by_structure(query, found, outputs)
    if gains is not None:
        return _best_chains(gains, promise, size)
    if found.domain.size > MOST_LISTED or query.longest_row > MOST_ENTRIES:
        return 0.0  # one move alone may change more answers than are looked at
    all_of = found.domain.size <= (MOST_VALUES if query.separates else MOST_LONG)
    largest: dict[Hashable, tuple[Exact, int]] = {}
    entries = idle = seen = 0
    for chain, (x, y) in enumerate(_idle_edges(found, None if all_of else SAMPLED)):
        changed = Part(query, (Fraction(1),)).changes([Move(x, y)])
        entries += len(changed) + 1
        idle += len(changed) + query.longest_row // 4
        seen += query.longest_row
        for key, value in changed.items():
            far = magnitude(value)
            if key not in largest or far > largest[key][0]:
                largest[key], idle = (far, chain), 0
        enough = entries > MOST_ENTRIES or idle > MOST_IDLE or seen > MOST_SEEN
        if enough or len(largest) == outputs:
            break
    gains = np.zeros(1 + max((chain for _, chain in largest.values()), default=-1))
    for far, chain in largest.values():
        gains[chain] += float(far) ** 2
    return _best_chains(gains[gains > 0], promise, size)


def _best_chains(gains: Floats, promise: tuple[float, float | None], size: int | None) -> float:
    """Return what chains say with so many records: of those that gain most, the best number.

    `gains`: the squares of what a step of each chain changes, each output in one chain.
    """
    if not len(gains):
        return 0.0
    if size is None:
        return float(gains.sum()) * _least(*promise, None)
    totals = np.cumsum(np.sort(gains)[::-1])
    found, steps = 0.0, max(1, size // len(gains))
    while steps <= size:
        chains = min(len(gains), size // steps)
        found = max(found, float(totals[chains - 1]) * _least(*promise, steps))
        steps = 1 + steps * 5 // 4
    return found


def _by_structure(query: BoundQuery, found: Setting, outputs: int) -> Floats | None:
    """Return the gains of moves along single axes, where any value may make them; else None.

    Without facts and impossible values, and where G looks at offsets: a shorter way on one axis
    alone is an edge wherever a longer one with others is.
    """
    if _facts(found) or found.impossible.boxes or not isinstance(found.graph, OffsetGraph):
        return None
    return _that_change(query, found.graph, outputs)


@singledispatch
def _that_change(query: BoundQuery, graph: OffsetGraph, outputs: int) -> Floats | None:
    """Return how many counts some moves change that share none; None for other queries."""
    return None


@_that_change.register
def _of_cells(query: Histogram | MarginalQuery, graph: OffsetGraph, outputs: int) -> Floats | None:
    """Take moves from one cell to another: any two, or two that are beside each other on an axis
    along which records may move, the one that leaves the fewest cells alone.
    """
    if graph.complete:
        pairs = np.full(outputs // 2, 2.0)
        return np.append(pairs, 1.0) if outputs % 2 and outputs > 1 else pairs
    sizes = [graph.axes[axis].size for axis in query.cell_axes(graph.domain) or ()
             if graph.reach(axis)]  # fmt: skip
    if not sizes:
        return np.zeros(0)
    size = max(sizes, key=lambda each: each // 2 / each)
    lines = outputs // size
    return np.append(np.full(lines * (size // 2), 2.0), np.ones(lines * (size % 2)))


@_that_change.register
def _of_ranges(query: Ranges, graph: OffsetGraph, outputs: int) -> Floats | None:
    """Take moves by one: a range changes by that at its end; the longest one counts everybody."""
    return np.ones(outputs - 1 if graph.reach(query.axis) else 0)


@_that_change.register
def _of_prefixes(query: Cumulative, graph: OffsetGraph, outputs: int) -> Floats | None:
    """Take moves as far as they lead, one behind the other: each changes what it passes."""
    reach = min(graph.reach(query.axis), outputs - 1)
    if not reach:
        return np.zeros(0)
    whole, rest = divmod(outputs - 1, reach)  # the last one counts everybody
    return np.append(np.full(whole, float(reach)), [float(rest)] * (rest > 0))


def _facts(found: Setting) -> list[LinearFact]:
    return [fact for fact in (*found.equalities, *found.bounds) if fact.name != "size"]


def _idle_edges(found: Setting, sample: int | None) -> Iterator[tuple[Point, Point]]:
    """Yield edges of G between possible values that no fact tells apart: each value and the next.

    First those that share no value. A record that moves along one breaks no fact, and alone it is a
    secret move: neighbours. Of many values, a sample: some values, each with one that is far away,
    and the next.
    """
    sizes = [kind.size for _, kind in found.domain.attributes]
    for alike in _alike(found.policy, found.scope):
        members = alike.tolist()
        pairs = [*zip(members[::2], members[1::2], strict=False),
                 *zip(members[1::2], members[2::2], strict=False)]  # fmt: skip
        for one, two in pairs if sample is None else _spread(members, sample):
            x, y = (tuple(map(int, np.unravel_index(place, sizes))) for place in (one, two))
            if found.graph.is_edge(x, y):
                yield x, y


@lru_cache(maxsize=2)
def _alike(policy: Policy, scope: Answers) -> list[Whole]:
    """Return the possible values (their places) in groups that no fact tells apart.

    The groups come in the order of their first values. Several queries are asked about one policy.
    """
    found, domain = setting(policy, scope), policy.domain
    places = np.flatnonzero(~mask(found.impossible, domain).ravel())
    group, several = np.zeros(len(places), dtype=np.int64), 1
    areas = (area for fact in _facts(found) for _, area in fact.terms)
    while some := list(islice(areas, AT_ONCE)):  # a group's number has this many bits more
        for area in some:
            group = 2 * group + mask(area, domain).ravel()[places]
        kinds, group = np.unique(group, return_inverse=True)
        several = len(kinds)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=several))[:-1]
    return sorted(np.split(places[order], ends), key=lambda members: members[:1].tolist())


def _spread(members: list[int], sample: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of some numbers, spread over all of them: far ones, then neighbouring ones."""
    step = max(1, len(members) // sample)
    half = len(members) // 2
    for apart in (half, 1) if half else ():
        for place in range(0, len(members) - apart, step):
            yield members[place], members[place + apart]


def _of_all_noise(
    query: BoundQuery,
    here: Setting,
    epsilon: float,
    found: Answer | None,
    reading: Reading,
    outputs: int,
) -> list[LowerBound]:
    """Return what a linear program says of all noise that does not depend on the data.

    The differences: of moves that no fact sees, and of the worst pair.
    """
    unit = query.grid(here.domain)
    places = query.outputs(here.domain)
    if unit is None or places is None or outputs > MOST_OUTPUTS or here.clauses:
        return []
    part = Part(query, (Fraction(1),))
    changes = []
    if found is not None and found.witness is not None:
        changes.append(part.changes(found.witness.moves(reading)))
    if here.domain.size <= FEW_VALUES:
        changes += [part.changes([Move(x, y)]) for x, y in _single_moves(here)]
    differences = []
    for change in changes:
        row = [Fraction(0)] * outputs
        for key, value in change.items():
            row[places.place(key)] = Fraction(value) / unit
        differences.append(tuple(row))
    square = least_noise(differences, epsilon)
    if square is None:
        return []
    rmse = float(unit) * math.sqrt(max(0.0, square) / outputs)
    return [LowerBound(rmse, "a linear program over all noise", DATA_INDEPENDENT)]


def _single_moves(found: Setting) -> Iterator[tuple[Point, Point]]:
    """Yield edges of G between possible values that no fact tells apart: all of them."""
    facts = _facts(found)
    points = [point for point in found.domain.points() if point not in found.impossible]
    for x, y in combinations(points, 2):
        same = all(fact.coefficient(x) == fact.coefficient(y) for fact in facts)
        if same and found.graph.is_edge(x, y):
            yield x, y


def _of_groups(
    query: BoundQuery, found: Setting, epsilon: float, reading: Reading
) -> list[LowerBound]:
    """Return what the volume of the neighbours' body says, where it is known (`noise.k_norm`).

    A group of m outputs that add up to 0 has the lattice volume C(2 (m - 1), m - 1) / (m - 1)! in
    any m - 1 of them, whichever is left out: so the mean over all outputs is that over these.
    """
    axes, known = output_axes(query, found), published_axes(found, reading)
    if axes is None or known is None or not set(known) < set(axes):
        return []
    sizes = {axis: found.domain.attribute(axis).size for axis in axes}
    count = math.prod(sizes[axis] for axis in known)
    top = math.prod(sizes.values()) // count - 1
    if top < 1 or found.impossible.boxes:
        return []
    each = math.lgamma(2 * top + 1) - 3 * math.lgamma(top + 1)
    d = count * top
    rmse = of_cubes(d, math.lgamma(d + 1) + count * each, epsilon, d)
    pairs = of_pairs(count, epsilon) if top == 1 else 0.0
    return [LowerBound(rmse, VOLUME, LARGE), LowerBound(pairs, OUTWARDS, LARGE)]


def _of_all_cells(
    query: BoundQuery, found: Setting, epsilon: float, outputs: int, size: int | None
) -> list[LowerBound]:
    """Return what exchanges between all cells say, where nothing is known and all is secret.

    Not where n is known, and too small for counts that are large.
    """
    if size is not None and size * epsilon < MANY * outputs:
        return []
    if query.cell_axes(found.domain) is None or found.clauses or _facts(found):
        return []
    if not found.graph.complete or found.impossible.boxes:
        return []
    rmse = of_exchanges(outputs, epsilon)
    return [LowerBound(rmse, EXCHANGES, LARGE)] if rmse else []


def of_exchanges(cells: int, epsilon: float) -> float:
    """Return the RMSE that no mechanism beats on so many cells between any of which records move.

    >>> [round(of_exchanges(cells, 0.1), 1) for cells in (2, 16, 4096)]  # chains: 14.1
    [0.0, 18.4, 19.9]
    """
    q = math.exp(-epsilon)
    c, near = -math.expm1(-epsilon), 2 * q / (1 + q)
    tried = (2 + (4 / c - 2) * place / TRIED for place in range(TRIED + 1))
    best = max(near * _least_of(m, c) - 4 * m / (c * cells) for m in tried)
    return math.sqrt(max(0.0, best))


def _least_of(m: float, c: float) -> float:
    """Return A, the least of a function that is concave up to 1, and from there to where it turns
    convex: it is least at one of these ends, or where it is convex, up to m / 2 and no farther.
    """

    def at(t: float) -> float:
        square = 4 * t * t if t >= 1 else 8 * t - 4
        return square - 4 * m * t + 4 * m / c * (1 - 1 / (4 * t))

    turn = max(1.0, (m / (4 * c)) ** (1 / 3))
    low, high = turn, max(turn, m / 2)
    for _ in range(HALVED):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (one, high) if at(one) > at(two) else (low, two)
    return min(at(1 / 2), at(1.0), at(turn), at((low + high) / 2))


def of_pairs(groups: int, epsilon: float) -> float:
    """Return the RMSE that no mechanism beats on groups of two cells, in all of which records move.

    >>> round(of_pairs(16, 1.0), 2), round(of_pairs(16, 0.1) / 10, 2), round(16 / 3**0.5, 2)
    (6.88, 9.01, 9.24)
    """
    c = -math.expm1(-epsilon)
    best = 0.0
    for place in range(1, TRIED + 1):
        wide = 2 * groups / epsilon * place / TRIED
        best = max(best, wide**2 * (1 + c / math.expm1(-1.5 * groups / wide)) - 1 / 3)
    return math.sqrt(best)


def of_cubes(dimension: int, log_volume: float, epsilon: float, outputs: int) -> float:
    """Return the RMSE that no mechanism beats where differences fill a body of this volume.

    `log_volume`: of the volume times the factorial of the dimension, in units of the grid. With
    M = epsilon^d / (d! vol) no density is larger, so the second moment is that of a ball of volume
    1 / M at least; whole numbers are d / 12 short of a density (noise of one unit in each).

    >>> import math
    >>> round(of_cubes(16, math.lgamma(17) + 16 * math.log(2), 1.0, 16), 2)  # the cube [-1, 1]^16
    3.5
    """
    d = dimension
    ball = d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)
    moment = d / (d + 2) * math.exp(2 / d * (log_volume - d * math.log(epsilon) - ball))
    return math.sqrt(max(0.0, moment - d / 12) / outputs)
