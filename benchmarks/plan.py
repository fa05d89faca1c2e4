"""Is `auto` as good as the best of its parts? (What each part gains: `ablation.py`.)

python benchmarks/plan.py [--sample small|middle] [--policies 40] [--seed 1] [--limit 12]
                          [--engines sat ilp]
python benchmarks/plan.py --without sat ...   the plan with a strategy left out (repeat for more)

Policies are drawn with a seed: a grid of 6 to 9 values, n records, one to four facts with numbers
taken from a drawn database. For each, the plan and every single engine are asked the same question,
one after the other. Prints for each row how many answers are exact, how wide the others are
together, and how long it took: limits are of counted work and seconds those of the processor, so
that a busy machine says the same. Exits 1 where two answers contradict each other.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from blowproof.models import (
    AttributeChange,
    BlowproofError,
    Count,
    Database,
    Domain,
    Full,
    Labels,
    PartitionBy,
    Policy,
)
from blowproof.models.base.clock import Budget
from blowproof.verifier import plan
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.portfolio.registry import ENGINES, THEOREMS

ALONE = ("sat", "ilp", "search", "brute")
SHAPES = {"small": ((2, 3), (3, 3), (2, 4)), "middle": ((2, 4), (3, 3))}
SIZES = {"small": (4, 9), "middle": (7, 10)}
FACTS = {"small": (1, 3), "middle": (2, 4)}


def drawn(rng: random.Random, sample: str) -> Policy:
    """Return a policy with n and numbers that some database has."""
    shape = rng.choice(SHAPES[sample])
    axes = [[f"{axis}{k}" for k in range(size)] for axis, size in zip("ab", shape, strict=True)]
    domain = Domain(a=Labels(axes[0]), b=Labels(axes[1]))
    size = rng.randint(*SIZES[sample])
    data = [(rng.choice(axes[0]), rng.choice(axes[1])) for _ in range(size)]
    known = []
    for _ in range(rng.randint(*FACTS[sample])):
        names = rng.choice((["a"], ["b"], ["a", "b"]))
        region = {
            name: rng.sample(axes["ab".index(name)], rng.randint(1, shape["ab".index(name)] - 1))
            for name in names
        }
        count = sum(all(x["ab".index(k)] in v for k, v in region.items()) for x in data)
        kind = rng.choice(("answer", "answer", "at_least", "at_most"))
        slack = rng.randint(0, 1)
        ends = {"answer": count, "at_least": max(0, count - slack), "at_most": count + slack}
        known.append(Count(region, **{kind: ends[kind]}))
    secrets = [AttributeChange(changes=1), PartitionBy([rng.choice("ab")])]
    if sample == "small":
        secrets.append(Full())
    return Policy(
        domain=domain,
        secrets=rng.choice(secrets),
        known=tuple(known),
        database=Database(size=size, answers="given"),
    )


@dataclass
class Row:
    """How one way of asking fared."""

    name: str
    exact: int = 0
    refused: int = 0
    width: int = 0
    seconds: float = 0.0

    def ask(self, policy: Policy, query: str, engine: str, limit: float) -> Answer | None:
        """Ask one question and count the answer."""
        started = time.process_time()
        try:
            with Budget():
                found = sensitivity(policy, query, engine=engine, time_limit=limit)
        except BlowproofError:
            self.refused += 1
            return None
        self.seconds += time.process_time() - started
        self.exact += found.status == "exact"
        if found.upper is not None:
            self.width += int(found.upper - found.lower)
        return found

    def __str__(self) -> str:
        return (
            f"{self.name:<22}{self.exact:>7}{self.refused:>9}{self.width:>8}{self.seconds:>10.1f}"
        )


def questions(options: argparse.Namespace) -> Iterator[tuple[Policy, str]]:
    """Yield the sample."""
    rng = random.Random(options.seed)
    for _ in range(options.policies):
        yield drawn(rng, options.sample), "histogram"


def contradictions(found: list[Answer]) -> bool:
    """Whether a lower bound exceeds an upper one."""
    uppers = [item.upper for item in found if item.upper is not None]
    return bool(uppers) and max(item.lower for item in found) > min(uppers)


def without(*names: str) -> None:
    """Leave strategies out of the plan."""
    plan.ENGINES = tuple(item for item in ENGINES if item.name not in names)  # type: ignore[misc]
    plan.THEOREMS = tuple(item for item in THEOREMS if item.name not in names)  # type: ignore[misc]


def main() -> None:
    """Ask, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", choices=SHAPES, default="small")
    parser.add_argument("--policies", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=12)
    parser.add_argument("--engines", nargs="*", choices=ALONE, default=ALONE)
    parser.add_argument("--without", action="append", default=[])
    options = parser.parse_args()
    without(*options.without)
    rows = [Row(name) for name in ("auto", *options.engines)]
    bad = 0
    for policy, query in questions(options):
        found = [row.ask(policy, query, row.name, options.limit) for row in rows]
        told = [item for item in found if item is not None]
        if contradictions(told):
            bad += 1
            print([(item.engine, item.lower, item.upper) for item in told], policy)
    print(f"{options.policies} policies, sample {options.sample}, seed {options.seed}")
    print(f"{'':<22}{'exact':>7}{'refused':>9}{'width':>8}{'seconds':>10}")
    for row in rows:
        print(row)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
