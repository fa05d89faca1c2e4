"""Odds against a reference that follows Definition 3.1 letter by letter, on many tiny policies.

`python benchmarks/odds.py 2000` draws so many policies (equality counts, bounds, clauses), channels
with exact probabilities, and beliefs on a grid; no belief may do better than `odds` says, and where
it says "exactly", the belief that it shows has to come within a hundredth of the ratio. Every third
policy is asked about identically distributed records. It also times exam queues.
"""

from __future__ import annotations

import random
import sys
import time
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "shared"))

from blowproof.models.attackers.attackers import Attackers
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.verifier.odds.odds import odds
from corpus import exam_queue
from tiny_attackers import a_channel, a_policy, beliefs, possible, reference, shown_belief

ONE = Fraction(1)


def compared(count: int, seed: int) -> dict[str, int]:
    """Compare so many policies; return what was seen."""
    rng = random.Random(seed)
    seen = {"policies": 0, "beliefs": 0, "exact": 0, "of these iid": 0, "with bounds or clauses": 0}
    for number in range(count):
        loose, alike = number % 2 == 1, number % 3 == 2
        policy = a_policy(rng, ["equal", "bound", "clause"] if loose else ["equal"])
        databases = possible(policy)
        size = len(databases[0])
        channel, rows = a_channel(rng, databases)
        attackers = Attackers(kind="iid" if alike else "independent")
        found = odds(Mechanism(channel=channel), policy, ONE, attackers=attackers)
        assert found.upper is not None
        upper = found.upper.between(128)[1]
        for belief in beliefs(rng, list(policy.domain.points()), size, 20):
            told = reference(policy, rows, [belief[0]] * size if alike else belief)
            assert told is None or told <= upper, (policy, channel, belief)
            seen["beliefs"] += 1
        if found.exact and found.shown is not None:
            told = reference(policy, rows, shown_belief(found, policy, size))
            assert told is not None and told >= found.lower.between(128)[0] * Fraction(99, 100)
        seen["policies"] += 1
        seen["exact"] += found.exact
        seen["of these iid"] += found.exact and alike
        seen["with bounds or clauses"] += found.exact and loose
        assert loose or alike or found.exact
    return seen


def main() -> None:
    """Print what was compared, and how long exam queues take."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    start = time.perf_counter()
    print(compared(count, 18), f"{time.perf_counter() - start:.1f} s")
    for students in (4, 8, 12):
        start = time.perf_counter()
        noise = Mechanism(releases=(Release(query="count(passes)", scale=ONE),))
        found = odds(noise, exam_queue(students), ONE)
        print(students, "students", found.lower.text, f"{time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
