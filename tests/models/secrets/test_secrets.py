"""Every answer of every secret graph, against a naive listing of small random domains."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import networkx
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import effort
from blowproof.models.base.errors import BudgetError, PolicyError
from blowproof.models.domain.attributes import Integers, Labels, Steps
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Between, Box, Point, Positions, Region
from blowproof.models.secrets import (
    AttributeChange,
    ByGraph,
    CellGraph,
    Distance,
    Edges,
    Full,
    PartitionBy,
    PartitionCells,
    PartitionGraph,
    SecretsSpec,
)
from blowproof.models.secrets.hops import fewest_hops

# --- random policies ----------------------------------------------------------

STEPS = [Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), 1, Fraction(3, 2), 2, 5]
THRESHOLDS = [Fraction(1, 3), Fraction(1, 2), 1, Fraction(3, 2), Fraction(7, 4), 2, 3, 4, 5, 7, 20]


@st.composite
def attributes(draw):
    size = draw(st.sampled_from([1, 2, 2, 3, 3, 4, 6]))
    kind = draw(st.sampled_from(["labels", "ordered", "integers", "steps"]))
    if kind == "integers":
        low = draw(st.integers(-3, 3))
        return Integers(low, low + size - 1)
    if kind == "steps":
        low, step = draw(st.sampled_from([-1, 0, Fraction(1, 5)])), draw(st.sampled_from(STEPS))
        return Steps(low, low + (size - 1) * step, step)
    return Labels("abcdefgh"[:size], ordered=kind == "ordered")


@st.composite
def domains(draw, limit=48):
    found = draw(st.lists(attributes(), min_size=1, max_size=4))
    while len(found) > 1 and Domain(dict(zip("pqrs", found, strict=False))).size > limit:
        found.pop()
    return Domain(dict(zip("pqrs", found, strict=False)))


def record(domain, point):
    return dict(zip(domain.names, domain.decode(point), strict=True))


def region(domain, box):
    """The region that a box of position sets stands for, as lists of values."""
    return Region(
        {
            name: [attribute.value(position) for position in side]
            for (name, attribute), side in zip(domain.attributes, box.sides, strict=True)
        }
    )


@st.composite
def partitions(draw, domain):
    """Cells of random boxes: the domain is cut a few times, then pieces are dealt to cells."""
    pieces = [domain.whole]
    for _ in range(draw(st.integers(0, 4))):
        box = draw(boxes(domain))
        pieces = [part for piece in pieces for part in (piece & box, *piece.minus(box)) if part]
    owners = [draw(st.integers(0, 3)) for _ in pieces]
    cells = [
        [region(domain, piece) for piece, owner in zip(pieces, owners, strict=True) if owner == o]
        for o in sorted(set(owners))
    ]
    return PartitionCells(cells)


@st.composite
def boxes(draw, domain):
    """A box whose sides have any number of runs, none empty."""
    return Box.of(
        Positions.of(draw(st.sets(st.integers(0, attribute.size - 1), min_size=1)))
        for _, attribute in domain.attributes
    )


def distances(domain):
    names = st.lists(st.sampled_from(domain.names), min_size=1, unique=True)
    return st.builds(
        Distance,
        metric=st.sampled_from(["l1", "l2", "linf"]),
        threshold=st.sampled_from(THRESHOLDS),
        strict=st.booleans(),
        attributes=st.none() | names,
    )


@st.composite
def edges(draw, domain):
    every = list(combinations(domain.points(), 2))
    if not every:
        return Edges([])
    chosen = (
        draw(st.sets(st.integers(0, len(every) - 1), max_size=12))
        if draw(st.integers(0, 9))
        else range(len(every))
    )
    flips = draw(st.booleans())
    pairs = [every[place][:: -1 if flips else 1] for place in chosen]
    return Edges([(record(domain, x), record(domain, y)) for x, y in pairs])


KINDS = ["full", "attribute", "by", "cells", "distance", "distance", "edges"]


@st.composite
def policies(draw, kinds=KINDS):
    domain = draw(domains())
    kind = draw(st.sampled_from(kinds))
    if kind == "full":
        return domain, Full()
    if kind == "attribute":
        return domain, AttributeChange(changes=draw(st.integers(1, len(domain))))
    if kind == "by":
        names = st.lists(st.sampled_from(domain.names), min_size=1, unique=True)
        return domain, PartitionBy(draw(names))
    builder = {"cells": partitions, "distance": distances, "edges": edges}[kind]
    return domain, draw(builder(domain))


# --- the naive reading of each kind, from values and not from positions -------


def gap(attribute, a, b):
    if attribute.numeric:
        return abs(Fraction(a) - Fraction(b))
    if attribute.ordered:
        return abs(attribute.labels.index(a) - attribute.labels.index(b))
    return int(a != b)


def near(spec, domain, x, y):
    names = domain.names if spec.attributes is None else spec.attributes
    if any(x[name] != y[name] for name in domain.names if name not in names):
        return False
    gaps = [gap(domain[name], x[name], y[name]) for name in names]
    total = {"l1": sum(gaps), "l2": sum(g * g for g in gaps), "linf": max(gaps)}[spec.metric]
    limit = spec.threshold**2 if spec.metric == "l2" else spec.threshold
    return total < limit if spec.strict else total <= limit


def inside(region, x):
    return all(x[name] in map(unquoted, values) for name, values in region.conditions)


def joined(spec, domain, x, y):
    if x == y:
        return False
    if isinstance(spec, Full):
        return True
    if isinstance(spec, AttributeChange):
        return sum(x[name] != y[name] for name in domain.names) <= spec.changes
    if isinstance(spec, PartitionBy):
        return all(x[name] == y[name] for name in spec.attributes)
    if isinstance(spec, PartitionCells):
        return any(all(any(inside(r, z) for r in cell) for z in (x, y)) for cell in spec.cells)
    if isinstance(spec, Edges):
        pairs = [tuple({k: unquoted(v) for k, v in end} for end in pair) for pair in spec.pairs]
        return (x, y) in pairs or (y, x) in pairs
    return near(spec, domain, x, y)


def listing(domain, spec):
    graph = networkx.Graph()
    graph.add_nodes_from(domain.points())
    records = {point: record(domain, point) for point in graph}
    for x, y in combinations(list(graph), 2):
        if joined(spec, domain, records[x], records[y]):
            graph.add_edge(x, y)
    return graph


# --- the properties -----------------------------------------------------------


@settings(deadline=None, max_examples=100)
@given(policies())
def test_edges_degrees_and_completeness_match_the_listing(policy):
    domain, spec = policy
    graph, naive = spec.bind(domain), listing(domain, spec)
    points = list(domain.points())
    for x in points:
        assert list(graph.neighbours(x)) == sorted(naive[x])
        assert graph.degree(x) == naive.degree(x)
        assert all(graph.is_edge(x, y) == naive.has_edge(x, y) for y in points)
    assert list(graph.edges()) == sorted(tuple(sorted(edge)) for edge in naive.edges)
    assert graph.edge_count == naive.number_of_edges()
    assert graph.complete == (2 * naive.number_of_edges() == len(points) * (len(points) - 1))
    built = graph.to_networkx()
    assert set(built) == set(naive)
    assert {frozenset(edge) for edge in built.edges} == {frozenset(edge) for edge in naive.edges}


@settings(deadline=None, max_examples=200)
@given(policies())
def test_distances_and_components_match_the_listing(policy):
    domain, spec = policy
    graph, naive = spec.bind(domain), listing(domain, spec)
    hops = dict(networkx.all_pairs_shortest_path_length(naive))
    found = graph.components()
    assert found.count == networkx.number_connected_components(naive)
    for x, y in product(domain.points(), repeat=2):
        assert graph.distance(x, y) == hops[x].get(y)
        assert found.connected(x, y) == (y in hops[x])
    for members in networkx.connected_components(naive):
        key = min(members)
        assert all(found.component_of(point) == key for point in members)
        area = found.area_of(key)
        assert area.size == len(members)
        assert all(point in area for point in members)


@settings(deadline=None, max_examples=250)
@given(policies(), st.data())
def test_pairs_between_boxes_match_the_listing(policy, data):
    domain, spec = policy
    graph, naive = spec.bind(domain), listing(domain, spec)
    for _ in range(2):
        a, b = data.draw(boxes(domain)), data.draw(boxes(domain))
        pairs = [(x, y) for x, y in product(a.points(), b.points()) if x != y]
        secret, plain = graph.edge_between(a, b), graph.plain_between(a, b)
        assert (secret is None) == (not any(naive.has_edge(x, y) for x, y in pairs))
        assert (plain is None) == all(naive.has_edge(x, y) for x, y in pairs)
        for pair, is_edge in ((secret, True), (plain, False)):
            if pair is not None:
                assert pair[0] in a
                assert pair[1] in b
                assert pair[0] != pair[1]
                assert naive.has_edge(*pair) == is_edge


@settings(deadline=None, max_examples=100)
@given(policies(), st.data())
def test_an_empty_box_has_no_pairs(policy, data):
    domain, spec = policy
    graph, box = spec.bind(domain), data.draw(boxes(domain))
    empty = Box((Positions(()), *box.sides[1:]))
    for a, b in ((empty, box), (box, empty)):
        assert graph.edge_between(a, b) is None
        assert graph.plain_between(a, b) is None


@settings(deadline=None, max_examples=100)
@given(policies(kinds=["by", "cells"]))
def test_the_cells_of_a_partition_match_the_listing(policy):
    domain, spec = policy
    graph, naive = spec.bind(domain), listing(domain, spec)
    assert isinstance(graph, PartitionGraph)
    keys = list(graph.cells)
    assert keys == list(range(graph.cell_count))
    assert len({graph.cell_label(key) for key in keys}) == len(keys)
    cells: dict[int, set[Point]] = {key: set() for key in keys}
    for point in domain.points():
        cells[graph.cell_of(point)].add(point)
    assert all(point in graph.cell_area(key) for key in keys for point in cells[key])
    assert all(graph.cell_area(key).size == len(cells[key]) for key in keys)
    found = sorted(map(sorted, networkx.connected_components(naive)))
    assert sorted(map(sorted, cells.values())) == found


@settings(deadline=None, max_examples=150)
@given(policies())
def test_spec_and_repr_hold_all_that_was_written(policy):
    _, spec = policy
    table = spec.spec()
    assert table["kind"] == spec.kind
    assert repr(spec).startswith(f"{{kind = {spec.kind!r}")
    assert eval_spec(table) == spec


def eval_spec(table):
    """The written form again, from its table alone."""
    options = {key: value for key, value in table.items() if key != "kind"}
    kinds = {"full": Full, "attribute": AttributeChange, "distance": Distance}
    if table["kind"] in kinds:
        return kinds[table["kind"]](**options)
    if table["kind"] == "edges":
        return Edges(
            [[{k: unquoted(v) for k, v in r.items()} for r in p] for p in options["pairs"]]
        )
    if "by" in options:
        return PartitionBy(options["by"])
    cells = [[cell] if isinstance(cell, dict) else cell for cell in options["cells"]]
    return PartitionCells(
        [[{k: [unquoted(v) for v in vs] for k, vs in r.items()} for r in cell] for cell in cells]
    )


def unquoted(value):
    return Fraction(value) if isinstance(value, str) and "/" in value else value


# --- hops ---------------------------------------------------------------------


def slow_hops(parts, bound):
    """Breadth first from zero over all vectors of steps up to the offsets."""
    offsets = [d for d, _, _ in parts]
    moves = [
        move
        for move in product(*(range(d + 1) for d in offsets))
        if any(move) and sum(w * s**p for s, (_, w, p) in zip(move, parts, strict=True)) <= bound
    ]
    seen, layer, hops = set(), {tuple(0 for _ in parts)}, 0
    while tuple(offsets) not in layer:
        seen |= layer
        steps = ((tuple(map(sum, zip(v, m, strict=True)))) for v in layer for m in moves)
        fits = (v for v in steps if all(a <= d for a, d in zip(v, offsets, strict=True)))
        layer = {v for v in fits if v not in seen}
        hops += 1
    return hops


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), min_size=1, max_size=3),
    st.integers(0, 12),
    st.sampled_from([1, 2]),
)
@example([(4, 2), (2, 3)], 2, 1)
@example([(6, 2), (6, 3), (3, 5)], 3, 1)
def test_hops_of_summed_charges_match_breadth_first_search(parts, spare, power):
    bound = max(w for _, w in parts) + spare
    triples = [(d, w, power) for d, w in parts]
    assert fewest_hops(triples, bound) == slow_hops(triples, bound)


def test_hops_that_take_too_long_are_refused_with_their_range():
    with pytest.raises(BudgetError, match=r"lies in 700000\.\.1000000"):
        fewest_hops([(10**6, 2, 1), (5 * 10**5, 3, 1)], 5)


# --- huge domains -------------------------------------------------------------

HUGE = Domain(sex=Labels(["F", "M"]), age=Integers(0, 10**12 - 1), temp=Steps(0, 5 * 10**11, "1/2"))
SPECS: list[SecretsSpec] = [
    Full(),
    AttributeChange(changes=2),
    PartitionBy(["sex", "age"]),
    PartitionCells([Region(age=Between(max=10**11)), Region(age=Between(min=10**11 + 1))]),
    Distance(metric="l1", threshold=10, attributes=["age", "temp"]),
    Distance(metric="l2", threshold=10),
    Distance(metric="linf", threshold="7/2", strict=True),
    Edges([({"sex": "F", "age": 1, "temp": 0}, {"sex": "M", "age": 10**11, "temp": "1/2"})]),
]


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_huge_domain_is_answered_at_once(spec):
    with effort.at_most(100_000):
        ask_all(spec)


def ask_all(spec):
    graph = spec.bind(HUGE)
    a = Box.of([Positions.of([0, 1]), Positions.of(range(0, 100, 2)), Positions.span(0, 10**12)])
    b = Box.of([Positions.of([1]), Positions.span(10**6, 10**12), Positions.of(range(0, 100, 3))])
    for first, second in product([a, b, HUGE.whole], repeat=2):
        for pair, secret in (
            (graph.edge_between(first, second), True),
            (graph.plain_between(first, second), False),
        ):
            if pair is not None:
                assert pair[0] in first
                assert pair[1] in second
                assert pair[0] != pair[1]
                assert graph.is_edge(*pair) == secret
    assert not isinstance(spec, Full) or graph.complete
    found = graph.components()
    key = found.component_of((1, 10**9, 5))
    assert (1, 10**9, 5) in found.area_of(key)
    assert found.connected(key, (1, 10**9, 5))
    graph.distance((0, 0, 0), (0, 10**12 - 1, 0))
    for x in ((0, 1, 0), (1, 10**9, 5)):
        around = [y for y, _ in zip(graph.neighbours(x), range(20), strict=False)]
        assert all(graph.is_edge(x, y) for y in around)
        assert all(y < z for y, z in pairwise(around))
        assert min(20, graph.degree(x)) == len(around)
    if graph.edge_count > 10**6:
        with pytest.raises(BudgetError):
            graph.edges()
    with pytest.raises(BudgetError):
        graph.to_networkx()


def test_numbers_on_a_huge_domain():
    full, by = SPECS[0].bind(HUGE), SPECS[2].bind(HUGE)
    assert full.degree((0, 0, 0)) == HUGE.size - 1
    assert full.edge_count == HUGE.size * (HUGE.size - 1) // 2
    assert by.components().count == 2 * 10**12
    assert isinstance(by, ByGraph)
    assert by.cell_count == 2 * 10**12
    assert by.cell_of((1, 7, 3)) == 10**12 + 7
    assert by.cell_label(10**12 + 7) == "sex = 'M', age = 7"
    cells = SPECS[3].bind(HUGE)
    assert isinstance(cells, CellGraph)
    assert cells.components().count == 2
    assert cells.cell_label(0) == "{age = {max = 100000000000}}"
    linf = SPECS[6].bind(HUGE)
    assert linf.distance((0, 0, 0), (0, 10**12 - 1, 0)) == -(-(10**12 - 1) // 3)
    assert linf.distance((0, 0, 0), (1, 1, 10**12)) == -(-(10**12) // 6)
    pair = SPECS[7].bind(HUGE)
    assert pair.components().count == HUGE.size - 1
    assert pair.distance((0, 1, 0), (1, 10**11, 1)) == 1


# --- refusals -----------------------------------------------------------------

SMALL = Domain(sex=Labels(["F", "M"]), age=Integers(0, 9), temp=Steps(0, 2, "1/2"))
F1: dict[str, Any] = {"sex": "F", "age": 1, "temp": 0}
F2: dict[str, Any] = {"sex": "F", "age": 2, "temp": "1/2"}

NOT_BOOL: Any = 1
NOT_A_REGION: Any = 3
NOT_PAIRS: Any = "ab"
NOT_A_RECORD: Any = ["F", 1, 0]
TOO_DEEP: Any = [[{}]]

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "changes-zero": (lambda: AttributeChange(changes=0), "changes: 0 is below 1"),
    "changes-true": (lambda: AttributeChange(changes=True), "changes: True is not an integer"),
    "changes-many": (
        lambda: AttributeChange(changes=4),
        "changes: 4 changes, but the domain has 3",
    ),
    "by-none": (lambda: PartitionBy([]), "by: no attribute is named"),
    "by-text": (lambda: PartitionBy("sex"), "by: 'sex' is not a list"),
    "by-unknown": (lambda: PartitionBy(["age", "sax"]), "by[1]: there is no attribute 'sax'"),
    "by-twice": (lambda: PartitionBy(["age", "age"]), "by[1]: the attribute 'age' is named twice"),
    "metric": (lambda: Distance(metric="L1", threshold=1), "metric: 'L1' is not a metric"),
    "zero": (lambda: Distance(threshold=0), "threshold: the threshold 0 is not positive"),
    "negative": (
        lambda: Distance(threshold="-1/2"),
        "threshold: the threshold -1/2 is not positive",
    ),
    "float": (lambda: Distance(threshold=0.5), "threshold: 0.5 is a float"),
    "strict": (lambda: Distance(threshold=1, strict=NOT_BOOL), "strict: 1 is not true or false"),
    "distance-attributes": (
        lambda: Distance(threshold=1, attributes=["temp", "agee"]),
        "attributes[1]: there is no attribute 'agee'",
    ),
    "distance-none": (lambda: Distance(threshold=1, attributes=[]), "attributes: no attribute"),
    "cells-none": (lambda: PartitionCells([]), "cells: there are no cells"),
    "cells-empty": (lambda: PartitionCells([{}, []]), "cells[1]: the cell is empty"),
    "cells-number": (lambda: PartitionCells([{}, NOT_A_REGION]), "cells[1]: 3 is not a region"),
    "cells-nested": (lambda: PartitionCells([TOO_DEEP]), "cells[0][0]: [{}] is not a region"),
    "cells-key": (
        lambda: PartitionCells([{}, {"age": {"low": 3}}]),
        "cells[1].age.low: unknown key 'low'",
    ),
    "cells-outside": (
        lambda: PartitionCells([{"age": {"max": 3}}, {"sex": "F"}, {"age": {"min": 12}}]),
        "cells[2].age.min: 12 is outside the domain",
    ),
    "cells-union-outside": (
        lambda: PartitionCells([[{"age": {"max": 3}}, {"age": 12}]]),
        "cells[0][1].age: 12 is outside the domain",
    ),
    "cells-shared": (
        lambda: PartitionCells([{"age": {"max": 5}}, {"age": {"min": 5}}]),
        "cells[1]: the value {sex = 'F', age = 5, temp = 0} lies in two cells:"
        " cells[0] = {age = {max = 5}} and cells[1] = {age = {min = 5}}",
    ),
    "cells-missed": (
        lambda: PartitionCells([{"age": {"max": 5}}, {"age": {"min": 6}, "temp": [0, "1/2", 2]}]),
        "cells: the value {sex = 'F', age = 6, temp = 1} lies in no cell",
    ),
    "edges-text": (lambda: Edges(NOT_PAIRS), "pairs: the pairs are not a list"),
    "edges-triple": (lambda: Edges([(F1, F2, F1)]), "is not a pair"),
    "edges-record": (
        lambda: Edges([(F1, NOT_A_RECORD)]),
        "pairs[0][1]: ['F', 1, 0] is not a record",
    ),
    "edges-float": (
        lambda: Edges([(F1, {**F2, "age": 2.0})]),
        "pairs[0][1].age: 2.0 is not a value",
    ),
    "edges-outside": (
        lambda: Edges([(F1, {**F2, "age": 10})]),
        "pairs[0][1].age: 10 is outside the domain",
    ),
    "edges-partial": (
        lambda: Edges([(F1, F2), ({"sex": "F"}, F1)]),
        "pairs[1][0]: the attribute 'age' is missing",
    ),
    "edges-loop": (
        lambda: Edges([(F1, F1)]),
        "pairs[0]: an edge from {sex = 'F', age = 1, temp = 0} to itself",
    ),
    "edges-again": (lambda: Edges([(F1, F2), (F1, F2)]), "pairs[1]: the edge repeats pairs[0]"),
    "edges-reversed": (lambda: Edges([(F1, F2), (F2, F1)]), "pairs[1]: the edge repeats pairs[0]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_with_its_key(name):
    build, message = REFUSED[name]
    with pytest.raises(PolicyError) as caught:
        build().bind(SMALL)
    assert message in str(caught.value)


@settings(deadline=None, max_examples=150)
@given(domains(), st.data())
def test_the_first_missed_value_is_named(domain, data):
    spec = data.draw(partitions(domain))
    assume(len(spec.cells) > 1)
    gone = data.draw(st.integers(0, len(spec.cells) - 1))
    left = PartitionCells([cell for place, cell in enumerate(spec.cells) if place != gone])
    records = (record(domain, point) for point in domain.points())
    missed = next(r for r in records if any(inside(region, r) for region in spec.cells[gone]))
    with pytest.raises(PolicyError, match="lies in no cell") as caught:
        left.bind(domain)
    values = ", ".join(f"{name} = {written(value)}" for name, value in missed.items())
    assert f"the value {{{values}}} lies" in caught.value.reason


def written(value):
    return f"'{value}'" if isinstance(value, Fraction) else repr(value)


# --- single cases worth a name ------------------------------------------------


def test_a_threshold_between_grid_steps_counts_whole_steps():
    domain = Domain(temp=Steps(0, 9, "3/2"))
    graph = Distance(threshold=4).bind(domain)
    assert [graph.is_edge((0,), (q,)) for q in range(1, 5)] == [True, True, False, False]
    assert graph.distance((0,), (6,)) == 3


def test_a_strict_threshold_may_leave_no_edge():
    graph = Distance(threshold=1, strict=True).bind(Domain(age=Integers(0, 10**12)))
    assert (graph.edge_count, graph.components().count) == (0, 10**12 + 1)
    assert list(graph.edges()) == []
    assert graph.distance((0,), (1,)) is None


def test_l2_compares_squares_exactly():
    domain = Domain(a=Steps(0, 3, "1/3"), b=Steps(0, 4, "1/2"))
    x, y = (0, 0), (9, 8)  # 3 and 4 apart: exactly 5
    assert Distance(metric="l2", threshold=5).bind(domain).is_edge(x, y)
    assert not Distance(metric="l2", threshold=5, strict=True).bind(domain).is_edge(x, y)


def test_unordered_labels_are_at_distance_one():
    domain = Domain(ward=Labels("abc"), age=Integers(0, 4))
    half = Distance(threshold="1/2", attributes=["ward"]).bind(domain)
    one = Distance(threshold=1, attributes=["ward"]).bind(domain)
    assert half.edge_count == 0
    assert one.degree((0, 0)) == 2


def test_a_cell_may_be_a_union_that_overlaps_itself():
    young = [Region(age=Between(max=3)), Region(age=Between(max=5), sex="F")]
    old = [Region(age=Between(min=6)), Region(age=[4, 5], sex="M")]
    graph = PartitionCells([young, old]).bind(SMALL)
    assert [graph.cell_area(key).size for key in graph.cells] == [50, 50]
    assert graph.cell_label(0) == "[{age = {max = 3}}, {age = {max = 5}, sex = 'F'}]"


def test_many_cells_over_many_attributes_are_checked_on_boxes():
    domain = Domain({f"a{i}": Integers(0, 99) for i in range(8)})
    cells = [
        Region(a0=i, a7=j) for i in range(100) for j in (list(range(50)), list(range(50, 100)))
    ]
    with effort.at_most(1_000_000):
        assert PartitionCells(cells).bind(domain).cell_count == 200
        with pytest.raises(PolicyError, match=r"a0 = 99, .* a7 = 50} lies in no cell"):
            PartitionCells(cells[:-1]).bind(domain)


def test_written_forms_are_values():
    assert Distance(threshold="1/2") == Distance(threshold=Fraction(1, 2), metric="l1")
    assert hash(Edges([(F1, F2)])) == hash(Edges([[F1, F2]]))
    assert PartitionCells([{"sex": "F"}, Region(sex="M")]).spec() == {
        "kind": "partition",
        "cells": [{"sex": "F"}, {"sex": "M"}],
    }
    assert repr(Distance(threshold=5, strict=True)) == (
        "{kind = 'distance', metric = 'l1', threshold = 5, strict = true}"
    )
    assert Full().bind(SMALL) == Full().bind(SMALL)
