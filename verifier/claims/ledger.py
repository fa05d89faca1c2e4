"""All claims, in the order of the papers and of their sections; and how they are selected."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from blowproof.models import BlowproofError
from blowproof.verifier.claims.stating.claim import Claim

__all__ = ["MODULES", "PAPERS", "UnknownClaimError", "all_claims", "room_of", "select"]

PAPERS = (
    "blowfish-2014",
    "exact-cuboids-draft",
    "designing-statistical-privacy-2015",
    "pufferfish-2012",
    "data-dependent-blowfish",
    "ours",
)
MODULES = (
    "blowfish.definitions",
    "blowfish.section_2",
    "blowfish.section_3_1",
    "blowfish.section_3_2",
    "blowfish.section_4",
    "blowfish.section_4_1",
    "blowfish.theorem_4_3",
    "blowfish.section_4_2",
    "blowfish.section_5",
    "blowfish.section_6",
    "blowfish.section_6_1",
    "blowfish.section_7",
    "blowfish.section_7_2",
    "blowfish.theorem_7_2",
    "blowfish.trees.lower_bounds",
    "blowfish.trees.regression",
    "blowfish.trees.equation_14",
    "blowfish.trees.equation_15",
    "blowfish.trees.true_errors",
    "blowfish.trees.growth",
    "blowfish.section_8.section_8",
    "blowfish.section_8.hardness",
    "blowfish.section_8.section_8_1",
    "blowfish.section_8.theorem_8_2",
    "blowfish.section_8.corollary_8_3",
    "blowfish.section_8.theorem_8_4",
    "blowfish.section_8.theorem_8_5",
    "blowfish.section_8.theorem_8_6",
    # the other papers, one line for each module:
    "cuboids.section_2",
    "cuboids.section_3",
    "cuboids.section_3_neighbours",
    "cuboids.section_3_4",
    "cuboids.section_4",
    "cuboids.section_4_cells",
    "cuboids.theorem_4_5",
    "cuboids.section_5",
    "cuboids.section_6",
    "cuboids.equation_12",
    "designing.sums",
    "designing.clusters",
    "designing.inferences",
    "designing.figure_1",
    "designing.figure_2",
    "pufferfish.semantics",
    "pufferfish.section_7",
    "pufferfish.section_9",
    "pufferfish.attackers",
    "pufferfish.blowfish",
    "data_dependent.transforms",
    "data_dependent.merging",
    "data_dependent.partitions",
    "data_dependent.first_step",
    "data_dependent.theorem_5_2",
    "data_dependent.section_6",
    "ours.affine",
    "ours.theorems",
    "ours.attackers",
    "ours.norms",
    "ours.odds",
)
"""One module for each section, in `blowproof.verifier.claims`; each has CLAIMS."""


class UnknownClaimError(BlowproofError):
    """No claim has this id, nor a longer one that begins with it."""


@cache
def all_claims() -> tuple[Claim, ...]:
    """Return every claim of the ledger."""
    found: list[Claim] = []
    for name in MODULES:
        found.extend(import_module(f"blowproof.verifier.claims.{name}").CLAIMS)
    ids = [claim.id for claim in found]
    assert len(ids) == len(set(ids)), sorted(item for item in ids if ids.count(item) > 1)
    return tuple(sorted(found, key=lambda claim: PAPERS.index(claim.paper)))


@cache
def _modules() -> dict[str, str]:
    return {
        claim.id: name
        for name in MODULES
        for claim in import_module(f"blowproof.verifier.claims.{name}").CLAIMS
    }


def room_of(claim: str) -> str:
    """Return the module of a claim, given its id, in `MODULES`; "" for one of no module."""
    return _modules().get(claim, "")


def select(wanted: Sequence[str]) -> tuple[Claim, ...]:
    """Return the claims with these ids, or whose ids begin so; none named: all of them.

    >>> [claim.id for claim in select(["blowfish-2014/corollary-8.3"])][0]
    'blowfish-2014/corollary-8.3'
    """
    claims = all_claims()
    if not wanted:
        return claims
    chosen: set[str] = set()
    for name in wanted:
        fitting = {claim.id for claim in claims if claim.id == name}
        fitting = fitting or {claim.id for claim in claims if claim.id.startswith(name)}
        if not fitting:
            raise UnknownClaimError(f"there is no claim {name!r}\n  try: {_nearest(name)}")
        chosen |= fitting
    return tuple(claim for claim in claims if claim.id in chosen)


def _nearest(name: str) -> str:
    ids = [claim.id for claim in all_claims()]
    short = {item.partition("/")[2]: item for item in reversed(ids)}
    close = get_close_matches(name, ids, n=3, cutoff=0.6)
    close += [short[item] for item in get_close_matches(name, short, n=3, cutoff=0.6)]
    return ", ".join(dict.fromkeys(close)) or f"a prefix such as {PAPERS[0]}/"
