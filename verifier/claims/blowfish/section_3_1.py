"""blowfish-2014, section 3.1: sensitive information."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from blowproof.models import (
    AttributeChange,
    Distance,
    Domain,
    Exact,
    Full,
    Integers,
    PartitionBy,
    PartitionCells,
    Policy,
    Steps,
)
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Formula, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]


def _tables(most: int, attributes: tuple[int, ...]) -> Iterator[Instance]:
    for sizes in some.sizes_up_to(most, attributes):
        domain = some.table(*sizes)
        listed: Iterator[SecretsSpec] = some.secrets_on(domain)
        if len(sizes) == 1 and domain.size <= 5:
            listed = chain(listed, some.cells_on_line(1, domain.size))
        for secrets in listed:
            policy = Policy(domain=domain, secrets=secrets)
            yield Instance(shape=f"{some.named(domain)}, {secrets.kind}", policy=policy)


TABLES = family(
    "tables of 1 to 3 attributes with up to 12 values, and every partition of up to 5",
    lambda: _tables(4, (1, 2)),
    lambda: _tables(12, (1, 2, 3)),
)


def _pairs(instance: Instance) -> Exact:
    """Return how many ordered pairs of values are mutually exclusive secrets of the graph."""
    return 2 * sum(1 for _ in instance.the_policy.graph.edges())


def _without_equal(formula: Formula) -> Formula:
    def count(instance: Instance) -> Exact | None:
        value = formula(instance)
        return None if value is None else value - instance.the_policy.domain.size

    return count


def _pairs_claim(number: int, name: str, formula: Formula, statement: str) -> Claim:
    return Claim(
        id=f"blowfish-2014/equation-{number}",
        source=f"Section 3.1, Equation {number}",
        quote=f"equation ({number})",
        statement=statement,
        read_as="Word for word, the pairs of a value with itself among them.",
        parts=(
            counted(f"discriminative pairs, {name}", TABLES, formula, _pairs),
            counted(
                f"the same with x != y, {name}",
                TABLES,
                _without_equal(formula),
                _pairs,
                amended=True,
            ),
        ),
        repaired="The same for x != y.",
        amendment="misprint",
        explanation="A discriminative pair is mutually exclusive, by the sentence that introduces "
        "it; (x, x) is not. The set as printed has |T| pairs too many, which nothing relies on.",
    )


def _full_square(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    return policy.domain.size**2 if isinstance(policy.secrets, Full) else None


def _squares(instance: Instance) -> Exact | None:
    """Return the sum of |P_j|^2 over the cells, from how the partition is written."""
    policy = instance.the_policy
    if isinstance(policy.secrets, PartitionCells):
        areas = [policy.domain.area(cell) for cell in policy.secrets.cells]
        values = list(policy.domain.points())
        return sum(sum(1 for x in values if x in area) ** 2 for area in areas)
    if isinstance(policy.secrets, PartitionBy):
        by = policy.domain.axes(policy.secrets.attributes)
        cells = 1
        for axis in by:
            cells *= policy.domain.attribute(axis).size
        return cells * (policy.domain.size // cells) ** 2
    return None


def _near(instance: Instance) -> Exact | None:
    """Return how many ordered pairs are within the threshold, x = y included."""
    policy = instance.the_policy
    secrets = policy.secrets
    if not isinstance(secrets, Distance) or secrets.metric != "l1":
        return None
    values = list(policy.domain.points())
    return sum(
        1
        for x in values
        for y in values
        if sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= secrets.threshold
    )


EQUATION_4 = _pairs_claim(4, "full", _full_square, "Full secrets are all pairs (x, y) of T x T.")


EQUATION_6 = _pairs_claim(
    6,
    "partition",
    _squares,
    "Partition secrets are all pairs (x, y) of P_j x P_j for some cell P_j.",
)


EQUATION_7 = _pairs_claim(
    7, "distance", _near, "Distance secrets are all pairs with d(x, y) <= theta."
)


def _one_attribute(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    if not isinstance(policy.secrets, AttributeChange):
        return None
    return policy.domain.size * sum(item.size - 1 for _, item in policy.domain.attributes)


EQUATION_5 = Claim(
    id="blowfish-2014/equation-5",
    source="Section 3.1, Equation 5",
    quote="for each attribute of every individual's value",
    statement="Attribute secrets are the pairs that differ in exactly one attribute.",
    read_as="Pairs that differ in exactly one attribute.",
    parts=(counted("discriminative pairs, attribute", TABLES, _one_attribute, _pairs),),
    proof="From each value, attribute A can take |A| - 1 other values.",
)


def _component_count(instance: Instance) -> Exact:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(instance.the_policy.domain.points())
    graph.add_edges_from(instance.the_policy.graph.edges())
    parts = list(nx.connected_components(graph))
    complete = all(
        graph.subgraph(part).number_of_edges() == len(part) * (len(part) - 1) // 2 for part in parts
    )
    return len(parts) if complete else -len(parts)


def _cells(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    if isinstance(policy.secrets, PartitionCells):
        return len(policy.secrets.cells)
    if isinstance(policy.secrets, PartitionBy):
        count = 1
        for axis in policy.domain.axes(policy.secrets.attributes):
            count *= policy.domain.attribute(axis).size
        return count
    return None


COMPONENTS = Claim(
    id="blowfish-2014/section-3.1-components",
    source="Section 3.1",
    quote="connected components, where each component",
    statement="G^P has one connected component for each cell, and each is a complete graph.",
    read_as="Components of the graph as networkx finds them, each complete.",
    parts=(counted("components, all complete", TABLES, _cells, _component_count),),
    proof="Any two values of a cell are joined, and no two of different cells.",
)


def _grids(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        for step in (1, 2, 3):
            for threshold in (1, 2, 3):
                for more in ({}, {"b": Integers(0, 1)}):
                    domain = Domain({"a": Steps(0, step * (size - 1), step), **more})
                    policy = Policy(domain=domain, secrets=Distance(threshold=threshold))
                    yield Instance(shape=f"{domain.size} values, steps of {step}", policy=policy)


GRIDS = family(
    "1 to 8 values at steps of 1, 2, 3, alone or with a binary attribute, theta 1, 2, 3",
    lambda: _grids(3),
    lambda: _grids(8),
)


def _parts_of(instance: Instance) -> Exact:
    count = _component_count(instance)
    return -count if count < 0 else count


def _no_gaps(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    assert isinstance(policy.secrets, Distance)
    attribute = policy.domain.attribute(0)
    assert isinstance(attribute, Steps)
    return 1 if attribute.step <= policy.secrets.threshold else None


CERTAINTY = Claim(
    id="blowfish-2014/section-3.1-distance-certainty",
    source="Section 3.1, Distance Threshold",
    quote="any pair of values with certainty",
    statement="Under distance secrets no two values can be told apart with certainty.",
    read_as="No two values are told apart for sure: a path of secret pairs joins them.",
    parts=(
        counted(
            "components of the secret graph", GRIDS, lambda item: 1, _parts_of, small="privacy"
        ),
        counted("the same, where no gap exceeds theta", GRIDS, _no_gaps, _parts_of, amended=True),
    ),
    repaired="If no gap between consecutive values is larger than theta, so that G is connected.",
    amendment="condition",
    explanation="Values farther than theta from all others are joined to none of them: with the "
    "values 0 and 2 and theta = 1 there is no secret pair, and a mechanism may publish which one "
    "a record holds. By Equation 9, what protects far values is a chain of near ones.",
)


CLAIMS = (EQUATION_4, EQUATION_5, EQUATION_6, EQUATION_7, CERTAINTY, COMPONENTS)
