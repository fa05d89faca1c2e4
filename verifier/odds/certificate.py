"""Certificates of odds: what the kernel needs to see that an answer of `odds` is right.

Below stands the belief that shows the lower bound, in the limit where beliefs only come near to it;
the output is the best one that the kernel lists. Above stands one of its arguments (see the
kernel's FORMAT.md). What is written is claimed by the kernel's own numbers, and checked by it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import networkx as nx

from blowproof.models import InternalError, Policy
from blowproof.models.attackers.beliefs import Belief
from blowproof.models.files.writing import canonical
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import json_number, json_value
from blowproof.verifier.kernel import Unreadable, check
from blowproof.verifier.kernel.check import ODDS
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.odds.above import Pair, families
from blowproof.verifier.kernel.odds.below import Side, odds_of, sides
from blowproof.verifier.kernel.odds.claim import Case, Output
from blowproof.verifier.kernel.odds.exponentials import Sum, add, exp, positive, product
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.odds.base.answer import Factor, Odds
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.base.chances import Additive
from blowproof.verifier.odds.listed import conditioned
from blowproof.verifier.proofs.claim import digest_of, query_table
from blowproof.verifier.proofs.write import Certificate, certify_answer

__all__ = ["certify_odds"]

SECONDS = real_limit(__name__, "SECONDS")
BITS = whole_limit(__name__, "BITS")


class _NoneError(Exception):
    """There is no certificate, and why."""


def certify_odds(asked: Asked, found: Odds) -> Certificate:
    """Return a certificate that the kernel accepted, or why there is none."""
    try:
        document = _Writer(asked, found).document()
    except (_NoneError, Rejected) as reason:
        return Certificate(None, str(reason))
    try:
        verdict = check(document, seconds=SECONDS)
    except Unreadable as error:
        raise InternalError(f"the kernel cannot read its certificate: {error}") from None
    if not verdict.accepted:
        return Certificate(None, f"the kernel does not accept it: {verdict.reason}")
    return Certificate(document, verdict=verdict)


class _Writer:
    """One answer, and what the kernel is shown of it."""

    def __init__(self, asked: Asked, found: Odds) -> None:
        self.asked, self.found = asked, found
        setting = asked.setting
        if not asked.by_graph:
            raise _NoneError("the kernel knows statements about one record's value only")
        if asked.before.parts:
            raise _NoneError("the kernel knows nothing of what was seen before")
        policy = asked.policy.with_answers(setting.scope)
        if policy.database.data is not None:
            raise _NoneError("the kernel wants the numbers of the data written in the policy")
        self.policy: Policy = policy
        self.kind = "listed" if asked.attackers.exact else asked.attackers.kind
        self.table = {
            "schema": ODDS,
            "digests": {},
            "policy": json.loads(canonical(policy)),
            "answers": setting.scope,
            "mechanism": self._mechanism(),
            "attackers": self.kind,
            "claim": {},
        }
        self.table["digests"] = {
            name: digest_of(self.table[name]) for name in ("policy", "mechanism")
        }
        if self.kind == "listed":
            self.table["listed"] = self._listed()
        self.case = Case(self.table, Budget(seconds=SECONDS))

    def _mechanism(self) -> dict[str, Any]:
        chances, channel = self.asked.chances, self.asked.mechanism.channel
        if isinstance(chances, Additive):
            if not all(part.uniform and part.weights[0] for part in chances.parts):
                raise _NoneError("the kernel knows one scale above 0 for each release")
            return {
                "releases": [
                    {
                        "query": query_table(part.query, self.policy),
                        "scale": json_number(part.weights[0]),
                    }
                    for part in chances.parts
                ]
            }
        assert channel is not None
        try:
            rows = [[json_number(Fraction(x)) for x in row] for row in channel.rows]
        except ValueError:
            raise _NoneError("the kernel knows channels of fractions only") from None
        domain, named = self.policy.domain, list(channel.inputs)
        if channel.of == "record":
            inputs: list[Any] = [json_value(domain, _point(domain, x)) for x in named]
        else:
            inputs = [[json_value(domain, _point(domain, x)) for x in d] for d in named]
        return {"channel": {"of": channel.of, "inputs": inputs, "rows": rows}}

    def _listed(self) -> list[Any]:
        asked, domain, listed = self.asked, self.policy.domain, []
        for place, scenario in enumerate(asked.attackers.listed):
            key = f"attackers.listed[{place}]"
            belief = Belief.of(scenario, asked.policy, asked.setting.size, key)
            chances = conditioned(asked, belief.chances, key)
            listed.append(
                [[[json_value(domain, x) for x in d], json_number(p)] for d, p in chances.items()]
            )
        return listed

    def document(self) -> dict[str, Any]:
        """Return the certificate."""
        if self._by_theorem():
            return self.table
        table = None if self.found.shown is None else self.found.shown.table
        if table is not None:
            self.table["belief"], bound = self._below(table)
            self.table["claim"]["at_least"] = bound
        if self.found.upper is not None and not self.found.upper.endless:
            self.table["claim"]["at_most"] = _bound(self.found.upper)
            self.table["proof"] = self._above()
        if not self.table["claim"]:
            raise _NoneError("nothing is known that a certificate could show")
        return self.table

    def _by_theorem(self) -> bool:
        """Put in the certificate of S of reading 5, which says all; False if there is none."""
        asked, chances = self.asked, self.asked.chances
        loose = asked.setting.bounds or asked.setting.clauses
        if self.kind != "independent" or loose or not isinstance(chances, Additive):
            return False
        if len(chances.parts) != 1:
            return False
        query = chances.parts[0].query
        answer = sensitivity(
            self.policy, query, reading="pufferfish", answers=asked.setting.scope,
            time_limit=asked.left,
        )  # fmt: skip
        if answer.status == "bounds":
            return False
        inner = certify_answer(self.policy, query, answer, time_limit=SECONDS)[1]
        if inner.document is None:
            return False
        bound = {
            "ratio": 1,
            "exp": json_number(Fraction(answer.lower) / chances.parts[0].weights[0]),
        }
        self.table["claim"] = {"at_least": bound, "at_most": bound}
        self.table["proof"] = {"kind": "neighbours", "certificate": inner.document}
        return True

    def _below(self, table: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the belief with its best output, and the odds that it has there."""
        told = sides(self.case, {**table, "output": None})
        best: tuple[Output, Sum, Sum] | None = None
        for output in self._outputs(told):
            top, bottom = odds_of(self.case, told, output)
            if top and bottom and (best is None or self._better(top, bottom, best)):
                best = output, top, bottom
        if best is None:
            raise _NoneError("the belief thinks no output possible")
        output, top, bottom = best
        return {**table, "output": self._written(output)}, _ratio(top, bottom)

    def _outputs(self, told: tuple[Side, Side]) -> Sequence[Output]:
        databases = list(dict.fromkeys(d for side in told for d, _ in side))
        mechanism = self.case.mechanism
        try:
            return mechanism.outputs(databases)
        except Rejected:
            keys = {key for d in databases for key in mechanism.answers(d)}
            answers = (mechanism.answers(d) for d in databases)
            return [tuple((key, row.get(key, Fraction(0))) for key in keys) for row in answers]

    def _better(self, top: Sum, bottom: Sum, best: tuple[Output, Sum, Sum]) -> bool:
        difference = product(top, best[2])
        add(difference, product(best[1], bottom), Fraction(-1))
        return positive(difference, self.case.budget)

    def _written(self, output: Output) -> Any:
        if isinstance(output, int):
            return output
        assert isinstance(output, tuple)
        if self.case.mechanism.of == "record":
            return list(output)
        return [[number, key, json_number(value)] for (number, key), value in output]

    def _above(self) -> dict[str, Any]:
        """Return an argument from above."""
        if self.kind == "any":
            return {"kind": "pairs"}
        if self.kind == "listed":
            return {"kind": "listed"}
        if self.kind == "independent" and isinstance(self.asked.chances, Additive):
            loss = None if self.found.upper is None else self.found.upper.loss
            coupling = None if loss is None else self._coupling(Fraction(loss))
            if coupling is not None:
                return {"kind": "coupling", "coupling": coupling}
        return {"kind": "families"}

    def _coupling(self, most: Fraction) -> list[list[int]] | None:
        """Return for each family which y goes with which x, none too far apart; None: not so."""
        found = []
        for family in families(self.case, self.case.databases()):
            order = self._matched(family, most)
            if order is None:
                return None
            found.append(order)
        return found

    def _matched(self, family: Sequence[Pair], most: Fraction) -> list[int] | None:
        mechanism, graph = self.case.mechanism, nx.Graph()
        ones = [(0, k) for k in range(len(family))]
        graph.add_nodes_from(ones)
        for k, (x, _) in enumerate(family):
            for m, (_, y) in enumerate(family):
                if mechanism.distance(mechanism.answers(x), mechanism.answers(y)) <= most:
                    graph.add_edge((0, k), (1, m))
        matched = nx.bipartite.maximum_matching(graph, top_nodes=ones)
        if any(one not in matched for one in ones):
            return None
        return [matched[one][1] for one in ones]


