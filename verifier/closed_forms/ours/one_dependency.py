"""Few signatures, complete G: the sensitivity of the histogram from the affine dependencies.

Let N classes of possible values have distinct signatures s_1, ..., s_N, of affine rank r (that of
the differences), so that the vectors (1, s_c) have N - 1 - r independent linear dependencies. Two
cases have a closed form: none (N = r + 1), and one (N = r + 2). They are new. `more_dependencies`
has what is known of two and more.
"""

from __future__ import annotations

from collections import defaultdict
from math import prod

from blowproof.models import Exact
from blowproof.models.policy.readings import BLOWFISH
from blowproof.models.queries.kinds import Histogram
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating.form import Case, Check, form
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.reductions.few_values import possible_classes
from blowproof.verifier.theorems.affine_frames import Signatures, kernel, worth

__all__ = [
    "FORMS",
    "Signatures",
    "collapsed",
    "dependencies",
    "few_signatures",
    "kernel",
    "not_complete",
    "worth",
]

CLASS_LIMIT = whole_limit(__name__, "CLASS_LIMIT")


def collapsed(case: Case) -> Signatures:
    """Collapse the domain by the facts, and merge the classes that the facts do not tell."""
    sizes: dict[tuple[int, ...], int] = defaultdict(int)
    for item in possible_classes(case.setting, []):
        sizes[case.policy.signature(item.take(1)[0])] += item.size
    vectors = tuple(sorted(sizes))
    return Signatures(vectors, tuple(sizes[v] > 1 for v in vectors))


def _cells(case: Case) -> int:
    """Return how many signatures the known marginals make, before impossible values are counted."""
    axes = set().union(*need.marginal_axes(case))
    return prod(case.domain.attribute(axis).size for axis in axes)


def few_signatures(case: Case) -> str | None:
    """The signatures are few enough to be worked out."""
    least = _cells(case)
    vectors = () if least > CLASS_LIMIT else case.once(collapsed).vectors
    if max(least, len(vectors)) > CLASS_LIMIT:
        return f"there are more than {CLASS_LIMIT} signatures, too many to work out"
    return None


def dependencies(count: int) -> Check:
    """There are N = r + 1 + `count` signatures."""

    def check(case: Case) -> str | None:
        many = few_signatures(case)
        if many is not None:
            return many
        found = case.once(collapsed)
        if len(found.dependencies) == count:
            return None
        rank = len(found.vectors) - 1 - len(found.dependencies)
        return f"{len(found.vectors)} signatures of affine rank {rank} are not r + {count + 1}"

    return check


def _independent_value(case: Case) -> Exact:
    return 2 * sum(case.once(collapsed).large)


@form(
    "blowproof/affinely-independent-signatures",
    "Full secrets, N = r + 1 signatures: S(h) is twice the number of signatures with two values.",
    source="ours; a repair of blowfish-2014, Theorem 8.4, and of 8.6 for full secrets",
    readings=BLOWFISH,
    checks=(
        need.query_is(Histogram),
        need.equality_facts,
        need.graph_complete,
        dependencies(0),
    ),
    repaired=True,
)
def independent(case: Case) -> Exact:
    """*Statement.* G complete, equality facts, impossible values allowed, scope "any". If the N
    signatures are affinely independent (marginal cells; disjoint ranges; a point and its
    complement; ...), S(h, P) = 2 B with B the number of classes that have two values or more.

    *Proof.* Both readings are irreducible zero-effect multisets of moves. Let net_c be the records
    that class c gains. sum net_c = 0 and sum net_c s_c = 0, so net = 0 by independence: a multiset
    of moves is a circulation on the classes, and an irreducible one is a simple cycle, or a single
    move inside a class. In a cycle each class loses a record and gains one: with one value, they
    are the same value and cancel; with two or more, the change is at most 2, and it is 2 if the
    record leaves the class's first value and enters its second. Some cycle visits all classes (if
    N >= 2), and if N = 1 a move inside the class changes 2 iff it has two values. QED.
    """
    return _independent_value(case)


