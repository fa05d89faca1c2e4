"""Proofs by the factors of a table: `margins` (a search over one-way margins), `exchanges`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.engines.irreducibles.trace import traced
from blowproof.verifier.kernel.independent import Sparse, independent
from blowproof.verifier.kernel.proofs import exchanges
from blowproof.verifier.kernel.proofs.cells import Place, places_of, restricted
from blowproof.verifier.kernel.proofs.margins import Table, bound, bound_by_classes
from blowproof.verifier.kernel.world import World
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.proofs.irreducible import written
from blowproof.verifier.proofs.lengths.kept import kept
from blowproof.verifier.proofs.lengths.refused import unless_refused
from blowproof.verifier.theorems.listed_margins import longest_listed, often

__all__ = ["margins", "rounds", "searched"]

MOST_FACTS = whole_limit(__name__, "MOST_FACTS")


@unless_refused
def margins(world: World, value: Exact, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield a proof by a table whose longest irreducible is known, if its bound is within it."""
    scale, places = places_of(world)
    if len(world.equalities) > MOST_FACTS:
        return
    factors, sides = _ascending(*factors_of(world, places))
    known = _known_of(world, places, factors, sides, world.measure.claim(value, scale))
    table = None if known is None else _table(world, sides, seconds)
    if known is not None and table is not None:
        yield {"kind": "margins", "factors": factors, **known, "table": table}


def _known_of(
    world: World,
    places: Sequence[Place],
    factors: Sequence[Sequence[int]],
    sides: Sequence[int],
    claim: int,
) -> dict[str, Any] | None:
    """Return what is known of a table and is enough: how long irreducibles are, and else how often
    one leaves a class of a factor.
    """
    most = longest_listed(tuple(sides))
    if most is None:
        return None
    if bound(world, places, most) <= claim:
        return {"longest": most}
    for place, factor in enumerate(factors):
        times = often(tuple(sides), place, most)
        if bound_by_classes(world, places, most, factor, times) <= claim:
            return {"longest": most, "left": [place, times]}
    return None


def _ascending(factors: list[list[int]], sides: list[int]) -> tuple[list[list[int]], list[int]]:
    """Return factors with few signatures first: a table is kept in one order."""
    order = sorted(range(len(sides)), key=sides.__getitem__)
    return [factors[k] for k in order], [sides[k] for k in order]


@unless_refused
def rounds(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof that pairs of reading 3 go round cells of two factors, if that is enough."""
    if world.reading != "add-remove" or len(world.equalities) > MOST_FACTS:
        return
    factors, _ = factors_of(world, exchanges.places_of(world, single=True)[1])
    proof = {"kind": "exchanges", "factors": factors}
    exchanges.refute(world, proof, value)
    yield proof


def factors_of(world: World, places: Sequence[Place]) -> tuple[list[list[int]], list[int]]:
    """Return the facts in groups of independent signatures, and how many of these each has.

    A fact joins the first group with which it has independent signatures.
    """
    factors: list[list[int]] = []
    for k in range(len(world.equalities)):
        for factor in [*factors, None]:
            if factor is None:
                factors.append([k])
            elif independent(_signatures(world, places, [*factor, k]), world.budget):
                factor.append(k)
                break
    return factors, [len(_signatures(world, places, factor)) for factor in factors]


def _signatures(world: World, places: Sequence[Place], factor: Sequence[int]) -> list[Sparse]:
    kept = set(factor)
    return list(dict.fromkeys(restricted(effect, kept, world) for effect, _ in places))


def _table(world: World, sides: Sequence[int], seconds: float) -> dict[str, Any] | None:
    """Return the search over the one-way margins of a table, None if it takes longer.

    What was found, or read, is kept: it depends on the sides alone.
    """
    key = tuple(sides)
    proof = _known.get(key) or kept(key) or searched(world, key, seconds)
    if proof is not None:
        _known[key] = proof
    return proof


def searched(world: World, sides: Sequence[int], seconds: float) -> dict[str, Any] | None:
    """Return the same, searched now."""
    moves = Table(world, sides)
    found = traced(moves.effects, moves.weights, symmetry=True, time_limit=seconds)
    return None if found is None else written(moves, found)


_known: dict[tuple[int, ...], dict[str, Any]] = {}
