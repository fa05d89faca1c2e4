"""exact-cuboids-draft, section 4: cells of cuboids are known, records are added and removed."""

from __future__ import annotations

from collections import defaultdict

from blowproof.models import Exact
from blowproof.models.policy.readings import Reading
from blowproof.models.queries.kinds import Histogram
from blowproof.verifier.closed_forms.cuboids.known_cells import (
    Cuboids,
    at_most,
    known_cells,
    worst_block,
)
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating import counterexamples as wrong
from blowproof.verifier.closed_forms.stating.form import Case, Check, form

__all__ = ["FORMS"]

DRAFT = "exact-cuboids-draft"
READING: tuple[Reading, ...] = ("add-remove",)


def _axes(case: Case) -> list[frozenset[int]]:
    return list(dict.fromkeys(need.marginal_axes(case)))


def _cuboids(count: int) -> Check:
    def check(case: Case) -> str | None:
        found = need.facts_are_marginals(case)
        if found is None and len(_axes(case)) == count:
            return None
        return f"it speaks about {count} known cuboid{'s' if count > 1 else ''}, whole"

    return check


def _dimensions(count: int) -> Check:
    def check(case: Case) -> str | None:
        if len(case.domain) == count:
            return None
        return f"it speaks about {count} attributes, and the domain has {len(case.domain)}"

    return check


def _one_each(case: Case) -> str | None:
    if all(len(axes) == 1 for axes in need.marginal_axes(case)):
        return None
    return "it speaks about cuboids of one attribute each"


def sizes_of(case: Case) -> list[int]:
    """Return how many values each attribute has."""
    return [attribute.size for _, attribute in case.domain.attributes]


_TABLE = (need.query_is(Histogram), need.equality_facts, need.no_impossible)


@form(
    f"{DRAFT}/lemma-4.1-one",
    "Two attributes, row sums or column sums known: S(base) = 2.",
    source=f"{DRAFT}, Lemma 4.1 (i)",
    readings=READING,
    checks=(*_TABLE, _dimensions(2), _cuboids(1), _one_each),
    wrong=wrong.LEMMA_4_1_ONE,
)
def lemma_4_1_one(case: Case) -> Exact:
    """Fails where the other attribute has one value."""
    return 2


@form(
    f"{DRAFT}/lemma-4.1-two",
    "Two attributes, row sums and column sums known: S(base) = 2 min(|A1|, |A2|).",
    source=f"{DRAFT}, Lemma 4.1 (ii)",
    readings=READING,
    checks=(*_TABLE, _dimensions(2), _cuboids(2), _one_each),
    wrong=wrong.LEMMA_4_1_TWO,
)
def lemma_4_1_two(case: Case) -> Exact:
    """Fails where an attribute has one value: the other one's sums are the table."""
    return 2 * min(sizes_of(case))


@form(
    f"{DRAFT}/lemma-4.2-one",
    "One cuboid known: S(base) = 2.",
    source=f"{DRAFT}, Lemma 4.2 (i)",
    readings=READING,
    checks=(*_TABLE, _cuboids(1)),
    wrong=wrong.LEMMA_4_2_ONE,
)
def lemma_4_2_one(case: Case) -> Exact:
    """Fails where the cuboid is the base cuboid, or the rest has one value."""
    return 2


@form(
    f"{DRAFT}/lemma-4.2-two",
    "Two cuboids known: S(base) = 2 min(size([C1] - [C2]), size([C2] - [C1])).",
    source=f"{DRAFT}, Lemma 4.2 (ii)",
    readings=READING,
    checks=(*_TABLE, _cuboids(2)),
    wrong=wrong.LEMMA_4_2_TWO,
)
def lemma_4_2_two(case: Case) -> Exact:
    """Fails where the minimum is 1 and no attribute outside both has two values."""
    first, second = _axes(case)
    found = Cuboids(tuple(sizes_of(case)), {})
    return 2 * min(found.size(set(first - second)), found.size(set(second - first)))


