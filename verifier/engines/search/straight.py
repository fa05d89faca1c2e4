"""Histograms in norms beside l1, where every class has two values or more: nothing cancels.

Let records leave each class from its first value and enter it at its second. No choice of values
changes more: of a value that e records enter and l leave, |e - l| is at most the larger, (e - l)^2
at most e^2 + l^2, and sums of squares are at most squares of sums. So the size of a multiset of
moves is that of how often each class is left, and each is entered.

*Symmetries.* An affine map that permutes the signatures of the classes (and keeps which of them are
joined) permutes effects linearly, and moves from class to class; so does exchanging the ends of all
moves. Neither changes the size, so the search may use them. In l1 all moves of an effect count the
same, and all linear maps do; here a multiset stands for as many as there are such maps.
"""

from __future__ import annotations

from collections import Counter

from blowproof.models.norms import L1
from blowproof.models.policy.readings import is_labelled
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.engines.irreducibles.symmetry import automorphisms
from blowproof.verifier.exact.coordinates import Instance
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["straight_kinds", "symmetries_of"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")

Vector = tuple[int, ...]
Joined = dict[tuple[Vector, Vector], Kind]
"""The move from one class to another, by their signatures."""


def straight_kinds(moves: Moves) -> Joined | None:
    """Return a move for every two classes that are joined; None where the text does not apply."""
    if moves.query.measure is L1 or not is_labelled(moves.reading) or not is_histogram(moves.query):
        return None
    ends: dict[Vector, list[tuple[int, ...]]] = {}
    for x, signature in moves.effects.items():
        ends.setdefault(signature, []).append(x)
    if len(ends) > MOST_CLASSES or any(len(values) < 2 for values in ends.values()):
        return None
    first = {values[0]: signature for signature, values in ends.items()}
    second = {values[1]: signature for signature, values in ends.items()}
    joined = {
        (first[kind.before], second[kind.after]): kind
        for kind in moves.kinds
        if kind.before in first and kind.after in second
    }
    every = {(moves.effects[kind.before], moves.effects[kind.after]) for kind in moves.kinds
             if kind.before is not None and kind.after is not None}  # fmt: skip
    return joined if every == joined.keys() else None


def symmetries_of(
    joined: Joined, effects: tuple[Vector, ...], *, end: float | None = None
) -> list[list[int]]:
    """Return permutations of the effects under which no multiset changes its size."""
    signatures = list(dict.fromkeys(signature for pair in joined for signature in pair))
    raised = [(1, *signature) for signature in signatures]
    lowered = [tuple(-x for x in vector) for vector in raised]
    count = len(signatures)
    points = Instance.of([*raised, *lowered], [1] * count + [2] * count)
    number = {vector: place for place, vector in enumerate(points.effects)}
    spots = [number[vector] for vector in raised]
    back = dict(zip(spots, signatures, strict=True))
    place = {effect: k for k, effect in enumerate(effects)}
    found: Counter[tuple[int, ...]] = Counter()
    for permutation in automorphisms(points, end=end).tolist():
        image = {one: back[permutation[spot]] for one, spot in zip(signatures, spots, strict=True)}
        if all((image[one], image[two]) in joined for one, two in joined):
            there = [-1] * len(effects)
            for one, two in joined:
                if one != two:
                    there[place[_apart(one, two)]] = place[_apart(image[one], image[two])]
            found[tuple(there)] += 1
            if all((two, one) in joined for one, two in joined):
                found[tuple(place[tuple(-x for x in effects[k])] for k in there)] += 1
    return [list(permutation) for permutation in found]


def _apart(one: Vector, two: Vector) -> Vector:
    return tuple(b - a for a, b in zip(one, two, strict=True))
