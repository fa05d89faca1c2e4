"""Few signatures, complete G, two affine dependencies and more: bounds, and a conjecture.

As in `one_dependency`, N classes have distinct signatures of affine rank r, and K = {k integer :
sum k = 0, sum k_c s_c = 0} has rank d = N - 1 - r. Cut the classes into d blocks such that the
vectors of K that sum to 0 on each block are the multiples of one primitive k: a *frame*, with
`worth` the sum of what `one_dependency.worth` says of k on each block. Let W be the largest worth
of a frame. For d = 1 there is one frame, all classes in one block, and the larger of W and 2 B is
S(h). Then:

* for every d, S(h) >= W (`blocks_below`);
* for d = 2, S(h) <= max(2 B, 2 W - 2) (`blocks_above`), so that W is wrong by less than a factor 2;
* for d = 2, S(h) = W if no signature has two values (`single_values`);
* S(h) = max(2 B, W) on every instance checked (`blocks_conjecture`).
"""

from __future__ import annotations

from blowproof.models import Exact
from blowproof.models.policy.readings import BLOWFISH
from blowproof.models.queries.kinds import Histogram
from blowproof.verifier.closed_forms.ours.one_dependency import (
    collapsed,
    dependencies,
    few_signatures,
    not_complete,
)
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating.form import Case, form
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.affine_frames import (
    MOST_PARTITIONS,
    heaviest_frame,
    partition_count,
)

__all__ = ["FORMS", "heaviest_frame"]

MOST_BLOCKS = whole_limit(__name__, "MOST_BLOCKS")


def _several(case: Case) -> str | None:
    """At least two dependencies (for fewer, `one_dependency` has S itself), and not too many."""
    count = len(case.once(collapsed).dependencies)
    if count < 2:
        return "N is at most r + 2"
    most = MOST_BLOCKS + 1
    return None if count < most else f"N = r + {count + 1} is more than r + {most}"


def _few_partitions(case: Case) -> str | None:
    found = case.once(collapsed)
    count = partition_count(len(found.vectors), len(found.dependencies))
    return None if count <= MOST_PARTITIONS else f"{count} partitions into blocks are too many"


def _heaviest(case: Case) -> int:
    return heaviest_frame(case.once(collapsed))


def _cycle(case: Case) -> int:
    """Return 2 B, what a cycle through all classes changes: see `one_dependency.independent`."""
    return 2 * sum(case.once(collapsed).large)


def _single(case: Case) -> str | None:
    """No signature has two values."""
    many = sum(case.once(collapsed).large)
    return f"{many} signatures have two values or more" if many else None


_COMPLETE = (need.query_is(Histogram), need.equality_facts, need.graph_complete)
_TWO = (dependencies(2), _few_partitions)
_SEVERAL = (*_COMPLETE, few_signatures, _several, _few_partitions)


@form(
    "blowproof/affine-blocks-below",
    "Full secrets, N = r + 1 + d signatures, d >= 2: S(h) is at least the worth of every cut into "
    "d blocks that leaves one kernel vector summing to 0 on each (of two values: twice the prefix "
    "sums, block by block).",
    source="ours; a lower bound where counts are not sparse, which blowfish-2014 leaves open",
    relation=">=",
    readings=BLOWFISH,
    checks=_SEVERAL,
    repaired=True,
)
def blocks_below(case: Case) -> Exact:
    """*Statement.* G complete, equality facts, impossible values allowed, scope "any". For d >= 1,
    S(h, P) >= max(2 B, W), where B is the number of classes that have two values or more.

    *Proof.* 2 B: a cycle through all classes, as in `one_dependency.independent`. W: take a frame
    and its k. On each block k sums to 0, so by `one_dependency.one_dependency` there is an order of
    its classes in which moving everything from each class to the next one is a flow u with boundary
    k, all cuts P >= 0, that changes the histogram by the block's worth. Take these flows together.
    A part of u without effect has a boundary k' in K. No arc leaves a block, so k' sums to 0 on
    each block and is t k. Its cuts are t P, and 0 <= t P <= P with some P > 0: 0 <= t <= 1, and t
    is an integer as k is primitive. On a path the cuts are the flow. So the part is empty or all of
    u, and u is irreducible. QED.
    """
    return max(_cycle(case), case.once(_heaviest))