@form(
    "blowproof/one-affine-dependency",
    "Full secrets, N = r + 2 signatures, of two values each: S(h) is twice the sum of the prefix "
    "sums of the kernel vector of [1; signatures] in descending order (one value: see the proof).",
    source="ours; an extension of blowfish-2014, Theorem 8.4",
    readings=BLOWFISH,
    checks=(
        need.query_is(Histogram),
        need.equality_facts,
        need.graph_complete,
        dependencies(1),
    ),
    repaired=True,
)
def one_dependency(case: Case) -> Exact:
    """*Statement.* G complete, equality facts, impossible values allowed, scope "any". Let k be the
    primitive integer vector with sum k = 0 and sum k_c s_c = 0. Call a class large if it has two
    values or more, and let B be the number of large classes. Then S(h, P) = max(2 B, V), where

        V = sum over large c of (k_c + 2 F_c) + sum over small c of |k_c|,

    the large classes are taken in descending order of k, and F_c is the sum of k over the classes
    before c and over the small classes with k > 0. If all classes are large, V is twice the sum of
    the prefix sums of k in descending order, and at least 2 N.

    *Proof.* Let M be an irreducible zero-effect multiset of moves, and net_c the records that class
    c loses less those that it gains. sum net = 0 and sum net_c s_c = 0, so net = t k, t an integer.

    t = 0: M is a circulation, hence a simple cycle or a move inside a class: at most 2 B, which is
    met, as in `independent`.

    |t| >= 1: M is a flow with boundary t k. It contains no cycle (that would be a part without
    effect, and not all of M). Decompose it into |t| (sum of the positive parts of k) paths; which
    source goes with which sink is an integer matrix with margins |t| k+ and |t| k-. The matrix
    divided by |t| has margins k+ and k-, and since transportation polytopes are integral, some
    integer matrix below the original one has these margins. Its paths make a part with boundary
    k or -k, without effect: so it is M, and |t| = 1. Reversing all moves, t = 1.

    An acyclic flow has a topological order of the classes. Before class c the flow across the cut
    is the sum of k over the earlier classes, P_c. What enters c is at most P_c, what leaves it at
    most P_c + k_c. A large class changes the histogram by at most in + out <= 2 P_c + k_c, and by
    exactly in + out if records leave its first value and enter its second; a small one by |k_c|. So
    ||.|| <= sum over large c of (2 P_c + k_c) + sum over small c of |k_c|. The terms P_c are
    largest if all small classes with k > 0 come first, those with k < 0 last, and the large ones in
    between in descending order (exchange two neighbours). In this order no cut is negative, so
    moving everything from each class to the next one is a flow, and it meets the bound. It is
    irreducible: a part without effect has a boundary t k and the cuts t P, and 0 <= t P <= P, so t
    is 0 or 1; 0 makes it empty, for nothing is cyclic, and 1 makes the rest empty. If all classes
    are large, the sum telescopes to twice the sum of the cuts. Each of the N - 1 cuts is then at
    least 1, and one is at least 2 (else k would be e_i - e_j, and two signatures equal), so V >=
    2 N. QED.
    """
    found = case.once(collapsed)
    return max(2 * sum(found.large), worth(found.dependencies[0], found.large))


def not_complete(case: Case) -> str | None:
    """G is not complete."""
    return "G is complete: the equality itself applies" if case.graph.complete else None


@form(
    "blowproof/published-below-complete-independent",
    "Any G, N = r + 1 signatures: S(h) is at most twice the number of signatures with two values.",
    source="ours; an upper bound for blowfish-2014, Theorems 8.2 and 8.6, as published",
    relation="<=",
    checks=(
        need.query_is(Histogram),
        need.equality_facts,
        not_complete,
        dependencies(0),
    ),
    repaired=True,
)
def published_independent(case: Case) -> Exact:
    """With equality facts, a published neighbour pair is an irreducible multiset over all moves,
    secret and plain (SEMANTICS.md, section 4), hence one of the complete graph: see `independent`.
    """
    return _independent_value(case)


@form(
    "blowproof/published-below-complete-dependent",
    "Any G, N = r + 2 signatures: S(h) is at most its value for full secrets.",
    source="ours; an upper bound for blowfish-2014, Theorem 8.2, as published",
    relation="<=",
    checks=(
        need.query_is(Histogram),
        need.equality_facts,
        not_complete,
        dependencies(1),
    ),
    repaired=True,
)
def published_dependent(case: Case) -> Exact:
    """As for independent signatures, with the value of `one_dependency`."""
    return one_dependency.value(case)


FORMS = (independent, one_dependency, published_independent, published_dependent)
