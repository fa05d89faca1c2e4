"""What the page draws beyond the numbers, as data: it stands in the JSON document too.

`picture` has four parts, each None where it does not apply: the policy graph with its longest cycle
or path; the worst pair as steps, with what every step does to the known facts; and the averaging
attack. All of it is exact but the attack's figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from blowproof.cli.words import fact_words
from blowproof.models import BlowproofError, Point, Policy, Setting
from blowproof.models.facts import LinearFact
from blowproof.verifier.answers import Answer, Pair, json_value

__all__ = ["fact_labels", "picture", "steps"]

MOST_NODES = 60
MOST_STEPS = 400
MOST_FACTS = 400
GRAPH_SECONDS = 5.0


def picture(policy: Policy, found: Setting, answer: Answer) -> dict[str, Any]:
    """Return everything that is drawn about one answer."""
    return {
        "policy_graph": _graph(policy),
        "steps": None if answer.witness is None else steps(found, answer.witness, answer.reading),
        "averaging": _averaging(policy, answer.reading),
    }


def _graph(policy: Policy) -> dict[str, Any] | None:
    """The policy graph of a sparse policy that is small enough to draw."""
    from blowproof.verifier.policy_graph import SINK, SOURCE, policy_graph_bound
    from blowproof.verifier.sparsity import sparse

    if not policy.linear_facts or len(policy.linear_facts) > MOST_FACTS:
        return None
    try:
        found = sparse(policy)
        if not found.sparse:
            return None
        bound = policy_graph_bound(policy, time_limit=GRAPH_SECONDS)
    except BlowproofError:
        return None
    cycle = bound.alpha.lower >= bound.xi.lower
    lit = bound.alpha if cycle else bound.xi
    names = [str(name) for name in bound.graph.nodes]
    drawn = len(names) <= MOST_NODES
    return {
        "nodes": names,
        "labels": fact_labels(policy),
        "special": [SOURCE, SINK],
        "arcs": [[str(a), str(b)] for a, b in bound.graph.edges] if drawn else None,
        "lit": [str(name) for name in lit.nodes],
        "lit_is": "cycle" if cycle else "path",
        "alpha": {"lower": bound.alpha.lower, "upper": bound.alpha.upper},
        "xi": {"lower": bound.xi.lower, "upper": bound.xi.upper},
    }


def _averaging(policy: Policy, reading: str) -> dict[str, Any] | None:
    from blowproof.verifier.averaging import averaging

    known = reading in ("published", "secret-moves") or policy.database.size is not None
    if not policy.linear_facts:
        return None
    try:
        attack = averaging(policy, size_known=known)
    except BlowproofError:
        return None
    return {
        "cell": json_value(policy.domain, attack.cell),
        "estimates": None if attack.left == 0 else attack.estimates,
        "variance_left": attack.left,
        "mean_variance_left": attack.mean_left,
        "cells": attack.cells,
        "facts": attack.facts,
        "independent_facts": attack.rank,
    }


def fact_labels(policy: Policy) -> dict[str, str]:
    """Return a short label for every linear fact, by its name.

    >>> from blowproof.models import Count, Domain, Labels, Marginal
    >>> known = (Marginal(["sex"]), Count({"sex": "F"}))
    >>> fact_labels(Policy(domain=Domain(sex=Labels(["F", "M"])), known=known))
    {'known[0] (sex = F)': 'sex = F', 'known[0] (sex = M)': 'sex = M', 'known[1]': 'sex = F'}
    """
    labels = {}
    for fact in policy.linear_facts:
        head, _, cell = fact.name.partition(" (")
        place = head.removeprefix("known[").removesuffix("]")
        if cell:
            labels[fact.name] = cell.removesuffix(")")
        elif place.isdecimal():
            words = fact_words(policy, policy.known[int(place)])
            labels[fact.name] = words.removeprefix("how many records have ").partition(":")[0]
    return labels


def steps(found: Setting, pair: Pair, reading: str) -> dict[str, Any]:
    """Return the changes one by one, in an order that strays little from the known facts.

    Every step says how far each fact is then from its number: only the last one is back at 0 (or
    within the bounds), which is why nobody can make fewer of these changes.
    """
    facts = [*found.equalities, *found.bounds]
    moves = [(m.before, m.after, m.record) for m in pair.moves(_reading(reading))]
    effects = [_effect(facts, before, after) for before, after, _ in moves]
    touched = sorted({place for effect in effects for place in effect})
    running: dict[int, int] = {}
    listed = []
    for place in _order(effects)[:MOST_STEPS]:
        before, after, record = moves[place]
        for fact, by in effects[place].items():
            running[fact] = running.get(fact, 0) + by
        listed.append(
            {
                "record": None if record is None else record + 1,
                "before": None if before is None else json_value(found.domain, before),
                "after": None if after is None else json_value(found.domain, after),
                "secret": _secret(found, before, after),
                "off_by": [running.get(fact, 0) for fact in touched],
            }
        )
    labels = fact_labels(found.policy)
    return {
        "facts": [labels.get(facts[place].name, facts[place].name) for place in touched],
        "moves": listed,
        "hidden": len(moves) - len(listed),
    }


def _reading(text: str) -> Any:
    return text


def _secret(found: Setting, before: Point | None, after: Point | None) -> bool | None:
    if before is None or after is None:
        return None
    return found.graph.is_edge(before, after)


def _effect(
    facts: Sequence[LinearFact], before: Point | None, after: Point | None
) -> dict[int, int]:
    return dict(_changes(facts, before, after))


def _changes(
    facts: Sequence[LinearFact], before: Point | None, after: Point | None
) -> Iterator[tuple[int, int]]:
    for place, fact in enumerate(facts):
        more = 0 if after is None else fact.coefficient(after)
        less = 0 if before is None else fact.coefficient(before)
        if more != less:
            yield place, more - less


def _order(effects: Sequence[dict[int, int]]) -> list[int]:
    """Take next, each time, a move after which the facts are least far off."""
    left, order = list(range(len(effects))), list[int]()
    running: dict[int, int] = {}
    while left and len(order) < MOST_STEPS:
        best = min(left, key=lambda place: _strays(running, effects[place]))
        left.remove(best)
        order.append(best)
        for fact, by in effects[best].items():
            running[fact] = running.get(fact, 0) + by
    return order


def _strays(running: dict[int, int], effect: dict[int, int]) -> int:
    """By how much the total distance from the facts grows."""
    return sum(abs(running.get(f, 0) + by) - abs(running.get(f, 0)) for f, by in effect.items())
