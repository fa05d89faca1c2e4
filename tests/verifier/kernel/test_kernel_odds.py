"""Certificates of odds: written, accepted by the kernel alone, and refused when they are forged."""

import copy
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from blowproof.models import Clause, Database, Domain, Integers, Labels, Literal, Policy
from blowproof.models.attackers.attackers import Attackers
from blowproof.models.attackers.beliefs import Listed
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.verifier.kernel import Unreadable, check
from blowproof.verifier.kernel.check import digest_of
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.certificate import certify_odds
from blowproof.verifier.odds.odds import odds
from corpus import TRAP, exam_queue
from tiny_attackers import a_channel, a_policy, possible

ONE = Fraction(1)
KERNEL = Path(__file__).resolve().parents[3] / "verifier" / "kernel"


def laplace(query: str, scale: int = 1) -> Mechanism:
    return Mechanism(releases=(Release(query=query, scale=Fraction(scale)),))


def written(mechanism: Mechanism, policy: Policy, attackers: Attackers | None = None) -> Any:
    asked: list[Asked] = []
    found = odds(mechanism, policy, ONE, attackers=attackers, on_asked=asked.append)
    certificate = certify_odds(asked[0], found)
    assert certificate.document is not None, certificate.reason
    return json.loads(certificate.text)


ILL = Policy(
    domain=Domain(ill=Labels(["no", "yes"])),
    known=(Clause([Literal(1, {"ill": "yes"}), Literal(2, {"ill": "no"})]),),
    database=Database(size=2, answers="given"),
)
HALVES = Listed((("no", "no"), ("yes", "yes")), (Fraction(1, 3), Fraction(2, 3)))


def queue() -> Any:
    return written(laplace("count(passes)"), exam_queue(3))


def identical() -> Any:
    policy = Policy(domain=Domain(v=Integers(0, 1)), database=Database(size=3))
    return written(laplace("sum(v)"), policy, Attackers(kind="iid"))


def theorem() -> Any:
    return written(laplace("histogram", 2), TRAP)


def two() -> Any:
    return written(laplace("histogram"), ILL, Attackers(kind="any"))


def listed() -> Any:
    return written(laplace("histogram"), ILL, Attackers(kind="listed", listed=(HALVES,)))


@pytest.mark.parametrize(
    ("make", "kind", "exponent"),
    [
        (queue, "coupling", 3),
        (identical, "families", 1),
        (theorem, "neighbours", 2),
        (two, "pairs", 4),
        (listed, "listed", 4),
    ],
)
def test_each_argument_is_accepted_and_says_what_is_known(
    make: Callable[[], Any], kind: str, exponent: int
) -> None:
    document = make()
    verdict = check(document)
    assert (verdict.accepted, verdict.kind) == (True, kind), verdict.reason
    bound = {"ratio": 1, "exp": exponent}
    assert document["claim"] == {"at_least": bound, "at_most": bound}


def test_bounds_of_the_sensitivity_bound_each_their_side() -> None:
    """S is 4, the scale 2; of a certificate that says 4 to 6 each bound counts where it is safe."""
    document = theorem()
    inner = document["proof"]["certificate"]
    document["proof"]["certificate"] = {**inner, "value": 6, "at_least": 4}
    for exponent, at_most, at_least in ((1, False, True), (2, False, True), (3, True, False)):
        for end, fits in (("at_most", at_most), ("at_least", at_least)):
            claim = {end: {"ratio": 1, "exp": exponent}}
            assert check({**document, "claim": claim}).accepted == fits, (end, exponent)


