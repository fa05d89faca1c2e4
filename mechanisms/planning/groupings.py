"""Which queries of a workload share a release: groupings, the one with the least error among them.

Every query has candidates that answer it. Those that draw alike are drawn once, so the error of a
grouping is that of its releases, the budget split among them as well as can be. The best one is
looked for from several beginnings (every query its own best; all by one release), one query at a
time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from blowproof.mechanisms.expecting.expected import Expected
from blowproof.mechanisms.planning.candidates import Candidate
from blowproof.mechanisms.planning.split import total_error
from blowproof.mechanisms.planning.workload import Workload
from blowproof.mechanisms.release.release import Plan

__all__ = ["Grouping", "Tried", "best_of", "cost_of", "costs_of", "groupings", "shared"]


@dataclass(frozen=True, eq=False)
class Tried:
    """A candidate made ready for one query at some budget, and its expected error."""

    candidate: Candidate
    plan: Plan
    error: Expected


Grouping = tuple[Tried, ...]
"""For each query, the candidate that answers it; those that draw alike share one release."""


def groupings(workload: Workload, tried: Sequence[Sequence[Tried]]) -> list[Grouping]:
    """Return groupings of the queries, the one with the least error among them."""
    able = [list(row) for row in tried]
    starts = _starts(able)
    best = _best(starts, able, workload)
    whole = [start for start in starts if len(_noisy(start)) == 1]
    unique: dict[tuple[str, ...], Grouping] = {}
    for grouping in (best, starts[0], *whole):
        unique.setdefault(tuple(item.candidate.text for item in grouping), grouping)
    return list(unique.values())


def best_of(workload: Workload, tried: Sequence[Sequence[Tried]]) -> tuple[Grouping | None, float]:
    """Return the grouping with the least error, and its weighted squared error; None: inf."""
    able = [list(row) for row in tried]
    if not all(able):
        return None, math.inf
    best = _best(_starts(able), able, workload)
    return best, cost_of(best, workload)


def _starts(able: Sequence[Sequence[Tried]]) -> list[Grouping]:
    """Return where to begin: every query its own best, and each candidate for all it serves."""
    own = [min(row, key=lambda item: item.error.rmse) for row in able]
    starts = [tuple(own)]
    for candidate in {item.candidate.text: None for row in able for item in row}:
        of = [next((it for it in row if it.candidate.text == candidate), None) for row in able]
        starts.append(tuple(it or best for it, best in zip(of, own, strict=True)))
        if all(of):
            starts.append(tuple(it for it in of if it is not None))
    return starts


def _best(
    starts: Sequence[Grouping], able: Sequence[Sequence[Tried]], workload: Workload
) -> Grouping:
    found = (_improved(start, able, workload) for start in starts)
    return min(found, key=lambda item: cost_of(item, workload))


def _noisy(grouping: Grouping) -> set[str]:
    """Return by what those queries are answered that are not answered exactly."""
    return {item.candidate.text for item in grouping if item.error.rmse}


def _improved(start: Grouping, able: Sequence[Sequence[Tried]], workload: Workload) -> Grouping:
    """Change one query's candidate at a time, as long as that lessens the error."""
    best, least = start, cost_of(start, workload)
    going = True
    while going:
        going = False
        for place, row in enumerate(able):
            for item in row:
                other = (*best[:place], item, *best[place + 1 :])
                cost = cost_of(other, workload)
                if cost < least * (1 - 1e-9):
                    best, least, going = other, cost, True
    return best


def shared(grouping: Grouping) -> list[list[int]]:
    """Return the queries that one release answers, release by release."""
    groups: list[list[int]] = []
    for place, item in enumerate(grouping):
        for group in groups:
            if item.plan.draws_as(grouping[group[0]].plan):
                group.append(place)
                break
        else:
            groups.append([place])
    return groups


def costs_of(
    grouping: Grouping, groups: Sequence[Sequence[int]], workload: Workload
) -> list[float]:
    """Return the weighted squared error of each release of a grouping, at the whole budget."""
    return [
        sum(float(workload.weights[at]) * grouping[at].error.rmse ** 2 for at in group)
        for group in groups
    ]


def cost_of(grouping: Grouping, workload: Workload) -> float:
    """Return the weighted squared error of a grouping, its budget split as well as can be."""
    return total_error(costs_of(grouping, shared(grouping), workload), 1.0)
