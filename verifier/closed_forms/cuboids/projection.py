"""exact-cuboids-draft, Lemma 4.4: what a known cuboid does to the other cuboids."""

from __future__ import annotations

from blowproof.models import Exact
from blowproof.models.policy.readings import Reading
from blowproof.models.queries.kinds import MarginalQuery
from blowproof.verifier.closed_forms.cuboids.cells import lemma_4_3_repaired, n_follows, sizes_of
from blowproof.verifier.closed_forms.cuboids.known_cells import at_most
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating import counterexamples as wrong
from blowproof.verifier.closed_forms.stating.form import Case, form

__all__ = ["FORMS"]

DRAFT = "exact-cuboids-draft"
READING: tuple[Reading, ...] = ("add-remove",)


def _cuboid_query(case: Case) -> frozenset[int]:
    assert isinstance(case.query, MarginalQuery)
    return frozenset(case.query.axes)


def _not_computable(case: Case) -> str | None:
    if any(_cuboid_query(case) <= axes for axes in need.marginal_axes(case)):
        return "the marginal asked for can be computed from a known one"
    return None


def _fresh(case: Case) -> set[int]:
    return set(_cuboid_query(case)).difference(*need.marginal_axes(case))


def _fresh_attribute(case: Case) -> str | None:
    return None if _fresh(case) else "every attribute of the marginal is in a known one"


def _no_fresh_attribute(case: Case) -> str | None:
    return "an attribute of the marginal is in no known one" if _fresh(case) else None


def _two_values(case: Case) -> str | None:
    if any(sizes_of(case)[axis] > 1 for axis in _fresh(case)):
        return None
    return "no attribute of the marginal that is in no known one has two values"


_PROJECTION = (
    need.query_is(MarginalQuery),
    need.facts_are_marginals,
    at_most(2),
    need.no_impossible,
    n_follows,
    _not_computable,
)


@form(
    f"{DRAFT}/lemma-4.4-bound",
    "Cuboids known: a cuboid that cannot be computed from them has S(C) <= S(base).",
    source=f"{DRAFT}, Lemma 4.4",
    relation="<=",
    readings=READING,
    checks=_PROJECTION,
)
def lemma_4_4_bound(case: Case) -> Exact:
    """Cells of C are sums of base cells. S(base) is the repaired Lemma 4.3's."""
    return lemma_4_3_repaired.value(case)


@form(
    f"{DRAFT}/lemma-4.4-equality",
    "Cuboids known: a cuboid with an attribute outside all of them has S(C) = S(base).",
    source=f"{DRAFT}, Lemma 4.4",
    readings=READING,
    checks=(*_PROJECTION, _fresh_attribute),
    wrong=wrong.LEMMA_4_4_EQUALITY,
)
def lemma_4_4_equality(case: Case) -> Exact:
    """Fails where that attribute has one value."""
    return lemma_4_3_repaired.value(case)


@form(
    f"{DRAFT}/lemma-4.4-repaired",
    "Cuboids known: a cuboid with an attribute of two values outside all of them: S(C) = S(base).",
    source=f"{DRAFT}, Lemma 4.4, repaired",
    readings=READING,
    checks=(*_PROJECTION, _fresh_attribute, _two_values),
    repaired=True,
)
def lemma_4_4_repaired(case: Case) -> Exact:
    """Take a worst change of the base cuboid. Give all added records the first value of that
    attribute and all removed ones the second: no known cell sees it, the change stays irreducible,
    and nothing cancels in C, where its norm is the number of records that change. That number is
    S(base), or more: but no irreducible change has more records than S(base), except one of two
    equal values where nothing else is possible, which here cannot be, as there are two values.
    """
    return lemma_4_3_repaired.value(case)


@form(
    f"{DRAFT}/lemma-4.4-half",
    "Cuboids known: a cuboid over their attributes, not computable from them: S(C) >= S(base) / 2.",
    source=f"{DRAFT}, Lemma 4.4",
    relation=">=",
    readings=READING,
    checks=(*_PROJECTION, _no_fresh_attribute),
    wrong=wrong.LEMMA_4_4_HALF,
)
def lemma_4_4_half(case: Case) -> Exact:
    """Fails where an attribute of one value makes C computable after all."""
    return -(-lemma_4_3_repaired.value(case) // 2)


FORMS = (lemma_4_4_bound, lemma_4_4_equality, lemma_4_4_repaired, lemma_4_4_half)
