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

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from blowproof.models import Area, BoundQuery, Box, Full, Point, SecretGraph, Setting
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import ValueClass, locator
from blowproof.models.norms import L1
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import weighted_sum
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.engines.irreducibles import improve
from blowproof.verifier.engines.search.effects import SEARCH_EFFECTS, EffectTable
from blowproof.verifier.engines.search.engine import CHECK_SECONDS
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.best_choice import best_choice, bound_of, by_swapping, total_change
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.neighbours.check import require_pair
from blowproof.verifier.reductions.few_values import possible_classes

__all__ = [
    "complete_setting",
    "has_secret_move",
    "moves_apart",
    "one_secret_move",
    "secret_move_within_a_class",
    "some_edge",
    "with_a_secret_effect",
]

SAMPLE_BOXES = whole_limit(__name__, "SAMPLE_BOXES")
SAMPLE_EDGES = whole_limit(__name__, "SAMPLE_EDGES")
FEW_CLASSES = whole_limit(__name__, "FEW_CLASSES")
BOX_PAIRS = whole_limit(__name__, "BOX_PAIRS")


def complete_setting(setting: Setting) -> Setting:
    """Return the same policy with full secrets."""
    return setting.kept.get(
        "complete", lambda: replace(setting, policy=replace(setting.policy, secrets=Full()))
    )


def one_secret_move(
    setting: Setting, query: BoundQuery, relaxed: Answer, deadline: float | None
) -> Pair | None:
    """Return a pair of reading 1 with the effects of `relaxed`'s witness and one secret move.

    `relaxed` answers for the complete graph. The pair has the largest change of the query that the
    sampled values allow, which may be less than the witness's.
    """
    from blowproof.models.programs.to_cpsat import solve

    late = deadline is not None and now() >= deadline
    if relaxed.witness is None or late:
        return None
    quick = moves_apart(setting, relaxed.witness) if query.separates else None
    if quick is not None:
        require_pair(setting, "published", quick, deadline=now() + CHECK_SECONDS)
        return quick
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
    gain = total_change(linear, counts)
    if relaxed.upper is not None and relaxed.upper * moves.scale < gain.bounds()[1]:
        linear.add(gain, upper=int(relaxed.upper * moves.scale))
    linear.maximise(gain)
    left = None if deadline is None else max(0.0, deadline - now())
    outcome = solve(linear, time_limit=left)
    if outcome.assignment is None:
        return None
    found = {kind: outcome.assignment[variable.name] for kind, variable in counts}
    pair = moves.pair(Counter({kind: n for kind, n in found.items() if n}), Counter())
    require_pair(setting, "published", pair)
    return pair


def moves_apart(
    setting: Setting, witness: Pair, *, classes: Sequence[ValueClass] | None = None
) -> Pair | None:
    """Return moves between the same classes, one secret, no value of which is left and entered.

    The histogram then changes by 2 for each, which is the most that so many moves can do. Values
    are taken as they come; None where they get in one another's way. `classes`: those of the facts,
    or finer ones, where they are at hand.
    """
    home, boxes = _home(witness, possible_classes(setting, []) if classes is None else classes)
    moved = Counter((home[x], home[y]) for x, y in zip(witness.before, witness.after, strict=True))
    joined = ((ends, some_edge(setting.graph, *(boxes[place] for place in ends))) for ends in moved)
    one, edge = next((found for found in joined if found[1]), (None, ()))
    if one is None:
        return None
    moved[one] -= 1
    before, after = [edge[0]], [edge[1]]
    for (source, target), times in moved.items():
        if times:
            left, right = _without(boxes[source], after), _without(boxes[target], before)
            plain = (setting.graph.plain_between(a, b) for a in left for b in right)
            pair = next((found for found in plain if found is not None), None)
            if pair is None:
                return None
            before += [pair[0]] * times
            after += [pair[1]] * times
    return Pair(before=tuple(before), after=tuple(after))


def _without(boxes: Sequence[Box], points: Iterable[Point]) -> list[Box]:
    """Return boxes with these points cut out."""
    kept = list(boxes)
    for point in dict.fromkeys(points):
        kept = [
            part for box in kept for part in (box.minus(Box.at(point)) if point in box else [box])
        ]
    return kept


def _home(
    witness: Pair, classes: Sequence[ValueClass]
) -> tuple[dict[Point, int], dict[int, list[Box]]]:
    """Return the class of each value of a witness, and the first boxes of these classes."""
    place_of = locator(classes)
    found = {x: place_of(x) for x in {*witness.before, *witness.after}}
    home = {x: place for x, place in found.items() if place is not None}
    return home, {p: list(islice(classes[p].boxes(), SAMPLE_BOXES)) for p in set(home.values())}


def _effects(moves: Moves, witness: Pair) -> Counter[tuple[int, ...]]:
    """Return the effects of a pair's moves, with multiplicities."""
    effects = {x: moves.setting.effect(x) for x in {*witness.before, *witness.after}}
    return Counter(
        tuple(b - a for a, b in zip(effects[x], effects[y], strict=True))
        for x, y in zip(witness.before, witness.after, strict=True)
    )


