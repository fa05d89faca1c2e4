"""exact-cuboids-draft, Lemmas 4.3 and 4.4: some cells known; what a cuboid's release costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

from blowproof.models import Count, Domain, Exact, Policy
from blowproof.verifier.claims.cuboids.section_3_neighbours import cuboid_tables
from blowproof.verifier.claims.cuboids.section_4 import add_remove, known_cuboids, size
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Asked, Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Sensitivity

__all__ = ["CLAIMS"]

Cell = tuple[tuple[str, object], ...]
Names = frozenset[str]

# --- some cells of one or two cuboids ------------------------------------------------------------


def _cells(domain: Domain, names: tuple[str, ...]) -> list[Cell]:
    axes = [domain.attribute(domain.axis(name)) for name in names]
    values = [[axis.value(place) for place in range(axis.size)] for axis in axes]
    return [tuple(zip(names, chosen, strict=True)) for chosen in product(*values)]


def _some_cells(domain: Domain, names: tuple[str, ...]) -> Iterator[tuple[Cell, ...]]:
    """Yield every non-empty set of cells of a cuboid, up to renaming values if it has one axis."""
    every = _cells(domain, names)
    for many in range(1, len(every) + 1):
        if len(names) <= 1:
            yield tuple(every[:many])
        else:
            yield from combinations(every, many)


def _policy(domain: Domain, cells: tuple[Cell, ...]) -> Policy:
    return Policy(domain=domain, known=tuple(Count(dict(cell)) for cell in cells))


def _partly(most: int, attributes: tuple[int, ...], cells: int) -> Iterator[Instance]:
    """Yield tables with up to `cells` known cells of one cuboid, or of two in all."""
    for sizes in some.sizes_up_to(most, attributes):
        domain = some.table(*sizes)
        name = some.named(domain)
        sets = [(), *some.marginal_sets(domain, proper=False)]
        yield Instance(shape=f"{name}, nothing known", policy=Policy(domain=domain))
        for names in sets:
            for known in _some_cells(domain, names):
                if len(known) <= cells:
                    yield Instance(shape=f"{name}, 1 cuboid", policy=_policy(domain, known))
        for one, two in combinations(sets, 2):
            for first, second in product(_some_cells(domain, one), _some_cells(domain, two)):
                both = (*first, *second)
                if len(both) <= cells:
                    yield Instance(shape=f"{name}, 2 cuboids", policy=_policy(domain, both))


def _known_cells(instance: Instance) -> dict[Names, set[Cell]] | None:
    """Return the known cells by cuboid; None if something else is known."""
    found: dict[Names, set[Cell]] = defaultdict(set)
    for fact in instance.the_policy.known:
        if not isinstance(fact, Count) or len(fact.where) != 1 or fact.answer is not None:
            return None
        conditions = fact.where[0].conditions
        if not all(isinstance(condition, (int, str)) for _, condition in conditions):
            return None
        found[frozenset(name for name, _ in conditions)].add(tuple(conditions))
    return found


def _one_cuboid(instance: Instance) -> Exact | None:
    known = _known_cells(instance)
    return 2 if known is not None and len(known) <= 1 else None


def _blocks(known: dict[Names, set[Cell]]) -> dict[Cell, list[int]]:
    """Return, for each choice of the shared attributes' values, the known cells of both cuboids."""
    first, second = sorted(known, key=sorted)
    blocks: dict[Cell, list[int]] = defaultdict(lambda: [0, 0])
    for side, names in enumerate((first, second)):
        for cell in known[names]:
            shared = tuple(item for item in sorted(cell) if item[0] in first & second)
            blocks[shared][side] += 1
    return blocks


def _two_cuboids(instance: Instance) -> Exact | None:
    known = _known_cells(instance)
    if known is None or len(known) != 2:
        return None
    return 2 * max(min(block) for block in _blocks(known).values())


def _repaired(instance: Instance) -> Exact | None:
    known, domain = _known_cells(instance), instance.the_policy.domain
    if known is None or len(known) > 2:
        return None
    outside = size(domain, frozenset(domain.names).difference(*known))
    if not known:
        return 1
    if len(known) == 1:
        [(names, cells)] = known.items()
        unknown = size(domain, names) - len(cells)
        return 2 if outside >= 2 else 1 if unknown else 0
    first, second = sorted(known, key=sorted)
    widths = size(domain, first - second), size(domain, second - first)
    blocks = _blocks(known)
    found = [_block(p, q, widths[0] - p, widths[1] - q, outside) for p, q in blocks.values()]
    if len(blocks) < size(domain, first & second):
        found.append(1)
    return max(found)


