"""What an attacker learns, against a reference that follows Definition 3.1 letter by letter."""

import json
import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.models import (
    Count,
    Database,
    Domain,
    Labels,
    Policy,
    PolicyError,
)
from blowproof.models.attackers.attackers import Attackers, Kind
from blowproof.models.attackers.beliefs import Chain, Listed, Records
from blowproof.models.mechanisms.mechanism import Channel, Mechanism, Release
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.odds.base.answer import Factor, Odds
from blowproof.verifier.odds.coupling import coupling
from blowproof.verifier.odds.odds import odds
from corpus import TRAP, exam_queue
from tiny_attackers import a_channel, a_policy, beliefs, possible, reference

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "attackers"
ONE = Fraction(1)


def as_fraction(found: Odds) -> tuple[Fraction, Fraction | None]:
    upper = None if found.upper is None else Fraction(found.upper.text)
    return Fraction(found.lower.text), upper


@pytest.mark.parametrize("seed", range(60))
def test_no_belief_does_better_where_facts_are_equalities(seed: int) -> None:
    """`odds` says "exactly", so no belief on a grid is above it, and its own belief reaches it."""
    rng = random.Random(seed)
    policy = a_policy(rng, ["equal"])
    databases = possible(policy)
    channel, rows = a_channel(rng, databases)
    found = odds(Mechanism(channel=channel), policy, ONE)
    lower, upper = as_fraction(found)
    assert found.exact and lower == upper
    size = len(databases[0])
    for belief in beliefs(rng, list(policy.domain.points()), size, 40):
        told = reference(policy, rows, belief)
        assert told is None or told <= lower
    if found.shown is not None:
        prior = found.shown.prior["records"]
        shown = [
            {x: Fraction(0) for x in policy.domain.points()}
            | {policy.domain.encode(x): Fraction(p) for x, p in row}
            for row in prior
        ]
        assert reference(policy, rows, shown) == lower


@pytest.mark.parametrize("seed", range(40))
def test_no_belief_does_better_with_bounds_and_clauses(seed: int) -> None:
    rng = random.Random(1000 + seed)
    policy = a_policy(rng, ["equal", "bound", "clause"])
    databases = possible(policy)
    channel, rows = a_channel(rng, databases)
    found = odds(Mechanism(channel=channel), policy, ONE)
    lower, upper = as_fraction(found)
    assert upper is not None and lower <= upper
    for belief in beliefs(rng, list(policy.domain.points()), len(databases[0]), 40):
        told = reference(policy, rows, belief)
        assert told is None or told <= upper


@pytest.mark.parametrize("seed", range(20))
def test_any_belief_is_two_databases(seed: int) -> None:
    rng = random.Random(2000 + seed)
    policy = a_policy(rng, ["equal", "bound", "clause"])
    databases = possible(policy)
    channel, rows = a_channel(rng, databases)
    found = odds(Mechanism(channel=channel), policy, ONE, attackers=Attackers(kind="any"))
    best = max(
        (
            rows[d][w] / rows[e][w]
            for d, e in product(databases, repeat=2)
            for w in range(2)
            if any(policy.graph.is_edge(x, y) for x, y in zip(d, e, strict=True) if x != y)
        ),
        default=ONE,
    )
    assert as_fraction(found) == (max(best, ONE), max(best, ONE))


@pytest.mark.parametrize("seed", range(12))
def test_additive_noise_against_independent_beliefs_costs_s_of_reading_5(seed: int) -> None:
    rng = random.Random(3000 + seed)
    policy = a_policy(rng, ["equal"])
    noise = Mechanism(releases=(Release(query="histogram", scale=Fraction(2)),))
    found = odds(noise, policy, ONE)
    wide = sensitivity(policy, reading="pufferfish")
    assert found.exact and found.lower.loss == Fraction(wide.lower) / 2


def test_the_coupling_of_the_theorem_is_there() -> None:
    """For random families of effects some permutation agrees on irreducible sets only."""
    rng = random.Random(7)
    for _ in range(400):
        size, width = rng.randint(2, 7), rng.randint(1, 2)
        effects = [tuple(rng.randint(-2, 2) for _ in range(width)) for _ in range(size)]
        assert coupling(effects, 0) is not None


# known answers ------------------------------------------------------------------------------------


def laplace(query: str, scale: int, attackers: Attackers | None = None) -> Mechanism:
    return Mechanism(releases=(Release(query=query, scale=Fraction(scale)),), attackers=attackers)


def test_noise_for_published_neighbours_lets_odds_move_by_twice_epsilon() -> None:
    found = odds(laplace("histogram", 2), TRAP, ONE)
    assert (found.verdict, found.lower.text, found.exact) == ("exceeded", "exp(2)", True)
    assert odds(laplace("histogram", 4), TRAP, ONE).verdict == "within"
    assert odds(laplace("histogram", 2), TRAP, ONE, attackers=Attackers(kind="any")).exact


@pytest.mark.parametrize("students", [2, 5, 12])
def test_the_exam_queue_is_about_any_two_states(students: int) -> None:
    """pufferfish-2012, Equation 18: exactly, whatever the number of students."""
    found = odds(laplace("count(passes)", 1), exam_queue(students), ONE)
    assert (found.lower.text, found.exact) == (f"exp({students})", True)
    assert found.shown is not None and found.shown.reached.loss is None  # in the limit only


