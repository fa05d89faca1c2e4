"""Attacks on releases: what was really drawn, against the loss counted by hand.

A release is carried out, and what it says it drew (query, scale) is judged here, in Fractions, by
the definitions: `k_means` with its own geometry over every secret move, `mechanisms` over every
pair of neighbours that brute force lists, `shapes` over the same pairs by the gauge of what was
drawn (hulls, cubes, groups), `steps` by the chances of noise on the steps of a grid, added up over
all that goes round. None asks the certifier, nor what planned the scales.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.registry import MECHANISMS, plan
from blowproof.mechanisms.release.release import Released, Request, release
from blowproof.mechanisms.structures.memberships import Memberships
from blowproof.models import BlowproofError, BudgetError, Point, Policy, QueryError, setting
from blowproof.models.data.dataset import Dataset
from blowproof.models.files.reading import policy_from
from blowproof.models.mechanisms.mechanism import Prefixes, Release, Selection, Tree
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.brute import brute_neighbours

__all__ = ["k_means", "mechanisms", "shapes", "steps"]

UNBOUNDED = Fraction(10) ** 9
"""Stands for what no noise hides."""

Outcome = str | None
"""None: refused, or private as promised; else what went wrong."""
Row = dict[tuple[int, Any], Fraction]
"""What a record adds to each output: by the place of its scale, and its own name."""

# k-means ------------------------------------------------------------------------------------------


def k_means(rng: random.Random, tries: int, counts: Counter[str]) -> Iterator[Outcome]:
    """Domains of any width, up to 2^80: the loss over every secret move, centroids as drawn."""
    for _ in range(tries):
        tables, values = _wide(rng)
        policy = policy_from(tables)
        records = [rng.choice(values) for _ in range(rng.randint(1, 5))]
        epsilon = Fraction(rng.randint(1, 6), rng.randint(1, 3))
        options = {"clusters": str(rng.randint(1, 3)), "iterations": str(rng.randint(1, 3))}
        if rng.random() < 0.5:
            options["margin"] = rng.choice(("0", "1/2", "1", "3"))
        request = Request(policy=policy, epsilon=epsilon, options=options, accept_wide_bounds=True)
        done = _released("k-means", request, records, counts)
        if done is None:
            yield None
            continue
        moves = [
            (x, y)
            for x, y in product(values, values)
            if _secret(tables["secrets"], tables["domain"], x, y)
        ]
        losses = [(_moved(done.description.releases, *move), move) for move in moves]
        loss, move = max(losses, default=(Fraction(0), None))
        counts["loss is epsilon" if loss == epsilon else "loss below epsilon"] += loss <= epsilon
        yield f"{tables}, {options}: {move} loses {loss} > {epsilon}" if loss > epsilon else None


def _wide(rng: random.Random) -> tuple[dict[str, Any], list[tuple[int, ...]]]:
    """One or two attributes of few values, far apart, and what is secret about them."""
    domain, sides = {}, []
    for name in "xy"[: rng.randint(1, 2)]:
        step = rng.choice(
            (
                1,
                rng.randint(2, 100),
                2 ** rng.randint(8, rng.choice((20, 40, 80))) + rng.randint(-1, 1),
            )
        )
        low, size = rng.choice((0, -step, rng.randint(-9, 9))), rng.randint(2, 5)
        domain[name] = {"min": low, "max": low + step * (size - 1), "step": step}
        sides.append([low + step * k for k in range(size)])
    widest = max(side[1] - side[0] for side in sides)
    secrets: list[dict[str, Any]] = [
        {"kind": "full"},
        {"kind": "attribute", "changes": 1},
        {"kind": "partition", "by": ["x"]},
        {"kind": "distance", "metric": "l1", "threshold": rng.randint(1, 3) * widest},
    ]
    return {"domain": domain, "secrets": rng.choice(secrets)}, list(product(*sides))


def _secret(
    secrets: dict[str, Any], domain: dict[str, Any], x: Sequence[int], y: Sequence[int]
) -> bool:
    """Whether nobody may tell x from y, by the words of the contract."""
    changed = sum(a != b for a, b in zip(x, y, strict=True))
    if not changed or secrets["kind"] == "full":
        return bool(changed)
    if secrets["kind"] == "attribute":
        return changed <= secrets["changes"]
    if secrets["kind"] == "partition":
        return all(
            x[list(domain).index(name)] == y[list(domain).index(name)] for name in secrets["by"]
        )
    return sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= secrets["threshold"]


def _moved(releases: Sequence[Release], x: Sequence[int], y: Sequence[int]) -> Fraction:
    """What noise gives away when one record moves from x to y."""
    loss = Fraction(0)
    for item in releases:
        assert isinstance(item.query, Memberships)
        loss += _loss(item.scales, *(_clustered(item.query, point) for point in (x, y)))
    return loss


def _clustered(query: Memberships, point: Sequence[int]) -> Row:
    """What one record adds to sizes or sums, by the docstring of `memberships`, in Fractions."""
    clusters = query.clusters
    centroids = [[int(c) * clusters.grid for c in row] for row in clusters.centroids.tolist()]
    far = [
        sum((Fraction(x) - c) ** 2 for x, c in zip(point, own, strict=True)) for own in centroids
    ]
    unit, nearest = clusters.grid, min(far)
    row: Row = {}
    for j, own in enumerate(centroids):
        weight = max(Fraction(0), clusters.margin - (far[j] - nearest) / unit**2)
        if not clusters.margin:
            weight = Fraction(j == far.index(nearest))
        if not query.sums:
            row[0, j] = weight
        for axis, (x, c) in enumerate(zip(point, own, strict=True)) if query.sums else ():
            row[0, (j, axis)] = weight * (x - c) / unit
    return row


# every mechanism ----------------------------------------------------------------------------------

FREE = {"k-means", "dawa", "dawa-transformed", "matching-transformed"}
"""Refused where facts are known."""
SMALL = 5
QUERIES = ("histogram", "marginal(x)", "cumulative(x)", "range(x,1,2)", "ranges(x)", "sum(x)")


def mechanisms(rng: random.Random, tries: int, counts: Counter[str]) -> Iterator[Outcome]:
    """Every mechanism on random small policies: the loss over all pairs of neighbours."""
    for number in range(tries):
        name = sorted(MECHANISMS)[number % len(MECHANISMS)]
        policy, records = _small(rng, narrow=name.startswith("dawa"), free=name in FREE)
        query = (
            rng.choice(QUERIES) if name in ("laplace", "ordered", "hierarchical") else "histogram"
        )
        request = Request(
            policy=policy,
            query=query if name != "ordered" else rng.choice(QUERIES[2:5]),
            epsilon=Fraction(rng.randint(1, 6), rng.randint(1, 3)),
            options={"clusters": "2", "iterations": "2"} if name == "k-means" else {},
            accept_wide_bounds=True,
        )
        done = _released(name, request, records, counts)
        if done is None:
            yield None
            continue
        loss = _worst(policy, done)
        counts[f"{name} released"] += 1
        yield (
            f"{name} for {query} under {policy!r}: loses {loss} > {request.epsilon}"
            if loss > request.epsilon
            else None
        )


# noise in the shape of the neighbours -------------------------------------------------------------

SHAPES = ("hull", "hull", "box", "cube", "groups")


def shapes(rng: random.Random, tries: int, counts: Counter[str]) -> Iterator[Outcome]:
    """Hulls, cubes and groups on random small tables: the gauge of all neighbours' differences."""
    for _ in range(tries):
        policy, records = _table(rng)
        shape = rng.choice(SHAPES)
        request = Request(
            policy=policy,
            query=rng.choice(("histogram", "histogram", "marginal(x)", "cumulative(x)", "sum(x)")),
            epsilon=Fraction(rng.randint(1, 6), rng.randint(1, 3)),
            options={"shape": shape},
            accept_wide_bounds=True,
        )
        done = _released("k-norm", request, records, counts)
        if done is None:
            yield None
            continue
        loss = _worst(policy, done)
        counts[f"{shape} released"] += 1
        counts[f"{shape} at epsilon"] += loss == request.epsilon
        bad = loss > request.epsilon
        yield f"{shape} for {request.query} under {policy!r}: loses {loss}" if bad else None


