"""The gate: what the certifier did not prove is not drawn, and there is no way around it."""

import ast
import copy
import pickle
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.kinds.lemmas import LEMMAS, SQUARES, flows_change, memberships_change
from blowproof.mechanisms.kinds.transformed import Flows, NoisyTable
from blowproof.mechanisms.release import gate
from blowproof.mechanisms.release.gate import Permit, choose, noisy
from blowproof.mechanisms.release.registry import MECHANISMS
from blowproof.mechanisms.release.registry import plan as planned
from blowproof.mechanisms.release.release import Draw, Plan, Request, release
from blowproof.mechanisms.structures.memberships import Memberships
from blowproof.models import (
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Full,
    Integers,
    InternalError,
    PartitionCells,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.models.secrets.written import SecretsSpec
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.engines.one_move.worst_edge import worst_edge

SIZE = 12
LINE = Domain(x=Integers(0, SIZE - 1))
COUNTS = np.array([9, 0, 3, 3, 3, 1, 0, 0, 7, 2, 2, 5])
PLAIN = Policy(domain=LINE, secrets=Distance(threshold=1))
GRID = Policy(domain=Domain(x=Integers(0, 3), y=Integers(0, 2)), secrets=Distance(threshold=1))
KNOWN = replace(
    PLAIN,
    known=(Count({"x": Between(0, 3)}, answer=15),),
    database=Database(size=int(COUNTS.sum())),
)
ONE, HALF = Fraction(1), Fraction(1, 2)
ADAPTIVE = {"k-means", "dawa", "dawa-transformed", "matching-transformed"}
ROOT = Path(__file__).resolve().parents[3]


def plan(name, request) -> Any:
    """A plan, whatever kind it is."""
    return planned(name, request)


class Account:
    """A budget that counts the charges."""

    charges = 0

    def spend(self, request, mechanism, data):
        self.charges += 1
        return ()


def data(domain=LINE):
    return NoisyTable(COUNTS.copy(), domain)


def request(name="laplace", **rest):
    query = "cumulative(x)" if name in ("ordered", "hierarchical") else "histogram"
    policy = {"consistent": KNOWN, "quadtree": GRID}.get(name, PLAIN)
    promise: Any = {"rho": ONE} if name == "gaussian" else {"epsilon": ONE}
    return Request(policy=policy, query=query, accept_wide_bounds=True, **promise, **rest)


@pytest.fixture
def no_noise(monkeypatch):
    """The sampler fails the test."""

    def drawn(*arguments, **keywords):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(gate, "raw_discrete_laplace", drawn)
    monkeypatch.setattr(gate, "raw_discrete_gaussian", drawn)
    monkeypatch.setattr(gate, "raw_interval_choice", drawn)
    monkeypatch.setattr(gate, "raw_block_choice", drawn)
    monkeypatch.setattr(gate, "raw_k_norm", drawn)
    monkeypatch.setattr(gate, "raw_steps", drawn)
    monkeypatch.setattr(gate, "raw_gaussian_steps", drawn)


def judged(monkeypatch, verdict, *, after=0):
    """The certifier says this, after so many verdicts of its own."""
    calls = []

    def fake(*arguments, **keywords):
        calls.append(arguments[0])
        found = certify(*arguments, **keywords)
        return found if len(calls) <= after else replace(found, verdict=verdict)

    monkeypatch.setattr(gate, "certify", fake)
    return calls


# --- without a proof ---------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["refuted", "undecided"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_what_is_not_proved_is_not_drawn(monkeypatch, no_noise, name, verdict):
    calls = judged(monkeypatch, verdict)
    with pytest.raises(RefusedError, match=f"{verdict} by the certifier"):
        plan(name, request(name))
    assert len(calls) == 1


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_plan_made_elsewhere_meets_the_gate_before_the_charge(monkeypatch, no_noise, name):
    made = plan(name, request(name))
    gate._PROVED.clear()
    judged(monkeypatch, "refuted")
    account = Account()
    with pytest.raises(RefusedError):
        release(made, data(made.request.policy.domain), budget=account)
    assert account.charges == 0


@pytest.mark.parametrize("verdict", ["refuted", "undecided"])
@pytest.mark.parametrize("name", sorted(ADAPTIVE))
def test_a_later_step_that_is_not_proved_is_not_drawn(monkeypatch, name, verdict):
    """The steps before it were; that one is a bug, whatever the data are."""
    made = plan(name, request(name))
    calls = judged(monkeypatch, verdict, after=1)
    drawn = []
    raw = gate.raw_discrete_laplace

    def counted(scale, size):
        drawn.append(len(calls))
        return raw(scale, size)

    chosen = gate.raw_interval_choice

    def choice(costs, rate):
        drawn.append(len(calls))
        return chosen(costs, rate)

    monkeypatch.setattr(gate, "raw_discrete_laplace", counted)
    monkeypatch.setattr(gate, "raw_interval_choice", choice)
    with pytest.raises(InternalError, match="was not drawn"):
        release(made, data())
    assert set(drawn) == {1} and len(calls) == 2


class Greedy(Plan):
    """A mechanism with too little noise, declared as it is."""

    name = "greedy"

    def __init__(self, request, scale, *, adaptive=False):
        super().__init__(request)
        self.release = Release(query="histogram", noise="discrete-laplace", scale=scale)
        if adaptive:
            self.opening = (self.release,)
        else:
            self.description = self.described(self.release)

    def run(self, draw):
        return draw(self.release)


@pytest.mark.parametrize("adaptive", [False, True])
def test_too_small_a_scale_is_refused_before_the_charge(no_noise, adaptive):
    account = Account()
    made = Greedy(request(), Fraction(199, 100), adaptive=adaptive)
    with pytest.raises(RefusedError, match="loses more than epsilon"):
        release(made, data(), budget=account)
    assert account.charges == 0


@pytest.mark.parametrize("adaptive", [False, True])
def test_the_scale_that_is_enough_is_drawn(adaptive):
    account = Account()
    found = release(Greedy(request(), Fraction(2), adaptive=adaptive), data(), budget=account)
    assert account.charges == 1 and len(found.answers) == SIZE


class Liar(Greedy):
    """Declares one thing and draws another."""

    def __init__(self, request, drawn, **rest):
        super().__init__(request, Fraction(2), **rest)
        self.other = drawn

    def run(self, draw):
        return draw(self.other)


@pytest.mark.parametrize(
    "other",
    [
        Release(query="histogram", noise="discrete-laplace", scale=Fraction(1, 100)),
        Release(query="cumulative(x)", noise="discrete-laplace", scale=Fraction(2)),
        Release(query="histogram", noise="discrete-laplace", scale=Fraction(2), grid=HALF),
        Release(query="histogram", noise="laplace", scale=Fraction(2)),
    ],
    ids=["scale", "query", "grid", "noise"],
)
def test_other_noise_than_declared_is_not_drawn(no_noise, other):
    with pytest.raises(InternalError, match="other noise than it declared"):
        release(Liar(request(), other), data())


def test_a_step_that_opens_well_and_draws_too_little_is_not_drawn(no_noise):
    weak = Release(query="histogram", noise="discrete-laplace", scale=ONE)
    with pytest.raises(InternalError, match="was not drawn"):
        release(Liar(request(), weak, adaptive=True), data())


class Twice(Greedy):
    """Draws what it declared, and again."""

    def run(self, draw):
        draw(self.release)
        return draw(self.release)


@pytest.mark.parametrize("adaptive", [False, True])
def test_what_is_declared_once_is_drawn_once(adaptive):
    """Step by step too: the second draw finds no epsilon left."""
    with pytest.raises(InternalError):
        release(Twice(request(), Fraction(2), adaptive=adaptive), data())


def test_steps_share_one_epsilon():
    """Two steps at half the price are all that there is."""
    assert len(release(Twice(request(), Fraction(4), adaptive=True), data()).measured) == 2


def test_a_mechanism_that_draws_less_than_it_declared_releases_nothing():
    made: Any = Greedy(request(), Fraction(2))
    made.run = lambda draw: None
    with pytest.raises(InternalError, match="less noise"):
        release(made, data())


def test_a_plan_that_describes_nothing_draws_nothing(no_noise):
    made = Greedy(request(), Fraction(2))
    made.description = None
    with pytest.raises(InternalError, match="describes nothing"):
        release(made, data())


# --- permits ------------------------------------------------------------------------------------


def permit():
    made = plan("laplace", request())
    return gate.Gate(made).permit(made.description.releases[0])


def truth():
    from blowproof.mechanisms.answers.true_answers import true_answers

    return true_answers("histogram", PLAIN, data())


def test_a_permit_is_used_up_by_drawing():
    mine = permit()
    assert len(noisy(mine, truth())) == SIZE
    with pytest.raises(InternalError, match="was used"):
        noisy(mine, truth())


def test_a_permit_for_a_choice_draws_no_answers_and_the_other_way_round(no_noise):
    with pytest.raises(InternalError, match="covers a release"):
        choose(permit(), truth(), Fraction(1))
    made = plan("dawa", request())
    with pytest.raises(InternalError, match="covers a choice"):
        noisy(gate.Gate(made).permit(made.selection), truth())


def test_permits_are_neither_made_nor_changed_nor_copied(no_noise):
    item = Release(query="histogram", noise="discrete-laplace", scale=Fraction(0))
    with pytest.raises(InternalError, match="come from the gate"):
        Permit(object(), item)
    mine = permit()
    with pytest.raises(InternalError, match="does not change"):
        mine._covers = item
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(InternalError, match="not copied"):
            copied(mine)
    forged = object.__new__(Permit)
    object.__setattr__(forged, "_covers", item)
    forgeries: list[Any] = [forged, item, None]
    for wrong in forgeries:
        with pytest.raises(InternalError):
            noisy(wrong, truth())


def test_a_plan_that_changes_after_its_proof_is_judged_again(no_noise):
    made = plan("laplace", request())
    weak = replace(made.description.releases[0], scale=ONE)
    made.release, made.description = weak, made.described(weak)
    with pytest.raises(RefusedError, match="loses more than epsilon"):
        release(made, data())


@pytest.mark.parametrize("name", ["transformed", "k-means"])
def test_what_was_proved_is_not_changed_in_place(name):
    """Arrays within a query are part of what a permit covers."""
    policy = replace(PLAIN, secrets=Full())
    made = plan(name, Request(policy=policy, epsilon=ONE, accept_wide_bounds=True))
    query: Any = (*(made.description or ()), *made.opening)[0].query
    held = query.forest.parent if name == "transformed" else query.clusters.centroids
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 0


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_release_says_what_it_is_proved_to_lose(name):
    """All that was drawn, judged again by itself, loses what the document says, or less."""
    asked = request(name)
    found = release(plan(name, asked), data(asked.policy.domain))
    told = found.to_json()
    assert told["private"] == "proved" and Fraction(told["loss"]) == found.loss
    again = certify(
        found.description, asked.policy, asked.promise, lemmas=LEMMAS, squares=SQUARES, enough=True
    )
    limit = asked.promise.limit
    assert again.verdict == "proved" or name in ADAPTIVE
    assert 0 < found.loss <= limit
    assert name in ADAPTIVE or found.loss == again.upper


# --- no other way to the noise ------------------------------------------------------------------

SAMPLERS = {"discrete_laplace", "discrete_gaussian", "k_norm", "interval_choice", "block_choice",
            "log_concave", "polytope", "steps"}  # fmt: skip
NOISE = tuple(f"mechanisms.noise.{name}" for name in sorted(SAMPLERS))
SIZES = {"Noise", "Source", "WORD", "MOST_DIMENSIONS", "dimension", "steps_at", "step_noise",
         "MOST_BLOCKS", "Body", "Rows", "body_of", "kept_of"}  # fmt: skip
"""What is no noise."""


def _reaches_noise(code):
    """Ways to randomness in a module's code: the sampler, raw_ names, and the usual generators."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                named = {alias.name for alias in names}
                if module.endswith(NOISE) and not named <= SIZES:
                    yield f"{module}: {named}"
                if module.endswith("blowproof.mechanisms.noise") and named & SAMPLERS:
                    yield f"{module}: noise"
                if module.split(".")[0] in ("random", "secrets"):
                    yield module
                yield from (name for name in named if name.startswith("raw_"))
            case ast.Import(names=names):
                yield from (
                    alias.name
                    for alias in names
                    if alias.name.split(".")[0] in ("random", "secrets")
                    or alias.name.endswith(NOISE)
                )
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"):
                yield "numpy.random"
            case ast.Attribute(attr=str(attr)) | ast.Name(id=str(attr)):
                if attr in ("urandom", "getrandbits", "default_rng", "_TOKEN", "_UNUSED"):
                    yield attr
                if attr.startswith("raw_"):
                    yield attr


REHEARSING = {"expecting/rehearsal", "expecting/k_norm_error", "expecting/polytope_error",
              "combining/estimator"}  # fmt: skip
"""Noise with a seed, for made-up data: no record is there to be seen (`Stage` opens no file)."""


KEYS = {"budget/fingerprints"}
"""A key is drawn, and no noise: nothing there knows of answers."""


def test_who_draws_a_key_knows_of_no_answers():
    for place in KEYS:
        tree = ast.parse((ROOT / f"mechanisms/{place}.py").read_text(encoding="utf-8"))
        modules = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        rooms = ("answers", "noise", "release", "kinds")
        assert not any(
            name.startswith(f"blowproof.mechanisms.{it}") for name in modules for it in rooms
        )


def test_a_rehearsal_sees_no_data():
    tree = ast.parse((ROOT / "mechanisms/expecting/rehearsal.py").read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not modules & {
        "blowproof.mechanisms.release.draw",
        "blowproof.mechanisms.release.gate",
        "blowproof.models.data.tabular",
    }


@pytest.mark.parametrize(
    "path", sorted((ROOT / "mechanisms").rglob("*.py")), ids=lambda path: path.stem
)
def test_only_the_gate_reaches_the_sampler(path):
    found = sorted(set(_reaches_noise(path.read_text(encoding="utf-8"))))
    place = f"{path.parent.name}/{path.stem}"
    if place in REHEARSING:
        assert set(found) <= {"numpy.random", "default_rng"}
    elif place in KEYS:
        assert found == ["urandom"]
    else:
        samplers = {"release/gate", *(f"noise/{name}" for name in SAMPLERS - {"log_concave"})}
        assert bool(found) == (place in samplers), found


HEADERS = {"raw_headers"}
"""What a web server calls its own, and no sampler of ours."""


@pytest.mark.parametrize("package", ["models", "verifier", "cli"])
def test_no_other_package_draws_noise(package):
    for path in sorted((ROOT / package).rglob("*.py")):
        assert not any(
            (name.startswith("raw_") and name not in HEADERS) or "mechanisms.noise" in name
            for name in _reaches_noise(path.read_text(encoding="utf-8"))
        ), path


@pytest.mark.parametrize(
    "code",
    [
        "from blowproof.mechanisms.noise.discrete_laplace import raw_discrete_laplace",
        "from blowproof.mechanisms.noise.discrete_laplace import Geometric",
        "from blowproof.mechanisms.noise import discrete_laplace as noise",
        "import blowproof.mechanisms.noise.discrete_laplace as n",
        "from blowproof.mechanisms.noise.discrete_gaussian import raw_discrete_gaussian",
        "from blowproof.mechanisms.noise import discrete_gaussian as noise",
        "import blowproof.mechanisms.noise.discrete_gaussian as n",
        "from blowproof.mechanisms.release.gate import raw_noisy",
        "gate.raw_noisy(1, 2)",
        "gate._TOKEN",
        "import os\nos.urandom(8)",
        "np.random.default_rng()",
        "import random",
        "from secrets import randbelow",
    ],
)
def test_ways_around_are_found(code):
    assert list(_reaches_noise(code))


# --- what the gate knows and what it asks ---------------------------------------------------------


def test_no_question_is_asked_twice(monkeypatch):
    """S of the planning is the proof of the scale that was made from it, bounds included."""
    asked = []

    def oracle(policy, query, reading, limit):
        from blowproof.verifier.ask import sensitivity

        asked.append(query.name)
        found: Any = sensitivity(policy, query, reading=reading)
        return replace(found, lower=max(0, found.upper - 1), status="bounds")

    def never(*arguments, **keywords):
        raise AssertionError("an engine was asked")

    monkeypatch.setattr("blowproof.verifier.certify.noise.additive.sensitivity", never)
    for name in ("laplace", "consistent", "transformed"):
        made = plan(name, Request(policy=KNOWN, epsilon=ONE, oracle=oracle))
        assert gate.proved(made).verdict == "proved"
    assert asked


def test_what_is_known_of_one_scale_holds_at_another():
    from blowproof.verifier.certify.base.asked_before import Known

    known = Known()
    mechanism = Mechanism(
        releases=(
            Release(query="histogram", scale=Fraction(2)),
            Release(query="cumulative(x)", scale=Fraction(3)),
        )
    )
    first: Any = certify(mechanism, KNOWN, ONE, known=known)
    scaled = Mechanism(
        releases=tuple(replace(item, scale=item.scales[0] * 7) for item in mechanism.releases)
    )
    other = Mechanism(releases=(mechanism.releases[0], replace(scaled.releases[1])))
    assert certify(scaled, KNOWN, ONE, known=known).loss == first.loss / 7
    assert certify(other, KNOWN, ONE, known=known).loss == certify(other, KNOWN, ONE).loss


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_what_is_known_of_groups_is_added_up_and_enough_if_it_is_promised(noise, monkeypatch):
    """The sum is no less than all together (by brute force), and no search is needed to prove it.

    Where the noise is too narrow for the sum, all are asked for together.
    """
    from blowproof.verifier.certify.base.asked_before import Known

    def drawn(query: str, width: int) -> Release:
        if noise == "laplace":
            return Release(query=query, scale=Fraction(width))
        return Release(query=query, noise="discrete-gaussian", variance=Fraction(width))

    def promise(size: Fraction) -> Promise:
        return Promise(size) if noise == "laplace" else Promise(rho=size)

    facts = (Count({"x": Between(0, 1)}, answer=1),)
    halves = PartitionCells([{"x": Between(0, 1)}, {"x": Between(2, 3)}])
    small = Policy(
        domain=Domain(x=Integers(0, 3)), secrets=halves, known=facts, database=Database(size=3)
    )
    pairs = Mechanism(releases=(drawn("range(x,2,2)", 9), drawn("range(x,3,3)", 40)))
    last = Mechanism(releases=(drawn("range(x,0,0)", 3),))
    every = Mechanism(releases=(last.releases[0], *pairs.releases))
    known = Known()
    for group in (pairs, last):
        certify(group, small, promise(ONE), known=known)

    def exactly(mechanism: Mechanism) -> Fraction:
        found = certify(mechanism, small, promise(ONE), engine="brute").upper
        assert isinstance(found, (int, Fraction))
        return Fraction(found)

    most, alone = exactly(every), exactly(pairs) + exactly(last)
    assert alone > most

    def never(*arguments: Any, **keywords: Any) -> Any:
        raise AssertionError("an engine was asked")

    place = "additive" if noise == "laplace" else "gaussian"
    with monkeypatch.context() as patch:
        patch.setattr(f"blowproof.verifier.certify.noise.{place}.sensitivity", never)
        found = certify(every, small, promise(alone), known=known, enough=True)
        assert found.verdict == "proved" and found.upper == alone
        assert isinstance(found.lower, (int, Fraction)) and found.lower <= most
        with pytest.raises(AssertionError, match="an engine was asked"):
            certify(every, small, promise(most), known=known, enough=True)
    assert certify(every, small, promise(most), known=known, enough=True).upper == most


def test_a_release_that_is_made_twice_is_not_known_by_one() -> None:
    """One and the same part twice loses twice as much: the second is not known."""
    from blowproof.verifier.certify.base.asked_before import Known
    from blowproof.verifier.certify.base.verdict import LossBounds

    policy = Policy(domain=LINE)
    part = Part(parse_query("histogram", policy), (Fraction(1),))
    other = Part(parse_query("cumulative(x)", policy), (Fraction(1),))
    known = Known()
    known.keep([part], LossBounds(lower=2, upper=2, pair=None, engine="auto", notes=()))
    assert known.added([part, part]) is None
    known.keep([other], LossBounds(lower=11, upper=11, pair=None, engine="auto", notes=()))
    assert known.added([part, other, part]) is None
    found = known.added([part, other])
    assert found is not None
    assert (found.lower, found.upper) == (11, 13)


# --- the arguments that the gate stands for -------------------------------------------------------

GRAPHS: dict[str, SecretsSpec] = {
    "near": Distance(threshold=1),
    "far": Distance(threshold=4),
    "full": Full(),
    "cells": PartitionCells([{"x": Between(3 * k, 3 * k + 2)} for k in range(4)]),
    "edges": Edges([[{"x": 0}, {"x": 11}], [{"x": 3}, {"x": 5}], [{"x": 5}, {"x": 9}]]),
}


def worst(query, policy) -> Any:
    found = worst_edge(setting(policy, None), (Part(query, (ONE,)),))
    assert found is not None
    return found.loss


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(
    "name", ["transformed", "dawa", "dawa-transformed", "matching-transformed"]
)
def test_the_argument_about_flows_is_the_worst_edge(graph, name):
    policy = replace(PLAIN, secrets=GRAPHS[graph])
    found = release(plan(name, Request(policy=policy, epsilon=ONE)), data())
    for item in found.description:
        if isinstance(item.query, Flows):
            assert flows_change(item.query, policy) == worst(item.query, policy)


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_argument_about_clusters_is_never_too_small(graph):
    policy = replace(PLAIN, secrets=GRAPHS[graph])
    made = plan("k-means", Request(policy=policy, epsilon=ONE, options={"iterations": "2"}))
    for item in release(made, data()).description:
        assert isinstance(item.query, Memberships)
        said = memberships_change(item.query, policy)
        assert said is not None and said >= worst(item.query, policy)


def test_a_wrong_argument_is_refuted_by_a_pair():
    """Numbers that wrapped around gave k-means a scale of 0 on values up to 2^32 - 1."""
    wide = Policy(domain=Domain(x=Integers(0, 2**32 - 1)))
    made = plan("k-means", Request(policy=wide, epsilon=ONE, options={"iterations": "1"}))
    wrong = tuple(replace(item, scale=item.scales[0] / 2**30) for item in made.opening)
    zero = tuple(replace(item, scale=Fraction(0)) for item in made.opening)
    for releases in (wrong, zero):
        for lemmas in (LEMMAS, (lambda query, policy: 0,)):
            found = certify(Mechanism(releases=releases), wide, ONE, lemmas=lemmas)
            assert found.verdict == "refuted" and found.witness is not None


def test_an_argument_about_squares_is_believed_only_where_no_edge_refutes_it():
    wide = Policy(domain=Domain(x=Integers(0, 2**32 - 1)))
    rho = Promise(rho=ONE)
    made = plan("k-means", Request(policy=wide, rho=ONE, options={"iterations": "1"}))
    mechanism = Mechanism(releases=tuple(made.opening))
    assert certify(mechanism, wide, rho, squares=SQUARES).verdict == "proved"
    narrow = tuple(replace(item, variance=item.widths[0] / 2**20) for item in made.opening)
    for squares in (SQUARES, (lambda query, policy: 1,), ()):
        found = certify(Mechanism(releases=narrow), wide, rho, lemmas=LEMMAS, squares=squares)
        assert found.verdict != "proved"


@pytest.mark.parametrize("name", ["dawa", "dawa-transformed", "transformed", "k-means"])
def test_wide_domains_are_proved_too(name):
    """Beyond what anything lists row by row."""
    size = 30_000
    policy = Policy(domain=Domain(x=Integers(0, size - 1)), secrets=Distance(threshold=1))
    wide = Request(policy=policy, epsilon=ONE)
    counts = np.random.default_rng(0).poisson(5, size)
    found = release(plan(name, wide), NoisyTable(counts, policy.domain))
    assert sum(len(item.scales) for item in found.description) >= 1


def test_the_true_answers_stay_behind_the_gate():
    """`Draw` hands out noisy answers; what it counted is no public name of it."""
    made = plan("laplace", request())
    public = {name for name in dir(Draw(made, data())) if not name.startswith("_")}
    assert public == {"choose", "chosen", "drawn", "loss", "noisy", "policy", "prepare",
                      "public_size", "once"}  # fmt: skip