def _block(p: int, q: int, u: int, w: int, m: int) -> int:  # the names of the statement
    """Return the repaired lemma's number: p, q known cells, u, w unknown ones, m values in each."""
    least = min(p, q)
    found = [0]
    found += [2 * least] if least >= 2 else [2] if least and m >= 2 else []
    found += [2 * least + 1] if u and w else []
    one, two = 2 * min(p, q + 1), 2 * min(q, p + 1)
    found += [one] if w and p and (one >= 4 or w * m >= 2) else []
    found += [two] if u and q and (two >= 4 or u * m >= 2) else []
    return max(found)


def _chained(*parts: Iterator[Instance]) -> Iterator[Instance]:
    for part in parts:
        yield from part


PARTLY = family(
    "tables of 1 or 2 attributes with up to 4 values and any known cells of one cuboid or of two "
    "(n by itself among them), of 2 with up to 8 values and of 3 with up to 4 and up to 3 cells",
    lambda: _partly(4, (1, 2), 3),
    lambda: _chained(_partly(4, (1, 2), 8), _partly(8, (2,), 3), _partly(4, (3,), 3)),
)


LEMMA_4_3 = Claim(
    id="exact-cuboids-draft/lemma-4.3",
    source="Section 4.1, Lemma 4.3 (its intersection read as a union, its second a_1 as a_2)",
    quote="for any two cuboids, then",
    statement="Some cells of one cuboid known: S(base) = 2. Some cells of two known: twice the "
    "largest, over the shared attributes' values x, of the smaller number of known cells at x.",
    read_as="Known cells of two cuboids, the obvious misprint (a_1 twice) read as a_1 and a_2.",
    parts=(
        add_remove("(i) equality", PARTLY, _one_cuboid),
        add_remove("(i) bound", PARTLY, _one_cuboid, "<="),
        add_remove("(ii) equality", PARTLY, _two_cuboids),
        add_remove("(ii) bound", PARTLY, _two_cuboids, "<="),
        add_remove("repaired", PARTLY, _repaired, amended=True),
    ),
    repaired="One cuboid: 2 if a known cell has two values or more, else 1 if a cell is unknown, "
    "else 0. Two cuboids: the largest over x of the following, where at x p cells of C1 are known "
    "and u unknown, q of C2 known and w unknown, and M values lie in a pair of cells. 2 min(p, q) "
    "if min(p, q) >= 2; 2 if min(p, q) >= 1 and M >= 2; 2 min(p, q) + 1 if u, w >= 1; 2 min(p, q "
    "+ 1) if w, p >= 1 and that is at least 4, or w M >= 2; 2 min(q, p + 1) if u, q >= 1 and that "
    "is at least 4, or u M >= 2.",
    explanation="As in Lemma 4.2, the moves form cycles that alternate between known cells of C1 "
    "and C2. But a record in a cell that nobody knows needs no partner there, so a path may also "
    "begin and end at unknown cells, and it then has up to two moves more: on 2 x 2 values with "
    "one row's and one column's count known, a record can be added in the known row and another "
    "one in the known column, while the record in both is removed. That is 3, not 2; noise for 2 "
    "is too little. A record that no known cell counts can even be added by itself: 1 where the "
    "lemma may say 0. Where all cells are known the lemma is Lemma 4.2, with its exception for "
    "one value.",
    proof="Make all unknown cells one vertex f of the graph in the proof of Lemma 4.2. "
    "Irreducible changes are simple cycles; those that avoid f have 2 min(p, q) moves at one x. "
    "One through f is a path of known cells of one x whose ends are joined to f: an end in C1 "
    "needs an unknown cell of C2, and the other way round. Ends on both sides give 2 k + 1 moves "
    "through k + k cells, k <= min(p, q); both ends in C1 give 2 k moves through k + (k - 1) "
    "cells.",
)

# --- Lemma 4.4 -----------------------------------------------------------------------------------


def _asked(tables: Iterator[Instance]) -> Iterator[Instance]:
    """Yield the tables with every cuboid asked for."""
    for item in tables:
        for names in some.marginal_sets(item.the_policy.domain, proper=False):
            query = Asked(f"marginal({','.join(names)})")
            yield replace(item, query=query, shape=f"{item.shape}, {len(names)}-way")


