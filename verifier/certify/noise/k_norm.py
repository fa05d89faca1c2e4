"""K-norm noise: the loss is the largest gauge of neighbours' differences, divided by the scale.

With P(z) in proportion to exp(-|z| / b), two neighbours with difference d tell any answer apart by
a factor of at most exp(|d| / b), by the triangle inequality, and the answer beyond d attains it.
The gauge |z| is that of `Release.groups`:

* groups of one output: the largest |z_j|. So S in the norm linf decides, as any engine finds it.
* groups of m outputs: half the L1 norm of a group, at its largest; and the noise of a group adds up
  to 0, so a pair that changes the sum of a group would be told apart for certain.
* facets: the largest |row z|. So S in the norm linf of these rows of the answers decides, and where
  each row is an answer and each answer a row, S of the query (`gauged`). What no
  noise changes (`fixed`) must not change between neighbours either; then z - d is noise where z is,
  and again the answer f(D1), of gauge |d| from f(D2), attains the loss.

*Groups that are published* (`published_axes`). Let G be complete, the reading labelled, and let the
facts be counts of disjoint areas, without bounds and clauses. A neighbour pair is an irreducible
multiset of effects, and these are differences of unit vectors, one for each area and 0 for what no
area covers: irreducible are single moves within a class, and simple cycles of classes. So of each
class at most one record leaves and at most one enters, and what leaves a class is made good:
where each group of outputs counts the values of one class, its difference is 0 or one output more
and another one less, of gauge 1. A move within a class with two values is a pair, and loses that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Final

from blowproof.models import (
    Area,
    BoundQuery,
    BudgetError,
    Domain,
    Exact,
    LinearFact,
    PolicyError,
    QueryError,
    Setting,
)
from blowproof.models.base.numbers import plain
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.norms import LINF
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.stacks.combined import combined
from blowproof.models.stacks.stacked import Part, in_norm
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import INFINITE, LossBounds
from blowproof.verifier.exact.lattice import integer_kernel
from blowproof.verifier.limits.limit import real_limit

__all__ = ["K_NORM", "gauged", "k_norm_loss", "output_axes", "published_axes"]

K_NORM: Final = "discrete-k-norm"
SHORT = real_limit(__name__, "SHORT")


def output_axes(query: BoundQuery, setting: Setting) -> tuple[int, ...] | None:
    """Return the attributes whose cells are a query's outputs, in row-major order; None if none."""
    return query.cell_axes(setting.domain)


def published_axes(setting: Setting, reading: Reading) -> tuple[int, ...] | None:
    """Return the attributes of the one published marginal; () where nothing is known but n.

    None where the facts are something else, or where the argument above does not hold. Of a
    marginal, one cell may be missing: it is the rest.
    """
    if not is_labelled(reading) or not setting.graph.complete:
        return None
    if setting.bounds or setting.clauses:
        return None
    facts = [fact for fact in setting.equalities if fact.name != "size"]
    if not facts:
        return ()
    cells = [_cell(fact, setting) for fact in facts]
    first = cells[0]
    if first is None or any(cell is None or cell.keys() != first.keys() for cell in cells):
        return None
    axes = tuple(sorted(first))
    found = {tuple(cell[axis] for axis in axes) for cell in cells if cell is not None}
    many = prod(setting.domain.attribute(axis).size for axis in axes)
    return axes if len(found) >= many - 1 else None


def _cell(fact: LinearFact, setting: Setting) -> dict[int, int] | None:
    """Return the positions that a count is about: a cell of some marginal; None if it is none."""
    if len(fact.terms) != 1 or fact.terms[0][0] != 1:
        return None
    area: Area = fact.terms[0][1]
    boxes = [box for box in area.boxes if box]
    if len(boxes) != 1:
        return None
    cell = {}
    for axis, (side, full) in enumerate(
        zip(boxes[0].sides, setting.domain.whole.sides, strict=True)
    ):
        if side != full:
            if side.size != 1:
                return None
            cell[axis] = side.runs[0][0]
    return cell or None


def k_norm_loss(asked: Asked, releases: Sequence[tuple[Release, Part]]) -> LossBounds:
    """Return the loss of all K-norm releases: at most the sum of what each loses."""
    lower: Exact = 0
    upper: Exact | None = 0
    found = LossBounds(lower=0, upper=0, pair=None, engine="structure")
    for number, (release, part) in enumerate(releases):
        one = _one(asked, release, part, Fraction(1, len(releases) - number))
        if isinstance(one.lower, str) or isinstance(one.upper, str):
            return one
        upper = None if upper is None or one.upper is None else plain(upper + one.upper)
        if one.lower >= lower:
            lower, found = one.lower, one
    return replace(found, lower=lower, upper=upper)