def _table(rng: random.Random) -> tuple[Policy, list[tuple[int, ...]]]:
    """A table of two attributes, with margins or counts that are known, and who is in it."""
    sizes = {"x": rng.randint(2, 3), "y": rng.randint(1, 2)}
    domain = {name: {"min": 0, "max": size - 1} for name, size in sizes.items()}
    values = list(product(*map(range, sizes.values())))
    most = 4 if len(values) < 5 else 3
    records = [rng.choice(values) for _ in range(rng.randint(2, most))]
    known: list[dict[str, Any]] = []
    for at, name in enumerate(sizes):
        if rng.random() < 0.6:
            held = [sum(x[at] == k for x in records) for k in range(sizes[name])]
            known.append({"marginal": [name], "answers": held})
    if rng.random() < 0.4:
        corner = {"x": [0, sizes["x"] - 1], "y": 0}
        number = sum(x[0] in corner["x"] and x[1] == 0 for x in records)  # type: ignore[operator]
        known.append({"count": corner, "answer": number})
    secrets = rng.choice(({"kind": "full"}, {"kind": "attribute"},
                          {"kind": "distance", "metric": "l1", "threshold": 1}))  # fmt: skip
    tables = {"domain": domain, "secrets": secrets, "known": known}
    return policy_from({**tables, "database": {"size": len(records)}}), records


