"""Smallest instances found on which printed forms fail, as data; the tests re-check each of them.

Where a form fails in both ways, the first instance of each is kept: too small costs privacy, too
large only accuracy. The counterexamples of sections 5 to 7 stand beside their forms.
"""

from __future__ import annotations

from dataclasses import replace

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Distance,
    Domain,
    Exact,
    Full,
    Integers,
    Known,
    Labels,
    Marginal,
    Policy,
)
from blowproof.models.policy.readings import BLOWFISH, Reading
from blowproof.models.queries.kinds import Histogram, MarginalQuery
from blowproof.models.secrets import Edges, SecretsSpec
from blowproof.verifier.closed_forms.stating.degree_policy import degree_policy
from blowproof.verifier.closed_forms.stating.form import Counterexample

__all__ = ["on_line"]

DRAFT: tuple[Reading, ...] = ("add-remove",)


def _wrong(
    policy: Policy,
    claimed: Exact,
    exact: Exact,
    readings: tuple[Reading, ...],
    marginal: tuple[int, ...] | None = None,
) -> tuple[Counterexample, ...]:
    """Return the same instance in several readings."""
    names = ",".join(policy.domain.names[axis] for axis in marginal or ())
    query = Histogram() if marginal is None else MarginalQuery(marginal, f"marginal({names})")
    return tuple(
        Counterexample(policy=policy, query=query, reading=reading, claimed=claimed, exact=exact)
        for reading in readings
    )


def _witnessed(items: tuple[Counterexample, ...], *, before: str, after: str) -> Counterexample:
    """Return one instance with its pair, each record written as the digits of its positions."""
    first, second = (
        tuple(tuple(map(int, record)) for record in side.split()) for side in (before, after)
    )
    return replace(items[0], before=first, after=second)


def _table(*sizes: int, secrets: SecretsSpec | None = None, known: tuple[Known, ...]) -> Policy:
    """Return a policy on attributes a, b, c with values 1..size."""
    domain = Domain({"abc"[i]: Integers(1, size) for i, size in enumerate(sizes)})
    return Policy(domain=domain, secrets=secrets or Full(), known=known)


def on_line(low: int, high: int, secrets: SecretsSpec | None = None) -> Policy:
    """Return a policy without facts on the integers low..high."""
    return Policy(domain=Domain(a=Integers(low, high)), secrets=secrets or Full())


def _line(size: int, theta: int, *ranges: tuple[int, int]) -> Policy:
    known = tuple(Count({"a": Between(low, high)}) for low, high in ranges)
    return _table(size, secrets=Distance(threshold=theta), known=known)


def _listed(values: str, edges: str, *known: str) -> Policy:
    """Return a policy on letters, with listed secrets such as "vw wx" and counts such as "vw"."""
    pairs = [({"a": pair[0]}, {"a": pair[1]}) for pair in edges.split()]
    facts = tuple(Count({"a": list(letters)}) for letters in known)
    return Policy(domain=Domain(a=Labels(values)), secrets=Edges(pairs), known=facts)


_A, _B, _C = Marginal(["a"]), Marginal(["b"]), Marginal(["c"])
_ATTRIBUTE = AttributeChange()

THEOREM_8_2 = _wrong(_listed("vwxyz", "vz wy vw", "xy", "wy"), 4, 6, ("published",))
COROLLARY_8_3 = _wrong(_line(4, 2, (1, 2)), 2, 4, BLOWFISH)
THEOREM_8_4 = (
    *_wrong(_table(1, 1, known=(_A,)), 2, 0, ("published",)),
    *_wrong(_table(2, 1, known=(_A,)), 4, 0, ("published",)),
)
THEOREM_8_5 = (
    *_wrong(_table(1, 1, secrets=_ATTRIBUTE, known=(_A,)), 2, 0, BLOWFISH),
    *_wrong(_table(3, 2, secrets=_ATTRIBUTE, known=(_A,)), 6, 4, ("secret-moves",)),
    _witnessed(
        _wrong(_table(3, 2, secrets=_ATTRIBUTE, known=(_A, _B)), 6, 8, ("published",)),
        before="01 01 10 11 11 20 20",
        after="11 20 21 00 00 11 11",
    ),
    *_wrong(_table(2, 2, 2, secrets=_ATTRIBUTE, known=(_A, _B)), 4, 8, ("published",)),
)
THEOREM_8_6 = _wrong(_line(6, 1, (1, 2), (5, 6)), 4, 6, ("published",))
THEOREM_8_6_EQUALITY = (
    *_wrong(_line(1, 1), 2, 0, BLOWFISH),
    *_wrong(_line(2, 1, (1, 2)), 4, 2, BLOWFISH),
    *THEOREM_8_6,
)
LEMMA_4_1_ONE = (
    *_wrong(_table(1, 1, known=(_A,)), 2, 0, DRAFT),
    *_wrong(_table(2, 1, known=(_A,)), 2, 0, DRAFT),
)
LEMMA_4_1_TWO = (
    *_wrong(_table(1, 1, known=(_A, _B)), 2, 0, DRAFT),
    *_wrong(_table(2, 1, known=(_A, _B)), 2, 0, DRAFT),
)
LEMMA_4_2_ONE = (
    *_wrong(_table(1, known=(_A,)), 2, 0, DRAFT),
    *_wrong(_table(2, known=(_A,)), 2, 0, DRAFT),
)
LEMMA_4_2_TWO = (
    *_wrong(_table(1, 1, known=(_A, _B)), 2, 0, DRAFT),
    *_wrong(_table(2, 2, known=(_A, Marginal(["a", "b"]))), 2, 0, DRAFT),
)
LEMMA_4_3_ONE = (
    *_wrong(_table(1, known=()), 2, 1, DRAFT),
    *_wrong(_table(2, known=(Count({"a": 1}),)), 2, 1, DRAFT),
)
LEMMA_4_3_TWO = (
    *_wrong(_table(2, 1, known=(_A, _B)), 2, 0, DRAFT),
    *_wrong(_table(2, 2, known=(Count({"a": 1}), Count({"b": 1}))), 2, 3, DRAFT),
)
LEMMA_4_4_EQUALITY = _wrong(_table(1, 1, 2, known=(_A,)), 2, 0, DRAFT, (1,))
LEMMA_4_4_HALF = _wrong(_table(1, 1, 2, known=(_A, _B)), 1, 0, DRAFT, (0, 1))
THREE_CUBOIDS = (
    _witnessed(
        _wrong(_table(2, 2, 3, known=(_A, _B, _C)), 6, 8, DRAFT),
        before="000 000 102 111",
        after="001 012 100 100",
    ),
)
LEMMA_5_1_UNDIRECTED = (
    *_wrong(degree_policy("ab", "a"), 2, 0, DRAFT),
    *_wrong(degree_policy("abcd", "abc"), 4, 5, DRAFT),
)
LEMMA_5_1_DIRECTED = _wrong(
    Policy(domain=degree_policy("ab", directed=True).domain, known=(Count({"source": "a"}),)),
    1,
    2,
    DRAFT,
)
