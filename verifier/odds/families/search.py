"""The largest odds ratio over independent beliefs, family by family: `searched`.

Every secret pair, in both orders, with every output is a question of its own (see `families`). They
are taken in the order of what bounds them, so that most are never looked at: the best belief of one
is often as good as the bound of all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

from blowproof.models import BudgetError, show
from blowproof.verifier.asked.answer import json_number, json_value
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.odds.base.answer import Factor, Shown
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.families.families import (
    Families,
    Monomial,
    PairAndOutput,
    Variable,
    World,
    question_of,
)
from blowproof.verifier.odds.families.polynomial import Boxes, Found, by_corners, by_line

__all__ = ["Searched", "searched"]

MOST_WORK = whole_limit(__name__, "MOST_WORK")
BOXES = whole_limit(__name__, "BOXES")
LEAST = whole_limit(__name__, "LEAST")
NEAR = Fraction(999, 1000)

SURE = "given the facts no secret is in doubt: of every pair of statements one is impossible"
CORNER = "a corner of the families of pairs of databases: exactly"
LINE = "one unknown weight: the largest value of a ratio of polynomials, exactly"
BOXED = "families of pairs of databases, and boxes of beliefs, from above; a belief from below"


@dataclass(frozen=True)
class Searched:
    """Bounds on the largest odds ratio, the belief that shows the lower one, and why."""

    lower: Factor
    upper: Factor
    shown: Shown | None
    why: str
    notes: tuple[str, ...] = ()


def searched(asked: Asked) -> Searched:
    """Return the largest odds ratio over independent (or identical) beliefs, given any facts.

    BudgetError where databases, outputs or products are too many; TimeoutError past the deadline,
    with what is known on the board.
    """
    world = World(asked)
    asked.tell("the databases that the facts allow")
    every = _questions(world)
    every.sort(key=_key, reverse=True)
    if every:
        most = every[0].most
        asked.board.bounded(Factor.infinite() if most is None else Factor.number(most))
    best = _Best(asked)
    rest: list[tuple[PairAndOutput, Found]] = []
    for question in every:
        asked.in_time()
        most = question.most
        if most is not None and not Factor.number(most).above(best.lower):
            break
        found = by_corners(question)
        best.take(question, found, CORNER)
        if best.below(found.upper):
            line = by_line(question)
            if line is not None:
                best.take(question, line, LINE)
                found = line
        if best.below(found.upper):
            rest.append((question, found))
    upper = _boxed(best, rest) if rest else best.lower
    asked.board.bounded(upper)
    exact = not upper.above(best.lower)
    notes = () if every else (SURE,)
    return Searched(best.lower, upper, best.shown, best.why if exact else BOXED, notes)


def _questions(world: World) -> list[PairAndOutput]:
    asked = world.asked
    databases = [d for d, _ in world.databases]
    outputs = list(asked.chances.outputs(databases))
    found: list[PairAndOutput] = []
    work = 0
    for pair in world.pairs():
        families = Families.of(world, pair)
        if families is None:
            continue
        work += len(families.members) * len(outputs)
        if work > MOST_WORK:
            raise BudgetError(f"{work} products of beliefs and outputs are too many to weigh")
        for output in outputs:
            asked.in_time()
            found.append(question_of(families, output))
    return found


def _key(question: PairAndOutput) -> tuple[bool, Fraction]:
    most = question.most
    return most is None, most or Fraction(0)


def _boxed(best: _Best, rest: list[tuple[PairAndOutput, Found]]) -> Factor:
    """Return what no belief exceeds, by boxes for those questions that may decide it."""
    best.asked.tell("boxes of beliefs")
    open_ = [(q, f.upper) for q, f in rest if f.upper is not None and best.below(f.upper)]
    upper = best.lower
    for _, bound in open_:
        upper = bound if bound.above(upper) else upper
    if upper.endless or not open_:
        return upper
    different: dict[object, PairAndOutput] = {}
    for question, _ in open_:
        key = (question.families.powers, question.tops, question.bottoms)
        different.setdefault(key, question)
    boxes = Boxes(list(different.values()), float(best.lower.between(64)[1]))
    try:
        boxes.look(BOXES)
    finally:
        found = boxes.belief()
        if found is not None:
            question, belief = found
            best.take(question, Found(None, None, belief=belief), BOXED)
    proved = boxes.upper()
    if proved is not None and upper.above(Factor.number(proved)):
        upper = Factor.number(proved)
    return best.lower if best.lower.above(upper) else upper


class _Best:
    """The best belief so far."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self.why = asked, CORNER
        self.lower: Factor = Factor.exp(0)
        self.shown: Shown | None = None

    def below(self, upper: Factor | None) -> bool:
        """Whether more may be possible than was reached."""
        return upper is None or upper.above(self.lower)

    def take(self, question: PairAndOutput, found: Found, why: str) -> None:
        """Note what was found, if it is better."""
        if found.lower is not None and self.shown is not None and not self.below(found.lower):
            return
        shown = shown_of(question, found)
        if shown is None:
            return
        lower = shown.reached if found.lower is None else found.lower
        if self.shown is None or self.below(lower):
            self.lower, self.shown, self.why = lower, shown, why
            self.asked.board.reached(lower, shown)


