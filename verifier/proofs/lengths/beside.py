"""Proofs of kind `beside`: a base, labels in the order of the stages, and forms of the plane."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.independent import Span, Sparse
from blowproof.verifier.kernel.proofs.cells import Place
from blowproof.verifier.kernel.proofs.lengths.beside import bound, classes_of, labelled, rows_of
from blowproof.verifier.kernel.proofs.lengths.plane import in_the_plane
from blowproof.verifier.kernel.world import World, less
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.beside import by_stages
from blowproof.verifier.theorems.lengths.two_beside import forms_of

__all__ = ["beside"]

Bases = Callable[[World, Sequence[Place]], Iterator[list[int]]]

MOST_ORDERS = whole_limit(__name__, "MOST_ORDERS")


def beside(world: World, value: Exact, bases: Bases) -> Iterator[dict[str, Any]]:
    """Yield a proof by cells and what is beside them, if some base's bound is within the value.

    `bases` says which are tried (`cells.bases`).
    """
    if not world.labelled or world.policy.clauses or world.query.weights is not None:
        return
    world.by_position(single=True)
    cells, _, _ = world.classes()
    effects = [world.sparse(cell.point) for cell in cells]
    known = len(world.equalities)
    alone = [tuple([item for item in effect if item[0] < known]) for effect in effects]
    for base in bases(world, [(effect, frozenset()) for effect in alone]):
        for left_out in (None, *range(known, known + len(world.bounds))):
            try:
                proof = _of_base(world, effects, base, left_out)
                scale, most = bound(world, base, proof["labels"], proof["forms"])
            except Rejected:
                continue
            if most <= world.measure.claim(value, scale):
                yield proof
                return


def _of_base(
    world: World, effects: Sequence[Sparse], base: list[int], left_out: int | None
) -> dict[str, Any]:
    """Return the proof that a base leads to; `left_out`: a bound whose ends may be far apart."""
    inside = classes_of(world, [(effect, frozenset()) for effect in effects], base)
    rows = [k for k in rows_of(world) if k != left_out]
    if left_out is not None and len(rows) < len(world.bounds) - 1:
        raise Rejected("one bound is left out already")
    classes = [[effect for effect, _ in members] for members in inside.values()]
    labels = _labels(world, classes, rows)
    if 1 < len(labels) <= MOST_ORDERS:
        told = labelled(world, inside, labels, rows)
        facts = list(zip(told.widths, told.few, range(len(labels)), strict=True))
        order = min(permutations(facts), key=lambda order: _staged(len(inside), order))
        labels = [labels[k] for _, _, k in order]
    forms: list[list[list[int]]] = []
    if len(labels) == 2:
        found = labelled(world, inside, labels, rows)
        loops = [label for label, loose in zip(((1, 0), (0, 1)), found.slack, strict=True) if loose]
        tried = [
            (in_the_plane(found.inside, form, loops, world.budget), form)
            for form in _forms([(held, 1) for held in found.inside])
        ]
        best = [min(tried, key=lambda item, k=k: item[0][k])[1] for k in (0, 1)]  # type: ignore[misc]
        forms = best[:1] if best[0] == best[1] else best
    return {"kind": "beside", "base": base, "labels": labels, "forms": forms}


def _labels(world: World, classes: Sequence[Sequence[Sparse]], bounds: Sequence[int]) -> list[int]:
    """Return equalities that tell values of a class apart as all do, and the bounds that do."""
    known, rows = len(world.equalities), set(bounds)
    apart = dict.fromkeys(less(effect, members[0]) for members in classes for effect in members)
    equal = [{k: v for k, v in row if k < known} for row in apart]
    labels: list[int] = []
    rank = 0
    for k in sorted({k for row in equal for k in row}):
        kept = {*labels, k}
        seen = [{j: v for j, v in row.items() if j in kept} for row in equal]
        more = len(Span(seen, world.budget).kept)
        if more > rank:
            labels, rank = [*labels, k], more
    return [*labels, *sorted({k for row in apart for k, _ in row} & rows)]


def _forms(classes: Sequence[tuple[set[tuple[int, ...]], int]]) -> list[list[list[int]]]:
    """Return the forms that the theorem tries, as the kernel reads them."""
    pairs = [([(x, y) for x, y in held], times) for held, times in classes]
    return [[[t, x, y] for t, (x, y) in form] for form in forms_of(pairs)]


def _staged(count: int, facts: Sequence[tuple[int, int | None, int]]) -> int:
    """Return how many moves the stages in this order allow."""
    return by_stages(count, [width for width, _, _ in facts], [few for _, few, _ in facts])