def n_follows(case: Case) -> str | None:
    """n is not written, or follows from a cuboid that is known in full."""
    found = known_cells(case)
    if need.no_size(case) is None or (isinstance(found, Cuboids) and found.whole):
        return None
    return need.no_size(case)


@form(
    f"{DRAFT}/lemma-4.3-one",
    "Some cells of one cuboid known: S(base) = 2.",
    source=f"{DRAFT}, Lemma 4.3 (i)",
    readings=READING,
    checks=(*_TABLE, at_most(1), n_follows),
    wrong=wrong.LEMMA_4_3_ONE,
)
def lemma_4_3_one(case: Case) -> Exact:
    """Fails where no known cell has two values: one record is then added, or nothing changes."""
    return 2


def _two_cuboids(case: Case) -> str | None:
    found = known_cells(case)
    assert isinstance(found, Cuboids)
    return None if len(found.known) == 2 else "it speaks about cells of two cuboids"


@form(
    f"{DRAFT}/lemma-4.3-two",
    "Some cells of two cuboids known: S(base) is twice the largest, over the shared attributes' "
    "values x, of the smaller number of known cells at x.",
    source=f"{DRAFT}, Lemma 4.3 (ii), its second a_1 read as a_2",
    readings=READING,
    checks=(*_TABLE, at_most(2), _two_cuboids, n_follows),
    wrong=wrong.LEMMA_4_3_TWO,
)
def lemma_4_3_two(case: Case) -> Exact:
    """Too small where unknown cells leave ends open: an odd number of records changes."""
    found = known_cells(case)
    assert isinstance(found, Cuboids)
    first, second = found.known
    common = set(first) & set(second)
    counts: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0])
    for side, axes in enumerate((first, second)):
        for cell in found.known[axes]:
            at = tuple(place for axis, place in zip(axes, cell, strict=True) if axis in common)
            counts[at][side] += 1
    return 2 * max(min(pair) for pair in counts.values())


@form(
    f"{DRAFT}/lemma-4.3-repaired",
    "Cells of one or two cuboids known, wholly or in part: S(base) is the longest cycle or open "
    "path of known cells (formula in the proof); it repairs Lemmas 4.1 and 4.2 too.",
    source=f"{DRAFT}, Lemmas 4.1, 4.2, 4.3, repaired",
    readings=READING,
    checks=(*_TABLE, at_most(2), n_follows),
    repaired=True,
)
def lemma_4_3_repaired(case: Case) -> Exact:
    """*Statement.* Fix the attributes that C1 and C2 share to x. There, let p cells of C1 be known
    and u unknown, q of C2 known and w unknown, and M the number of values in a pair of cells. Then
    S(base) is the largest, over x, of

        2 min(p, q)          if min(p, q) >= 2;       2   if min(p, q) >= 1 and M >= 2;
        2 min(p, q) + 1      if u, w >= 1 (with p = q = 0 or min(p, q) = 0 this is 1);
        2 min(p, q + 1)      if w, p >= 1, and that is at least 4, or w M >= 2;
        2 min(q, p + 1)      if u, q >= 1, and that is at least 4, or u M >= 2;

    0 if there is none. Everything known (u = w = 0) gives Lemma 4.2 with its gaps filled: 2 min(p,
    q) if that is at least 4, else 2 if M >= 2, else 0.

    *Proof.* A value is an edge between its cell in C1 and its cell in C2, parallel to M - 1 others.
    Make all unknown cells one vertex f. Direct the edge of an added record from C1 to C2, that of a
    removed one from C2 to C1. At a known cell of C1 the added records leave and the removed ones
    enter, at a known cell of C2 it is the other way round: the counts stay as they are iff as many
    arcs enter as leave, and then f is balanced too. So irreducible changes are simple directed
    cycles, and every edge can be used in both directions. A cycle's edges differ, except that a
    cycle of length 2 needs two parallel edges to change anything; so its change is its length. A
    cycle that avoids f alternates between p and q vertices of one x: length 2 min(p, q), or 2 with
    parallel edges. One through f is a path through known cells of one x, whose ends are joined to
    f: an end in C1 needs an unknown cell of C2 (w), an end in C2 one of C1 (u). Ends on both sides:
    it visits k + k cells, k <= min(p, q), and has 2 k + 1 edges; k = 0 is a value outside all known
    cells. Both ends in C1: k + (k - 1) cells with k <= min(p, q + 1), 2 k edges; for k = 1 the two
    edges are parallel, of which there are w M. Likewise for C2. QED.
    """
    found = known_cells(case)
    assert isinstance(found, Cuboids)
    return worst_block(found)