@form(
    "blowproof/two-affine-dependencies",
    "Full secrets, N = r + 3 signatures, of one value each: S(h) is the largest sum of |k| over "
    "the values, k the kernel vector that sums to 0 on both blocks of a cut of the values in two.",
    source="ours; counts that are not sparse, which blowfish-2014 leaves open",
    readings=BLOWFISH,
    checks=(*_COMPLETE, *_TWO, _single),
    repaired=True,
)
def single_values(case: Case) -> Exact:
    """*Statement.* G complete, equality facts, impossible values allowed, scope "any". For d = 2,
    if each signature has one value, S(h, P) = W.

    *Proof.* At least W: `blocks_below`. Moves change the histogram by the sum of |k_c|, k being
    their boundary: a norm of it. So an irreducible changes it by no more than the vector of some
    frame (`theorems.lengths.two_dependencies`), which is worth just this. QED.
    """
    return case.once(_heaviest)


def _twice(case: Case) -> Exact:
    return max(_cycle(case), 2 * case.once(_heaviest) - 2)


@form(
    "blowproof/two-affine-dependencies-above",
    "Full secrets, N = r + 3 signatures: S(h) is at most 2 W - 2, or twice the number of "
    "signatures with two values; W is the best cut of the classes into two blocks.",
    source="ours; an upper bound where counts are not sparse, which blowfish-2014 leaves open",
    relation="<=",
    readings=BLOWFISH,
    checks=(*_COMPLETE, *_TWO),
    repaired=True,
)
def blocks_above(case: Case) -> Exact:
    """*Statement.* G complete, equality facts, impossible values allowed, scope "any". For d = 2,
    S(h, P) <= max(2 B, 2 W - 2).

    *Proof.* Let M be an irreducible zero-effect multiset of moves. As in
    `one_dependency.one_dependency` it is a move inside a class or a simple cycle (2 at most, or 2
    B), or an acyclic flow u with a boundary k(z), z in Z^2, where k is a linear bijection of Z^2
    onto K. Let w(u) be the bound of `one_dependency` on what u changes: at a large class what
    enters and what leaves, at a small one
    |k(z)_c|. It is subadditive: w(u + v) <= w(u) + w(v), for real flows too.

    (1) *Parts are lattice points.* If 0 <= u' <= u is a real flow with boundary k(z'), z' in Z^2,
    there is an integer one (flows are totally unimodular), hence z' = 0 or z.

    (2) *Circuits.* The real flows v >= 0 on the arcs of u with a boundary in the real span of K
    make a pointed cone; u = sum of l_i c_i, with l_i > 0 and c_i primitive integer vectors on its
    extreme rays. Those on the arcs of c_i are the multiples of c_i. So these arcs contain no
    undirected cycle (c_i has a boundary other than 0, u being acyclic), they are a forest, and the
    boundaries on a forest are all that sum to 0 on each tree. In K those are one line, so some tree
    T has a sum that is not 0 on all of K: T and the other classes are a frame, its vector is the
    boundary of c_i up to a sign, and no arc of c_i leaves T. By `one_dependency` on either block,
    w(c_i) <= W. Hence w(u) <= W (sum of l_i), and the claim follows from sum l_i < 2: what changes
    in all is even, and so is W.

    (3) *The sum of the l_i is less than 2.* Let c_i have the boundary k(z_i). Z, the sum of the
    segments from 0 to l_i z_i, lies in the set of the z' that parts of u have, is symmetric about
    z/2, and by (1) its lattice points are 0 and z. z is primitive (z = m z' gives the part u/m).
    Some linear functional is positive on all z_i, else a non-empty part of a multiple of u would be
    cyclic. Choose coordinates of Z^2 with z = (1, 0) and the functional x - s y. It may be
    perturbed, so s is no integer; shear x to x - m y so that 0 < s < 1. Call z_i = (x_i, y_i) up if
    y_i > 0, down if y_i < 0, else it is z. Up: x_i > s y_i > 0, so x_i >= 1. Down, z_i =
    (x_i, -y_i): x_i > -s y_i > -y_i, so x_i + y_i >= 1. Let the l_i z_i that are up sum to
    (X, H); those that are down sum to (1 - L - X, -H), where L is the l of z.

    If H < 1: sum l_i <= X + L + (1 - L - X + H) = 1 + H < 2.

    If H >= 1: the points of Z at y = 1 are an interval without integers. They have x > s, and by
    symmetry 1 - x > -s, so it lies in (0, 1) or (1, 2). In the second case reflect y and shear x to
    x + y, which exchanges up and down and s and 1 - s: in the first case then. At y = -1 it is in
    (0, 1) too, by symmetry. Let h be the sum of l_i y_i over the down z_i with x_i <= 0. If h were
    1 or more, the sum of these l_i z_i, divided by h, would be a point of Z at y = -1 with x <= 0.
    So h < 1. The down z_i with x_i >= 1 have sum l_i <= sum l_i x_i = 1 - L - X + (the sum of
    -l_i x_i over the others), where -x_i <= y_i - 1, so all down l_i sum to at most 1 - L - X + h.
    With those that are up, at most X, and L, the sum is at most 1 + h < 2. QED.
    """
    return _twice(case)


