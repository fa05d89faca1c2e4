"""Attacks on proofs, releases and budgets, with counts: nothing false may be accepted or drawn.

    python benchmarks/attacks.py [--seed 1] [--quick | --tries N] [--only CAMPAIGN]

Prints a table, and whatever an attack achieved; exits 1 if there is anything. What the attackers
compute themselves they compute in Fractions, from the definitions: see `attacks_proofs` (forged
certificates, false claims), `attacks_noise` (k-means, every mechanism, hulls, steps) and
`attacks_budget` (a process killed, four at once).
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

from attacks_budget import four_at_once, killed
from attacks_noise import k_means, mechanisms, shapes, steps
from attacks_proofs import false_bounds, false_lengths, false_small, forged

Campaign = Callable[[random.Random, int, Counter[str]], Iterator[str | None]]
"""Makes so many tries; yields None where one failed, else what it achieved. Counts the rest."""

CAMPAIGNS: dict[str, tuple[Campaign, int, int]] = {
    "forged certificates": (forged, 4000, 400),
    "false claims, small policies": (false_small, 200, 25),
    "false claims, bounds": (false_bounds, 100, 12),
    "false claims, numbers of moves": (false_lengths, 200, 25),
    "k-means at random widths": (k_means, 300, 40),
    "every mechanism": (mechanisms, 270, 45),
    "hulls and other shapes": (shapes, 200, 25),
    "noise on steps": (steps, 100, 15),
    "kill -9 around a charge": (killed, 40, 6),
    "four processes, one budget": (four_at_once, 10, 2),
}
"""Name -> (campaign, tries, tries when quick)."""

SHOWN = 5


def main() -> int:
    """Run the campaigns, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a tenth of the tries")
    parser.add_argument("--tries", type=int, help="so many, whatever the campaign")
    parser.add_argument("--only", choices=CAMPAIGNS, help="one campaign")
    asked = parser.parse_args()
    print("| campaign | tries | succeeded | seconds | of these |")
    print("| --- | --- | --- | --- | --- |")
    achieved: list[str] = []
    for name, (campaign, many, few) in CAMPAIGNS.items():
        if asked.only not in (None, name):
            continue
        start, counts = time.perf_counter(), Counter[str]()
        tries = asked.tries or (few if asked.quick else many)
        outcomes = list(campaign(random.Random(asked.seed), tries, counts))
        found = [outcome for outcome in outcomes if outcome is not None]
        seconds = time.perf_counter() - start
        details = ", ".join(f"{what}: {times:,}" for what, times in sorted(counts.items()))
        print(
            f"| {name} | {len(outcomes):,} | {len(found)} | {seconds:.0f} | {details} |", flush=True
        )
        achieved += [f"{name}: {outcome}" for outcome in found]
    for line in achieved[:SHOWN]:
        print(line, file=sys.stderr)
    return 1 if achieved else 0


if __name__ == "__main__":
    sys.exit(main())
