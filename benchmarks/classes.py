"""Signature classes: the time to collapse a domain by region counts, as the domain grows.

python benchmarks/classes.py [--regions 20] [--repeat 5]

The regions keep their shape relative to the axes, so only |T| changes from row to row. Listing the
domain is the peer: what a user would do without classes, where that is possible at all.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time

from blowproof.models import Area, Between, Domain, Integers, Region
from blowproof.models.domain.classes import collapse

AXES = 6
LISTED = 100_000


def regions(domain: Domain, count: int) -> list[Area]:
    """Random boxes over three of the axes, the same fractions of the axis at every size."""
    rng = random.Random(20)
    found = []
    for _ in range(count):
        conditions = {}
        for name in rng.sample(domain.names, 3):
            size = domain[name].size
            low, high = sorted(int(rng.random() * size) for _ in range(2))
            conditions[name] = Between(low, high)
        found.append(domain.area(Region(conditions)))
    return found


def seconds(work: object, repeat: int) -> float:
    """Return the median of several runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()  # type: ignore[operator]
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def listing(domain: Domain, areas: list[Area]) -> int:
    """The peer: every value, region by region."""
    return len({tuple(point in area for area in areas) for point in domain.points()})


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--regions", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print(f"| |T| | classes | seconds | listing the domain | ratio |\n|{' --- |' * 5}")
    for side in (4, 10, 32, 100, 1_000, 10_000):
        domain = Domain({f"x{axis}": Integers(0, side - 1) for axis in range(AXES)})
        areas = regions(domain, options.regions)
        found = collapse(domain, areas)
        own = seconds(lambda d=domain, a=areas: collapse(d, a), options.repeat)
        if domain.size <= LISTED:
            peer = seconds(lambda d=domain, a=areas: listing(d, a), 1)
            listed, ratio = f"{peer:.2f} s", f"{peer / own:.0f}"
        else:
            listed, ratio = "not possible", "-"
        print(f"| {domain.size:.0e} | {len(found)} | {own:.3f} | {listed} | {ratio} |")


if __name__ == "__main__":
    main()
