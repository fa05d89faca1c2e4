"""Additive noise: the privacy loss is the sensitivity of the releases divided by their scales.

For two neighbours the loss is sum over outputs of |f_j(D1) - f_j(D2)| / b_j, in both directions: it
is attained by answers beyond both values, for Laplace noise and for its discrete form alike, and
independent noise adds up. So the loss of the mechanism is the sensitivity of one stacked query.

Where an output has scale 0 it must not change between any two neighbours: that is asked first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from blowproof.models import (
    BoundQuery,
    BudgetError,
    DataError,
    Exact,
    Point,
    Policy,
    PolicyError,
    QueryError,
)
from blowproof.models.base.clock import now
from blowproof.models.base.numbers import plain
from blowproof.models.base.toml_values import within
from blowproof.models.mechanisms.mechanism import Mechanism, Release, Tree
from blowproof.models.mechanisms.stacked_releases import bind_release
from blowproof.models.mechanisms.trees_and_prefixes import TreeQuery, bind_tree
from blowproof.models.policy.readings import Reading
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Listener, Progress
from blowproof.verifier.certify.base.asked import Asked, once_more
from blowproof.verifier.certify.base.lemmas import argued, many_values
from blowproof.verifier.certify.base.verdict import INFINITE, Loss, LossBounds
from blowproof.verifier.certify.noise.coarse_bound import coarse_bound
from blowproof.verifier.certify.noise.grids import require_grid
from blowproof.verifier.certify.noise.one_arrival import worst_arrival
from blowproof.verifier.certify.noise.weighted_records import (
    numbered,
    numbered_bounds,
    require_weights,
)
from blowproof.verifier.engines.one_move.worst_edge import one_secret_move, worst_edge
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.check import require_pair

__all__ = ["additive_loss", "bind", "many_rows"]

LONGEST_ROW = whole_limit(__name__, "LONGEST_ROW")
MOST_ROWS = whole_limit(__name__, "MOST_ROWS")


def bind(mechanism: Mechanism, policy: Policy, reading: Reading) -> tuple[Part, ...]:
    """Return the releases bound to the policy; their weights are still the scales."""
    parts = []
    for place, release in enumerate(mechanism.releases):
        with within(f"release[{place}]"):
            if isinstance(release.query, Tree):
                _require_levels(release.query, bind_tree(release.query, policy.domain))
            try:
                part = _bound(release, policy, mechanism.folder)
            except QueryError as error:
                reason, _, hint = str(error).partition("\n  try: ")
                raise PolicyError(reason, key="query", hint=hint or None) from None
            require_grid(release, part.query, policy.domain, reading)
        parts.append(part)
    return tuple(parts)


def _bound(release: Release, policy: Policy, folder: Path | None) -> Part:
    """Bind a release; a file that is neither here nor beside the policy is beside the mechanism."""
    try:
        return bind_release(release, policy)
    except DataError as error:
        if folder is None or not isinstance(error.__context__, FileNotFoundError):
            raise
    return bind_release(release, replace(policy, folder=folder))


def _require_levels(tree: Tree, query: TreeQuery) -> None:
    """Refuse levels that no tree has: a release of nothing is more likely a slip.

    Blocks may be shorter than is declared, and a tree of one value has no level 1.
    """
    highest, width = 1, tree.block or query.size
    while width > tree.fan_out:
        width = -(-width // tree.fan_out)
        highest += 1
    for key, level in (("first", tree.first), ("last", tree.last or 0)):
        if level > highest:
            raise PolicyError(
                f"{key} = {level}, but the trees have the levels 0 to {highest}",
                key=f"tree.{key}",
                hint="level 0 holds the roots; without last, all levels down are released",
            )


def additive_loss(asked: Asked, parts: Sequence[Part]) -> LossBounds:
    """Return the loss over all neighbours, exactly or in bounds."""
    require_weights(asked, parts)
    bare = _weighted(parts, lambda scale: Fraction(scale == 0))
    silent = numbered_bounds(asked, parts, _loss(asked, bare))
    if silent.lower:
        return replace(silent, lower=INFINITE, upper=INFINITE)
    noisy = _loss(asked, _weighted(parts, lambda scale: 1 / scale if scale else Fraction(0)))
    noisy = numbered_bounds(asked, parts, noisy)
    if bare and silent.upper != 0:
        return replace(noisy, upper=None, notes=(*silent.notes, *noisy.notes))
    return noisy


def _weighted(parts: Sequence[Part], weight: Callable[[Fraction], Fraction]) -> tuple[Part, ...]:
    """Turn scales into weights; parts without any weight are left out."""
    turned = (replace(part, weights=tuple(map(weight, part.weights))) for part in parts)
    return tuple(part for part in turned if any(part.weights))


def _loss(asked: Asked, parts: Sequence[Part]) -> LossBounds:
    """Return the sensitivity of the stacked parts, kept for the same parts at other weights."""
    if not parts:
        return LossBounds(lower=0, upper=0, pair=None, engine="structure")
    found = None if asked.known is None else asked.known.find(parts)
    added = _added(asked, parts) if found is None else None
    if added is not None and (asked.contents(added) or many_rows(asked, parts)):
        return added
    if found is None:
        found = _searched(asked, parts, added)
        if asked.known is not None:
            asked.known.keep(parts, found)
    return found


def _searched(asked: Asked, parts: Sequence[Part], known: LossBounds | None) -> LossBounds:
    """Find the loss by structure, by an argument, by one engine, or part by part.

    `known`: what is known of the parts, added up.
    """
    if asked.engine == "auto" and one_secret_move(asked.setting, asked.reading):
        large = many_values(asked.setting, parts)
        said = _argued(asked, parts) if large else None
        found = worst_edge(asked.setting, parts) if said is None else None
        if found is not None:
            pair = None if found.edge is None else _single(asked, *found.edge)
            return LossBounds(
                lower=found.loss, upper=found.loss, pair=pair, engine="edges", notes=(found.how,)
            )
        said = _argued(asked, parts) if said is None and not large else said
        if said is not None:
            return said
    arrival = None
    if asked.engine == "auto":
        arrival = worst_arrival(asked.setting, asked.reading, parts)
    if arrival is not None:
        loss, pair, how = arrival
        if pair is not None:
            require_pair(asked.setting, asked.reading, pair)
        return LossBounds(lower=loss, upper=loss, pair=pair, engine="edges", notes=(how,))
    try:
        _require_short_rows(parts)
        if len(parts) == 1 and parts[0].uniform:
            bounds = _one_query(asked, parts[0], asked.left())
        else:
            bounds = _several(asked, parts, known)
    except BudgetError:
        coarse = coarse_bound(asked, parts) if asked.engine == "auto" else None
        if coarse is None:
            raise
        return coarse
    if bounds.upper != bounds.lower and asked.engine == "auto" and known is None:
        return _below(bounds, coarse_bound(asked, parts))
    return bounds


def _added(asked: Asked, parts: Sequence[Part]) -> LossBounds | None:
    """Return what is known of several releases, added up; None where some are new."""
    if asked.known is None or asked.engine != "auto" or len(parts) == 1:
        return None
    return asked.known.added(parts)


def many_rows(asked: Asked, parts: Sequence[Part]) -> bool:
    """Whether to ask of all releases together would list more than is worth it, if each is known:
    the rows of all values.
    """
    return asked.setting.domain.size * sum(part.query.longest_row for part in parts) > MOST_ROWS


def _argued(asked: Asked, parts: Sequence[Part]) -> LossBounds | None:
    """Return what the lemmas that the caller stands for say; None where they have no say."""
    found = argued(asked.setting, asked.policy, parts, asked.lemmas) if asked.lemmas else None
    if found is None:
        return None
    pair = None if found.edge is None else _single(asked, *found.edge)
    return LossBounds(
        lower=found.lower, upper=found.upper, pair=pair, engine="argument", notes=(found.how,)
    )


def _require_short_rows(parts: Sequence[Part]) -> None:
    """Refuse what engines would list in full for one record: prefixes and ranges of a long axis."""
    for part in parts:
        if part.query.axis_length > LONGEST_ROW:
            raise BudgetError(
                f"one record is in too many outputs of {part.query.name} to list them"
            )


def _below(found: LossBounds, coarse: LossBounds | None) -> LossBounds:
    """Return the bounds with the better upper end of the two, and with the better pair."""
    if coarse is None:
        return found
    one, two = found.lower, coarse.lower
    assert not isinstance(one, str) and not isinstance(two, str)  # noise of some width
    best = found if one >= two else coarse
    uppers = [end.upper for end in (found, coarse) if end.upper is not None]
    upper = min(map(_number, uppers), default=None)
    return replace(best, upper=upper, notes=(*found.notes, *coarse.notes))


def _single(asked: Asked, before: Point, after: Point) -> Pair:
    """Return the pair in which one record moves, and the others (if n is known) stay where it was.

    The pair passes the same check as every engine's witness.
    """
    size = asked.setting.size if asked.setting.scope == "given" else None
    rest = ((before, size - 1),) if size is not None and size > 1 else ()
    pair = Pair(before=(before,), after=(after,), unchanged=rest)
    require_pair(asked.setting, asked.reading, pair)
    return pair


def _one_query(asked: Asked, part: Part, limit: float | None) -> LossBounds:
    """One query, one scale: its sensitivity, which engines find on large domains too."""
    weight = part.weights[0]
    answer = _ask(asked, part.query, limit, _scaled(asked.listener, weight))
    return LossBounds(
        lower=plain(answer.lower * weight),
        upper=None if answer.upper is None else plain(answer.upper * weight),
        pair=answer.witness,
        engine=answer.engine,
        notes=answer.notes,
    )


def _ask(asked: Asked, query: BoundQuery, limit: float | None, listener: Listener | None) -> Answer:
    return sensitivity(
        asked.policy,
        query,
        reading=asked.reading,
        answers=asked.answers,
        engine=asked.engine,
        time_limit=limit,
        listener=listener,
    )


def _scaled(listener: Listener | None, weight: Fraction) -> Listener | None:
    """Tell of losses, not of sensitivities."""
    if listener is None:
        return None

    def tell(progress: Progress) -> None:
        upper = None if progress.upper is None else progress.upper * weight
        listener(replace(progress, lower=progress.lower * weight, upper=upper))

    return tell


def _several(asked: Asked, parts: Sequence[Part], known: LossBounds | None) -> LossBounds:
    """Ask for the stacked query; where that is too much, add up bounds part by part."""
    stacked = Stacked(tuple(parts))
    weighing = [[part] for part in parts if part.query.per_record]
    if weighing:
        plain_parts = [part for part in parts if not part.query.per_record]
        return _part_by_part(asked, stacked, [*([plain_parts] if plain_parts else []), *weighing])
    limit = asked.left(Fraction(2, 3)) if known is None else once_more(asked)
    try:
        answer = _ask(asked, stacked, limit, asked.listener)
    except BudgetError:
        if known is not None:
            return known
        if not all(part.uniform for part in parts):
            raise
        return _part_by_part(asked, stacked, [[part] for part in parts])
    found = LossBounds(
        lower=answer.lower,
        upper=answer.upper,
        pair=answer.witness,
        engine=answer.engine,
        notes=answer.notes,
    )
    if known is not None:
        return _below(found, known)
    alone = answer.status != "bounds" or asked.engine == "brute"
    if alone or len(parts) == 1 or not all(part.uniform for part in parts):
        return found
    return _part_by_part(asked, stacked, [[part] for part in parts], found)


def _part_by_part(
    asked: Asked,
    stacked: Stacked,
    groups: Sequence[Sequence[Part]],
    found: LossBounds | None = None,
) -> LossBounds:
    """No pair loses more than the sum of what each group can lose; a group's pair may reach it."""
    lower: Exact = 0
    upper: Exact | None = 0
    pair: Pair | None = None
    notes = ["the losses of the releases added up"]
    if found is not None and found.lower != INFINITE:
        lower, pair = _number(found.lower), found.pair
        notes = [*found.notes, *notes]
    most = None if found is None or found.upper is None else _number(found.upper)
    alone = replace(asked, listener=_from_below(asked.listener, most))
    for number, group in enumerate(groups):
        one = _one_group(alone, group, Fraction(1, len(groups) - number))
        upper = None if upper is None or one.upper is None else upper + _number(one.upper)
        shown = None if one.pair is None else numbered(asked, stacked.parts, one.pair)
        if shown is not None:
            loss = stacked.difference(shown.moves(asked.reading))
            if loss > lower:
                lower, pair = loss, shown
    if found is not None and found.upper is not None:
        least = _number(found.upper)
        upper = least if upper is None else min(upper, least)
    return LossBounds(lower=lower, upper=upper, pair=pair, engine="parts", notes=tuple(notes))


def _from_below(listener: Listener | None, upper: Exact | None) -> Listener | None:
    """Tell what one group loses at least: so does all. From above it says nothing by itself."""
    if listener is None:
        return None

    def tell(progress: Progress) -> None:
        listener(replace(progress, upper=upper))

    return tell


def _one_group(asked: Asked, group: Sequence[Part], share: Fraction) -> LossBounds:
    """Return the loss of one release, or of several asked for together, in a share of the time."""
    left = asked.left(share)
    if len(group) == 1 and group[0].uniform:
        return _one_query(asked, group[0], left)
    deadline = None if left is None else now() + left
    return _loss(replace(asked, deadline=deadline), group)


def _number(loss: Loss) -> Exact:
    assert not isinstance(loss, str)
    return loss