@form(
    "blowproof/published-below-complete-two-dependencies",
    "Any G, N = r + 3 signatures: S(h) is at most its bound for full secrets.",
    source="ours; an upper bound for blowfish-2014, Theorem 8.2, as published",
    relation="<=",
    checks=(need.query_is(Histogram), need.equality_facts, not_complete, *_TWO),
    repaired=True,
)
def published_blocks_above(case: Case) -> Exact:
    """As `one_dependency.published_independent`, with the value of `blocks_above`, or that of
    `single_values` where it applies.
    """
    return case.once(_heaviest) if _single(case) is None else _twice(case)


@form(
    "blowproof/affine-blocks",
    "Full secrets, N = r + 1 + d signatures, d >= 2 (a conjecture): S(h) is the larger of W, the "
    "best cut into d blocks, and twice the number of signatures with two values.",
    source="ours; a conjecture where counts are not sparse, which blowfish-2014 leaves open",
    readings=BLOWFISH,
    checks=_SEVERAL,
    conjecture=True,
)
def blocks_conjecture(case: Case) -> Exact:
    """*Conjecture.* G complete, equality facts, impossible values allowed, scope "any". S(h, P) =
    max(2 B, W): a circuit is as good as any irreducible. At least that, and for d = 2 less than
    twice that, and that itself where B = 0, is proved: see `blocks_below`, `blocks_above` and
    `single_values`.

    Checked against the exact search, without an exception. d = 2: the 425 policies of the ledger
    (`blowproof claims blowfish-2014/corollary-8.3`); the 178 sets of four points 0..14 on a line,
    up to scale and reflection; 461 drawn bases of K for 4 to 6 classes; some 3,600 drawn policies
    of rank 1 to 4 with classes of one to three values. d = 3: some 1,200 drawn policies of rank 1
    to 3; five points 0..11 on a line. d = 4 and 5: some 800 drawn policies and sets of points of
    rank 1 to 3; six points 0..11 on a line.

    It is not so for each boundary by itself. With the signatures 2, 0, 8, 3 on a line, the boundary
    (4, -3, -1, 0) has an irreducible of 8 moves, but 7 at most if everything moves from each class
    to the next one in some order. S(h) is 26, from the boundary (0, -5, -3, 8).
    """
    return max(_cycle(case), case.once(_heaviest))


FORMS = (blocks_below, single_values, blocks_above, published_blocks_above, blocks_conjecture)
