"""The registry: every strategy that the plan may ask, in the order in which it has its first turn.

What a strategy does stands in its own file; here are its name, one line about it, what runs it and
what it refuses. To add one, write it in a file of its own, and give it a line.
"""

from __future__ import annotations

from blowproof.models import QueryError
from blowproof.models.norms import NORMS
from blowproof.verifier.engines.determined import determined
from blowproof.verifier.engines.one_move.engine import one_edge
from blowproof.verifier.portfolio import easier, known_numbers, searches
from blowproof.verifier.portfolio import refusals as no
from blowproof.verifier.portfolio.by_levels import by_levels, no_levels
from blowproof.verifier.portfolio.group_by_group import group_by_group, no_groups
from blowproof.verifier.portfolio.matched import matched, no_matches
from blowproof.verifier.portfolio.strategy import Strategy
from blowproof.verifier.portfolio.through_l1 import IN_L1, no_other_norm
from blowproof.verifier.theorems.alone import alone, not_alone
from blowproof.verifier.theorems.beside import facts_beside
from blowproof.verifier.theorems.beside_bounds import bounds_beside, no_bounds_beside
from blowproof.verifier.theorems.exchanges import exchanges, no_exchanges
from blowproof.verifier.theorems.families.areas_beside import areas_beside, no_areas_beside
from blowproof.verifier.theorems.families.four_cells import four_cells, no_four_cells
from blowproof.verifier.theorems.families.many_areas import many_areas, no_many_areas
from blowproof.verifier.theorems.families.turning_cycles import no_turning_cycles, turning_cycles
from blowproof.verifier.theorems.families.two_margins import two_margins
from blowproof.verifier.theorems.listed_margins import listed_margins
from blowproof.verifier.theorems.one_sided import no_one_side, one_sided
from blowproof.verifier.theorems.simple_cycles import no_cycles, no_single_cycles, single_cycles
from blowproof.verifier.theorems.values.tables_beside_one import no_tables, tables_beside_one
from blowproof.verifier.witnesses.affine_frame import by_frames
from blowproof.verifier.witnesses.few_classes import few_classes
from blowproof.verifier.witnesses.frames.another_database import (
    another_database,
    no_other_database,
)
from blowproof.verifier.witnesses.frames.long_circuits import no_long_circuits

__all__ = ["BY_NAME", "ENGINES", "LAST", "THEOREMS", "named", "offered"]

EVERY_NORM = tuple(NORMS)
"""For strategies whose bounds hold in all norms."""
WRITTEN_AS_CLAUSES = ("l1", "l2-squared", "linf", "range")
"""Norms of which the SAT engine has clauses (engines/labelled/objective, other_norms)."""

THEOREMS = (
    Strategy("areas", "theorem", "thousands of areas inside of one another, or apart",
             many_areas, no_many_areas, norms=EVERY_NORM),
    Strategy("areas beside", "theorem", "hundreds of areas, and facts beside them: so many moves",
             areas_beside, no_areas_beside, norms=EVERY_NORM),
    Strategy("edges", "theorem", "one record changes alone, along the worst edge of G", one_edge,
             no.either(no.single_records, no.no_edges), norms=EVERY_NORM),
    Strategy("alone", "theorem", "no edge of G changes a known number: one record changes alone",
             alone, not_alone, norms=EVERY_NORM),
    Strategy("no secrets", "theorem", "no two possible values are joined in G: S = 0",
             easier.nothing_secret, no.no_labels, norms=EVERY_NORM),
    Strategy("rank", "theorem", "the facts determine the query: S = 0", determined,
             norms=EVERY_NORM),
    Strategy("cycles", "theorem", "independent signatures: pairs are simple cycles",
             single_cycles, no_single_cycles, norms=EVERY_NORM),
    Strategy("tables", "theorem", "tables of every level beside one published table",
             tables_beside_one, no_tables, norms=EVERY_NORM),
    Strategy("exchanges", "theorem", "independent signatures: a record for another of its class",
             exchanges, no_exchanges, norms=EVERY_NORM),
    Strategy("four cells", "theorem", "two records go at the most, and as many come, in reading 4",
             four_cells, no_four_cells),
    Strategy("two margins", "theorem", "two tables: records come and go round a cycle of cells",
             two_margins, no_exchanges, norms=EVERY_NORM),
    Strategy("beside", "theorem", "cells and a few facts beside them: so many moves at the most",
             facts_beside, no_cycles, norms=EVERY_NORM),
    Strategy("turns", "theorem", "cycles on which labels of a fact beside cells rise and fall",
             turning_cycles, no_turning_cycles, norms=EVERY_NORM),
    Strategy("bounds", "theorem", "cells and bounds beside them: so many moves at the most",
             bounds_beside, no_bounds_beside, norms=EVERY_NORM),
    Strategy("one-sided", "theorem", "cells and a fact beside them, and a count on one side of it",
             one_sided, no_one_side),
    Strategy("listed", "theorem", "margins of a table whose multisets were listed in full",
             listed_margins, no_cycles, norms=EVERY_NORM),
    Strategy("ceiling", "theorem", "so many moves, times the largest change of one",
             searches.by_ceiling, norms=EVERY_NORM),
    Strategy("frames", "theorem", "the heaviest frame of few signatures meets the bound",
             by_frames, no.no_frames, norms=EVERY_NORM),
)  # fmt: skip
"""Asked first, in this order: they need no search."""