def test_randomised_response_of_independent_records_moves_odds_by_its_own_ratio() -> None:
    rows = (("3/4", "1/4"), ("1/4", "3/4"))
    channel = Channel(of="record", inputs=("no", "yes"), outputs=("no", "yes"), rows=rows)
    domain = Domain(ill=Labels(["no", "yes"]))
    free = Policy(domain=domain, database=Database(size=3))
    assert odds(Mechanism(channel=channel), free, ONE).lower.text == "3"
    tied = Policy(domain=domain, known=(Count({"ill": "yes"}, answer=1),), database=free.database)
    assert odds(Mechanism(channel=channel), tied, ONE).lower.text == "9"


def test_a_chain_of_infections_by_hand() -> None:
    """Two people, the second as the first with probability 9/10: sums of four databases."""
    rows = (("3/4", "1/4"), ("1/4", "3/4"))
    channel = Channel(of="record", inputs=("no", "yes"), outputs=("no", "yes"), rows=rows)
    step = ((Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 10), Fraction(9, 10)))
    chain = Chain((Fraction(1, 2), Fraction(1, 2)), step)
    policy = Policy(domain=Domain(ill=Labels(["no", "yes"])), database=Database(size=2))
    found = odds(
        Mechanism(channel=channel, attackers=Attackers(kind="markov", listed=(chain,))), policy, ONE
    )
    sick = Fraction(3, 4) * (Fraction(9, 10) * Fraction(3, 4) + Fraction(1, 10) * Fraction(1, 4))
    well = Fraction(1, 4) * (Fraction(1, 10) * Fraction(3, 4) + Fraction(9, 10) * Fraction(1, 4))
    assert Fraction(found.lower.text) == sick / well


def test_attackers_without_the_facts_see_one_record_change() -> None:
    found = odds(laplace("histogram", 2), TRAP, ONE, attackers=Attackers(given_facts=False))
    assert (found.lower.text, found.exact) == ("exp(1)", True)


def test_statements_of_probability_0_are_skipped_and_said() -> None:
    sure = Listed((("no", "no"), ("yes", "no")), (Fraction(1, 2), Fraction(1, 2)))
    policy = Policy(domain=Domain(ill=Labels(["no", "yes"])), database=Database(size=2))
    found = odds(laplace("histogram", 2, Attackers(kind="listed", listed=(sure,))), policy, ONE)
    assert found.lower.text == "exp(1)"
    assert any("probability 0" in note for note in found.notes)


def test_identical_records_are_bounded_by_independent_ones() -> None:
    found = odds(laplace("histogram", 2), TRAP, ONE, attackers=Attackers(kind="iid"))
    assert found.upper is not None and found.upper.text == "exp(2)"
    assert not found.lower.above(found.upper)


def test_a_belief_that_the_facts_refute_is_refused() -> None:
    never = Listed((((0,), (0,), (0,)),), (ONE,))
    with pytest.raises(PolicyError, match="no database possible") as raised:
        odds(laplace("histogram", 2, Attackers(kind="listed", listed=(never,))), TRAP, ONE)
    assert raised.value.key == "attackers.listed[0]"


def test_a_product_with_a_wrong_width_is_refused() -> None:
    wrong = Records(((ONE,), (ONE,), (ONE,)))
    with pytest.raises(PolicyError, match="for 4 values"):
        odds(laplace("histogram", 2, Attackers(kind="listed", listed=(wrong,))), TRAP, ONE)


@pytest.mark.parametrize("kind", ["independent", "any", "iid"])
def test_no_time_at_all_gives_sound_bounds(kind: Kind) -> None:
    """Whatever is stopped says no more than it knows, and does not break."""
    found = odds(
        laplace("count(passes)", 1),
        exam_queue(6),
        ONE,
        attackers=Attackers(kind=kind),
        time_limit=1e-9,
    )
    assert not found.lower.above(Factor.exp(6))
    assert found.upper is None or not Factor.exp(6).above(found.upper)


# the command --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "policy", "epsilon", "code"),
    [
        ("trap_histogram", "trap", "1", 1),
        ("trap_histogram", "trap", "2", 0),
        ("household_cases", "household", "1", 1),
        ("household_cases", "household", "4", 0),
        ("household_answers", "household", "1", 1),
        ("household_answers", "household", "4", 0),
    ],
)
def test_the_command_ends_with_the_verdict(
    capsys: pytest.CaptureFixture[str], mechanism: str, policy: str, epsilon: str, code: int
) -> None:
    files = [str(EXAMPLES / f"{mechanism}.toml"), "--policy", str(EXAMPLES / f"{policy}.toml")]
    assert run(["odds", *files, "--epsilon", epsilon, "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "blowproof/odds/1"
    assert document["verdict"] == ("exceeded" if code else "within")
    assert set(document) >= {"ratio", "prior", "secret", "output", "attackers"}
    assert run(["odds", *files, "--epsilon", epsilon]) == code
    assert "Before, this attacker believes" in capsys.readouterr().out


def test_bad_attackers_are_refused_with_the_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        '[[release]]\nquery = "histogram"\nscale = 2\n[attackers]\nkind = "listed"\n'
        'listed = [{ databases = [[0, 0, 0]], probabilities = ["1/2"] }]\n',
        encoding="utf-8",
    )
    code = run(["odds", str(path), "--policy", str(EXAMPLES / "trap.toml"), "--epsilon", "1"])
    text = capsys.readouterr().err
    assert code == 2 and "add up to 1/2, not to 1" in text
    assert "attackers.listed[0].probabilities" in text and "m.toml:6" in text
