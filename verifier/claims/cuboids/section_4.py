"""exact-cuboids-draft, section 4.1: one, two or three cuboids known in full."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod

from blowproof.models import Domain, Exact, Full, Labels, Marginal, Policy
from blowproof.verifier.claims.cuboids.section_2 import AGES, SALARIES, SEXES
from blowproof.verifier.claims.cuboids.section_3_neighbours import cuboid_tables
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Formula, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.parts import of_sensitivity

__all__ = ["CLAIMS", "add_remove", "known_cuboids", "size"]


def known_cuboids(instance: Instance) -> list[frozenset[str]] | None:
    """Return the attributes of each known cuboid; None if something else is known, too."""
    facts = instance.the_policy.known
    found = [frozenset(fact.attributes) for fact in facts if isinstance(fact, Marginal)]
    return found if len(found) == len(facts) and len(set(found)) == len(found) else None


def size(domain: Domain, names: frozenset[str]) -> int:
    """Return how many cells a cuboid has; 1 for no attributes."""
    return prod(attribute.size for name, attribute in domain.attributes if name in names)


add_remove = partial(of_sensitivity, reading="add-remove")
"""A part about S under induced neighbours."""


# --- Lemmas 4.1 and 4.2 --------------------------------------------------------------------------


def _one(instance: Instance) -> Exact | None:
    known = known_cuboids(instance)
    return 2 if known is not None and len(known) == 1 else None


def _smaller_side(instance: Instance) -> int | None:
    """Return min(size([C1] - [C2]), size([C2] - [C1])) where two cuboids are known."""
    known, domain = known_cuboids(instance), instance.the_policy.domain
    if known is None or len(known) != 2:
        return None
    first, second = known
    return min(size(domain, first - second), size(domain, second - first))


def _two(instance: Instance) -> Exact | None:
    least = _smaller_side(instance)
    return None if least is None else 2 * least


def _outside(instance: Instance) -> int:
    """Return how many values the attributes outside all known cuboids have together."""
    known, domain = known_cuboids(instance), instance.the_policy.domain
    assert known is not None
    return size(domain, frozenset(domain.names).difference(*known))


def _repaired(instance: Instance) -> Exact | None:
    known = known_cuboids(instance)
    if known is None or len(known) not in (1, 2):
        return None
    least = _smaller_side(instance) or 1
    if least >= 2:
        return 2 * least
    return 2 if _outside(instance) >= 2 else 0


def _of_one_attribute(formula: Formula) -> Formula:
    """Return a formula that speaks about two attributes and cuboids of one attribute each."""

    def claimed(instance: Instance) -> Exact | None:
        known = known_cuboids(instance)
        two = len(instance.the_policy.domain) == 2
        fits = two and known is not None and all(len(names) == 1 for names in known)
        return formula(instance) if fits else None

    return claimed


PLANE = family(
    "tables of two attributes with up to 14 values, row sums, column sums, or both known",
    lambda: _plane(6),
    lambda: _plane(14),
)


def _plane(most: int) -> Iterator[Instance]:
    for item in cuboid_tables(most, (2,), (1, 2)):
        known = known_cuboids(item)
        if known is not None and all(len(names) == 1 for names in known):
            yield item


WHY_ONE_VALUE = (
    "An attribute with one value tells nothing: with |A2| = 1 the row sums are the table, and S is "
    "0. The same happens wherever the minimum is 1 and all that lies outside the cuboids has one "
    "value. Nowhere is the printed number too small: trusting it costs accuracy only."
)
PROOF = (
    "A value is an edge between its cells in C1 and in C2, parallel to those with other values "
    "outside both. Direct it one way where a record is added, the other way where one is removed: "
    "the known counts stay iff as many arcs enter a vertex as leave it, so what changes at once is "
    "a simple cycle. It stays where the shared attributes are fixed, and alternates between the "
    "cuboids; each length up to twice the smaller side is possible. A cycle of two arcs needs two "
    "parallel edges, that is, two values outside both cuboids."
)

LEMMA_4_1 = Claim(
    id="exact-cuboids-draft/lemma-4.1",
    source="Section 4.1, Lemma 4.1",
    quote="the generic sensitivity of publishing",
    statement="Two attributes: S(base) = 2 if row sums or column sums are known, and 2 min(|A1|, "
    "|A2|) if both are.",
    read_as="Add or remove, any answers, no impossible values.",
    parts=(
        add_remove("(i) equality", PLANE, _of_one_attribute(_one)),
        add_remove("(i) bound", PLANE, _of_one_attribute(_one), "<="),
        add_remove("(ii) equality", PLANE, _of_one_attribute(_two)),
        add_remove("(ii) bound", PLANE, _of_one_attribute(_two), "<="),
        add_remove("repaired", PLANE, _of_one_attribute(_repaired), amended=True),
    ),
    repaired="If both attributes have two values or more. If the attribute whose sums are not "
    "known has one value in (i), or any attribute has one in (ii), S = 0.",
    amendment="condition",
    explanation=WHY_ONE_VALUE,
    proof=PROOF,
)

CUBOIDS = family(
    "tables of 1 to 3 attributes with up to 8 values, every one or two cuboids known (the base "
    "cuboid, nested and overlapping ones included)",
    lambda: cuboid_tables(4, (1, 2, 3), (1, 2)),
    lambda: cuboid_tables(8, (1, 2, 3), (1, 2)),
)


LEMMA_4_2 = Claim(
    id="exact-cuboids-draft/lemma-4.2",
    source="Section 4.1, Lemma 4.2",
    quote="for any two cuboids",
    statement="S(base) = 2 if one cuboid is known, and 2 min(size([C1] - [C2]), size([C2] - "
    "[C1])) if two are.",
    read_as="Add or remove, any answers; overlapping and nested cuboids, the base cuboid too.",
    parts=(
        add_remove("(i) equality", CUBOIDS, _one),
        add_remove("(i) bound", CUBOIDS, _one, "<="),
        add_remove("(ii) equality", CUBOIDS, _two),
        add_remove("(ii) bound", CUBOIDS, _two, "<="),
        add_remove("repaired", CUBOIDS, _repaired, amended=True),
    ),
    repaired="(i) holds if the attributes outside C have two values or more together, else S = 0. "
    "(ii) holds if the minimum is 2 or more, or the attributes outside both cuboids have two "
    "values together; else S = 0.",
    amendment="condition",
    explanation=f"{WHY_ONE_VALUE} The shortest case is the base cuboid itself: once it is known, "
    "nothing is left to change.",
    proof=PROOF,
)


def _nested(instance: Instance) -> Exact | None:
    known = known_cuboids(instance)
    if known is None or len(known) != 2:
        return None
    first, second = known
    return 2 if first <= second or second <= first else None


def _nested_repaired(instance: Instance) -> Exact | None:
    claimed = _nested(instance)
    return None if claimed is None else claimed if _outside(instance) >= 2 else 0


NESTED = Claim(
    id="exact-cuboids-draft/section-4.1-nested",
    source="Section 4.1, note after Lemma 4.2",
    quote="two exact cuboids",
    statement="If C1 is an ancestor of C2 and both are known, S(base) = 2.",
    read_as="Any two nested cuboids, any answers.",
    parts=(
        add_remove("equality", CUBOIDS, _nested),
        add_remove("bound", CUBOIDS, _nested, "<="),
        add_remove("repaired", CUBOIDS, _nested_repaired, amended=True),
    ),
    repaired="If the attributes outside C2 have two values or more together; else S = 0.",
    amendment="condition",
    explanation=WHY_ONE_VALUE,
    proof="C1 follows from C2, so one cuboid is known.",
)

# --- Example 4.1 ---------------------------------------------------------------------------------


def _example() -> Iterator[Instance]:
    domain = Domain(sex=Labels(SEXES), age=Labels(AGES), salary=Labels(SALARIES))
    known = (Marginal(["sex", "age"]), Marginal(["age", "salary"]))
    yield Instance(shape="2 x 7 x 5", policy=Policy(domain=domain, known=known))


EXAMPLE_4_1 = Claim(
    id="exact-cuboids-draft/example-4.1",
    source="Section 4.1, Example 4.1",
    quote="From Lemma 4.2, the sensitivity",
    statement="With {Sex, Age} and {Age, Salary} of Figure 1 known, S(base) = 2 min(2, 5) = 4.",
    read_as="S of the example itself.",
    parts=(add_remove("equality", family("the example", _example), lambda item: 4),),
    proof="Lemma 4.2 (ii); both sides have two values or more.",
)

# --- three cuboids -------------------------------------------------------------------------------


def _three(largest: int) -> Iterator[Instance]:
    for last in range(2, largest + 1):
        for sizes in sorted({(2, 2, last), (2, last, 2), (last, 2, 2)}):
            domain = some.table(*sizes)
            policy = some.with_marginals(domain, Full(), (["a"], ["b"], ["c"]))
            yield Instance(shape=f"2, 2 and {last} values", policy=policy)


def _third(instance: Instance) -> int | None:
    """Return x, if the attributes have 2, 2 and x >= 2 values and each one-way cuboid is known."""
    domain, known = instance.the_policy.domain, known_cuboids(instance)
    if known is None or {tuple(names) for names in known} != {(name,) for name in domain.names}:
        return None
    sizes = sorted(attribute.size for _, attribute in domain.attributes)
    return sizes[2] if len(sizes) == 3 and sizes[:2] == [2, 2] else None


def _three_printed(instance: Instance) -> Exact | None:
    third = _third(instance)
    return None if third is None else {2: 6, 3: 6, 4: 8}.get(third)


def _three_repaired(instance: Instance) -> Exact | None:
    third = _third(instance)
    return None if third is None else 6 if third == 2 else 8


THREE = family(
    "2, 2 and x values in any order, x from 2 to 5", lambda: _three(4), lambda: _three(5)
)
THREE_CUBOIDS = Claim(
    id="exact-cuboids-draft/section-4.1-three-cuboids",
    source="Section 4.1, after Example 4.1, and Figure 4",
    quote="We only have results for some",
    statement="Attributes of 2, 2 and x values, all one-way cuboids known: S(base) = 6 for x = 2 "
    "and 3, and 8 for x = 4.",
    read_as="S for 2, 2 and x values, every order of the attributes.",
    parts=(
        add_remove("equality", THREE, _three_printed),
        add_remove("repaired", THREE, _three_repaired, amended=True),
    ),
    repaired="6 for x = 2, and 8 for every x >= 3.",
    explanation="For x = 3 eight records can change at once. Write a record as the positions of "
    "its three values: remove 000, 000, 102, 111 and add 001, 012, 100, 100. All one-way counts "
    "stay, and those of no part of the eight do. Two records hold the same value, which is easily "
    "overlooked if moves are drawn as a set of cells. Noise for 6 is too little for x = 3.",
    proof="Let M be irreducible. Pair up added and removed records with the same third value: a "
    "pair moves the counts of the first two attributes by a vector of {-1, 0, 1}^2; the vectors "
    "sum to zero and no part of them does, for its pairs would be a part of M. One zero vector, "
    "or v and -v, are all there is then; else one of each +v, -v is used, and going through the "
    "cases with (1, 1) or (1, -1) leaves at most four pairs. For x = 2 the exhaustive search "
    "gives 6.",
)


CLAIMS = (LEMMA_4_1, LEMMA_4_2, NESTED, EXAMPLE_4_1, THREE_CUBOIDS)
