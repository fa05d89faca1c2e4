"""Proofs that hold no choice, and no more than their name: the kernel derives all the rest.

`exchanges`, `secret-arc`, `determined`; `single` and `cycles`, by the kernel's own bound; and, by
listing, `every-database` and `four-cells`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.proofs import cycles, single_move
from blowproof.verifier.kernel.proofs.determined import refute as refute_open
from blowproof.verifier.kernel.proofs.exchanges import refute as refute_exchanges
from blowproof.verifier.kernel.proofs.secret_arc import refute as refute_arcs
from blowproof.verifier.kernel.world import Effects, World
from blowproof.verifier.proofs.lengths.refused import unless_refused

__all__ = [
    "determined",
    "every_database",
    "exchanges",
    "four_cells",
    "secret_arc",
    "simple_cycles",
    "single_moves",
]


@unless_refused
def exchanges(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof that records are exchanged in a class, if that is within the value."""
    proof = {"kind": "exchanges"}
    refute_exchanges(world, proof, value)
    yield proof


@unless_refused
def secret_arc(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof by the arc of a cycle along an edge of G, if its bound is within the value."""
    proof = {"kind": "secret-arc"}
    if world.measure.name == "l1":
        refute_arcs(world, proof, value)
        yield proof


@unless_refused
def determined(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof that the facts fix the query, if the value is 0 and they do."""
    proof = {"kind": "determined"}
    if value == 0:
        refute_open(world, proof, value)
        yield proof


@unless_refused
def single_moves(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof that a pair is one secret move, if what that changes is within the value."""
    if single_move.bound(world) <= value:
        yield {"kind": "single"}


@unless_refused
def simple_cycles(moves: Effects, claim: int) -> Iterator[dict[str, Any]]:
    """Yield a proof that irreducible multisets are simple cycles of a graph on the facts, if what
    they change is within the claim (a size).
    """
    if cycles.bound(moves) <= claim:
        yield {"kind": "cycles"}


def every_database(world: World) -> Iterator[dict[str, Any]]:
    """Yield the proof where n is a number; whether databases are few, the kernel sees itself."""
    if world.policy.scope == "given" or world.query.weights is not None:
        yield {"kind": "every-database"}


def four_cells(world: World) -> Iterator[dict[str, Any]]:
    """Yield the proof for reading 4; whether its bound is within the value, the kernel sees."""
    if world.reading == "markov":
        yield {"kind": "four-cells"}
