"""Listed beliefs and chains: every sum is finite, so the largest odds ratio is exact."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from blowproof.models import Point, PolicyError, show
from blowproof.models.attackers.beliefs import Belief
from blowproof.models.attackers.secrets import Statement
from blowproof.verifier.asked.answer import json_number, json_value
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.odds.base.answer import Factor, Shown
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.base.evaluate import Evaluation

__all__ = ["belief_json", "belief_table", "conditioned", "largest_of", "listed_odds"]

LONGEST = whole_limit(__name__, "LONGEST")

Database = tuple[Point, ...]
Chances = dict[Database, Fraction]


def listed_odds(asked: Asked) -> tuple[Factor, Shown | None, tuple[str, ...]]:
    """Return the largest odds ratio of the listed beliefs, what shows it, and notes."""
    best, shown, notes = Factor.exp(0), None, []
    for place, scenario in enumerate(asked.attackers.listed):
        key = f"attackers.listed[{place}]"
        size = asked.setting.size
        belief = conditioned(asked, Belief.of(scenario, asked.policy, size, key).chances, key)
        found, seen, skipped = largest_of(asked, belief)
        if skipped:
            which = "all of its pairs have" if seen is None else f"{skipped} pairs with"
            are = ", and are" if seen is None else " are"
            notes.append(
                f"belief {place + 1}: {which} a statement of probability 0{are} skipped, as "
                "Definition 3.1 does"
            )
        if seen is not None and (shown is None or found.above(best)):
            best, shown = found, seen
            asked.board.reached(best, shown)
    return best, shown, tuple(notes)


def conditioned(asked: Asked, chances: Chances, key: str) -> Chances:
    """Return the belief given the facts that attackers know."""
    for database in chances:
        if any(x in asked.setting.impossible for x in database):
            raise PolicyError("the belief holds an impossible value", key=key)
    sizes = {len(database) for database in chances}
    if len(sizes) > 1:
        raise PolicyError(
            "the databases of the belief have different numbers of records",
            key=key,
            hint="let one value stand for a record that is not there",
        )
    if not asked.attackers.given_facts:
        return chances
    if asked.setting.scope == "any" and asked.policy.linear_facts:
        raise PolicyError(
            "a belief is conditioned on the known numbers, and these facts have none",
            key=key,
            hint="write their answers, or given_facts = false under [attackers]",
        )
    known = asked.setting.size
    kept = {
        d: p
        for d, p in chances.items()
        if (known is None or len(d) == known) and asked.setting.satisfied_by(d)
    }
    total = sum(kept.values(), start=Fraction(0))
    if not total:
        raise PolicyError(
            "the belief thinks no database possible that satisfies the facts",
            key=key,
            hint="correct the belief, or given_facts = false under [attackers]",
        )
    return {d: p / total for d, p in kept.items()}


def largest_of(asked: Asked, belief: Chances) -> tuple[Factor, Shown | None, int]:
    """Return the largest odds ratio of one belief, what shows it, and how many pairs it skips."""
    before = asked.seen if asked.before.parts else None
    evaluation = Evaluation(asked.chances, belief, asked.epsilon, before)
    size = max(map(len, belief), default=0)
    pairs = asked.attackers.pairs.pairs(asked.policy, size)
    outputs = list(asked.chances.outputs(list(belief)))
    found, seen, skipped = evaluation.largest(pairs, outputs, asked.in_time)
    if seen is None:
        return found, None, skipped
    one, two, output = seen
    shown = Shown(
        prior=belief_json(asked, belief),
        secret=(one.text, two.text),
        output=asked.chances.to_json(output),
        reached=found,
        table=belief_table(asked, belief, (one, two)),
    )
    return found, shown, skipped


def belief_table(
    asked: Asked, belief: Mapping[Database, Fraction], told: tuple[Statement, Statement]
) -> Any:
    """Return a belief over databases and its secret as certificates have them."""
    one, two = (statement.about for statement in told)
    if one is None or two is None:
        return None
    domain = asked.policy.domain
    rows = [[[json_value(domain, x) for x in d], json_number(p)] for d, p in belief.items()]
    values = [json_value(domain, value) for _, value in (one, two)]
    return {"databases": rows, "secret": [one[0], *values]}


def belief_json(asked: Asked, belief: Chances) -> Any:
    """Return a belief over databases as JSON has it, the likeliest first."""
    ordered = sorted(belief.items(), key=lambda item: (-item[1], item[0]))
    domain = asked.policy.domain
    return {
        "databases": [
            {"database": [json_value(domain, x) for x in database], "probability": show(chance)}
            for database, chance in ordered[:LONGEST]
        ],
        "complete": len(ordered) <= LONGEST,
    }