# --- the belief that shows it --------------------------------------------------------------------


def shown_of(question: PairAndOutput, found: Found) -> Shown | None:
    """Return the belief of what was found, evaluated by itself; None where there is none."""
    if found.belief is not None:
        return _evaluated(question, found.belief, _table(question, found.belief, {}))
    if found.corner is None or found.lower is None:
        return None
    few, best = Fraction(2), None
    least = min(found.corner.values(), default=0)
    table = _table(question, {}, {v: power - least for v, power in found.corner.items()})
    while few <= LEAST:
        weights = {v: few ** -(power - least) for v, power in found.corner.items()}
        shown = _evaluated(question, weights, table)
        if shown is None:
            break
        best = shown
        if _near(shown.reached, found.lower):
            break
        few *= few
    return best


def _near(reached: Factor, claimed: Factor) -> bool:
    """Whether the belief comes within a thousandth of what is reached in the limit."""
    if claimed.endless or reached.endless:
        return reached.endless or not claimed.endless
    return reached.between(64)[0] >= NEAR * claimed.between(64)[1]


def _evaluated(
    question: PairAndOutput, weights: dict[Variable, Fraction], table: object
) -> Shown | None:
    def weight(monomial: Monomial) -> Fraction:
        return prod((weights.get(v, Fraction(1)) for v in monomial), start=Fraction(1))

    reached = question.reached(weight)
    if reached is None:
        return None
    families = question.families
    return Shown(
        prior=_prior(families, weights),
        secret=(families.pair[0].text, families.pair[1].text),
        output=families.world.asked.chances.to_json(question.output),
        reached=reached,
        table=table,
    )


def _table(
    question: PairAndOutput, weights: dict[Variable, Fraction], powers: dict[Variable, int]
) -> object:
    """Return belief and secret as certificates have them: weights w t^power, t going to 0."""
    families = question.families
    one, two = (statement.about for statement in families.pair)
    if one is None or two is None:
        return None
    world = families.world
    domain = world.asked.policy.domain
    rows: dict[int, list[object]] = {}
    for v in _used(families):
        row = [json_value(domain, v[1]), json_number(weights.get(v, Fraction(1)))]
        rows.setdefault(v[0], []).append([*row, powers.get(v, 0)])
    told = [json_value(domain, value) for _, value in (one, two)]
    return {"records": list(rows.values()), "secret": [one[0], *told]}


def _used(families: Families) -> list[Variable]:
    """Return the weights that databases of either side have."""
    return sorted({v for side in (families.ones, families.twos) for m in side for v in m})


def _prior(families: Families, weights: dict[Variable, Fraction]) -> object:
    """Return the belief as JSON has it: what each record may hold, with its probability."""
    asked = families.world.asked
    used = _used(families)
    domain = asked.policy.domain

    def row(record: int) -> list[list[object]]:
        own = {v: weights.get(v, Fraction(1)) for v in used if v[0] == record}
        total = sum(own.values())
        return [[json_value(domain, v[1]), show(w / total)] for v, w in own.items()]

    given = asked.attackers.given_facts
    if families.world.alike:
        return {"every_record": row(-1), "size": asked.size, "given_facts": given}
    return {"records": [row(j) for j in range(asked.size)], "given_facts": given}