def _sample(setting: Setting, witness: Pair) -> tuple[Point, ...]:
    """Return values of the classes that the witness uses: far apart, and some joined by edges.

    Most moves will be plain, so from each class the ends of its first boxes are taken; one will be
    secret, so ends of a few edges are added, first for the moves that the witness makes.
    """
    home, boxes = _home(witness, possible_classes(setting, []))
    found: dict[Point, None] = dict.fromkeys(home)
    moved = {(home[x], home[y]) for x, y in zip(witness.before, witness.after, strict=True)}
    edges = 0
    for one, two in sorted(moved):
        ends = some_edge(setting.graph, boxes[one], boxes[two])
        found.update(dict.fromkeys(ends))
        edges += bool(ends)
        if edges == SAMPLE_EDGES:
            break
    each = 4 if len(boxes) <= FEW_CLASSES else 2
    for parts in boxes.values():
        outer = [box.nth(number) for box in (parts[0], parts[-1]) for number in (0, box.size - 1)]
        middle = parts[len(parts) // 2]
        points = [outer[0], outer[-1], middle.nth(middle.size // 2), *outer]
        found.update(dict.fromkeys(list(dict.fromkeys(points))[:each]))
    return tuple(found)


def some_edge(graph: SecretGraph, left: Sequence[Box], right: Sequence[Box]) -> tuple[Point, ...]:
    """Return an edge between two unions of boxes, or ()."""
    for a in left:
        for b in right:
            edge = graph.edge_between(a, b)
            if edge is not None:
                return edge
    return ()


def with_a_secret_effect(
    setting: Setting, moves: Moves, *, best: int, time_limit: float | None
) -> tuple[int | None, Pair | None]:
    """Return a (scaled) bound on reading 1, and moves of a multiset that would meet it.

    A neighbour pair has a secret move, so unless it is a single move without effect (bounded by
    such a move under full secrets), its multiset of effects contains one that some secret move
    has. `moves` are those of the complete graph; the pair returned has the right effects, but none
    of its moves need be secret. Multisets that cannot change more than `best` are not looked at.
    """
    table = EffectTable.of(moves)
    if table.widest > SEARCH_EFFECTS:
        return None, None
    end = None if time_limit is None else now() + time_limit
    secret = _secret_effects(setting, moves, end)
    places = {place for place, effect in enumerate(table.effects) if effect in secret}
    weights = table.weights
    alone = max((kind.size for kind in table.idle), default=0)  # a secret move within a class
    if not places:
        return max(best, alone), None
    score, largest = moves.score, best

    def evaluate(multiset: tuple[tuple[int, int], ...]) -> int:
        nonlocal largest
        if not any(place in places for place, _ in multiset):
            return 0
        groups = table.groups(multiset)
        if moves.query.measure is not L1:  # lengths add up to too much
            if bound_of(groups) <= largest:
                return score.within(largest)
            with suppress(TimeoutError):
                value, _ = best_choice(groups, deadline=end)
                largest = max(largest, value)
                return score.within(value)
        return sum(weights[place] * times for place, times in multiset)

    above = score.within(best)
    found = improve(table.effects, weights, evaluate, best=above, time_limit=time_limit)
    upper = None if found.upper is None else max(score.most(int(found.upper)), alone)
    if not found.witness:
        return upper, None
    _, counts = by_swapping(table.groups(found.witness))
    return upper, moves.pair(counts, Counter())


def _secret_effects(setting: Setting, moves: Moves, deadline: float | None) -> set[tuple[int, ...]]:
    """Return the effects that some move along an edge of G has, or TimeoutError."""
    classes = possible_classes(setting, [])
    boxes = [list(item.boxes()) for item in classes]
    if sum(map(len, boxes)) ** 2 > BOX_PAIRS:
        return {kind.effect for kind in moves.kinds}
    effects = [setting.effect(item.take(1)[0]) for item in classes]
    found = set()
    for one, left in enumerate(boxes):
        if deadline is not None and now() > deadline:
            raise TimeoutError("the classes that secret moves join were not found in time")
        for two, right in enumerate(boxes):
            if one != two and some_edge(setting.graph, left, right):
                found.add(tuple(b - a for a, b in zip(effects[one], effects[two], strict=True)))
    return found


def secret_move_within_a_class(setting: Setting, query: BoundQuery) -> Pair | None:
    """Return a single secret move that no fact notices, and that changes the query, if one is seen.

    The first edges within each class are looked at; such a move is a neighbour pair by itself.
    """
    for item in possible_classes(setting, []):
        first = list(islice(item.boxes(), SAMPLE_BOXES))
        edge = some_edge(setting.graph, first, first)
        if edge:
            pair = Pair(before=(edge[0],), after=(edge[1],))
            if query.difference(pair.moves("published")):
                return pair
    return None


def has_secret_move(setting: Setting) -> bool:
    """Whether any two possible values are joined in G."""
    possible = Area((setting.domain.whole,)).boxes
    for zero in setting.impossible.boxes:
        possible = tuple(part for box in possible for part in box.minus(zero))
    return bool(some_edge(setting.graph, possible, possible))
