"""exact-cuboids-draft, sections 3.1 to 3.4: the three notions of neighbours, compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations, product

from blowproof.models import Exact, Full, Impossible, Marginal, Point, Policy
from blowproof.verifier.claims import families as some
from blowproof.verifier.claims.claim import Claim, Instance, Part
from blowproof.verifier.claims.families import family
from blowproof.verifier.claims.listings import pairs
from blowproof.verifier.claims.measures import Sensitivity
from blowproof.verifier.claims.parts import counted

__all__ = ["CLAIMS", "cuboid_tables"]


def cuboid_tables(
    most: int, attributes: tuple[int, ...], many: tuple[int, ...], *, each: int | None = None
) -> Iterator[Instance]:
    """Yield tables with up to `most` values and every set of `many` cuboids known.

    Full secrets, which the draft's neighbours do not look at. The base cuboid is among the cuboids.
    """
    for sizes in some.sizes_up_to(most, attributes, each=each):
        domain = some.table(*sizes)
        all_sets = list(some.marginal_sets(domain, proper=False))
        for count in many:
            for chosen in combinations(all_sets, count):
                yield Instance(
                    shape=f"{some.named(domain)}, {count} cuboids",
                    policy=some.with_marginals(domain, Full(), chosen),
                )


# --- after Definition 3.1 ------------------------------------------------------------------------


def _one_attribute(one: Point, two: Point) -> bool:
    return sum(a != b for a, b in zip(one, two, strict=True)) == 1


def _swapped(removed: tuple[Point, ...], added: tuple[Point, ...]) -> bool:
    """Whether two records become two others by swapping their values of one attribute."""
    first, second = removed
    for axis in range(len(first)):
        one = (*first[:axis], second[axis], *first[axis + 1 :])
        two = (*second[:axis], first[axis], *second[axis + 1 :])
        if sorted((one, two)) == sorted(added):
            return True
    return False


def _change(
    one: tuple[Point, ...], two: tuple[Point, ...]
) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    before, after = Counter(one), Counter(two)
    return tuple((before - after).elements()), tuple((after - before).elements())


def _of_neither_kind(instance: Instance) -> Exact:
    found = 0
    for one, two in pairs(instance.the_policy, "markov", 2):
        removed, added = _change(one, two)
        single = len(removed) == len(added) == 1 and _one_attribute(removed[0], added[0])
        double = len(removed) == len(added) == 2 and _swapped(removed, added)
        found += not (single or double)
    return found


def _not_one_or_two(instance: Instance) -> Exact:
    found = 0
    for one, two in pairs(instance.the_policy, "markov", 2):
        removed, added = _change(one, two)
        found += not 1 <= len(removed) == len(added) <= 2
    return found


def _some_cuboid(instance: Instance) -> Exact | None:
    return 0 if instance.the_policy.known else None


TWO_WAYS_TABLES = family(
    "tables of 1 to 3 attributes with up to 8 values, one or two cuboids known, two records",
    lambda: cuboid_tables(4, (1, 2, 3), (1, 2)),
    lambda: cuboid_tables(8, (1, 2, 3), (1, 2)),
)
TWO_WAYS = Claim(
    id="exact-cuboids-draft/section-3.1-two-ways",
    source="Section 3.1, after Definition 3.1",
    statement="Markov neighbours differ in one of two ways: one record changes one attribute that "
    "is in no known cuboid, or two records swap their values of one attribute.",
    parts=(
        counted(
            "Markov neighbours that differ in neither way",
            TWO_WAYS_TABLES,
            _some_cuboid,
            _of_neither_kind,
            small="privacy",
            reading="markov",
        ),
        counted(
            "Markov neighbours in which not one or two records change",
            TWO_WAYS_TABLES,
            _some_cuboid,
            _not_one_or_two,
            reading="markov",
            amended=True,
        ),
    ),
    repaired="If a cuboid is known, Markov neighbours differ in one or two records, which may "
    "change several attributes at once, and each known cell keeps its count.",
    explanation="The definition only counts cells. It lets one record change two attributes that "
    "no cuboid mentions, and it lets two records change independently of each other, as their four "
    "cells are all that differ: on 2 x 2 values with the first attribute's counts known, both "
    "records may change their second attribute. A mechanism that protects only the two listed ways "
    "protects less than the definition asks for.",
    proof="A known cuboid fixes n, and at most four cells differ, each by one.",
)

# --- Examples 3.3 and 3.4 ------------------------------------------------------------------------

T_3 = (("a1", "b1"), ("a2", "b2"), ("a3", "b3"))
PRINTED = (("a2", "b1"), ("a3", "b1"), ("a1", "b3"))
DRAWN = (("a2", "b1"), ("a3", "b2"), ("a1", "b3"))
"""T' of Example 3.3 as the text prints it, and as Figure 3 draws it."""


