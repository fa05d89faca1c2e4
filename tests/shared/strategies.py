"""Hypothesis strategies: small policies of every kind, with a database that satisfies them.

`policies(...)` draws policies; `worlds(...)` also hands out the hidden database (points, record 1
first) from which the answers were counted. Simple choices come first, so that examples shrink well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from hypothesis import strategies as st

from blowproof.models import (
    Clause,
    Count,
    Database,
    Domain,
    Impossible,
    Known,
    Marginal,
    NamedCount,
    PartitionBy,
    PartitionCells,
    Point,
    Policy,
    Region,
    Sum,
)
from blowproof.models import Literal as RecordLiteral
from strategies_parts import (
    BOOLEANS,
    SECRETS,
    attributes,
    domains,
    kept,
    label_texts,
    one,
    record,
    regions,
    secret_graphs,
    some,
    unions,
    upto,
    whole,
    written,
)

__all__ = [
    "KINDS",
    "SECRETS",
    "World",
    "attributes",
    "domains",
    "policies",
    "query_texts",
    "question_texts",
    "record",
    "regions",
    "secret_graphs",
    "unions",
    "worlds",
]

Scope = Literal["any", "given"]
Sized = Literal["always", "never", "maybe"]
Hidden = tuple[Point, ...]

KINDS = ("count", "marginal", "sum", "impossible", "bound", "clause")
GIVEN_ONLY = {"bound", "clause"}

# Known facts


@dataclass(frozen=True)
class World:
    """A policy and a database that satisfies it (unless told otherwise)."""

    policy: Policy
    hidden: Hidden


Draw = Callable[[st.SearchStrategy[Any]], Any]


def _number(domain: Domain, hidden: Hidden, where: list[Region]) -> int:
    area = domain.area(where)
    return sum(point in area for point in hidden)


def _bounds(draw: Draw, value: int, *, least: int | None) -> dict[str, int]:
    """at_least, at_most or both, around a value that satisfies them."""
    low, high = value - draw(whole(0, 2)), value + draw(whole(0, 2))
    low = low if least is None else max(low, least)
    told = draw(one((("at_least",), ("at_most",), ("at_least", "at_most"))))
    return {name: bound for name, bound in (("at_least", low), ("at_most", high)) if name in told}


def _count(draw: Draw, domain: Domain, hidden: Hidden, answered: bool) -> Known:
    where = draw(unions(domain))
    return Count(where, answer=_number(domain, hidden, where) if answered else None)


def _marginal(draw: Draw, domain: Domain, hidden: Hidden, answered: bool) -> Known:
    names = draw(some(tuple(domain.names), 1, 2))
    fact = Marginal(names)
    if not answered:
        return fact
    boxes = [box for _, box in fact.cells(domain)]
    return Marginal(names, answers=[sum(point in box for point in hidden) for box in boxes])


@kept
def _weighted(domain: Domain) -> st.SearchStrategy[list[tuple[int, list[Region]]]]:
    return st.lists(st.tuples(one((1, -1, 2, -2, 3)), unions(domain)), min_size=1, max_size=3)


def _terms(draw: Draw, domain: Domain, hidden: Hidden) -> tuple[list[Any], int]:
    terms = draw(_weighted(domain))
    return terms, sum(k * _number(domain, hidden, where) for k, where in terms)


def _sum(draw: Draw, domain: Domain, hidden: Hidden, answered: bool) -> Known:
    terms, value = _terms(draw, domain, hidden)
    return Sum(terms, equals=value if answered else None)


def _bound(draw: Draw, domain: Domain, hidden: Hidden, answered: bool) -> Known:
    if draw(BOOLEANS):
        terms, value = _terms(draw, domain, hidden)
        return Sum(terms, **_bounds(draw, value, least=None))
    where = draw(unions(domain))
    return Count(where, **_bounds(draw, _number(domain, hidden, where), least=0))


def _clause(draw: Draw, domain: Domain, hidden: Hidden, answered: bool) -> Known:
    """One to three literals, of which the first is true in the hidden database."""
    literals = []
    for place in range(draw(whole(1, min(3, len(hidden) + 1)))):
        number = draw(whole(1, len(hidden)))
        where = draw(unions(domain))
        inside = hidden[number - 1] in domain.area(where)
        told = inside if place == 0 else draw(BOOLEANS)
        literals.append(RecordLiteral(number, where, inside=told))
    return Clause(draw(st.permutations(literals)))


_FACTS = {"count": _count, "marginal": _marginal, "sum": _sum, "bound": _bound, "clause": _clause}


# Policies


@st.composite
def worlds(
    draw: st.DrawFn,
    *,
    scope: Scope | None = None,
    kinds: Sequence[str] = KINDS,
    secrets: Sequence[str] = SECRETS,
    size: Sized | None = None,
    max_values: int = 12,
    max_records: int = 4,
    max_known: int = 3,
    consistent: bool = True,
    odd: bool = False,
) -> World:
    """A policy with the database behind its answers.

    `scope` None draws one. `kinds` limits the known facts (`KINDS`), `secrets` the graphs
    (`SECRETS`). `size` says whether n is written; by default always under "given", maybe under
    "any". `consistent=False` shifts some numbers, so that the facts may contradict each other.
    `odd` draws names and labels that strain the TOML reader and writer.
    """
    told: Scope = draw(one(("any", "given"))) if scope is None else scope
    domain = draw(domains(max_values=max_values, odd=odd))
    usable = tuple(kind for kind in kinds if told == "given" or kind not in GIVEN_ONLY)
    amount = draw(upto(max_known)) if usable else 0
    chosen = [draw(one(usable)) for _ in range(amount)]
    graph = draw(secret_graphs(domain, secrets))
    zeros, possible = _zeros(draw, domain, chosen.count("impossible"))
    amount = draw(upto(max_records)) if possible else 0
    hidden = tuple(draw(st.sampled_from(possible)) for _ in range(amount))
    facts = _facts(draw, domain, hidden, chosen, told)
    if not consistent:
        facts = [_shifted(draw, fact) for fact in facts]
    # Zeros stand anywhere among the facts.
    known = draw(st.permutations([*zeros, *facts])) if zeros and facts else [*zeros, *facts]
    clauses = any(isinstance(fact, Clause) for fact in known)
    rule = size or ("always" if told == "given" else "maybe")
    sized = clauses or rule == "always" or (rule == "maybe" and draw(BOOLEANS))
    policy = Policy(
        name=draw(label_texts(odd)) if odd else "drawn",
        domain=domain,
        secrets=graph,
        known=tuple(known),
        database=Database(size=len(hidden) if sized else None, answers=told),
        queries=draw(named_counts(domain, odd=odd)),
    )
    short = replace(policy, database=replace(policy.database, answers=None))
    spelled_out = short.scope != told or draw(BOOLEANS)
    return World(policy if spelled_out else short, hidden)


def _zeros(draw: Draw, domain: Domain, amount: int) -> tuple[list[Known], list[Point]]:
    """Impossible values and what they leave, which is rarely nothing."""
    zeros: list[Known] = []
    possible = list(domain.points())
    for _ in range(amount):
        zero = Impossible(draw(unions(domain)))
        left = [point for point in possible if point not in domain.area(zero.where)]
        if left or draw(whole(0, 9)) == 0:
            zeros, possible = [*zeros, zero], left
    return zeros, possible


def _facts(
    draw: Draw, domain: Domain, hidden: Hidden, kinds: Sequence[str], scope: Scope
) -> list[Known]:
    found = []
    for kind in kinds:
        if kind == "impossible" or (kind == "clause" and not hidden):
            continue  # a clause needs a record to speak about
        answered = scope == "given" or draw(BOOLEANS)
        found.append(_FACTS[kind](draw, domain, hidden, answered))
    return found


def _shifted(draw: Draw, fact: Known) -> Known:
    """The fact with its number raised by 0 or 1, or a clause's first literal turned round."""
    by = draw(whole(0, 1))
    if isinstance(fact, Count) and fact.answer is not None:
        return Count(fact.where, answer=fact.answer + by)
    if isinstance(fact, Sum) and fact.equals is not None:
        return Sum(fact.terms, equals=fact.equals + by)
    if isinstance(fact, Marginal) and fact.answers is not None:
        first, *rest = fact.answers
        return Marginal(fact.attributes, answers=[first + by, *rest])
    if isinstance(fact, Clause) and by:
        first_literal, *others = fact.literals
        turned = RecordLiteral(
            first_literal.record, first_literal.where, inside=not first_literal.inside
        )
        return Clause([turned, *others])
    return fact


