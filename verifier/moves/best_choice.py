"""||.||_1 in integer programs: the largest L1 norm that a choice of moves can give."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from blowproof.models.base.clock import now
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import IntVar, LinearExpr, weighted_sum
from blowproof.verifier.moves.kinds import Kind

LISTING_LIMIT = 20_000

__all__ = ["absolute_sum", "best_choice", "by_swapping", "norm_of"]


def absolute_sum(linear: LinearModel, counts: Iterable[tuple[Kind, IntVar]]) -> LinearExpr:
    """Return an expression that is at most, and can be, ||sum of counted changes||_1.

    Each output has a size that is bounded by its change, or by the negative of it, as a sign that
    the solver chooses says.
    """
    outputs: dict[object, list[tuple[int, IntVar]]] = defaultdict(list)
    for kind, variable in counts:
        for output, number in kind.change.items():
            outputs[output].append((number, variable))
    sizes = []
    for number, terms in enumerate(outputs.values()):
        change = weighted_sum(terms)
        low, high = change.bounds()
        size = linear.int_var(f"size{number}", lower=0, upper=max(-low, high))
        rising = linear.bool_var(f"rising{number}")
        linear.add(size - change, upper=0, enforced_by=rising)
        linear.add(size + change, upper=0, enforced_by=~rising)
        sizes.append(size)
    return weighted_sum((1, size) for size in sizes)


def norm_of(counts: Mapping[Kind, int]) -> int:
    """Return ||sum of the changes||_1 (scaled)."""
    total: Counter[object] = Counter()
    for kind, times in counts.items():
        for output, number in kind.change.items():
            total[output] += number * times
    return sum(abs(number) for number in total.values())


def best_choice(
    groups: Sequence[tuple[Sequence[Kind], int]], *, deadline: float | None = None
) -> tuple[int, Counter[Kind]]:
    """Choose, for each group, `times` of its kinds so that the L1 norm of the sum is greatest.

    Swapping one choice at a time often meets the sum of the single norms, which nothing exceeds.
    Where it does not, all sums are listed that choices can give, or, where these are too many, an
    integer program decides; TimeoutError if that is not done by the deadline.
    """
    bound = sum(max(kind.size for kind in kinds) * times for kinds, times in groups)
    value, choice = by_swapping(groups)
    if value == bound:
        return value, choice
    return _by_listing(groups) or _by_program(groups, value, choice, deadline)


def _by_listing(
    groups: Sequence[tuple[Sequence[Kind], int]],
) -> tuple[int, Counter[Kind]] | None:
    """List all sums of choices, packed into one integer each; None where there are too many.

    A digit of the packed number is one output, far enough from the next for any sum of choices.
    """
    seen = dict.fromkeys(output for kinds, _ in groups for kind in kinds for output in kind.change)
    outputs = {output: place for place, output in enumerate(seen)}
    most = sum(max(kind.size for kind in kinds) * times for kinds, times in groups)
    width = (2 * most + 1).bit_length()
    layers: list[dict[int, tuple[int, Kind]]] = []
    sums: Iterable[int] = [0]
    for kinds, times in groups:
        steps = {_packed(kind, outputs, width): kind for kind in kinds}
        for _ in range(times):
            layer = {total + step: (step, kind) for total in sums for step, kind in steps.items()}
            if len(layer) > LISTING_LIMIT:
                return None
            layers.append(layer)
            sums = layer
    best = max(sums, key=lambda total: _norm(total, width, len(outputs)))
    choice: Counter[Kind] = Counter()
    total = best
    for layer in reversed(layers):
        step, kind = layer[total]
        choice[kind] += 1
        total -= step
    return norm_of(choice), choice


def _packed(kind: Kind, outputs: Mapping[object, int], width: int) -> int:
    return sum(number << (width * outputs[output]) for output, number in kind.change.items())


def _norm(total: int, width: int, count: int) -> int:
    """Return the L1 norm of a packed sum: its digits, read from below, are signed."""
    norm, half = 0, 1 << (width - 1)
    for _ in range(count):
        digit = ((total + half) & ((1 << width) - 1)) - half
        norm += abs(digit)
        total = (total - digit) >> width
    return norm


def by_swapping(groups: Sequence[tuple[Sequence[Kind], int]]) -> tuple[int, Counter[Kind]]:
    """Return a good choice and its norm: one is swapped after the other while that helps."""
    total: Counter[object] = Counter()
    choice: Counter[Kind] = Counter()
    for kinds, times in groups:
        for _ in range(times):
            kind = max(kinds, key=lambda kind: _gain(total, kind))
            _apply(total, kind, 1)
            choice[kind] += 1
    improved = True
    while improved:
        improved = False
        for kinds, _ in groups:
            for old in [kind for kind in kinds if choice[kind]]:
                _apply(total, old, -1)
                new = max(kinds, key=lambda kind: _gain(total, kind))
                if _gain(total, new) > _gain(total, old):
                    choice[old] -= 1
                    choice[new] += 1
                    improved = True
                    _apply(total, new, 1)
                else:
                    _apply(total, old, 1)
    return sum(abs(number) for number in total.values()), +choice


def _gain(total: Counter[object], kind: Kind) -> int:
    return sum(
        abs(total[output] + number) - abs(total[output]) for output, number in kind.change.items()
    )


def _apply(total: Counter[object], kind: Kind, times: int) -> None:
    for output, number in kind.change.items():
        total[output] += number * times


def _by_program(
    groups: Sequence[tuple[Sequence[Kind], int]],
    value: int,
    choice: Counter[Kind],
    deadline: float | None,
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
    gain = absolute_sum(linear, counts)
    if gain.bounds()[1] <= value:
        return value, choice
    linear.add(gain, lower=value + 1)
    linear.maximise(gain)
    left = None if deadline is None else max(0.0, deadline - now())
    outcome = solve(linear, time_limit=left)
    if outcome.status == "infeasible":
        return value, choice
    if outcome.status != "optimal" or outcome.assignment is None:
        raise TimeoutError
    found = {kind: outcome.assignment[variable.name] for kind, variable in counts}
    better = Counter({kind: times for kind, times in found.items() if times})
    return norm_of(better), better
