"""exact-cuboids-draft, sections 3.1 to 3.3: the notions of neighbours, and their examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations, product

from blowproof.models import Exact, Full, Point
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.listings import pairs
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS", "changed", "cuboid_tables"]


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


def changed(
    one: tuple[Point, ...], two: tuple[Point, ...]
) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    """Return the records removed and those added."""
    before, after = Counter(one), Counter(two)
    return tuple((before - after).elements()), tuple((after - before).elements())


def _of_neither_kind(instance: Instance) -> Exact:
    found = 0
    for one, two in pairs(instance.the_policy, "markov", 2):
        removed, added = changed(one, two)
        single = len(removed) == len(added) == 1 and _one_attribute(removed[0], added[0])
        double = len(removed) == len(added) == 2 and _swapped(removed, added)
        found += not (single or double)
    return found


def _not_one_or_two(instance: Instance) -> Exact:
    found = 0
    for one, two in pairs(instance.the_policy, "markov", 2):
        removed, added = changed(one, two)
        found += not 1 <= len(removed) == len(added) <= 2
    return found


def _some_cuboid(instance: Instance) -> Exact | None:
    return 0 if instance.the_policy.known else None


TWO_WAYS_TABLES = family(
    "tables of 1 to 3 attributes with up to 6 values, one or two cuboids known, two records",
    lambda: cuboid_tables(4, (1, 2), (1, 2)),
    lambda: cuboid_tables(6, (1, 2, 3), (1, 2)),
)
TWO_WAYS = Claim(
    id="exact-cuboids-draft/section-3.1-two-ways",
    source="Section 3.1, after Definition 3.1",
    quote="in exactly one of two ways",
    statement="Markov neighbours differ in one of two ways: one record changes one attribute that "
    "is in no known cuboid, or two records swap their values of one attribute.",
    read_as="Definition 3.1 word for word, tables of up to two rows.",
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
    "no cuboid mentions, and it lets two records change independently of each other, as their "
    "four cells are all that differ: on 2 x 2 values with the first attribute's counts known, "
    "both records may change their second attribute. A mechanism that protects only the two "
    "listed ways protects less than the definition asks for.",
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
    quote="then the only table that",
    statement="On 3 x 3 values with both sums known and (a1, b2) impossible, if (a1, b1) becomes "
    "(a2, b1) the only possible table is T' = (a2, b1), (a3, b1), (a1, b3), a neighbour of T.",
    read_as="Tables with the known sums that keep the changed first row.",
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
    quote="must include tuples",
    statement="On 3 x 3 x 3 values with the one-way cuboids known, if (a1, b1, c1) becomes (a1, "
    "b2, c3) then T' must hold (a2, b3, c1) and (a3, b1, c2); T and T' are positive neighbours.",
    read_as="Tables of three rows with the known sums that hold the changed first row.",
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
            "how many neighbours of T hold (a1, b2, c3) and only three rows, as repaired",
            family("the example", lambda: _single("3 x 3 x 3")),
            lambda item: 4,
            _tables_3_4,
            amended=True,
        ),
    ),
    repaired="T' may hold them: there are four such tables, each of them a neighbour of T.",
    explanation="The other two rows have a2 and a3, b1 and b3, c1 and c2, and these can be "
    "combined in four ways, none of which lets a part of the change stand alone. That T and T' "
    "are neighbours is right; that T' is forced is not. Nothing else rests on it.",
)

CLAIMS = (TWO_WAYS, EXAMPLE_3_3, EXAMPLE_3_4)