ENGINES = (
    Strategy("brute", "engine", "every database, by the definition", searches.by_brute_force,
             norms=EVERY_NORM),
    Strategy("long circuits", "engine", "circuits of all classes at once, by heavy frames",
             searches.by_circuits, no_long_circuits, part_of="auto", norms=EVERY_NORM),
    Strategy("ends", "reduction", "cumulative counts by the ends of classes",
             easier.by_class_ends, no.no_ends, norms=EVERY_NORM),
    Strategy("levels", "reduction", "all ranges, by the cumulative counts of the attribute",
             by_levels, no_levels),
    Strategy("policy graph", "engine", "the longest cycle or path of the policy graph",
             searches.by_policy_graph, no.either(no.single_records, no.no_graph),
             part_of="search", norms=EVERY_NORM),
    Strategy("complete graph", "reduction", "full secrets; then one secret move, the others plain",
             easier.COMPLETE_GRAPH, no.either(no.not_mixed, no.no_any, no.single_records),
             part_of="search", norms=EVERY_NORM),
    Strategy("any answers", "reduction", "any answers; then a database with the known numbers",
             easier.ANY_ANSWERS, no.either(no.no_numbers, no.no_placing, no.single_records),
             part_of="search", norms=EVERY_NORM),
    Strategy("without clauses", "reduction", "no clauses; then records numbered to satisfy them",
             easier.WITHOUT_CLAUSES, no.either(no.no_clauses, no.single_records), norms=EVERY_NORM),
    Strategy("search", "engine", "irreducible multisets of moves", searches.by_search,
             no.either(no.no_search, no.single_records), norms=EVERY_NORM),
    Strategy("groups", "reduction", "groups of facts that no secret move ties together, in turns",
             group_by_group, no_groups, norms=EVERY_NORM),
    Strategy("matched", "reduction", "without a table: records go and come in its cells",
             matched, no_matches, norms=EVERY_NORM),
    Strategy("l1", "reduction", "the same question in l1; its pairs are pairs here", IN_L1,
             no_other_norm, plans=True, norms=EVERY_NORM),
    Strategy("secret effects", "engine", "irreducible multisets with a secret move's effect",
             easier.with_secret_effects,
             no.either(no.not_mixed, no.no_any, no.single_records), part_of="search",
             norms=EVERY_NORM),
    Strategy("with a secret", "engine", "irreducible multisets with a secret move among them",
             easier.with_a_secret,
             no.either(no.only_pufferfish, no.not_mixed, no.no_any, no.single_records),
             part_of="search", norms=EVERY_NORM),
    Strategy("parts", "engine", "parts of a pair, each irreducible besides bounds and clauses",
             known_numbers.by_parts, no.either(no.no_conformal, no.single_records), part_of="auto",
             norms=EVERY_NORM),
    Strategy("placing", "engine", "irreducible multisets put into databases",
             known_numbers.by_placing,
             no.either(no.no_numbers, no.no_placing, no.only_mixed, no.single_records),
             part_of="search", norms=EVERY_NORM),
    Strategy("one secret", "engine", "the same, one of the moves secret and the others plain",
             known_numbers.by_one_secret_move,
             no.either(no.no_numbers, no.no_placing, no.not_mixed, no.single_records),
             part_of="search", norms=EVERY_NORM),
    Strategy("merging", "engine", "the records of clauses as one move",
             known_numbers.by_merging, no.either(no.no_merging, no.single_records),
             plans=True, part_of="auto", norms=EVERY_NORM),
    Strategy("merged pairs", "engine", "the same, one of the moves secret and the others plain",
             known_numbers.by_merged_pairs,
             no.either(no.no_merging, no.not_mixed, no.no_bounds, no.single_records),
             plans=True, part_of="auto", norms=EVERY_NORM),
    Strategy("compensated", "engine", "secret moves for which plain ones must compensate",
             known_numbers.by_compensating,
             no.either(no.no_parts, no.not_mixed, no.single_records), plans=True, part_of="auto",
             norms=EVERY_NORM),
    Strategy("reading 1", "reduction", "pairs of reading 1, which are pairs of reading 5",
             easier.READING_1, no.minimal, norms=EVERY_NORM),
    Strategy("two databases", "engine", "two databases far apart, and a part of how they differ",
             another_database, no_other_database, part_of="auto", norms=EVERY_NORM),
    Strategy("sat", "engine", "labelled records: propose, refute, cut (SAT)", searches.by_sat,
             no.no_sat, endless=True, norms=WRITTEN_AS_CLAUSES),
    Strategy("ilp", "engine", "histograms and moves: propose, refute, cut (ILP)", searches.by_ilp,
             no.no_ilp, endless=True, norms=EVERY_NORM),
)  # fmt: skip
"""What searches, in turns; `--engine` names some of them (`offered`)."""

BY_NAME = (
    Strategy("hilbert", "engine", "a Hilbert basis, listed by Normaliz", searches.by_hilbert,
             no.no_hilbert, norms=EVERY_NORM),
)  # fmt: skip
"""No part of the plan: what others wrote, to check the search by, which lists the same, faster."""

LAST = Strategy(
    "few classes", "witness", "a pair over a few classes of values", few_classes, norms=EVERY_NORM
)
"""Asked where the bounds do not meet."""


def offered() -> tuple[str, ...]:
    """Return the names that `--engine` takes: the plan, and engines that can be asked alone."""
    engines = [item for item in (*ENGINES, *BY_NAME) if item.kind == "engine"]
    return ("auto", *(item.name for item in engines if not item.part_of))


def named(name: str) -> Strategy:
    """Return the strategy of this name."""
    found = [item for item in (*THEOREMS, *ENGINES, *BY_NAME, LAST) if item.name == name]
    if not found:
        raise QueryError(f"there is no engine {name!r}\n  try: {', '.join(offered())}")
    return found[0]