def _point(domain: Any, item: Any) -> Any:
    if isinstance(item, dict):
        return domain.encode(item)
    return domain.encode(list(item) if isinstance(item, (list, tuple)) else [item])


def _bound(factor: Factor) -> dict[str, Any]:
    """Return a bound at or above a factor, as the document has it."""
    if factor.loss is not None:
        return {"ratio": 1, "exp": json_number(Fraction(factor.loss))}
    low, high = factor.between(BITS)
    exact = low if low == high else Fraction(-(-high * (1 << BITS) // 1), 1 << BITS)
    return {"ratio": json_number(exact), "exp": 0}


def _ratio(top: Sum, bottom: Sum) -> dict[str, Any]:
    """Return top / bottom, or a fraction just below, as the document has it."""
    if len(top) == len(bottom) == 1:
        (x, a), (y, b) = (next(iter(side.items())) for side in (top, bottom))
        return {"ratio": json_number(a / b), "exp": json_number(x - y)}
    low = sum((c * exp(x, BITS)[0] for x, c in top.items()), start=Fraction(0))
    high = sum((c * exp(x, BITS)[1] for x, c in bottom.items()), start=Fraction(0))
    return {"ratio": json_number(Fraction(low / high * (1 << BITS) // 1, 1 << BITS)), "exp": 0}