@pytest.mark.parametrize("kind", ["independent", "iid", "any"])
@pytest.mark.parametrize("seed", range(6))
def test_random_channels_are_certified(kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    policy = a_policy(rng, ["equal", "bound", "clause"])
    channel, _ = a_channel(rng, possible(policy))
    document = written(Mechanism(channel=channel), policy, Attackers(kind=kind))  # type: ignore[arg-type]
    assert check(document).accepted
    most = Fraction(document["claim"]["at_most"]["ratio"])
    if most > 1:
        less = most * Fraction(999_999, 1_000_000)
        document["claim"]["at_most"] = {"ratio": str(less), "exp": 0}
        document["claim"].pop("at_least", None)
        assert not check(document).accepted


def test_a_copy_of_the_kernel_checks_it(tmp_path: Path) -> None:
    shutil.copytree(KERNEL, tmp_path / "kernel", ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "odds.json"
    path.write_text(json.dumps(queue()), encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-I", str(tmp_path / "kernel"), str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0 and found.stdout.startswith("accepted (coupling)")


# forged -------------------------------------------------------------------------------------------


def _less(document: Any) -> None:
    document["claim"]["at_most"] = {
        "ratio": "999999/1000000",
        "exp": document["claim"]["at_most"]["exp"],
    }


def _more(document: Any) -> None:
    document["claim"]["at_least"] = {
        "ratio": "1000001/1000000",
        "exp": document["claim"]["at_least"]["exp"],
    }


@pytest.mark.parametrize("make", [queue, identical, theorem, two, listed])
@pytest.mark.parametrize("forge", [_less, _more])
def test_a_bound_that_is_too_good_is_refused(
    make: Callable[[], Any], forge: Callable[[Any], None]
) -> None:
    document = make()
    forge(document)
    assert not check(document).accepted


def _signed(document: Any) -> Any:
    document["digests"] = {name: digest_of(document[name]) for name in ("policy", "mechanism")}
    return document


def _set(*path: Any) -> Callable[[Any], None]:
    *keys, last, value = path

    def change(document: Any) -> None:
        for key in keys:
            document = document[key]
        document[last] = value

    return change


def _swapped(document: Any) -> None:
    order = next(order for order in document["proof"]["coupling"] if order)
    order[0] = len(order)


def _no_facts(document: Any) -> None:
    document["policy"]["known"] = []


FORGED: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
    "a coupling that is no permutation": (queue, _swapped),
    "a coupling that is missing": (queue, lambda d: d["proof"]["coupling"].pop()),
    "a coupling too many": (queue, lambda d: d["proof"]["coupling"].append([0])),
    "facts that are left out": (queue, _no_facts),
    "a smaller scale": (queue, _set("mechanism", "releases", 0, "scale", "1/2")),
    "a larger scale": (queue, _set("mechanism", "releases", 0, "scale", 2)),
    "a record that is doubtful": (queue, lambda d: d["belief"]["records"][1].append(["no", 1, -9])),
    "an output that tells less": (queue, _set("belief", "output", [[0, 0, "3/2"]])),
    "a belief about fewer records": (queue, lambda d: d["belief"]["records"].pop()),
    "statements that are one": (queue, _set("belief", "secret", [0, ["no"], ["no"]])),
    "identical records by a coupling": (queue, _set("attackers", "iid")),
    "any belief by a coupling": (queue, _set("attackers", "any")),
    "independent records by identical ones": (identical, _set("attackers", "independent")),
    "identical records by the theorem": (theorem, _set("attackers", "iid")),
    "the theorem under another scale": (theorem, _set("mechanism", "releases", 0, "scale", 3)),
    "the theorem about another query": (
        theorem, _set("mechanism", "releases", 0, "query", {"kind": "sum", "arguments": ["place"]})
    ),
    "the theorem by a forged certificate": (theorem, _set("proof", "certificate", "value", 2)),
    "the theorem under another policy": (theorem, _no_facts),
    "a belief that is not listed": (listed, _set("belief", "databases", 0, 1, 1)),
    "a list that is another": (listed, _set("listed", [])),
    "a database against the facts": (two, _set("belief", "databases", 0, 0, [["no"], ["yes"]])),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_certificate_of_odds_is_refused(name: str) -> None:
    make, forge = FORGED[name]
    document = make()
    forge(document)
    if name == "identical records by the theorem":
        assert not check(_signed(document)).accepted
        return
    try:
        assert not check(_signed(document)).accepted
    except Unreadable:
        return


def test_digests_belong_to_policy_and_mechanism() -> None:
    document = identical()
    other = copy.deepcopy(document)
    other["digests"]["mechanism"] = digest_of({})
    assert not check(other).accepted


@pytest.mark.parametrize(
    "change",
    [
        _set("claim", {}),
        _set("attackers", "friends"),
        _set("proof", {"kind": "magic"}),
        _set("surprise", 1),
        _set("claim", "at_most", {"ratio": 0, "exp": 0}),
        _set("claim", "at_most", {"ratio": -1, "exp": 0}),
        _set("mechanism", {}),
        _set("mechanism", "releases", 0, "scale", 0),
        _set("belief", "records", 0, 0, 1, -1),
        _set("belief", "secret", ["x"]),
        _set("belief", "output", [[0, [0], 1], [0, [0], 2]]),
    ],
)
def test_what_is_no_certificate_of_odds_is_unreadable(change: Callable[[Any], None]) -> None:
    document = queue()
    change(document)
    with pytest.raises(Unreadable):
        check(_signed(document))