# noise on the steps of a grid ---------------------------------------------------------------------

ROUND, FAR_OUT, TRIED = 60, 20, 20


def steps(rng: random.Random, tries: int, counts: Counter[str]) -> Iterator[Outcome]:
    """Noise on steps: chances of counts, before and after each secret move, at drawn places.

    The logarithm of their ratio may not be above epsilon anywhere, so not at these places either.
    """
    for _ in range(tries):
        sides = rng.choice(((2, 2), (2, 3), (3,), (4,), (1, 3)))
        domain = {f"a{k}": {"min": 0, "max": size - 1} for k, size in enumerate(sides)}
        threshold = rng.randint(1, 3)
        secrets = {"kind": "distance", "metric": "l1", "threshold": threshold}
        policy = policy_from({"domain": domain, "secrets": secrets})
        values = list(product(*map(range, sides)))
        request = Request(
            policy=policy,
            epsilon=Fraction(rng.randint(1, 6), rng.randint(1, 3)),
            accept_wide_bounds=True,
        )
        done = _released("steps", request, [rng.choice(values) for _ in range(3)], counts)
        if done is None:
            yield None
            continue
        (item,) = done.description.releases
        loss = _on_steps(rng, sides, float(item.scales[0]), threshold)
        counts["near epsilon" if loss > 0.9 * request.epsilon else "below"] += 1
        bad = loss > float(request.epsilon) * (1 + 1e-6)
        yield f"steps of {sides} within {threshold} lose {loss}" if bad else None


def _on_steps(rng: random.Random, sides: Sequence[int], scale: float, threshold: int) -> float:
    """The largest logarithm of a ratio of chances that was found, over all secret moves."""
    values = list(product(*map(range, sides)))
    joined = [(i, j) for i, x in enumerate(values) for j, y in enumerate(values)
              if i < j and sum(abs(a - b) for a, b in zip(x, y, strict=True)) == 1]  # fmt: skip
    secret = [(i, j) for i, x in enumerate(values) for j, y in enumerate(values)
              if 0 < sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= threshold]  # fmt: skip
    circuits = _circuits(values, joined)
    ways = [_way(values, joined, i, j) for i, j in secret]
    places = [sign * FAR_OUT * way for way in ways for sign in (1, -1)]  # where most is told
    for number in range(TRIED):
        reach = 1 + number % FAR_OUT
        places.append(np.array([rng.randint(-reach, reach) for _ in joined]))
    worst = 0.0
    for carried in places:
        here = _chance(carried, circuits, scale)
        for way in ways:
            worst = max(worst, here - _chance(carried + way, circuits, scale))
    return worst


def _way(values: Sequence[Any], joined: Sequence[tuple[int, int]], i: int, j: int) -> Any:
    """A record more that goes from one value to another, an attribute after the other."""
    found, at = np.zeros(len(joined), dtype=np.int64), list(values[i])
    for axis, goal in enumerate(values[j]):
        while at[axis] != goal:
            before = values.index(tuple(at))
            at[axis] += 1 if goal > at[axis] else -1
            after = values.index(tuple(at))
            pair = (min(before, after), max(before, after))
            found[joined.index(pair)] += 1 if before < after else -1
    return found


def _circuits(values: Sequence[Any], joined: Sequence[tuple[int, int]]) -> Any:
    """What goes round each square of the grid: all whole ways round are sums of these."""
    rows = []
    for i, x in enumerate(values):
        for first, second in combinations(range(len(x)), 2):
            beside, corner = list(x), list(x)
            beside[second] += 1
            corner[first], corner[second] = corner[first] + 1, corner[second] + 1
            if tuple(corner) in values:
                middle, far = values.index(tuple(beside)), values.index(tuple(corner))
                round_it = _way(values, joined, i, middle) + _way(values, joined, middle, far)
                rows.append(_way(values, joined, i, far) - round_it)
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(joined))


