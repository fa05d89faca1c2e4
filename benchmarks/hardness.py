"""The hard cases: policies from random 3SAT formulas and from Vertex Cover, with known answers.

    .venv/bin/python benchmarks/hardness.py [--seconds 10] [--largest 40]

Theorem 8.1 of blowfish-2014: checking S(f, P) > 0 is NP-hard.

- `formula_policy`: one record per variable, holding its value, and every clause a known fact. Two
  databases are two models. With all secrets, walking from one model to another by minimal steps
  shows: S(histogram) > 0 iff two models differ in how many variables are true, and a weighted sum
  with a weight 2^i per record has S > 0 iff there is a second model.
- `cover_policy`: counts alone. k records hold vertices of a graph, or `joker`; every edge is
  covered (at least one record at an end, or at the joker), and one record at most is a joker. The
  joker and any vertices are a database; one without joker is a vertex cover. Walking by minimal
  steps: S(count of jokers) = 1 iff the graph has a vertex cover of at most k vertices, else 0.

The known answers come from other programs: all models of the formula one by one (CaDiCaL), with
minimality tested pair by pair on bit masks; and a smallest cover by CP-SAT.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass

from blowproof.models import (
    Clause,
    Count,
    Database,
    Domain,
    Exact,
    Integers,
    Labels,
    Literal,
    NamedCount,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.programs.boolean import BooleanModel
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import weighted_sum
from blowproof.models.programs.to_cpsat import solve
from blowproof.models.programs.to_pysat import SatSession
from blowproof.models.queries.kinds import WeightedSum
from blowproof.models.queries.query import BoundQuery
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.labelled.engine import labelled_sensitivity

Formula = tuple[tuple[int, ...], ...]
Edges = tuple[tuple[int, int], ...]


# 3SAT


def random_formula(variables: int, ratio: float, seed: int) -> Formula:
    """Return a random 3SAT formula that has a model: a hidden one satisfies every clause."""
    rng = random.Random(f"{variables} {ratio} {seed}")
    hidden = [rng.random() < 0.5 for _ in range(variables)]
    clauses: set[tuple[int, ...]] = set()
    while len(clauses) < round(ratio * variables):
        chosen = sorted(rng.sample(range(variables), 3))
        clause = tuple((v + 1) * rng.choice((1, -1)) for v in chosen)
        if any((x > 0) == hidden[abs(x) - 1] for x in clause):
            clauses.add(clause)
    return tuple(sorted(clauses))


def formula_policy(formula: Formula, variables: int) -> Policy:
    """Return the policy whose databases are the formula's models (1: true)."""
    return Policy(
        name="formula",
        domain=Domain(value=Integers(0, 1)),
        database=Database(size=variables),
        known=tuple(
            Clause([Literal(abs(x), {"value": 1}, inside=x > 0) for x in clause])
            for clause in formula
        ),
    )


def binary_weights(policy: Policy) -> BoundQuery:
    """Return the weighted sum that tells every two databases apart."""
    size = policy.database.size or 0
    return WeightedSum(policy.domain, 0, tuple(2**i for i in range(size)))


def models(formula: Formula, variables: int, limit: int) -> list[int]:
    """Return the formula's models as bit masks, up to a limit."""
    model = BooleanModel()
    names = [model.var(f"x{v}") for v in range(variables)]
    for clause in formula:
        model.add_clause(names[abs(x) - 1] if x > 0 else ~names[abs(x) - 1] for x in clause)
    with SatSession(model, engine="cadical153") as session:
        return [
            sum(1 << v for v in range(variables) if found[f"x{v}"])
            for found in session.solutions(names, limit=limit)
        ]


def expected_histogram(found: list[int]) -> int:
    """Return S(histogram) of a formula's policy from all of its models, pair by pair."""
    best = 0
    for one in found:
        for two in found:
            change = 2 * abs(one.bit_count() - two.bit_count())
            if change > best and not any(
                third not in (one, two) and (one ^ third) & ~(one ^ two) == 0 for third in found
            ):
                best = change
    return best


# Vertex Cover


def random_graph(vertices: int, degree: float, seed: int) -> Edges:
    """Return the edges of a random graph with an average degree."""
    rng = random.Random(f"{vertices} {degree} {seed}")
    edges: set[tuple[int, int]] = set()
    while len(edges) < round(vertices * degree / 2):
        u, v = sorted(rng.sample(range(vertices), 2))
        edges.add((u, v))
    return tuple(sorted(edges))


