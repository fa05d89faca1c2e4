"""Independent attackers: the largest odds ratio is the largest loss over pairs of reading 5.

Records are independent, each with any belief of its own, conditioned on the facts (pufferfish-2012,
Equation 17, every record present). Facts are equalities: the sum over records of phi(x_j) is q.

**Theorem.** Over all such beliefs, secret pairs (r_i = t against r_i = u, an edge of G) and outputs
w, the largest P(M = w | t) / P(M = w | u) is the largest P(M(D1) = w) / P(M(D2) = w) over the pairs
of reading 5: D1 and D2 in I_Q whose changes are an irreducible multiset, with record i's move from
t to u among them. It extends Theorem 9.2 from one univariate histogram to every set of equalities,
and to every G; the pairs do not depend on M, so that the definition composes with itself linearly.

*No less.* An attacker is certain of every record that does not change, and gives each other one but
i half to x_j and half to y_j, and i half to t and half to u. Given r_i = t the possible databases
are D1 with a part of the other changes that has no effect: none but D1. Given u: none but D2. This
is the belief that is shown (`Attacker`), and evaluated by itself.

*No more.* Fix a belief; mu, nu are its conditional distributions given t, given u. Draw x from mu
and y from nu, independently. Fix the unordered pairs {x_j, y_j}; let C be the records where the two
differ. What is left open is an orientation s in {1, -1}^C with s_i = 1; x_s and y_s are both in I_Q
iff sum s_j e_j = 0 with e_j = phi(x_j) - phi(y_j), since phi(x_s) + phi(y_s) does not depend on s.
All such s, the set O, are equally likely: the product of the probabilities of x_s and of y_s does
not depend on s. For s, s' in O let a(s, s') be the set where they agree: it holds i, has no effect,
and y_s' is x_s changed exactly on it. *Claim:* some doubly stochastic matrix W on O has W(s, s') >
0 only where a(s, s') is irreducible. So draw s uniformly and s' from W(s, .): x_s and y_s' have the
right distributions and are always a pair of reading 5, hence P(M = w | t) = E p_w(x_s) <= r E
p_w(y_s') = r P(M = w | u), where r is the largest ratio over such pairs.

*The claim.* Let W minimise the sum of W(s, s') |a(s, s')| over doubly stochastic matrices, with
optimal duals alpha_s + beta_s' <= |a(s, s')|, tight where W > 0. Suppose W(s0, t0) > 0, and that
a(s0, t0) has a part B without effect that is not all of it; B, or the rest, lacks i: let it be B,
m = |B| > 0. X: the v in O that equal s0 on B; f flips B (which keeps the effect 0, and i).
(1) For v in X: take t with W(f(v), t) > 0. Then alpha_v <= |a(v, t)| - beta_t, and |a(v, t)| <=
|a(f(v), t)| + m with equality iff t is in X; so alpha_v <= alpha_f(v) + m, with equality only if
every such t is in X and (v, t) is tight. The same holds for columns and beta.
(2) For v, t in X with (v, t) tight: |a(f(v), t)| = |a(v, t)| - m, so alpha_f(v) <= alpha_v - m;
with (1), alpha_v = alpha_f(v) + m; likewise beta_t = beta_f(t) + m. Let R be the v, and T the t, of
X with these equalities: s0 is in R and t0 in T.
(3) By (1) the rows f(R) have all their mass in columns t of X for which some (v, t), v in R, is
tight: in T by (2). The same way the columns f(T) have theirs in the rows R. So |f(R)| <= |T| and
|f(T)| <= |R|, hence |R| = |T|, and the rows f(R) use up all of the columns T. But W(s0, t0) > 0
with t0 in T, and s0 is not in f(R), as f(X) and X are disjoint. A contradiction.

`coupling` finds such a W by maximum flow, and tests maximise over beliefs; neither ever disagreed.

**Bounds and clauses.** Beliefs that are certain of both databases in the limit make the loss over
reading 5 a lower bound still (see `neighbours/joint_certainty`), and nothing proves it the largest;
no belief at all does better than two databases (`any_belief`), which is the upper bound.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from blowproof.models import BudgetError, InternalError, Point, show
from blowproof.models.attackers.secrets import holds
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.answer import Pair, json_number, json_value
from blowproof.verifier.asked.names import Engine
from blowproof.verifier.asked.question import Progress
from blowproof.verifier.certify.base.asked import Asked as Judged
from blowproof.verifier.certify.base.verdict import INFINITE
from blowproof.verifier.certify.channels.channel import channel_loss
from blowproof.verifier.certify.channels.ratios import Probabilities
from blowproof.verifier.certify.noise.additive import additive_loss
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.joint_certainty import certainty_weights
from blowproof.verifier.odds.any_belief import any_odds
from blowproof.verifier.odds.base.answer import Factor, Shown
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.base.chances import Additive, RecordChannel
from blowproof.verifier.odds.base.evaluate import odds_ratio
from blowproof.verifier.odds.families.search import searched
from blowproof.verifier.odds.one_bound import without_numbers

__all__ = ["independent_odds", "with_one_bound"]

HALF = Fraction(1, 2)
READING: Reading = "pufferfish"
ENGINE: Engine = "auto"
MOST_BETWEEN = whole_limit(__name__, "MOST_BETWEEN")

NEAR = Fraction(999, 1000)
LEAST = whole_limit(__name__, "LEAST")

THEOREM = "independent beliefs and equality counts: the loss over pairs of reading 5, exactly"
ONE_BOUND = (
    "one count between limits: pairs of reading 5 from below, the theorem of one bound from above"
)
SEEN = (
    "beliefs after noisy numbers: pairs of reading 5 from below, the loss of all that is published "
    "from above"
)
IN_BOUNDS = "bounds or clauses: pairs of reading 5 from below, every two databases from above"


def independent_odds(
    asked: Asked,
) -> tuple[Factor, Factor | None, Shown | None, str, tuple[str, ...]]:
    """Return bounds on the largest odds ratio, what shows the lower one, why, and notes."""
    loose = bool(asked.setting.bounds or asked.setting.clauses)
    notes: tuple[str, ...] = ()
    if loose or not asked.by_graph or asked.before.parts:
        try:
            found = searched(asked)
            return found.lower, found.upper, found.shown, found.why, found.notes
        except BudgetError as refusal:
            if not asked.by_graph:
                raise
            notes = (str(refusal).partition("\n")[0],)
    lower, upper, pair, outputs, more = _over_pairs(asked)
    notes = (*notes, *more)
    shown = None if pair is None else _attacker(asked, pair, outputs, lower, loose=loose)
    asked.board.reached(lower, shown)
    if asked.before.parts:
        return lower, _with_seen(asked, loose=loose), shown, SEEN, notes
    if not loose:
        return lower, upper, shown, THEOREM, notes
    one = with_one_bound(asked)
    if one is not None:
        return lower, one, shown, ONE_BOUND, notes
    try:
        _, upper, _, more = any_odds(asked)
        notes = (*notes, *more)
    except (BudgetError, TimeoutError) as refusal:
        upper = None
        notes = (*notes, str(refusal).partition("\n")[0] or "stopped at the time limit")
    return lower, upper, shown, IN_BOUNDS, notes


def with_one_bound(asked: Asked) -> Factor | None:
    """Return what no belief exceeds where one count between limits is all that is known."""
    policies = without_numbers(asked)
    if policies is None or not isinstance(asked.chances, Additive):
        return None
    losses = []
    for policy in policies:
        other = replace(asked, policy=policy, answers=None)
        judged = replace(_judged(other), listener=None)
        losses.append(additive_loss(judged, asked.chances.parts).upper)
    worst = Factor.exp(0)
    for loss in losses:
        if loss is None:
            return None
        found = Factor.infinite() if isinstance(loss, str) else Factor.exp(loss)
        worst = found if found.above(worst) else worst
    return worst


def _with_seen(asked: Asked, *, loose: bool) -> Factor | None:
    """Return what no belief exceeds that has seen noisy numbers; None where nothing is known.

    P(w | s, seen) is P(w, seen | s) / P(seen | s). By the theorem, the first moves by at most the
    loss of both together, and the second by that of what was seen.
    """
    if loose or not isinstance(asked.chances, Additive):
        return None
    judged = replace(_judged(asked), listener=None)
    both = additive_loss(judged, (*asked.chances.parts, *asked.before.parts)).upper
    alone = additive_loss(judged, asked.before.parts).upper
    if both is None or alone is None:
        return None
    if isinstance(both, str) or isinstance(alone, str):
        return Factor.infinite()
    return Factor.exp(both + alone)


Found = tuple[Factor, Factor | None, Pair | None, tuple[str, ...], tuple[str, ...]]


def _over_pairs(asked: Asked) -> Found:
    """Return the loss over the pairs of reading 5, by the certifier, and the pair."""
    judged = _judged(asked)
    channel = asked.mechanism.channel
    if channel is not None:
        told = channel_loss(judged, channel, Probabilities(channel, asked.epsilon))
        low = Factor.infinite() if told.infinite else Factor.of(told.lower, asked.epsilon)
        high = None if told.upper is None else Factor.of(told.upper, asked.epsilon)
        return low, low if told.infinite else high, told.pair, told.outputs, told.notes
    assert isinstance(asked.chances, Additive)
    found = additive_loss(judged, asked.chances.parts)
    if found.lower == INFINITE:
        return Factor.infinite(), Factor.infinite(), found.pair, (), found.notes
    upper = found.upper
    high = None if upper is None else Factor.infinite() if upper == INFINITE else Factor.exp(upper)
    return Factor.exp(found.lower), high, found.pair, (), found.notes


def _judged(asked: Asked) -> Judged:
    return Judged(
        policy=asked.policy,
        setting=asked.setting,
        reading=READING,
        answers=asked.answers,
        engine=ENGINE,
        deadline=asked.clock_deadline,
        listener=lambda progress: _note(asked, progress),
    )


def _note(asked: Asked, progress: Progress) -> None:
    """Put a pair that the search of S has found on the board, and hand it on.

    What is said of the upper bound may be about one release of several, and is left alone.
    """
    pair, lower = progress.witness, Factor.exp(progress.lower)
    if pair is not None:
        loose = bool(asked.setting.bounds or asked.setting.clauses)
        asked.board.told(lower, lambda: _attacker(asked, pair, (), lower, loose=loose))
    if asked.listener is not None:
        asked.listener(progress)


# --- the attacker who shows it -------------------------------------------------------------------


@dataclass(frozen=True)
class Attacker:
    """An independent belief: what each record may hold, with weights that need not add up to 1."""

    records: tuple[tuple[tuple[Point, Fraction], ...], ...]
    told: int
    """The record of the secret, from 0: the first value of its row against the second."""

    def table(self, asked: Asked) -> object:
        """Return belief and secret as certificates have them."""
        domain = asked.policy.domain
        rows = [
            [[json_value(domain, x), json_number(w), 0] for x, w in row] for row in self.records
        ]
        told = [json_value(domain, x) for x, _ in self.records[self.told]]
        return {"records": rows, "secret": [self.told, *told]}

    def json(self, asked: Asked) -> object:
        """Return the belief as JSON has it: for each record its values and their probabilities."""
        domain, rows = asked.policy.domain, []
        for row in self.records:
            total = sum(weight for _, weight in row)
            rows.append([[json_value(domain, x), show(weight / total)] for x, weight in row])
        return {"records": rows, "given_facts": asked.attackers.given_facts}


def _attacker(
    asked: Asked, pair: Pair, outputs: Sequence[str], claimed: Factor, *, loose: bool
) -> Shown | None:
    """Return the belief that is left with the pair's two databases, evaluated by itself."""
    first = list(pair.database) if pair.database is not None else None
    places = list(pair.records) if pair.records is not None else list(range(len(pair.before)))
    if first is None:
        first = [*pair.before, *(x for x, times in pair.unchanged for _ in range(times))]
    second = list(first)
    for place, y in zip(places, pair.after, strict=True):
        second[place] = y
    graph = asked.setting.graph
    told = next(k for k in places if graph.is_edge(first[k], second[k]))
    output = _output(asked, first, second, places, outputs)
    weights = dict.fromkeys(places, 0)
    if loose:
        found = certainty_weights(asked.setting, pair, places.index(told))
        if found is None:
            told, found = _other_secret(asked, pair, places, first, second)
        weights = dict(zip(places, found, strict=True))
    few, best = Fraction(2), None
    while few <= LEAST:
        attacker = _belief(first, second, told, weights, few if loose else Fraction(1))
        reached = _evaluated(asked, attacker, first, second, output)
        if reached is None:
            return None
        best = Shown(
            prior=attacker.json(asked),
            secret=(_says(asked, told, first), _says(asked, told, second)),
            output=asked.chances.to_json(output),
            reached=reached,
            table=attacker.table(asked),
        )
        if not loose or not any(weights.values()) or _near(reached, claimed):
            break
        few *= few
    if best is not None and not loose and claimed.above(best.reached):
        raise InternalError("a belief does not reach the odds that the theorem says")
    return best