def _one(asked: Asked, release: Release, part: Part, share: Fraction) -> LossBounds:
    scale = part.weights[0]
    if not scale:
        raise PolicyError("K-norm noise has a scale above 0", key="scale", hint="write 1 or 1/2")
    if release.facets:
        return _facets(asked, release, part.query, scale, share)
    if release.groups == 1:
        return _cube(asked, part.query, scale, share)
    axes = output_axes(part.query, asked.setting)
    known = published_axes(asked.setting, asked.reading)
    if axes is None or known is None or set(axes[: len(known)]) != set(known):
        return _unknown(f"nothing is known of groups of {release.groups} outputs here")
    rest = prod(asked.setting.domain.attribute(axis).size for axis in axes[len(known) :])
    if rest != release.groups:
        return _unknown(f"the groups that are published have {rest} outputs")
    pair, reached = _shown(asked, part, release.groups)
    return LossBounds(
        lower=plain(reached / scale),
        upper=plain(1 / scale),
        pair=pair,
        engine="structure",
        notes=("each published group changes by one output more and one less",),
    )


def _unknown(why: str) -> LossBounds:
    return LossBounds(lower=0, upper=None, pair=None, engine="structure", notes=(why,))


def _facets(
    asked: Asked, release: Release, query: BoundQuery, scale: Fraction, share: Fraction
) -> LossBounds:
    """Return the largest |row d| of neighbours' differences, divided by the scale.

    Where `fixed` changes, a pair is told apart for certain.
    """
    domain = asked.policy.domain
    try:
        facets = gauged(query, release.facets, domain)
        fixed = combined(query, release.fixed, domain)
    except QueryError as why:
        hint = "a row has one number for each output"
        raise PolicyError(str(why), key="facets", hint=hint) from None
    if not _bounded(release):
        raise PolicyError("no facet bounds some direction of the noise", key="facets",
                          hint="add rows, to facets or to fixed, that see it")  # fmt: skip
    if release.fixed:
        silent = _cube(asked, fixed, Fraction(1), share / 2)
        if silent.lower:
            return replace(silent, lower=INFINITE, upper=INFINITE)
        if silent.upper != 0:
            return _unknown("what the noise leaves fixed may change between neighbours")
    return _cube(asked, facets, scale, share)


def gauged(query: BoundQuery, facets: Sequence[Sequence[int]], domain: Domain) -> BoundQuery:
    """Return what changes by the gauge of facets at the most, in the norm linf.

    That is the query itself where the facets are its answers, each of them once: engines know the
    structure of a query, and not that of its rows.
    """
    rows = combined(query, facets, domain)
    own = {tuple(int(at == other) for other in range(len(facets))) for at in range(len(facets))}
    return query if rows.numbered.count == len(own) and set(rows.factors) == own else rows


def _bounded(release: Release) -> bool:
    """Whether facets, and what is fixed, are 0 together only at 0: then the noise adds up to 1."""
    try:
        kernel = integer_kernel([*release.facets, *release.fixed], len(release.facets[0]))
    except OverflowError:
        return False
    return kernel.rank == 0


def _cube(asked: Asked, query: BoundQuery, scale: Fraction, share: Fraction) -> LossBounds:
    """Return S of the query in the norm linf, divided by the scale."""
    kept = None if asked.known is None else asked.known.find((Part(query, (1 / scale,)),), LINF)
    if kept is not None:
        return kept
    answer = sensitivity(
        asked.policy,
        in_norm(query, LINF, asked.policy.domain),
        reading=asked.reading,
        answers=asked.answers,
        engine=asked.engine,
        time_limit=asked.left(share),
    )
    found = LossBounds(
        lower=plain(answer.lower / scale),
        upper=None if answer.upper is None else plain(answer.upper / scale),
        pair=answer.witness,
        engine=answer.engine,
        notes=answer.notes,
    )
    if asked.known is not None:
        asked.known.keep((Part(query, (1 / scale,)),), found, LINF)
    return found


def _shown(asked: Asked, part: Part, width: int) -> tuple[Pair | None, Fraction]:
    """Return a pair that reaches the gauge 1, from S in l1; a pair is only for show here."""
    left = asked.left(Fraction(1, 2))
    try:
        answer = sensitivity(
            asked.policy,
            part.query,
            reading=asked.reading,
            answers=asked.answers,
            engine=asked.engine,
            time_limit=SHORT if left is None else min(SHORT, left),
        )
    except BudgetError:
        return None, Fraction(0)
    if answer.witness is None:
        return None, Fraction(0)
    sums: dict[int, Fraction] = {}
    outputs = part.query.outputs(asked.policy.domain)
    assert outputs is not None  # cells have places
    for key, value in part.changes(answer.witness.moves(asked.reading)).items():
        group = outputs.place(key) // width
        sums[group] = sums.get(group, Fraction(0)) + abs(Fraction(value))
    return answer.witness, max(sums.values(), default=Fraction(0)) / 2