def _chance(carried: Any, circuits: Any, scale: float) -> float:
    """The logarithm of the chance of the counts that these numbers on the steps make."""
    span = np.arange(-ROUND, ROUND + 1)
    grids = np.meshgrid(*[span] * len(circuits), indexing="ij") if len(circuits) else []
    times = np.stack([grid.ravel() for grid in grids], axis=1) if grids else np.zeros((1, 0), int)
    sizes = abs(carried + times @ circuits).sum(axis=1) / scale
    least = float(sizes.min())
    return float(np.log(np.exp(least - sizes).sum())) - least


# random policies ----------------------------------------------------------------------------------


def _small(rng: random.Random, *, narrow: bool, free: bool) -> tuple[Policy, list[tuple[int, ...]]]:
    """A policy over a few whole numbers, with two or three records and true facts about them."""
    sizes = {"x": rng.randint(2, 4)}
    if not narrow and rng.random() < 0.4:
        sizes["y"] = 2
    domain = {name: {"min": 0, "max": size - 1} for name, size in sizes.items()}
    values = list(product(*map(range, sizes.values())))
    records = [rng.choice(values) for _ in range(rng.randint(2, 3))]
    secrets = rng.choice(
        (
            {"kind": "full"},
            {"kind": "attribute"},
            {"kind": "distance", "metric": "l1", "threshold": rng.randint(1, 2)},
        )
    )
    known: list[dict[str, Any]] = []
    if not free and rng.random() < 0.6:
        some = sorted(rng.sample(range(sizes["x"]), rng.randint(1, sizes["x"] - 1)))
        known.append({"count": {"x": some}, "answer": sum(x[0] in some for x in records)})
        if rng.random() < 0.4:
            held = [sum(x[0] == k for x in records) for k in range(sizes["x"])]
            known.append({"marginal": ["x"], "answers": held})
    tables = {"domain": domain, "secrets": secrets, "known": known}
    return policy_from({**tables, "database": {"size": len(records)}}), records


def _worst(policy: Policy, done: Released) -> Fraction:
    """The loss of what was drawn, over all neighbours in both directions, by brute force."""
    reading = done.request.reading
    prepared = prepare(setting(policy, done.request.answers), reading)
    low, high = size_range(prepared, reading)
    assert high is not None
    rows = [
        (item, {point: _row(item, policy, point) for point in policy.domain.points()})
        for item in done.description.releases
    ]
    choices = sum((_chosen(item, policy) for item in done.description.selections), Fraction(0))
    worst = Fraction(0)
    for pair in brute_neighbours(prepared, reading, sizes=range(low, high + 1), every_label=False):
        moved = max(len(pair.before), len(pair.after))
        loss = sum(
            (
                _of_release(item, _added(held, pair.before), _added(held, pair.after))
                for item, held in rows
            ),
            choices * moved,
        )
        worst = max(worst, loss)
    return worst


def _chosen(item: Selection, policy: Policy) -> Fraction:
    """What the choice of a partition gives away of one record that moves: 4 * step / scale.

    By the argument at the head of `partitions`, with `step` found by trying: the most that a bucket
    costs more or less for one record, over all counts that are small.
    """
    size = policy.domain.size
    widths = (1, 2) if item.candidates == "pairs" else (1 << k for k in range(size.bit_length()))
    step = Fraction(0)
    for width in widths:
        for counts in product(range(SMALL), repeat=min(width, size)):
            more = (counts[0] + 1, *counts[1:])
            step = max(step, abs(_deviation(more) - _deviation(counts)))
    return 4 * step / min(item.scales)


def _deviation(counts: Sequence[int]) -> Fraction:
    mean = Fraction(sum(counts), len(counts))
    return sum((abs(count - mean) for count in counts), Fraction(0))


def _added(rows: dict[Point, Row], points: Sequence[Point]) -> Row:
    total: Row = {}
    for place, value in chain.from_iterable(rows[point].items() for point in points):
        total[place] = total.get(place, Fraction(0)) + value
    return total


