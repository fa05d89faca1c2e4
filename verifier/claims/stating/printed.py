"""Noise scales as printed, kept as data (`printed.json`), and what the certifier says of them.

The scales are formulas over a few names (epsilon, theta, queries, ...), in +, -, *, / and max, and
evaluate to fractions. Nothing here comes from the mechanisms: what a paper prints is judged, not
what anybody implemented.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

from blowproof.models import Exact, InternalError
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.models.policy.readings import Reading
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.claims.stating.claim import Instance, Value
from blowproof.verifier.claims.stating.measures import INSTANCE_LIMIT, Sensitivity, recheck

__all__ = ["Loss", "certified", "evaluate", "printed_scale"]

_OPERATORS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@cache
def _printed() -> Mapping[str, Mapping[str, str]]:
    text = files("blowproof.verifier.claims.stating").joinpath("printed.json").read_text("utf-8")
    found: Mapping[str, Mapping[str, str]] = json.loads(text)
    return found


def printed_scale(name: str) -> str:
    """Return the scale that a paper prints, as a formula."""
    return _printed()[name]["scale"]


def evaluate(formula: str, **names: Exact) -> Fraction:
    """Return the exact value of a formula.

    >>> evaluate("2*max(queries,1)/epsilon", queries=3, epsilon=2)
    Fraction(3, 1)
    """
    return _value(ast.parse(formula, mode="eval").body, names)


def _value(node: ast.expr, names: Mapping[str, Exact]) -> Fraction:
    match node:
        case ast.Constant(value=int() as number):
            return Fraction(number)
        case ast.Name(id=name):
            return Fraction(names[name])
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id="max"), args=args):
            return max(_value(item, names) for item in args)
    raise ValueError(f"a printed scale may not contain {ast.dump(node)}")


def certified(
    instance: Instance, release: Release, reading: Reading, time_limit: float | None
) -> Value:
    """Return the loss of a noisy release over all neighbours, in both directions."""
    limit = INSTANCE_LIMIT if time_limit is None else min(INSTANCE_LIMIT, time_limit)
    found = certify(
        Mechanism(releases=(release,)),
        instance.the_policy.with_answers("any"),
        Fraction(1),
        reading=reading,
        time_limit=limit,
    )
    if found.lower is None or isinstance(found.lower, str):
        raise InternalError(f"the loss of noise on {instance.query.text} is {found.lower}")
    upper = None if isinstance(found.upper, str) else found.upper
    return Value(found.lower, upper, found.witness)


@dataclass(frozen=True)
class Loss:
    """The exact privacy loss, by the certifier, of Laplace noise of one scale, at epsilon = 1.

    `scale` is a printed formula, which may mention epsilon, queries, and the instance's parameters;
    or a function of the instance. The confirmation does without the certifier: the density ratio
    of the noisy answers of two databases comes as close to exp(|f(D1) - f(D2)|_1 / scale) as one
    likes, so the loss is S(f, P) / scale, and S is found by brute force.
    """

    reading: Reading
    scale: str | Callable[[Instance], Exact]

    def scale_of(self, instance: Instance) -> Fraction:
        """Return the scale at epsilon = 1."""
        if not isinstance(self.scale, str):
            return Fraction(self.scale(instance))
        given = {n: v for n, v in instance.parameters.items() if not isinstance(v, str)}
        queries = len(instance.the_policy.linear_facts)
        return evaluate(self.scale, epsilon=1, queries=queries, **given)

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return the loss over all neighbours, in both directions."""
        query, scale = instance.query.on(instance.the_policy), self.scale_of(instance)
        return certified(instance, Release(query=query, scale=scale), self.reading, time_limit)

    def recheck(self, instance: Instance) -> str:
        """Return how S was confirmed without the engines, if S / scale is the certifier's loss."""
        measure = Sensitivity(self.reading)
        value, scale = measure(instance, None), self.scale_of(instance)
        loss = self(instance, None).lower
        if scale and Fraction(value.lower) / scale == loss:
            return f"S / scale, S by {recheck(measure, instance, value)}"
        return ""