def cover_policy(edges: Edges, vertices: int, size: int) -> Policy:
    """Return the policy whose databases without joker are covers by `size` vertices or fewer."""
    names = [f"v{v}" for v in range(vertices)]
    covered = [Count({"at": [names[u], names[v], "joker"]}, at_least=1) for u, v in edges]
    return Policy(
        name="cover",
        domain=Domain(at=Labels([*names, "joker"])),
        database=Database(size=size),
        known=(*covered, Count({"at": "joker"}, at_most=1)),
        queries=(NamedCount("jokers", {"at": "joker"}),),
    )


def smallest_cover(edges: Edges, vertices: int) -> int:
    """Return the size of a smallest vertex cover."""
    model = LinearModel()
    chosen = [model.bool_var(f"v{v}") for v in range(vertices)]
    for u, v in edges:
        model.add(chosen[u] + chosen[v], lower=1)
    model.maximise(weighted_sum((-1, x) for x in chosen))
    outcome = solve(model)
    assert outcome.upper is not None
    return -int(outcome.upper)


# The table


@dataclass(frozen=True)
class Row:
    """One question with what is known, what the engine said, and how long it took."""

    what: str
    known: str
    answer: Answer
    right: bool | None


def ask(policy: Policy, query: BoundQuery, seconds: float) -> Answer:
    """Return engine sat's answer under the published reading."""
    prepared = prepare(setting(policy), "published")
    return labelled_sensitivity(prepared, query, "published", time_limit=seconds)


def formula_rows(largest: int, seconds: float) -> Iterator[Row]:
    """Yield formulas of growing size at three ratios, each with two questions."""
    for variables in range(8, largest + 1, 8):
        for ratio in (3.0, 4.26, 5.0):
            formula = random_formula(variables, ratio, 1)
            policy = formula_policy(formula, variables)
            found = models(formula, variables, 1000)
            few = len(found) < 1000
            name = f"3SAT n={variables} m/n={ratio}"
            count = f"{len(found)}{'' if few else ' or more'} models"
            answer = ask(policy, parse_query("histogram", policy), seconds)
            known = expected_histogram(found) if few else None
            yield Row(f"{name} histogram", count, answer, _agrees(answer, known))
            answer = ask(policy, binary_weights(policy), seconds)
            right = (answer.lower > 0) == (len(found) > 1) if answer.lower or few else None
            yield Row(f"{name} weights 2^i", count, answer, right)


def cover_rows(largest: int, seconds: float) -> Iterator[Row]:
    """Yield random graphs of growing size, with one vertex too few and with just enough."""
    for vertices in range(6, largest + 1, 4):
        edges = random_graph(vertices, 3.0, 1)
        cover = smallest_cover(edges, vertices)
        for size in (cover - 1, cover):
            policy = cover_policy(edges, vertices, size)
            answer = ask(policy, parse_query("count(jokers)", policy), seconds)
            name = f"Vertex Cover |V|={vertices} |E|={len(edges)} k={size}"
            yield Row(name, f"smallest {cover}", answer, _agrees(answer, int(size >= cover)))


def _agrees(answer: Answer, known: Exact | None) -> bool | None:
    if known is None:
        return None
    if answer.status == "exact":
        return answer.lower == known
    return answer.lower <= known and (answer.upper is None or known <= answer.upper)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of each question")
    parser.add_argument("--largest", type=int, default=40, help="variables, and vertices")
    parser.add_argument("--only", choices=["formulas", "covers"])
    options = parser.parse_args()
    families = {"formulas": formula_rows, "covers": cover_rows}
    print("| question | known | lower | upper | status | seconds | agrees |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, rows in families.items():
        if options.only in (None, name):
            for row in rows(options.largest, options.seconds):
                show(row)


def show(row: Row) -> None:
    """Print a row of the table."""
    answer = row.answer
    agrees = {True: "yes", False: "NO", None: ""}[row.right]
    cells = (row.what, row.known, answer.lower, answer.upper, answer.status)
    print("|", *(f"{cell} |" for cell in cells), f"{answer.seconds:.2f} | {agrees} |", flush=True)


if __name__ == "__main__":
    main()