def _of_release(item: Release, one: Row, two: Row) -> Fraction:
    """What the noise of a release gives away of two answers, by the norm of its shape."""
    if item.noise != "discrete-k-norm":
        return _loss(item.scales, one, two)
    if item.facets:
        return _of_body(item, one, two)
    groups: dict[Any, Fraction] = {}
    for key in one.keys() | two.keys():
        apart = abs(one.get(key, Fraction(0)) - two.get(key, Fraction(0)))
        group = key if item.groups == 1 else key[1] // item.groups
        share = Fraction(1) if item.groups == 1 else Fraction(1, 2)
        groups[group] = groups.get(group, Fraction(0)) + share * apart
    (scale,) = item.scales
    return max(groups.values(), default=Fraction(0)) / scale


def _of_body(item: Release, one: Row, two: Row) -> Fraction:
    """The largest facet that a difference reaches, where nothing that is fixed changes."""
    apart = {key[1]: one.get(key, Fraction(0)) - two.get(key, Fraction(0))
             for key in one.keys() | two.keys()}  # fmt: skip
    fixed, facets = (
        [abs(sum((row[at] * value for at, value in apart.items()), Fraction(0))) for row in rows]
        for rows in (item.fixed, item.facets)
    )
    (scale,) = item.scales
    return UNBOUNDED if any(fixed) else max(facets) / scale


def _row(item: Release, policy: Policy, point: Point) -> Row:
    """What one record adds to the outputs of a release."""
    query, x, size = item.query, point[0], policy.domain.attribute(0).size
    if isinstance(query, Tree):
        return _tree(query, x, size)
    if isinstance(query, Memberships):
        return _clustered(query, [int(v) for v in policy.domain.decode(point)])  # type: ignore[arg-type]
    if isinstance(query, Prefixes):
        ends = [*range(query.every, size, query.every), *([size] if query.whole else [])]
        names: list[Any] = [end for end in ends if x < end]
    elif not isinstance(query, str):
        return _counted(item, policy, point)
    else:
        names = _named(query, point, size)
    return dict.fromkeys(((0, name) for name in names), Fraction(x if query == "sum(x)" else 1))


def _named(query: str, point: Point, size: int) -> list[Any]:
    """The outputs of a query of the contract that a record is counted in."""
    x = point[0]
    return {
        "histogram": [point],
        "marginal(x)": [x],
        "cumulative(x)": list(range(x, size)),
        "range(x,1,2)": [0] if 1 <= x <= 2 else [],
        "ranges(x)": list(product(range(x + 1), range(x, size))),
        "sum(x)": [0],
    }[query]


def _tree(tree: Tree, x: int, size: int) -> Row:
    """The nodes on the way from a root to x, with the scale of their level."""
    width = tree.block or size
    block = x // width
    if tree.blocks is not None and not tree.blocks[0] <= block <= tree.blocks[1]:
        return {}
    low, high, level, row = block * width, min(size, (block + 1) * width), 0, Row()
    while True:
        if level >= tree.first and (tree.last is None or level <= tree.last):
            row[level - tree.first, (low, high)] = Fraction(1)
        if high - low == 1:
            return row
        step = -(-(high - low) // tree.fan_out)
        low += (x - low) // step * step
        high, level = min(high, low + step), level + 1


def _counted(item: Release, policy: Policy, point: Point) -> Row:
    """The answers on this record alone, as they are counted before noise is added."""
    counts = np.zeros([kind.size for _, kind in policy.domain.attributes], dtype=np.int64)
    counts[point] = 1
    answers = true_answers(item, policy, NoisyTable(counts, policy.domain))
    several = len(item.scales) > 1
    return {
        (place if several else 0, place): Fraction(value) for place, value in enumerate(answers)
    }


# what both share ----------------------------------------------------------------------------------


def _loss(scales: Sequence[Fraction], one: Row, two: Row) -> Fraction:
    """What noise of these scales gives away of two answers: the sum of |difference| / scale."""
    loss = Fraction(0)
    for place in one.keys() | two.keys():
        apart = abs(one.get(place, Fraction(0)) - two.get(place, Fraction(0)))
        scale = scales[place[0]]
        loss += apart / scale if scale else UNBOUNDED * bool(apart)
    return loss


def _released(
    name: str, request: Request, records: Sequence[Sequence[int]], counts: Counter[str]
) -> Released | None:
    """Carry out a release on a data file; None where it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        rows = [",".join(request.policy.domain.names), *(",".join(map(str, x)) for x in records)]
        path.write_text("\n".join(rows) + "\n")
        try:
            with Dataset(path, request.policy.domain) as data:
                return release(plan(name, request), data)
        except BlowproofError as error:
            counts[f"{name} refused"] += 1
            if not isinstance(error, (RefusedError, QueryError, BudgetError)):
                raise
            return None
