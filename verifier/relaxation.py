"""Reading 1 with a G that is not complete, scope "any": bounds from the complete graph.

With equality counts and impossible values, every neighbour pair is an irreducible multiset over
all moves, secret and plain. For a proper part without effect, and its complement, are D3s: of the
two, one with some but not all secret moves refutes by 3(a), one with all of them by 3(b). So S for
the complete graph is an upper bound.

It is often met. Take an irreducible multiset and make one of its moves along an edge of G and all
others along plain moves. T(D1, D2) then has one element, so 3(a) has nothing to say; 3(b) would
need a part without effect. So it is a neighbour pair. For a distance threshold on a large domain
nearly every move can be plain, and both bounds meet.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from blowproof.models import Area, BoundQuery, Box, Full, Point, SecretGraph, Setting
from blowproof.models.linear import LinearModel
from blowproof.models.linear_terms import weighted_sum
from blowproof.verifier.answers import Answer, Pair
from blowproof.verifier.moves import Moves
from blowproof.verifier.norms import absolute_sum
from blowproof.verifier.pairs import require_pair
from blowproof.verifier.reduce import possible_classes

__all__ = ["complete_setting", "has_secret_move", "one_secret_move"]

SAMPLE_BOXES = 6
SAMPLE_VALUES = 40


def complete_setting(setting: Setting) -> Setting:
    """Return the same policy with full secrets."""
    return replace(setting, policy=replace(setting.policy, secrets=Full()))


def one_secret_move(
    setting: Setting, query: BoundQuery, relaxed: Answer, deadline: float | None
) -> Pair | None:
    """Return a pair of reading 1 with the effects of `relaxed`'s witness and one secret move.

    `relaxed` answers for the complete graph. The pair has the largest change of the query that the
    sampled values allow, which may be less than the witness's.
    """
    from blowproof.models.to_cpsat import solve

    if relaxed.witness is None:
        return None
    moves = Moves(setting, query, "published", _sample(setting, relaxed.witness))
    wanted = _effects(moves, relaxed.witness)
    linear = LinearModel(name="one secret move")
    counts = [
        (kind, linear.int_var(f"move{number}", lower=0, upper=wanted[kind.effect]))
        for number, kind in enumerate(moves.kinds)
        if wanted[kind.effect]
    ]
    by_effect = defaultdict(list)
    for kind, variable in counts:
        by_effect[kind.effect].append((1, variable))
    for effect, times in wanted.items():
        if not by_effect[effect]:
            return None
        linear.add(weighted_sum(by_effect[effect]), lower=times, upper=times)
    secret = [(1, variable) for kind, variable in counts if kind.secret]
    if not secret:
        return None
    linear.add(weighted_sum(secret), lower=1, upper=1)
    gain = absolute_sum(linear, counts)
    if relaxed.upper is not None and relaxed.upper * moves.scale < gain.bounds()[1]:
        linear.add(gain, upper=int(relaxed.upper * moves.scale))
    linear.maximise(gain)
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    outcome = solve(linear, time_limit=left)
    if outcome.assignment is None:
        return None
    found = {kind: outcome.assignment[variable.name] for kind, variable in counts}
    pair = moves.pair(Counter({kind: n for kind, n in found.items() if n}), Counter())
    require_pair(setting, "published", pair)
    return pair


def _effects(moves: Moves, witness: Pair) -> Counter[tuple[int, ...]]:
    """Return the effects of a pair's moves, with multiplicities."""
    effect = moves.setting.effect
    return Counter(
        tuple(b - a for a, b in zip(effect(x), effect(y), strict=True))
        for x, y in zip(witness.before, witness.after, strict=True)
    )


def _sample(setting: Setting, witness: Pair) -> tuple[Point, ...]:
    """Return values of the classes that the witness uses: far apart, and joined by edges."""
    used = set(witness.before) | set(witness.after)
    classes = [item for item in possible_classes(setting, []) if any(x in item for x in used)]
    boxes = [list(islice(item.boxes(), SAMPLE_BOXES)) for item in classes]
    found: dict[Point, None] = dict.fromkeys(used)
    for place, left in enumerate(boxes):
        for right in boxes[place:]:
            for point in _edge(setting.graph, left, right):
                found[point] = None
    for left in boxes:
        for box in left:
            for number in {0, box.size // 2, box.size - 1}:
                found[box.nth(number)] = None
    return tuple(found)[:SAMPLE_VALUES]


def _edge(graph: SecretGraph, left: Sequence[Box], right: Sequence[Box]) -> tuple[Point, ...]:
    for a in left:
        for b in right:
            edge = graph.edge_between(a, b)
            if edge is not None:
                return edge
    return ()


def has_secret_move(setting: Setting) -> bool:
    """Whether any two possible values are joined in G."""
    possible = Area((setting.domain.whole,)).boxes
    for zero in setting.impossible.boxes:
        possible = tuple(part for box in possible for part in box.minus(zero))
    return bool(_edge(setting.graph, possible, possible))