def _cuboid(instance: Instance) -> Names | None:
    text = instance.query.text
    inside = text.removeprefix("marginal(").removesuffix(")")
    return frozenset(inside.split(",")) if inside != text else None


def _base(instance: Instance) -> Exact | None:
    """Return S(base) by the engines, where the cuboid asked for cannot be computed."""
    known, wanted = known_cuboids(instance), _cuboid(instance)
    if known is None or wanted is None or any(wanted <= names for names in known):
        return None
    value = Sensitivity("add-remove")(replace(instance, query=Asked()), None)
    return value.lower if value.lower == value.upper else None


def _wide(instance: Instance, names: Names) -> Names:
    """Return the attributes that have two values or more."""
    domain = instance.the_policy.domain
    return frozenset(name for name in names if size(domain, frozenset({name})) > 1)


def _fresh(instance: Instance) -> Names:
    return (_cuboid(instance) or frozenset()).difference(*(known_cuboids(instance) or []))


def _equal(instance: Instance) -> Exact | None:
    return _base(instance) if _fresh(instance) else None


def _equal_if_wide(instance: Instance) -> Exact | None:
    return _base(instance) if _wide(instance, _fresh(instance)) else None


def _half(instance: Instance) -> Exact | None:
    base = None if _fresh(instance) else _base(instance)
    return None if base is None else Fraction(base) / 2


def _half_if_wide(instance: Instance) -> Exact | None:
    wanted = _wide(instance, _cuboid(instance) or frozenset())
    if any(wanted <= names for names in known_cuboids(instance) or []):
        return None
    return _half(instance)


def _of_sizes(*shapes: tuple[int, ...]) -> Iterator[Instance]:
    """Yield the tables of these sizes with every set of one to three cuboids known."""
    for item in cuboid_tables(8, (3,), (1, 2, 3), each=2):
        sizes = tuple(attribute.size for _, attribute in item.the_policy.domain.attributes)
        if sizes in shapes:
            yield item


CUBES = family(
    "tables of 1 or 2 attributes with up to 8 values, of 3 with up to 3, of 2 x 2 x 1 and 2 x 2 "
    "x 2 values, every set of one to three cuboids known, every cuboid asked for",
    lambda: _asked(_chained(cuboid_tables(4, (1, 2), (1, 2)), cuboid_tables(2, (3,), (1, 2)))),
    lambda: _asked(
        _chained(
            cuboid_tables(8, (1, 2), (1, 2, 3)),
            cuboid_tables(3, (3,), (1, 2, 3)),
            _of_sizes((2, 2, 1), (2, 2, 2)),
        )
    ),
)


LEMMA_4_4 = Claim(
    id="exact-cuboids-draft/lemma-4.4",
    source="Section 4.2, Lemma 4.4",
    quote="for any cuboid",
    statement="A cuboid C that cannot be computed from the known ones has S(C) <= S(base), with "
    "equality if an attribute of C is in no known cuboid, and S(C) >= S(base) / 2 otherwise.",
    read_as="Cuboids that the known ones do not give; the bound, the equality, and the half.",
    parts=(
        add_remove("S(C) <= S(base)", CUBES, _base, "<="),
        add_remove("S(C) = S(base) with an attribute outside", CUBES, _equal),
        add_remove("S(C) >= S(base) / 2 without", CUBES, _half, ">="),
        add_remove(
            "S(C) = S(base) with an attribute of two values outside",
            CUBES,
            _equal_if_wide,
            amended=True,
        ),
        add_remove(
            "S(C) >= S(base) / 2, C not computable without its attributes of one value",
            CUBES,
            _half_if_wide,
            ">=",
            amended=True,
        ),
    ),
    repaired="If attributes of one value are left out, from C and from the known cuboids.",
    amendment="condition",
    explanation="The proof takes two values, x and y, of the attribute outside, so it must have "
    "two. An attribute of one value makes C look as if it could not be computed from the known "
    "cuboids although it can, and then S(C) = 0. The upper bound holds always: only accuracy is "
    "lost.",
    proof="Cells of C are sums of base cells, hence the bound. With an attribute of two values "
    "outside, give all added records one of them and all removed ones the other: no known cell "
    "sees it, and nothing cancels in C.",
)


CLAIMS = (LEMMA_4_3, LEMMA_4_4)
