"""The campaigns of `benchmarks/attacks.py`: a few tries of each, and that they would notice."""

import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import attacks  # type: ignore[import-not-found]
import attacks_noise  # type: ignore[import-not-found]
from attacks import CAMPAIGNS

from blowproof.mechanisms.release.registry import MECHANISMS, plan
from blowproof.mechanisms.release.release import Request
from blowproof.models import Distance, Domain, Integers, Policy

FORKING = {"kill -9 around a charge", "four processes, one budget"}
"""These fork, which a process with threads (a test run on several cores) had better not."""
FEW = {"forged certificates": 60, "every mechanism": len(MECHANISMS)}


@pytest.mark.parametrize("name", [name for name in CAMPAIGNS if name not in FORKING])
def test_no_attack_succeeds(name: str) -> None:
    campaign = CAMPAIGNS[name][0]
    counts: Counter[str] = Counter()
    tries = FEW.get(name, 2)
    assert list(campaign(random.Random(5), tries, counts)) == [None] * tries
    assert counts.total() > 0


@pytest.mark.parametrize("name", sorted(FORKING))
def test_no_attack_by_several_processes_succeeds(name: str) -> None:
    command = [sys.executable, attacks.__file__, "--tries", "2", "--seed", "5", "--only", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"| {name} | 2 | 0 |" in done.stdout


def described(query: str, records: list[tuple[int, ...]]) -> Any:
    policy = Policy(domain=Domain(x=Integers(0, 3)))
    policy = replace(policy, database=replace(policy.database, size=len(records)))
    request = Request(policy=policy, query=query, epsilon=Fraction(1), accept_wide_bounds=True)
    return policy, attacks_noise._released("laplace", request, records, Counter())


@pytest.mark.parametrize("query", attacks_noise.QUERIES)
def test_noise_that_is_one_percent_too_small_would_be_noticed(query: str) -> None:
    policy, done = described(query, [(1,), (3,)])
    assert attacks_noise._worst(policy, done) == 1
    less = [replace(item, scale=item.scale * Fraction(99, 100)) for item in done.description]
    weaker = replace(done, description=replace(done.description, releases=tuple(less)))
    assert attacks_noise._worst(policy, weaker) == Fraction(100, 99)


def test_a_k_means_that_hides_nothing_would_be_noticed() -> None:
    policy = Policy(domain=Domain(x=Integers(0, 2**40)))
    request = Request(policy=policy, epsilon=Fraction(1), options={"iterations": "1"})
    sizes, sums, _ = plan("k-means", request).calibrated(  # type: ignore[attr-defined]
        attacks_noise.np.array([[0], [2**41]], dtype=object)
    )
    assert attacks_noise._moved([sizes, sums], (0,), (2**40,)) <= 1
    silent = replace(sums, scale=Fraction(0))
    assert attacks_noise._moved([sizes, silent], (0,), (2**40,)) > 1


def test_a_hull_that_is_one_percent_too_small_would_be_noticed() -> None:
    """And one that leaves fixed what some neighbours change."""
    policy = Policy(domain=Domain(x=Integers(0, 3)), secrets=Distance(threshold=2))
    policy = replace(policy, database=replace(policy.database, size=3))
    request = Request(policy=policy, query="cumulative(x)", epsilon=Fraction(1),
                      options={"shape": "hull"}, accept_wide_bounds=True)  # fmt: skip
    done = attacks_noise._released("k-norm", request, [(0,), (1,), (3,)], Counter())
    assert attacks_noise._worst(policy, done) == 1
    (item,) = done.description.releases

    def of(changed: Any) -> Any:
        other = replace(done.description, releases=(changed,))
        return attacks_noise._worst(policy, replace(done, description=other))

    assert of(replace(item, scale=item.scale * Fraction(99, 100))) == Fraction(100, 99)
    less = replace(item, facets=tuple(tuple(2 * a for a in row) for row in item.facets))
    assert of(less) == 2
    assert of(replace(item, fixed=((1, 0, 0, 0),))) == attacks_noise.UNBOUNDED


@pytest.mark.parametrize("sides", [(2, 2), (4,), (2, 3)])
def test_noise_on_steps_that_is_too_small_would_be_noticed(sides: tuple[int, ...]) -> None:
    """Moves of up to two steps: a scale of 2 loses 1, as nearly as one looks far; 1.8 loses more.

    Where there are K + 1 ways round, two steps lose 1 / K less at a distance of K.
    """
    found = [attacks_noise._on_steps(random.Random(2), sides, scale, 2) for scale in (2.0, 1.8)]
    assert 0.95 < found[0] <= 1 + 1e-6
    assert found[1] > 1.05
