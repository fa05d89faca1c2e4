"""Few classes: all their frames are listed, which bounds circuits and so the moves of a pair.

*Statement.* Readings 1, 2 and 5, equality facts and impossible values; let the N classes of values
have d dependencies, and a circuit at most C moves. A pair makes at most max(N, d C - 1) moves, or
max(N, C) if d = 1.

*Proof.* Its moves are an irreducible multiset of moves of the complete graph (see
`reductions/complete_graph`; in reading 2 of moves along its edges, all of whose parts are). So it
is a simple cycle, or a sum of circuits with factors of less than d (`lengths.lattice_free`). QED

Volumes bound C at once (`most_moves`). All frames tell it (`lengths.listed_frames`), which takes
seconds of a search, and so is done after all that is quicker.
"""

from __future__ import annotations

from math import inf

from blowproof.models import BlowproofError, Exact
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.theorems.affine_frames import signatures_of
from blowproof.verifier.theorems.lengths.lattice_free import made_of_circuits
from blowproof.verifier.theorems.lengths.listed_frames import longest_listed
from blowproof.verifier.theorems.most_moves import largest_move

__all__ = ["bound_by_all_frames"]


def bound_by_all_frames(question: Question) -> None:
    """Tell of an upper bound if it is below what is known; `Question.known` says what that is."""
    setting, query = question.setting, question.query
    plain = is_labelled(question.reading) and not setting.bounds and not setting.clauses
    if not plain or query.per_record:
        return
    end = inf if question.deadline is None else question.deadline
    try:
        found = signatures_of(class_table(setting, deadline=question.by(1 / 4)))
        largest = largest_move(setting, query, question.reading)
    except (BlowproofError, OverflowError):
        return
    if found is None or largest is None or not found[0].dependencies:
        return
    count, several = len(found[0].vectors), len(found[0].dependencies)
    known = question.known()[1]

    def most_moves(longest: int) -> int:
        return max(count, made_of_circuits(several, longest))

    def bound(longest: int) -> Exact:
        return query.measure.repeated(largest, most_moves(longest))

    def useful(longest: int) -> bool:
        return known is None or bound(longest) < known

    longest = longest_listed(found[0].dependencies, useful=useful, end=end)
    if longest is not None:
        most = most_moves(longest)
        what = f"a pair makes at most {most:,} moves, a circuit {longest:,} (all frames)"
        question.teller(what)(0, bound(longest), None)
