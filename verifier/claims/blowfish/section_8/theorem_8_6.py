"""blowfish-2014, section 8.2.3: rectangles under distance secrets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random

from blowproof.models import Between, Box, Count, Exact, Policy
from blowproof.models.secrets import Distance
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating import sparse_families as sparse
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part, Relation
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Sensitivity
from blowproof.verifier.claims.stating.parts import with_kernel
from blowproof.verifier.claims.stating.policy_graphs import effects

__all__ = ["CLAIMS"]


def _boxes(policy: Policy) -> list[Box]:
    return [fact.terms[0][1].boxes[0] for fact in policy.linear_facts]


def _near(policy: Policy, one: Box, two: Box) -> bool:
    """Whether the distance between two rectangles, in the policy's metric, is at most theta."""
    secrets = policy.secrets
    assert isinstance(secrets, Distance)
    gaps = []
    for a, b in zip(one.sides, two.sides, strict=True):
        (low, high), (left, right) = (
            (a.runs[0][0], a.runs[0][1] - 1),
            (b.runs[0][0], b.runs[0][1] - 1),
        )
        gaps.append(max(0, left - high, low - right))
    theta = secrets.threshold
    if secrets.metric == "l1":
        return sum(gaps) <= theta
    if secrets.metric == "linf":
        return max(gaps) <= theta
    return sum(gap * gap for gap in gaps) <= theta * theta


def _components(policy: Policy) -> list[set[int]]:
    boxes = _boxes(policy)
    parts = [{place} for place in range(len(boxes))]
    for one, two in combinations(range(len(boxes)), 2):
        if _near(policy, boxes[one], boxes[two]):
            first = next(part for part in parts if one in part)
            second = next(part for part in parts if two in part)
            if first is not second:
                parts.remove(second)
                first |= second
    return parts


def _theorem_8_6(instance: Instance) -> Exact | None:
    if len({item.size for _, item in instance.the_policy.domain.attributes}) > 1:
        return None  # not [m]^k
    return 2 * (max(map(len, _components(instance.the_policy)), default=0) + 1)


def _no_points(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    return None if any(box.size == 1 for box in _boxes(policy)) else _theorem_8_6(instance)


def _repaired_8_6(instance: Instance) -> Exact:
    policy = instance.the_policy
    entered, secret = set(), False
    for _, _, lowered, lifted in effects(policy):
        secret = True
        if lifted and not lowered:
            entered.add(lifted[0])
    best = int(secret)
    for part in _components(policy):
        way_in = bool(part & entered)
        if way_in or len(part) > 1:
            best = max(best, len(part) + way_in)
    return 2 * best


def _quick_8_6() -> Iterator[Instance]:
    yield from some.lines(4, (1,), 2)
    yield from sparse.rectangles(2, 2, (1,), ("l1",), 1)
    yield Instance(shape="line of 6, 2 ranges", policy=some.line(6, 1, [(1, 2), (5, 6)]))


def _full_8_6() -> Iterator[Instance]:
    yield from some.lines(6, (1, 2, 3), 3)
    yield from sparse.rectangles(2, 2, (1, 2), ("l1", "linf"), 3)
    yield from sparse.rectangles(3, 2, (1,), ("l1",), 1)


def _draw(rng: Random) -> Instance:
    """Return a 4 x 4 grid with 2 to 4 random disjoint rectangles."""
    known: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for _ in range(12):
        box = (_ends(rng), _ends(rng))
        if len(known) < 4 and all(sparse.apart(box, other) for other in known):
            known.append(box)
    policy = Policy(
        domain=some.table(4, 4),
        secrets=Distance(threshold=rng.choice([1, 2]), metric=rng.choice(["l1", "linf"])),
        known=tuple(Count({"a": Between(*a), "b": Between(*b)}) for a, b in known),
    )
    return Instance(shape="4^2, drawn rectangles", policy=policy)


def _ends(rng: Random) -> tuple[int, int]:
    low = rng.randint(1, 4)
    return low, rng.randint(low, min(4, low + 1))


def _more_8_6() -> Iterator[Instance]:
    yield from some.lines(7, (1, 2), 3)
    yield from sparse.rectangles(2, 2, (1, "3/2", 2), ("l1", "l2", "linf"), 3)
    yield from sparse.rectangles(3, 2, (1,), ("l1",), 2)
    yield from some.drawn("rectangles", 100, _draw)


RANGES = family(
    "lines of up to 6 values (theta 1, 2, 3) and 2 x 2 grids (theta 1, 2; l1 and linf) with every "
    "set of up to 3 disjoint rectangles; 3 x 3 grids with one",
    _quick_8_6,
    _full_8_6,
)


MORE_RANGES = family(
    "lines of up to 7 values with up to 3 disjoint ranges (theta 1, 2), 2 x 2 grids with up to 3 "
    "rectangles (l1, l2, linf), 3 x 3 grids with up to 2; 100 drawn on 4 x 4 grids with up to 4",
    _quick_8_6,
    _more_8_6,
)


RELATIONS: tuple[tuple[str, Relation], ...] = (("bound", "<="), ("equality without points", "="))


THEOREM_8_6 = Claim(
    id="blowfish-2014/theorem-8.6",
    source="Section 8.2.3, Theorem 8.6",
    quote="If none of the constraints are point",
    statement="Distance secrets on [m]^k, disjoint known rectangles: S(h, P) <= 2 (maxcomp + 1), "
    "with equality if no rectangle is a point.",
    read_as="All of [m]^k, l1 distance, theta >= 1; the bound, and the equality without points.",
    parts=(
        *(
            Part(
                name=name,
                family=RANGES if reading == "published" else MORE_RANGES,
                claimed=_theorem_8_6 if relation == "<=" else _no_points,
                measure=Sensitivity(reading),
                relation=relation,
                reading=reading,
                answers="any",
            )
            for name, relation in RELATIONS
            for reading in ("published", "secret-moves")
        ),
        Part(
            name="the repaired bound",
            family=MORE_RANGES,
            claimed=_repaired_8_6,
            measure=Sensitivity("secret-moves"),
            relation="<=",
            reading="secret-moves",
            answers="any",
            amended=True,
        ),
    ),
    repaired="If every changed record makes a secret move, S(h, P) <= 2 max over the components K "
    "of |K|, one more if a secret pair enters K from outside all rectangles; a rectangle alone "
    "that nothing enters counts for nothing, and 2 is allowed for moves that change no count. "
    "Equality needs a cycle or path through that many rectangles that starts nowhere where it "
    "ends.",
    explanation="The bound follows from Theorem 8.2 and fails with it: as published, plain moves "
    "may compensate across components that no secret pair joins (the line 1..6 with theta = 1 and "
    "the counts of 1..2 and 5..6 known: 6, not 4). The equality fails further: a component need "
    "not have a path through all its rectangles, rectangles that fill the whole domain leave no "
    "way in or out (1..2 with its only range known: 2, not 4), and a domain of one value has no "
    "secret pair at all. The equality's failures cost only accuracy.",
    proof="Disjoint rectangles are sparse under every G. What changes at once is a simple cycle "
    "of the rectangles and of the outside, taken as one node; without the outside it stays in one "
    "component.",
)


CLAIMS = (with_kernel(THEOREM_8_6),)