def _tables_3_3(_: Instance) -> Exact:
    """Return how many tables with T's sums hold (a2, b1) and not (a1, b2)."""
    found = 0
    for order in permutations(("a1", "a2", "a3")):
        table = set(zip(order, ("b1", "b2", "b3"), strict=True))
        found += ("a2", "b1") in table and ("a1", "b2") not in table
    return found


def _induced(one: tuple[tuple[str, ...], ...], two: tuple[tuple[str, ...], ...]) -> bool:
    """Whether two tables have the same one-way sums and no proper part of the moves keeps them."""
    removed, added = _rows(one, two), _rows(two, one)

    def balanced(out: tuple[tuple[str, ...], ...], into: tuple[tuple[str, ...], ...]) -> bool:
        width = len(one[0])
        return all(
            sorted(row[i] for row in out) == sorted(row[i] for row in into) for i in range(width)
        )

    if not balanced(removed, added) or not removed:
        return False
    for many in range(1, len(removed)):
        for out, into in product(combinations(removed, many), combinations(added, many)):
            if balanced(out, into):
                return False
    return True


def _rows(
    one: tuple[tuple[str, ...], ...], two: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str, ...], ...]:
    return tuple((Counter(one) - Counter(two)).elements())


def _single(shape: str) -> Iterator[Instance]:
    yield Instance(shape=shape)


EXAMPLE_3_3 = Claim(
    id="exact-cuboids-draft/example-3.3",
    source="Section 3.2, Example 3.3 and Figure 3",
    statement="On 3 x 3 values with both sums known and (a1, b2) impossible, if (a1, b1) becomes "
    "(a2, b1) the only possible table is T' = (a2, b1), (a3, b1), (a1, b3), a neighbour of T.",
    parts=(
        counted(
            "T' as the text prints it is an induced neighbour",
            family("the example", lambda: _single("T' of the text")),
            lambda item: 1,
            lambda item: int(_induced(T_3, PRINTED)),
        ),
        counted(
            "how many tables are possible",
            family("the example", lambda: _single("3 x 3")),
            lambda item: 1,
            _tables_3_3,
        ),
        counted(
            "T' as Figure 3 draws it is an induced neighbour",
            family("the example", lambda: _single("T' of the figure")),
            lambda item: 1,
            lambda item: int(_induced(T_3, DRAWN)),
            amended=True,
        ),
    ),
    repaired="T' = (a2, b1), (a3, b2), (a1, b3), as in Figure 3.",
    amendment="misprint",
    explanation="The table in the text has two rows with b1 and none with b2, so it breaks the "
    "known sums; Figure 3 shows the one that is meant.",
)

T_4 = (("a1", "b1", "c1"), ("a2", "b2", "c2"), ("a3", "b3", "c3"))
T_4_PRIME = (("a1", "b2", "c3"), ("a2", "b3", "c1"), ("a3", "b1", "c2"))


