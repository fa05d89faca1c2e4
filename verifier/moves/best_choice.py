"""The largest size that a choice of moves can give, in the query's norm, and as a program."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from blowproof.models.base.clock import Pace, now, spend
from blowproof.models.norms import L1, L2_SQUARED, LINF, RANGE
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import IntVar, LinearExpr, weighted_sum
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.choices_at_once import better_choice
from blowproof.verifier.moves.kinds import Kind
from blowproof.verifier.moves.score import PLAIN, Score

LISTING_LIMIT = whole_limit(__name__, "LISTING_LIMIT")
MOST_DIGITS = whole_limit(__name__, "MOST_DIGITS")
CHOICE_SECONDS = real_limit(__name__, "CHOICE_SECONDS")
GOOD = real_limit(__name__, "GOOD")
PARTS = whole_limit(__name__, "PARTS")
OFTEN = whole_limit(__name__, "OFTEN")
SUM = real_limit(__name__, "SUM")
DIGIT = real_limit(__name__, "DIGIT")
NUMBER = real_limit(__name__, "NUMBER")
WRITTEN = real_limit(__name__, "WRITTEN")
GROUP = real_limit(__name__, "GROUP")
REACHED = real_limit(__name__, "REACHED")

__all__ = [
    "best_choice",
    "bound_of",
    "by_swapping",
    "good_choice",
    "longest_of",
    "size_of",
    "total_change",
    "trying",
]


def total_change(
    linear: LinearModel,
    counts: Iterable[tuple[Kind, IntVar]],
    *,
    deadline: float | None = None,
) -> LinearExpr:
    """Return an expression that is at most, and can be, the size of the sum of counted changes.

    TimeoutError where it would not be written by the deadline.
    """
    listed = list(counts)
    if not Pace(deadline).fits(sum(len(kind.change) for kind, _ in listed) * WRITTEN):
        raise TimeoutError
    outputs: dict[object, list[tuple[int, IntVar]]] = defaultdict(list)
    for kind, variable in listed:
        for output, number in kind.change.items():
            outputs[output].append((number, variable))
    changes = {output: weighted_sum(terms) for output, terms in outputs.items()}
    return _score(kind for kind, _ in listed).gain(linear, changes)


def size_of(counts: Mapping[Kind, int]) -> int:
    """Return the size of the sum of the changes (scaled)."""
    total: Counter[object] = Counter()
    for kind, times in counts.items():
        for output, number in kind.change.items():
            total[output] += number * times
    return _score(counts).size(total)


def bound_of(groups: Sequence[tuple[Sequence[Kind], int]]) -> int:
    """Return what no choice exceeds: the lengths of the longest, added up.

    In the norms that `Score.spread` knows also what is left when no output rises or falls by more
    than all moves together can make it, nor all outputs by more than that.
    """
    score = _score(kind for kinds, _ in groups for kind in kinds)
    length = score.most(_added(groups))
    if score.norm not in (L2_SQUARED, LINF, RANGE):
        return length
    rises: Counter[object] = Counter()
    falls: Counter[object] = Counter()
    up = down = 0
    for kinds, times in groups:
        reach = _reaches(tuple(kinds))
        spend((len(reach.rises) + len(reach.falls)) * REACHED)
        up, down = up + reach.up * times, down + reach.down * times
        for total, most in ((rises, reach.rises), (falls, reach.falls)):
            for output, value in most.items():
                total[output] += value * times
    return min(length, score.spread(rises, falls, up, down))


def longest_of(groups: Sequence[tuple[Sequence[Kind], int]]) -> int:
    """Return a length that no choice exceeds: `bound_of` as engines add lengths up."""
    added = _added(groups)
    score = _score(kind for kinds, _ in groups for kind in kinds)
    return added if score.norm is L1 else min(added, score.within(bound_of(groups)))


def _added(groups: Sequence[tuple[Sequence[Kind], int]]) -> int:
    """Return the lengths of the longest, added up."""
    spend(len(groups) * GROUP)
    return sum(_longest(tuple(kinds)) * times for kinds, times in groups)


@lru_cache(maxsize=4096)
def _longest(kinds: tuple[Kind, ...]) -> int:
    return max(kind.length for kind in kinds)


class _Reach(NamedTuple):
    """How far one move of some kinds can make each output rise or fall, and all of them."""

    rises: Mapping[object, int]
    falls: Mapping[object, int]
    up: int
    down: int


@lru_cache(maxsize=4096)
def _reaches(kinds: tuple[Kind, ...]) -> _Reach:
    rises: dict[object, int] = {}
    falls: dict[object, int] = {}
    up = down = 0
    spend(sum(len(kind.change) for kind in kinds) * NUMBER)
    for kind in kinds:
        for output, value in kind.change.items():
            side = rises if value > 0 else falls
            side[output] = max(side.get(output, 0), abs(value))
        up = max(up, sum(value for value in kind.change.values() if value > 0))
        down = max(down, -sum(value for value in kind.change.values() if value < 0))
    return _Reach(rises, falls, up, down)


def _score(kinds: Iterable[Kind]) -> Score:
    """Return what changes of these kinds count; they are of one query."""
    return next((kind.score for kind in kinds), PLAIN)


def best_choice(
    groups: Sequence[tuple[Sequence[Kind], int]], *, deadline: float | None = None
) -> tuple[int, Counter[Kind]]:
    """Choose, for each group, `times` of its kinds so that the size of the sum is greatest.

    Swapping one choice at a time often meets the sum of the single sizes, which nothing exceeds.
    Where it does not, all sums are listed that choices can give and that may be larger
    (`choices_at_once`); where numbers are too large for arrays, one by one; where sums are too
    many, an integer program decides. TimeoutError if that is not done by the deadline, or in
    CHOICE_SECONDS.
    """
    if deadline is None:
        deadline = now() + CHOICE_SECONDS
    value, choice = by_swapping(groups)
    if value == bound_of(groups):
        return value, choice
    better = better_choice(groups, _score(kind for kinds, _ in groups for kind in kinds), value)
    if better is not None:
        return (size_of(better), better) if better else (value, choice)
    return _by_listing(groups, deadline) or _by_program(groups, value, choice, deadline)


def good_choice(
    groups: Sequence[tuple[Sequence[Kind], int]], deadline: float
) -> tuple[int, Counter[Kind]]:
    """Return the best choice, or where that takes longer than GOOD, one that swapping finds."""
    try:
        return best_choice(groups, deadline=min(deadline, now() + GOOD))
    except TimeoutError:
        return by_swapping(groups)


def _by_listing(
    groups: Sequence[tuple[Sequence[Kind], int]], deadline: float
) -> tuple[int, Counter[Kind]] | None:
    """List all sums in which each group chooses one kind, packed into one integer each; None where
    there are too many, or the deadline passes.

    Norms are convex, so that one of these is the best: how many of a group choose each kind is a
    point of a simplex, and a convex function is largest at a corner of a product of simplices.
    A digit of the packed number is one output, whole bytes, so that no sum of choices reaches into
    the next.
    """
    seen = dict.fromkeys(output for kinds, _ in groups for kind in kinds for output in kind.change)
    outputs = {output: place for place, output in enumerate(seen)}
    most = sum(max(map(_reach, kinds)) * times for kinds, times in groups)
    width = (2 * most + 1).bit_length() // 8 + 1
    limit = min(LISTING_LIMIT, MOST_DIGITS // max(1, len(outputs)))
    layers: list[dict[int, tuple[int, Kind]]] = []
    sums: Collection[int] = [0]
    for kinds, times in groups:
        if len(kinds) > limit:
            return None
        steps = {times * _packed(kind, outputs, width): kind for kind in kinds}
        layer: dict[int, tuple[int, Kind]] = {}
        for number, total in enumerate(sums):
            layer.update({total + step: (step, kind) for step, kind in steps.items()})
            if len(layer) > limit:
                return None
            if number % OFTEN == OFTEN - 1 and now(OFTEN * len(steps) * SUM) >= deadline:
                return None
        spend(len(sums) % OFTEN * len(steps) * SUM)
        layers.append(layer)
        sums = layer
    score, names = _score(kind for kinds, _ in groups for kind in kinds), list(outputs)
    spend(len(sums) * len(outputs) * DIGIT)
    best = max(sums, key=lambda total: score.size(_unpacked(total, width, names)))
    choice: Counter[Kind] = Counter()
    total = best
    for layer, (_, times) in zip(reversed(layers), reversed(groups), strict=True):
        step, kind = layer[total]
        choice[kind] += times
        total -= step
    return size_of(choice), choice


def _packed(kind: Kind, outputs: Mapping[object, int], width: int) -> int:
    """Return a change as one number (see `_unpacked`): what rises, less what falls."""
    ups, downs = (bytearray(width * len(outputs)) for _ in range(2))
    for output, number in kind.change.items():
        place = width * outputs[output]
        side = ups if number > 0 else downs
        side[place : place + width] = abs(number).to_bytes(width, "little")
    return int.from_bytes(ups, "little") - int.from_bytes(downs, "little")


def _reach(kind: Kind) -> int:
    return max(map(abs, kind.change.values()), default=0)


def _unpacked(total: int, width: int, outputs: Sequence[object]) -> dict[object, int]:
    """Return a packed sum as a change: its digits, of so many bytes, are signed.

    With half of its range added to each digit none of them borrows from the next; flipping the
    highest bit of each makes that the number's two's complement.

    >>> _unpacked(-3 + (5 << 8), 1, ["a", "b"])
    {'a': -3, 'b': 5}
    """
    length = width * len(outputs)
    half = int.from_bytes((b"\0" * (width - 1) + b"\x80") * len(outputs), "little")
    digits = ((total + half) ^ half).to_bytes(length, "little")
    places = range(0, length, width)
    return {
        output: int.from_bytes(digits[place : place + width], "little", signed=True)
        for output, place in zip(outputs, places, strict=True)
    }


def by_swapping(groups: Sequence[tuple[Sequence[Kind], int]]) -> tuple[int, Counter[Kind]]:
    """Return a good choice and its size: one is swapped after the other while that helps.

    Norms are convex: where it helps to swap one move, it helps no less to swap all that are like
    it. So thousands of them are chosen in a few parts, and swapped at once.
    """
    score = _score(kind for kinds, _ in groups for kind in kinds)
    total: Counter[object] = Counter()
    chosen: list[Counter[Kind]] = []
    looking = [sum(len(kind.change) for kind in kinds) * NUMBER for kinds, _ in groups]
    for (kinds, times), seconds in zip(groups, looking, strict=True):
        chosen.append(Counter())  # of its own: groups may have kinds in common
        for some in _parts(times):
            spend(seconds)
            kind = max(kinds, key=lambda kind: score.gained(total, kind.change))
            _apply(total, kind, some)
            chosen[-1][kind] += some
    improved = True
    while improved:
        improved = False
        for (kinds, _), choice, seconds in zip(groups, chosen, looking, strict=True):
            for old in [kind for kind in kinds if choice[kind]]:
                spend(seconds)
                _apply(total, old, -1)
                new = max(kinds, key=lambda kind: score.gained(total, kind.change))
                better = score.gained(total, new.change) > score.gained(total, old.change)
                _apply(total, old, 1)
                if better:
                    some = choice.pop(old)
                    choice[new] += some
                    improved = True
                    _apply(total, old, -some)
                    _apply(total, new, some)
    whole: Counter[Kind] = Counter()
    for choice in chosen:
        whole.update(choice)
    return score.size(total), +whole


def trying(groups: Sequence[tuple[Sequence[Kind], int]]) -> float:
    """Return the seconds of work in which `by_swapping` tries each kind of each group once."""
    return sum(
        sum(len(kind.change) for kind in kinds) * len(_parts(times)) * NUMBER
        for kinds, times in groups
    )


def _parts(times: int) -> list[int]:
    """Return so many as a sum of at most PARTS numbers.

    >>> sum(_parts(1000)), len(_parts(1000)) <= PARTS, _parts(3)
    (1000, True, [1, 1, 1])
    """
    each = -(-times // PARTS)
    return [min(each, times - done) for done in range(0, times, each)] if times else []


def _apply(total: Counter[object], kind: Kind, times: int) -> None:
    for output, number in kind.change.items():
        total[output] += number * times


def _by_program(
    groups: Sequence[tuple[Sequence[Kind], int]],
    value: int,
    choice: Counter[Kind],
    deadline: float,
) -> tuple[int, Counter[Kind]]:
    from blowproof.models.programs.to_cpsat import solve

    linear = LinearModel(name="choice")
    counts: list[tuple[Kind, IntVar]] = []
    for number, (kinds, times) in enumerate(groups):
        chosen = [
            (kind, linear.int_var(f"n{number}_{place}", lower=0, upper=times))
            for place, kind in enumerate(kinds)
        ]
        linear.add(weighted_sum((1, variable) for _, variable in chosen), lower=times, upper=times)
        counts += chosen
    gain = total_change(linear, counts, deadline=deadline)
    if gain.bounds()[1] <= value:
        return value, choice
    linear.add(gain, lower=value + 1)
    linear.maximise(gain)
    outcome = solve(linear, time_limit=max(0.0, deadline - now()))
    if outcome.status == "infeasible":
        return value, choice
    if outcome.status != "optimal" or outcome.assignment is None:
        raise TimeoutError
    found = {kind: outcome.assignment[variable.name] for kind, variable in counts}
    better = Counter({kind: times for kind, times in found.items() if times})
    return size_of(better), better