def _says(asked: Asked, told: int, database: Sequence[Point]) -> str:
    return holds(asked.policy.domain, told, database[told]).text


def _other_secret(
    asked: Asked, pair: Pair, places: list[int], first: list[Point], second: list[Point]
) -> tuple[int, list[int]]:
    """Return another record whose secret move leaves the attacker certain, and the weights."""
    for number, place in enumerate(places):
        if asked.setting.graph.is_edge(first[place], second[place]):
            found = certainty_weights(asked.setting, pair, number)
            if found is not None:
                return place, found
    raise InternalError("no record's secret move tells a pair of reading 5 apart")


def _near(reached: Factor, claimed: Factor) -> bool:
    """Whether the belief comes within a thousandth of what is reached in the limit."""
    if claimed.endless or reached.endless:
        return reached.endless or not claimed.endless
    low, _ = reached.quotient().between
    _, high = claimed.quotient().between
    return high is not None and low >= NEAR * high


def _belief(
    first: Sequence[Point],
    second: Sequence[Point],
    told: int,
    weights: dict[int, int],
    few: Fraction,
) -> Attacker:
    """Return half against half for each change; with weights w, 1 against few to the minus w."""
    rows: list[tuple[tuple[Point, Fraction], ...]] = []
    for place, (x, y) in enumerate(zip(first, second, strict=True)):
        if x == y:
            rows.append(((x, Fraction(1)),))
            continue
        power = weights.get(place, 0)
        rows.append(((x, Fraction(1)), (y, few**-power if place != told else Fraction(1))))
    return Attacker(tuple(rows), told)