def _tables_3_4(_: Instance) -> Exact:
    """Return how many tables with the one-way sums hold (a1, b2, c3) and are induced neighbours."""
    found = set()
    for bs, cs in product(permutations(("b1", "b3")), permutations(("c1", "c2"))):
        rest = tuple(zip(("a2", "a3"), bs, cs, strict=True))
        table = (("a1", "b2", "c3"), *rest)
        if _induced(T_4, table):
            found.add(table)
    return len(found)


EXAMPLE_3_4 = Claim(
    id="exact-cuboids-draft/example-3.4",
    source="Section 3.3, Example 3.4",
    statement="On 3 x 3 x 3 values with the one-way cuboids known, if (a1, b1, c1) becomes (a1, "
    "b2, c3) then T' must hold (a2, b3, c1) and (a3, b1, c2); T and T' are positive neighbours.",
    parts=(
        counted(
            "T and T' are induced neighbours",
            family("the example", lambda: _single("T and T'")),
            lambda item: 1,
            lambda item: int(_induced(T_4, T_4_PRIME)),
        ),
        counted(
            "how many neighbours of T hold (a1, b2, c3) and only three rows",
            family("the example", lambda: _single("3 x 3 x 3")),
            lambda item: 1,
            _tables_3_4,
        ),
        counted(
            "how many neighbours of T hold (a1, b2, c3) and only three rows",
            family("the example", lambda: _single("3 x 3 x 3")),
            lambda item: 4,
            _tables_3_4,
            amended=True,
        ),
    ),
    repaired="T' may hold them: there are four such tables, each of them a neighbour of T.",
    explanation="The other two rows have a2 and a3, b1 and b3, c1 and c2, and these can be combined"
    " in four ways, none of which lets a part of the change stand alone. That T and T' are "
    "neighbours is right; that T' is forced is not. Nothing else rests on it.",
)

# --- section 3.4 ---------------------------------------------------------------------------------


def _minimal_only(instance: Instance) -> Exact:
    """Return how many Markov neighbours are no positive induced neighbours."""
    policy = instance.the_policy
    return len(set(pairs(policy, "markov", 2)) - set(pairs(policy, "add-remove", 2)))


def _reducible(instance: Instance) -> Exact:
    """Return how many Markov neighbours without a balanced proper part are not positive ones."""
    policy = instance.the_policy
    missing = set(pairs(policy, "markov", 2)) - set(pairs(policy, "add-remove", 2))
    return sum(not _has_part(policy, one, two) for one, two in missing)


def _has_part(policy: Policy, one: tuple[Point, ...], two: tuple[Point, ...]) -> bool:
    removed, added = _change(one, two)
    axes = [
        [policy.domain.axis(name) for name in fact.attributes]
        for fact in policy.known
        if isinstance(fact, Marginal)
    ]

    def effect(points: tuple[Point, ...]) -> Counter[object]:
        return Counter((i, *(x[at] for at in some_axes)) for x in points for i, some_axes in enumerate(axes))  # noqa: E501 # fmt: skip

    everything = len(removed) + len(added)
    for out in (s for k in range(len(removed) + 1) for s in combinations(removed, k)):
        for into in (s for k in range(len(added) + 1) for s in combinations(added, k)):
            if 0 < len(out) + len(into) < everything and effect(out) == effect(into):
                return True
    return False


def _zeros(most: int) -> Iterator[Instance]:
    """Yield tables with one or two cuboids known and one impossible cell."""
    for item in cuboid_tables(most, (2,), (1, 2), each=3):
        policy = item.the_policy
        for x in policy.domain.points():
            zero = Impossible({"a": x[0] + 1, "b": x[1] + 1})
            facts = (*policy.known, zero)
            yield Instance(
                shape=f"{item.shape}, 1 zero", policy=Policy(domain=policy.domain, known=facts)
            )


def _without_zeros(policy: Policy) -> Policy:
    known = tuple(fact for fact in policy.known if not isinstance(fact, Impossible))
    return Policy(domain=policy.domain, known=known)


