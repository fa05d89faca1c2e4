"""One hard question in tasks: the same answer by 1, 2 and 8 workers, and how much sooner.

    python benchmarks/farm.py [--shape 2 2 3] [--workers 1 2 8]
    python benchmarks/farm.py --shape 2 6 --each 0.1 --record benchmarks/farm_times.json
    python benchmarks/farm.py --replay benchmarks/farm_times.json

The question is the longest irreducible multiset of moves on the one-way margins of a table, without
the other engines. First it is asked of one core in one piece, then of clusters of 1, 2 and 8
processes here (Dask, on two cores).

With `--record` its tasks, as they are cut for 512 workers, run one after the other in this process,
and the processor seconds of each are written down, with the task that it was cut off. `--replay`
computes a list schedule of them: each worker takes the next task when it is free, and a task waits
for the one that it was cut off. That is a simulation: it knows no network, and no bound that one
task would have told another sooner; the same file gives the same table anywhere.
"""

from __future__ import annotations

import argparse
import heapq
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from distributed import LocalCluster

from blowproof.cli.asking.cluster import DaskWorkers, client_of
from blowproof.verifier.engines.farmed import farm
from blowproof.verifier.engines.farmed.farm import Farm
from blowproof.verifier.engines.farmed.workers import Part, work
from blowproof.verifier.engines.irreducibles import longest, warm_up
from blowproof.verifier.engines.irreducibles.choice import searched_by
from blowproof.verifier.engines.irreducibles.lanes import Lanes
from blowproof.verifier.engines.irreducibles.search_compiled import Tree
from blowproof.verifier.engines.irreducibles.tasks import Task

MOST_SIMULATED = 512
Cut = tuple[float, int]
"""The seconds of a task, and the number of the one that it was cut off (-1: none)."""


def one_way(shape: list[int]) -> list[tuple[int, ...]]:
    """Return the effects of one change of a record on the one-way margins of a table."""
    cells = list(product(*map(range, shape)))
    keys = [(axis, x) for axis, values in enumerate(shape) for x in range(values)]
    signatures = [tuple(int(cell[axis] == x) for axis, x in keys) for cell in cells]
    found = {
        tuple(x - y for x, y in zip(a, b, strict=True)) for a in signatures for b in signatures
    }
    return sorted(effect for effect in found if any(effect))


class Noted(Farm):
    """A farm that says which task took how long, and whose it was."""

    def _back(self, number: int, part: Any) -> None:
        cuts = {} if part is None else {id(cut.task): cut for cut in part.fragment.rest}
        before = len(self.split.rest)
        super()._back(number, part)
        if part is not None:
            self.noted[number] = part.seconds
            for child in range(before, before + len(cuts)):
                self.parents[child] = number

    noted: dict[int, float]
    parents: dict[int, int]


def asked(effects: list[tuple[int, ...]], workers: int) -> tuple[int, float, list[Cut]]:
    """Return the answer of a cluster of so many processes, how long it took, and its tasks."""
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        client = client_of(cluster.scheduler_address)
        client.wait_for_workers(workers)
        client.run(warm_up)
        found = by_tasks(effects, DaskWorkers(client))
        client.close()
    return found


class OneByOne:
    """Workers that are this process: tasks run when they are asked for, one after the other."""

    def __init__(self, many: int) -> None:
        self.many = many
        self.waiting: list[tuple[int, Callable[[], Part]]] = []

    def begin(self, tree: Tree) -> Tree:
        """Take a tree."""
        return tree

    def submit(self, tree: Any, number: int, task: Task, above: int, nodes: int) -> None:
        """Put a task at the end."""
        self.waiting.append((number, partial(work, tree, task, above, nodes)))

    def back(self, tree: object, seconds: float) -> Iterator[tuple[int, Part]]:
        """Run the first task."""
        number, run = self.waiting.pop(0)
        yield number, run()

    def end(self, tree: object) -> None:
        """Forget what waits."""
        self.waiting.clear()


def by_tasks(effects: list[tuple[int, ...]], workers: Any) -> tuple[int, float, list[Cut]]:
    """Return the answer of workers, how long it took, and their tasks."""
    farms: list[Noted] = []

    def crew(tree: Any) -> Noted:
        found = Noted(tree, workers)
        found.noted, found.parents = {}, {}
        farms.append(found)
        return found

    with searched_by(crew):
        started = time.perf_counter()
        found = longest(effects, time_limit=600)
        took = time.perf_counter() - started
    assert found.complete
    last = farms[-1]
    order = {n: place for place, n in enumerate(sorted(last.noted))}
    tasks = [(last.noted[n], order.get(last.parents.get(n, -1), -1)) for n in order]
    return int(found.lower), took, tasks


def simulated(tasks: list[Cut], workers: int) -> float:
    """Return how long a list schedule of the tasks takes, each after the one it was cut off."""
    children: dict[int, list[int]] = {}
    for number, (_, giver) in enumerate(tasks):
        children.setdefault(giver, []).append(number)
    waiting = list(children.get(-1, []))
    running: list[tuple[float, int]] = []
    now = 0.0
    while waiting or running:
        while waiting and len(running) < workers:
            number = waiting.pop(0)
            heapq.heappush(running, (now + tasks[number][0], number))
        now, number = heapq.heappop(running)
        waiting += children.get(number, [])
    return now


def table(tasks: list[Cut]) -> None:
    """Print how long a list schedule takes with more and more workers."""
    total = sum(seconds for seconds, _ in tasks)
    longest_task = max(seconds for seconds, _ in tasks)
    print(f"{len(tasks):,} tasks, {total:.1f} s of processor, the longest {longest_task:.2f} s")
    print("simulated workers  seconds  speed-up")
    for workers in (1, 8, 64, 512):
        ends = simulated(tasks, workers)
        print(f"{workers:17} {ends:8.2f} {total / ends:9.1f}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs="+", default=[2, 2, 3])
    parser.add_argument("--each", type=float, default=1.0, help="seconds of a task")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 8])
    parser.add_argument("--record", type=Path, help="run the tasks here, and write their times")
    parser.add_argument("--replay", type=Path, help="simulate from such a file; run nothing")
    options = parser.parse_args()
    if options.replay:
        table([(seconds, giver) for seconds, giver in json.loads(options.replay.read_text())])
        return
    farm.ALONE, farm.EACH = 0.0, options.each
    effects = one_way(options.shape)
    warm_up()
    if options.record:
        lower, _, tasks = by_tasks(effects, OneByOne(MOST_SIMULATED))
        print(f"answer {lower}")
        rounded = [(round(seconds, 5), giver) for seconds, giver in tasks]
        options.record.write_text(json.dumps(rounded) + "\n", encoding="utf-8")
        table(rounded)
        return
    with searched_by(lambda tree: Lanes(tree, 1)):
        started, busy = time.perf_counter(), time.thread_time()
        whole = longest(effects, time_limit=600)
        alone, worked = time.perf_counter() - started, time.thread_time() - busy
    print(f"one core, in one piece: {whole.lower}, {alone:.1f} s ({worked:.1f} s of processor)")
    print("workers  answer  seconds  speed-up  tasks  processor seconds in them", flush=True)
    for workers in options.workers:
        lower, took, tasks = asked(effects, workers)
        assert lower == whole.lower
        print(
            f"{workers:7} {lower:7} {took:8.1f} {alone / took:9.2f} {len(tasks):6}"
            f" {sum(t for t, _ in tasks):10.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
