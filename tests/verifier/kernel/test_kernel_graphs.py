"""The kernel's own secret graphs: what it says of values and of boxes, against the models'."""

import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import (
    AttributeChange,
    Distance,
    Domain,
    Edges,
    Full,
    Integers,
    Labels,
    PartitionBy,
    PartitionCells,
    Policy,
    Region,
    Steps,
)
from blowproof.models.files.writing import canonical
from blowproof.verifier.kernel.policy import Policy as Checked

DOMAINS = [
    Domain(a=Integers(-1, 5)),
    Domain(a=Integers(0, 3), b=Labels(["x", "y", "z"])),
    Domain(a=Steps(0, 2, "1/2"), b=Labels(["p", "q", "r"], ordered=True)),
    Domain(a=Labels(["u", "v"]), b=Integers(0, 2), c=Integers(0, 1)),
]


def secrets_on(domain):
    names = list(domain.names)
    kind = domain.attribute(0)
    ends = [dict(zip(names, domain.decode(domain.whole.nth(k)), strict=True)) for k in (0, 2)]
    values = [kind.value(k) for k in range(kind.size)]
    half, rest = values[: kind.size // 2], values[kind.size // 2 :]
    yield from (Full(), AttributeChange(changes=1), PartitionBy(names[-1:]))
    yield PartitionCells([Region({names[0]: half}), Region({names[0]: rest})])
    yield Edges([(ends[0], ends[1])])
    if len(names) > 1:
        yield AttributeChange(changes=2)
    for metric, threshold, strict in product(("l1", "l2", "linf"), (1, 2, "3/2"), (False, True)):
        yield Distance(metric=metric, threshold=threshold, strict=strict)
    yield Distance(threshold=1, attributes=names[:1])


CASES = [Policy(domain=domain, secrets=s) for domain in DOMAINS for s in secrets_on(domain)]


def checked(policy):
    return Checked(json.loads(canonical(policy)))


@pytest.mark.parametrize("policy", CASES, ids=lambda p: f"{len(p.domain)}-{p.secrets!r}")
def test_edges_are_those_of_the_policy(policy):
    graph = checked(policy).graph
    points = list(policy.domain.points())
    for x, y in product(points, repeat=2):
        assert graph.joined(x, y) == policy.graph.is_edge(x, y)
    assert graph.complete == policy.graph.complete


def sides(size):
    """A set of positions as runs."""
    return st.sets(st.integers(0, size - 1), min_size=1).map(_runs)


def _runs(places):
    runs: list[tuple[int, int]] = []
    for place in sorted(places):
        if runs and runs[-1][1] == place:
            runs[-1] = (runs[-1][0], place + 1)
        else:
            runs.append((place, place + 1))
    return tuple(runs)


def inside(box):
    return list(product(*([p for low, high in side for p in range(low, high)] for side in box)))


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_boxes_touch_where_some_values_do(data):
    """Too many edges between boxes, or too few, would let a cut remove what it must not."""
    policy = data.draw(st.sampled_from([p for p in CASES if p.secrets.kind != "edges"]))
    graph = checked(policy).graph
    sizes = [kind.size for _, kind in policy.domain.attributes]
    if graph.cells:  # such boxes lie in one cell
        cells = [box for area in graph.cells for box in area]
        a, b = (data.draw(st.sampled_from(cells)) for _ in range(2))
    else:
        a, b = (tuple(data.draw(sides(size)) for size in sizes) for _ in range(2))
    if a != b and set(inside(a)) & set(inside(b)):
        return
    truth = any(policy.graph.is_edge(x, y) for x in inside(a) for y in inside(b))
    assert graph.touches(a, b) == truth