def _positive_but_not_worst(instance: Instance) -> Exact:
    """Return how many positive neighbours that avoid the zeros are no worst-case neighbours."""
    policy = instance.the_policy
    positive = {
        (one, two)
        for one, two in pairs(_without_zeros(policy), "add-remove", 2)
        if all(policy.possible(x) for x in (*one, *two))
    }
    return len(positive ^ set(pairs(policy, "add-remove", 2)))


def _positive_s(instance: Instance) -> Exact:
    found = Sensitivity("add-remove")
    plain_instance = Instance(shape="", policy=_without_zeros(instance.the_policy))
    return found(plain_instance, None).lower


CHAIN = family(
    "tables of 1 to 3 attributes with up to 8 values, one or two cuboids known",
    lambda: cuboid_tables(4, (1, 2, 3), (1, 2)),
    lambda: cuboid_tables(8, (1, 2, 3), (1, 2)),
)
ZEROS = family(
    "tables of 2 attributes with up to 9 values, one or two cuboids known, one impossible value",
    lambda: _zeros(4),
    lambda: _zeros(9),
)


def _add_remove_s(instance: Instance) -> Exact:
    return Sensitivity("add-remove")(instance, None).lower


SECTION_3_4 = Claim(
    id="exact-cuboids-draft/section-3.4",
    source="Section 3.4",
    statement="Markov neighbours are positive induced neighbours, and those are worst-case induced "
    "neighbours; so the three give more and more privacy, with more and more noise.",
    parts=(
        counted(
            "Markov neighbours of up to 2 records that are no positive ones",
            CHAIN,
            lambda item: 0,
            _minimal_only,
            small="privacy",
            reading="markov",
        ),
        Part(
            name="S(markov) <= S(positive)",
            family=CHAIN,
            claimed=_add_remove_s,
            measure=Sensitivity("markov"),
            relation="<=",
            reading="markov",
            answers="any",
        ),
        counted(
            "on tables without impossible values, in which of the two neighbours differ (2 records)",
            ZEROS,
            lambda item: 0,
            _positive_but_not_worst,
            reading="add-remove",
        ),
        Part(
            name="S(worst case) >= S(positive)",
            family=ZEROS,
            claimed=_positive_s,
            measure=Sensitivity("add-remove"),
            relation=">=",
            reading="add-remove",
            answers="any",
        ),
        counted(
            "Markov neighbours with no balanced proper part that are no positive ones",
            CHAIN,
            lambda item: 0,
            _reducible,
            reading="markov",
            amended=True,
        ),
        Part(
            name="S(worst case) <= S(positive)",
            family=ZEROS,
            claimed=_positive_s,
            measure=Sensitivity("add-remove"),
            relation="<=",
            reading="add-remove",
            answers="any",
            amended=True,
        ),
    ),
    repaired="A Markov neighbour of whose change no proper part keeps the known counts is a "
    "positive induced neighbour. Impossible values leave, of the positive neighbours, those that "
    "avoid them: the worst case is worst over what the adversary may take for impossible, which "
    "includes nothing at all, and no single set of impossible values increases S.",
    explanation="(1) Definition 3.1 asks for few cells and not for minimality: with the first "
    "attribute's counts known, two records may change their second attribute at once, which is two "
    "positive neighbours in a row. The histogram then changes by 4, twice what positive neighbours "
    "allow. (2) Declaring a value impossible removes tables, and the moves of a pair that avoids "
    "it have the same parts as before; so no pair becomes a neighbour, and S can only fall. In "
    "Example 3.3 T and T' are positive neighbours already. Since the draft gives no definitions of "
    "the two notions, this is said of the readings fixed for them: no impossible values, and some.",
    proof="Both readings ask that no proper part of the moves leads to a possible table; parts of "
    "moves between tables that avoid a value avoid it too.",
)


CLAIMS = (TWO_WAYS, EXAMPLE_3_3, EXAMPLE_3_4, SECTION_3_4)