# --- three cuboids -------------------------------------------------------------------------------


def _two_two_x(case: Case) -> str | None:
    sizes = sorted(sizes_of(case))
    if sizes[:2] == [2, 2] and sizes[2] in (2, 3, 4):
        return None
    return "it speaks about attributes with 2, 2 and x values, x = 2, 3 or 4"


@form(
    f"{DRAFT}/section-4.1-three-cuboids",
    "Three attributes of 2, 2 and x values, all one-way cuboids known: S(base) = 6 for x = 2 and "
    "3, and 8 for x = 4.",
    source=f"{DRAFT}, after Example 4.1",
    readings=READING,
    checks=(*_TABLE, _dimensions(3), _cuboids(3), _one_each, _two_two_x),
    wrong=wrong.THREE_CUBOIDS,
)
def three_cuboids(case: Case) -> Exact:
    """For x = 3 it is 8 already."""
    return {2: 6, 3: 6, 4: 8}[max(sizes_of(case))]


def _two_two_any(case: Case) -> str | None:
    sizes = sorted(sizes_of(case))
    if sizes[:2] == [2, 2]:
        return None
    return "it speaks about attributes with 2, 2 and x >= 2 values"


@form(
    f"{DRAFT}/section-4.1-three-cuboids-repaired",
    "Three attributes of 2, 2 and x >= 2 values, all one-way cuboids known: S(base) = 6 for x = 2, "
    "and 8 for every x >= 3.",
    source=f"{DRAFT}, after Example 4.1, repaired",
    readings=READING,
    checks=(*_TABLE, _dimensions(3), _cuboids(3), _one_each, _two_two_any),
    repaired=True,
)
def three_cuboids_repaired(case: Case) -> Exact:
    """*Proof.* In an irreducible change M, each value c of the third attribute has as many added as
    removed records: pair them up. A pair moves the counts of the first two attributes by a vector
    of {-1, 0, 1}^2. These vectors sum to 0, and no proper part of them does, for its pairs would be
    a part of M without effect. One zero vector alone is two records. Else, if v and -v are among
    them, they are all. Else at most one of each +v, -v is used, and up to symmetry: (1, 1) and
    (1, -1) need (-1, 0), and are (1, 1), (1, -1), (-1, 0), (-1, 0), or with (0, 1) the three
    vectors (1, -1), (-1, 0), (0, 1); a single diagonal (1, 1) needs (-1, 0) and (0, -1); without a
    diagonal there is no such sum. So there are at most four pairs, and 8 records.

    For x >= 3 this is met: on positions, remove 000, 000, 102, 111 and add 001, 012, 100, 100. It
    has no part without effect (the tests go through all of them). For x = 2, eight cells, the
    largest irreducible change has 6 records, by exhaustive search. QED.
    """
    return 6 if max(sizes_of(case)) == 2 else 8


FORMS = (
    lemma_4_1_one,
    lemma_4_1_two,
    lemma_4_2_one,
    lemma_4_2_two,
    lemma_4_3_one,
    lemma_4_3_two,
    lemma_4_3_repaired,
    three_cuboids,
    three_cuboids_repaired,
)