@kept
def _names(odd: bool) -> st.SearchStrategy[list[str]]:
    names = (
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1) if odd else label_texts(odd)
    )
    return st.lists(names, max_size=2, unique=True)


@kept
@st.composite
def named_counts(draw: st.DrawFn, domain: Domain, *, odd: bool = False) -> tuple[NamedCount, ...]:
    """Up to two [[query]] tables."""
    chosen = draw(_names(odd))
    return tuple(NamedCount(name, draw(unions(domain))) for name in chosen)


def policies(**options: Any) -> st.SearchStrategy[Policy]:
    """Policies alone; the options are those of `worlds`."""
    return worlds(**options).map(lambda world: world.policy)


def query_texts(policy: Policy) -> list[str]:
    """Every query of the contract that fits the policy and needs no file (plain names only)."""
    domain, found = policy.domain, ["histogram"]
    found += [f"marginal({name})" for name in domain.names]
    found += [f"marginal({','.join(domain.names[::-1])})"] if len(domain) > 1 else []
    for name, attribute in domain.attributes:
        if attribute.ordered:
            low, high = (written(attribute.value(p)) for p in (0, attribute.size // 2))
            found += [f"cumulative({name})", f"ranges({name})", f"range({name},{low},{high})"]
    numeric = [name for name, attribute in domain.attributes if attribute.numeric]
    found += [f"sum({name})" for name in numeric]
    found += [f"sum({','.join(numeric)})"] if len(numeric) > 1 else []
    found += [f"count({query.name})" for query in policy.queries]
    found += ["partition"] if isinstance(policy.secrets, (PartitionBy, PartitionCells)) else []
    return found


@st.composite
def question_texts(draw: st.DrawFn, policy: Policy) -> str:
    """What to ask of a policy: a query, or two as one, with weights."""
    texts = ["histogram", *query_texts(policy)]
    first = draw(st.sampled_from(texts))
    plain = [text for text in texts if not text.startswith("weighted-sum")]
    if first not in plain or draw(whole(0, 3)):
        return first
    weights = one(("", "1/2*", "3*"))
    return f"{draw(weights)}{first}+{draw(weights)}{draw(st.sampled_from(plain))}"
