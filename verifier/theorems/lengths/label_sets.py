"""Cells and one more fact beside them: how many records with label 1 come to some of the cells.

*Statement.* With names of `label_changes`: let P be m of the N classes, and Q the others. The sum
of z_c over P is at most m (N - m). So if f has one output, which is the same for all values of one
class and label, and v_c is what label 1 adds to it in class c beyond what label 0 does, then S(f,
P) is at most the sum of |v_c - v_c'| over pairs of classes. Of several outputs, in l1, it is at
most the largest such sum over all ways to give each output a sign, v_c being what they then add
up to. Classes that lack a label may have any v_c: the median of the others leaves least.

*Proof.* A simple cycle changes each z_c by 1 at the most, all of them add up to 0, and min(m, N -
m) <= m (N - m). Else, as in `label_changes`, it is enough for a single A and B, of labels a and -b,
that z(P) = b d(A, P) + a d(B, P) <= m (N - m). Let p = d(A, P) <= m and q = -d(B, Q) <= N - m, so
that

    z(P) = b p - a (b - q) = p q - (p - a) (q - b).

If (p - a) (q - b) >= 0, z(P) is at most p q; where that is positive, p and q both are, or both are
negative and z(P) is, too. So z(P) <= m (N - m). Else let p > a and q < b (the other case is this
one with the labels 0 and 1 exchanged, and with them A and B, P and Q). If A and B have no more than
one class in common, or only h_1 >= T, then p + b <= N, as shown there. Put k = p - a. Some k
classes of A are in Q, as d(A, Q) = -k: so 0 < k <= N - m. And b <= N - a - k says that

    z(P) = b k + a q <= k (N - k) + a (q - k).

For q <= k that is at most k (N - k), k < p <= m and k <= N - m: no more than m (N - m). For q > k,
as a = p - k <= m - k and q <= N - m, it is at most k (N - k) + (m - k) (N - m - k) = m (N - m). If
two segments or more have h_i >= T, 2 <= T <= 2 (N + 2) / 5, so that whole T is no more than N / 2
rounded up; no |z_c| is more than T, and z(P) = -z(Q): at most T min(m, N - m) <= m (N - m).

Now let f have one output. It changes by the sum of v_c z_c, which is an integral over numbers t of
z(P), P being the classes with v_c > t (sum z_c = 0): no more than the integral of how many pairs of
classes t separates, and the same with other signs. If a class lacks a label, z_c = 0, and it may
lie on either side. In l1, several outputs change by what they add up to with the signs of their
changes. QED

*Met*, for G complete, any answers, and classes with both labels, where f is the sum of z_c over P:
`two_cycles.gained_two`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import product

from blowproof.models import BoundQuery, Exact
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.lengths.label_changes import Ends

__all__ = ["by_sets", "separated"]

FEW_OUTPUTS = whole_limit(__name__, "FEW_OUTPUTS")


def separated(values: Sequence[Exact], others: int = 0) -> Exact:
    """Return the sum of |v - v'| over pairs of classes; `others` may have any v that is good.

    >>> separated([1, 1, 0, 0, 0]), separated([1, 0], others=2), separated([3, 1, 0])
    (6, 3, 6)
    """
    most: Exact = 0
    ordered = sorted(values)
    for below in range(1, len(ordered)):
        above = len(ordered) - below
        pairs = below * above + others * min(below, above)
        most += (ordered[below] - ordered[below - 1]) * pairs
    return most


def by_sets(
    query: BoundQuery, ends: Ends, count: int, end: float
) -> tuple[Exact, dict[int, Exact]] | None:
    """Return the bound on S(f, P) beside so many classes, and the v_c that it is for.

    None where outputs are many, or the norm is another.
    """
    found: tuple[Exact, dict[int, Exact]] | None = None
    for values in _by_signs(query, ends):
        if now() > end:
            return None
        most = separated(list(values.values()), count - len(values))
        if found is None or most > found[0]:
            found = most, values
    return found


def _by_signs(query: BoundQuery, ends: Ends) -> Iterator[dict[int, Exact]]:
    """Yield the v_c for each choice of signs; nothing where outputs are many."""
    if query.measure is not L1:
        return
    apart: dict[int, dict[Hashable, Exact]] = {}
    for place, (x, y) in ends.items():
        low, high = query.row(x), query.row(y)
        changes = {key: high.get(key, 0) - low.get(key, 0) for key in {*low, *high}}
        apart[place] = {key: change for key, change in changes.items() if change}
    keys = sorted({key for change in apart.values() for key in change}, key=repr)
    if len(keys) > FEW_OUTPUTS:
        return
    for signs in product((1,), *[(1, -1)] * (len(keys) - 1)) if keys else [()]:
        sign = dict(zip(keys, signs, strict=True))
        yield {
            place: sum(sign[key] * value for key, value in change.items())
            for place, change in apart.items()
        }