def _evaluated(
    asked: Asked,
    attacker: Attacker,
    first: Sequence[Point],
    second: Sequence[Point],
    output: Hashable,
) -> Factor | None:
    """Return the odds ratio of the belief itself; None where it has too many databases."""
    if prod(len(row) for row in attacker.records) > MOST_BETWEEN:
        return None
    belief: dict[tuple[Point, ...], Fraction] = {}
    known = asked.policy.totals(first)
    for chosen in product(*attacker.records):
        database = tuple(x for x, _ in chosen)
        if asked.setting.scope == "any":
            inside = asked.policy.totals(database) == known
        else:
            inside = asked.possible(database)
        if inside:
            belief[database] = prod((weight for _, weight in chosen), start=Fraction(1))
    total = sum(belief.values(), start=Fraction(0))
    belief = {database: chance / total for database, chance in belief.items()}
    domain, told = asked.policy.domain, attacker.told
    statements = holds(domain, told, first[told]), holds(domain, told, second[told])
    return odds_ratio(asked.chances, belief, statements, output, asked.epsilon)


def _output(
    asked: Asked,
    first: Sequence[Point],
    second: Sequence[Point],
    places: Sequence[int],
    names: Sequence[str],
) -> Hashable:
    """Return the output at which the pair's ratio is largest."""
    if isinstance(asked.chances, Additive):
        return asked.chances.at(first, second)
    channel = asked.mechanism.channel
    assert channel is not None
    numbers = [channel.outputs.index(name) for name in names]
    if channel.of == "database":
        return numbers[0]
    chosen = [0] * len(first)
    chances = asked.chances
    assert isinstance(chances, RecordChannel)
    for place, number in zip(places, numbers, strict=True):
        chosen[place] = number
    for place in set(range(len(first))) - set(places):
        chosen[place] = chances.possible(first[place])
    return tuple(chosen)
