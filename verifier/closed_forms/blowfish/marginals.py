"""blowfish-2014, section 8.2: histograms when marginals are known, as printed and repaired."""

from __future__ import annotations

from math import prod

from blowproof.models import Exact, Full
from blowproof.models.policy.readings import BLOWFISH
from blowproof.models.queries.kinds import Histogram
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating import counterexamples as wrong
from blowproof.verifier.closed_forms.stating.form import Case, form

__all__ = ["FORMS"]

# --- one marginal, full secrets ------------------------------------------------------------------


def _one_marginal(case: Case) -> str | None:
    if need.facts_are_marginals(case) is None and len(case.policy.known) == 1:
        return None
    return "it speaks about exactly one known marginal"


def _proper(case: Case) -> str | None:
    if all(len(axes) < len(case.domain) for axes in need.marginal_axes(case)):
        return None
    return "a known marginal has all attributes"


def _size(case: Case, axes: frozenset[int]) -> int:
    return prod(case.domain.attribute(axis).size for axis in axes)


@form(
    "blowfish-2014/theorem-8.4",
    "Full secrets, one known marginal C without all attributes: S(h) = 2 size(C).",
    source="blowfish-2014, Theorem 8.4",
    checks=(need.query_is(Histogram), need.secrets_are(Full), _one_marginal, _proper),
    wrong=wrong.THEOREM_8_4,
)
def theorem_8_4(case: Case) -> Exact:
    """Fails where the attributes outside C have one value each: h is then known."""
    return 2 * _size(case, need.marginal_axes(case)[0])


@form(
    "blowfish-2014/theorem-8.4-repaired",
    "Full secrets, one known marginal C: S(h) = 2 size(C) if the other attributes have two values "
    "together, else 0.",
    source="blowfish-2014, Theorem 8.4, repaired",
    readings=BLOWFISH,
    checks=(need.query_is(Histogram), need.graph_complete, _one_marginal, need.no_impossible),
    repaired=True,
)
def theorem_8_4_repaired(case: Case) -> Exact:
    """The signatures are the unit vectors of C's cells: affinely independent, and each cell has as
    many values as the other attributes combine to. See `one_dependency.independent`.
    """
    axes = need.marginal_axes(case)[0]
    return 2 * _size(case, axes) if case.domain.size > _size(case, axes) else 0


# --- several marginals, attribute secrets --------------------------------------------------------


def _disjoint(case: Case) -> str | None:
    seen: set[int] = set()
    for axes in need.marginal_axes(case):
        if seen & axes:
            return "two known marginals share an attribute"
        seen |= axes
    return None if case.policy.known else "no marginal is known"


_8_5 = (need.query_is(Histogram), need.one_change, need.facts_are_marginals, _disjoint)


@form(
    "blowfish-2014/theorem-8.5",
    "One-attribute secrets, disjoint known marginals: S(h) = 2 max size(C_i).",
    source="blowfish-2014, Theorem 8.5",
    readings=BLOWFISH,
    checks=(*_8_5, _proper),
    wrong=wrong.THEOREM_8_5,
)
def theorem_8_5(case: Case) -> Exact:
    """Odd cycles over a leftover of two values cancel; a leftover of one value cancels everything;
    as published, plain moves compensate.
    """
    return 2 * max(_size(case, axes) for axes in need.marginal_axes(case))


@form(
    "blowfish-2014/theorem-8.5-repaired",
    "One-attribute secrets, disjoint known marginals: S(h) is the largest of 2 size(C) (if three "
    "values or more lie outside C), 4 floor(size(C) / 2) (two), and 2 (an attribute in no C).",
    source="blowfish-2014, Theorem 8.5, repaired",
    readings=("secret-moves",),
    checks=(*_8_5, need.no_impossible),
    repaired=True,
)
def theorem_8_5_repaired(case: Case) -> Exact:
    """*Statement.* For a marginal C with N cells, let M be the number of ways to fill the
    attributes outside C. Let v(C) = 0 if N = 1 or M = 1; 4 floor(N / 2) if M = 2; 2 N if M >= 3.
    Then S(h) is the largest v(C_i), and at least 2 if an attribute outside all marginals has two
    values.

    *Proof.* A secret move changes one attribute. If that lies in no marginal, the move has no
    effect: it is a neighbour pair by itself and changes 2. Else it moves a record between two cells
    of one C_i that differ in one attribute, and the effects of different marginals are in different
    coordinates: an irreducible multiset is a simple cycle of such moves in one C = C_i. Move j
    takes a record from (c_j, l_j) to (c_{j+1}, l_j), where l_j, the values outside C, stays. At
    cell c_j a record (c_j, l_{j-1}) arrives and (c_j, l_j) leaves: they cancel iff l_{j-1} = l_j.
    So a cycle of length n changes 2 times the number of j with l_{j-1} != l_j, where the l_j are
    arbitrary: none if M = 1; all n if M >= 3, or M = 2 and n is even (n >= 2); n - 1 at best if M =
    2 and n is odd, since the changes of a two-valued cyclic sequence are even in number.

    The cells of C, joined where they differ in one attribute, are a product of complete graphs. For
    N >= 3 it has a Hamiltonian cycle (K_a has one for a >= 3, K_2 x K_2 is a square, and the
    product of a cycle with K_a, a >= 2, is Hamiltonian); for N = 2 there is the cycle of length 2.
    So n = N is possible, no n is larger, and 4 floor(N / 2) is N's own value for M = 2, odd N
    included. QED.
    """
    free = set(range(len(case.domain))).difference(*need.marginal_axes(case))
    best = 2 if any(case.domain.attribute(axis).size > 1 for axis in free) else 0
    for axes in need.marginal_axes(case):
        cells = _size(case, axes)
        outside = case.domain.size // cells
        if cells > 1 and outside > 1:
            best = max(best, 4 * (cells // 2) if outside == 2 else 2 * cells)
    return best


FORMS = (theorem_8_4, theorem_8_4_repaired, theorem_8_5, theorem_8_5_repaired)
