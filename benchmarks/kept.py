"""Write the proofs of tables that are kept: `python benchmarks/kept.py [--sides 3x4]`.

The search is done again, the kernel replays what it found, and the file is written beside
`verifier/proofs/lengths/kept.py`. Times are seconds of CPU of this process.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from blowproof.models import Domain, Integers, Marginal, Policy, parse_query, setting
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget
from blowproof.verifier.kernel.proofs.irreducible import replayed
from blowproof.verifier.kernel.proofs.margins import Table
from blowproof.verifier.proofs.claim import claim_of
from blowproof.verifier.proofs.lengths.kept import packed
from blowproof.verifier.proofs.margins import searched
from blowproof.verifier.theorems.listed_margins import longest_listed

FOLDER = Path(__file__).parent.parent / "verifier" / "proofs" / "lengths"


def main() -> None:
    """Search, check, write."""
    parser = argparse.ArgumentParser(description="Proofs of tables, searched once and kept.")
    parser.add_argument("--sides", default="3x4")
    parser.add_argument("--limit", type=float, default=600.0)
    options = parser.parse_args()
    sides = tuple(map(int, options.sides.split("x")))
    most = longest_listed(sides)
    policy = Policy(domain=Domain(x=Integers(0, 1)), known=(Marginal(["x"]),))
    question = Question(
        prepare(setting(policy), "published"), parse_query("histogram", policy), "published"
    )
    claim = claim_of(policy, question.query, question.answer(0, 4, ""), question.setting)
    world = world_of(claim, Budget())[0]
    start = time.process_time()
    proof = searched(world, sides, options.limit)
    if proof is None or most is None:
        sys.exit("the search did not end, or nobody knows how long the longest is")
    print(f"searched: {len(proof['nodes'])} nodes, {time.process_time() - start:.1f} s")
    start, before = time.process_time(), world.budget.left
    replayed(Table(world, sides), proof, most)
    print(f"replayed: {before - world.budget.left} steps, {time.process_time() - start:.1f} s")
    content = packed(proof)
    (FOLDER / f"margins-{options.sides}.xz").write_bytes(content)
    print(f"{len(content)} bytes")


if __name__ == "__main__":
    main()
