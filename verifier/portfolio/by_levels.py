"""All ranges of an attribute, in l1, by its cumulative counts and by how far one range differs.

*Statement.* Readings 1, 2 and 5, any facts. Let s be an upper bound of S of the cumulative counts
of an attribute with m positions, and w one of S in linf of its ranges, whole numbers both. Then S
of all its ranges in l1 is at most the largest sum of k_t (m + 1 - k_t) over w whole numbers k_t >=
0 that add up to s at the most: equal ones, or such as differ by 1, none of them above (m + 1) / 2.

*Proof.* Let C_0 = 0, C_1, ..., C_m be by how much the cumulative counts of a pair differ; C_m = 0,
since n stays. Ranges differ by |C_i - C_j|, i < j, one each. For whole t >= 1 let k_t be how many
i have C_i >= t, and for t <= -1 how many have C_i <= t; so |C_i - C_j| is the number of t for which
one of i and j is counted, and the sum over all i < j is the sum of k_t (m + 1 - k_t). The k_t add
up to the sum of |C_i|, which is at most s, and no more of them are above 0 than the largest C_i
less the least: that is what some range differs by, w at the most (or 0). k (m + 1 - k) is concave
in k, 0 at 0, and largest at (m + 1) / 2. QED

A pair is one for both questions: what is found for cumulative counts is tried for ranges.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from math import floor

from blowproof.models import BoundQuery, Domain, Exact
from blowproof.models.norms import LINF
from blowproof.models.policy.readings import is_labelled
from blowproof.models.queries.arguments import query_name
from blowproof.models.queries.cumulative import Cumulative
from blowproof.models.queries.kinds import Ranges
from blowproof.models.stacks.stacked import in_norm
from blowproof.verifier.asked.question import Question
from blowproof.verifier.portfolio.searches import by_ceiling
from blowproof.verifier.portfolio.strategy import Reduction
from blowproof.verifier.theorems.listed_margins import listed_margins
from blowproof.verifier.theorems.simple_cycles import no_cycles

__all__ = ["by_levels", "most_of_levels", "no_levels"]


def no_levels(question: Question) -> str:
    """Return why a question is not one for it, or ""."""
    if _cumulative(question.query, question.setting.domain) is None:
        return "it is for all ranges of one attribute, in l1"
    if not is_labelled(question.reading):
        return "it speaks about readings 1, 2 and 5"
    return ""


@singledispatch
def _cumulative(query: BoundQuery, domain: Domain) -> Cumulative | None:
    """Return the cumulative counts of the attribute of all ranges; None for other queries."""
    return None


@_cumulative.register
def _of_ranges(query: Ranges, domain: Domain) -> Cumulative:
    name = query_name("cumulative", query.arguments(domain))
    return Cumulative(query.axis, query.size, name)


def by_levels(question: Question) -> list[Reduction] | None:
    """Return the question of cumulative counts; theorems alone say how far a range differs."""
    query, domain = question.query, question.setting.domain
    whole = _cumulative(query, domain)
    if whole is None:
        return None
    width = _width(replace(question, query=in_norm(query, LINF, domain)))

    def above(_: Question, upper: Exact) -> Exact:
        return most_of_levels(whole.size, floor(upper), width)

    return [
        Reduction(lambda asked: replace(asked, query=whole), lambda _, found: found.witness, above)
    ]


def _width(largest: Question) -> int | None:
    """Return what no range differs by more than, by theorems that need no search."""
    told = [by_ceiling(largest), None if no_cycles(largest) else listed_margins(largest)]
    found = [each.upper for each in told if each is not None and each.upper is not None]
    return floor(min(found)) if found else None


def most_of_levels(size: int, total: int, width: int | None) -> int:
    """Return what all ranges of so many positions differ by at the most (None: any width).

    >>> most_of_levels(4, 4, None), most_of_levels(4, 4, 2), most_of_levels(4, 100, 2)
    (16, 12, 12)
    """
    width = total if width is None else min(width, total)
    if not width:
        return 0
    each, more = divmod(min(total, width * ((size + 1) // 2)), width)
    return (width - more) * each * (size + 1 - each) + more * (each + 1) * (size - each)
