"""The audit of the 2020 Census: certified numbers, each with its pair, over a tree of millions."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from blowproof.models import AttributeChange, Between, Impossible, PartitionBy
from blowproof.models.files.reading import read_policy
from blowproof.models.mechanisms.mechanism_file import read_mechanism
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.measures.orders import epsilon_at

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "census2020"
PROMISED = 1 / Fraction(339, 542) ** 2
WITHIN = PartitionBy(["state"])
TWO_STATES = Impossible({"state": Between(3, 51)})


def policy(parts=""):
    return read_policy(FOLDER / f"policy{parts}.toml")


def rho(found, parts="", reading="published"):
    """The certified rho, and how many records the pair changes."""
    mechanism = read_mechanism(FOLDER / f"mechanism{parts}.toml")
    found = certify(mechanism, found, Promise(rho=PROMISED), reading=reading)
    assert found.lower == found.upper and found.witness is not None
    return found.loss, len(found.witness.before)


def without_totals(found):
    return replace(found, known=tuple(f for f in found.known if isinstance(f, Impossible)))


@pytest.mark.parametrize("parts", ["", "_with_parts"])
def test_without_invariants_it_is_what_was_promised(parts):
    assert rho(without_totals(policy(parts)), parts) == (PROMISED, 1)
    assert round(float(epsilon_at(PROMISED, Fraction(1, 10**10))), 2) == 17.14


def test_a_record_that_moves_within_its_state():
    """All but the state totals: those are known, and cost what nobody pays."""
    state_totals = Fraction(1440, 4099) * Fraction(3773, 4097) * PROMISED
    assert rho(replace(policy(), secrets=WITHIN)) == (PROMISED - state_totals, 1)
    assert rho(replace(policy("_with_parts"), secrets=WITHIN), "_with_parts") == (PROMISED, 1)


def test_two_records_that_trade_states():
    """The country's tables change by two each way, all others in two places."""
    country = Fraction(104, 4099) * PROMISED
    state_totals = Fraction(1440, 4099) * Fraction(3773, 4097) * PROMISED
    two = replace(policy(), known=(*policy().known, TWO_STATES))
    assert rho(two) == (4 * country + 2 * (PROMISED - country - state_totals), 2)


@pytest.mark.parametrize("reading", ["published", "secret-moves", "pufferfish"])
def test_the_worst_pair_goes_round_all_states(reading):
    """51^2 times the country's share, 51 times the rest; the District has one county."""
    country = Fraction(104, 4099) * PROMISED
    state_totals = Fraction(1440, 4099) * Fraction(3773, 4097) * PROMISED
    county_total = Fraction(447, 4099) * Fraction(3126, 4097) * PROMISED
    rest = PROMISED - country - state_totals
    expected = 51**2 * country + 51 * rest - county_total
    assert rho(policy(), reading=reading) == (expected, 51)


def test_any_one_attribute_is_secret():
    """Reading 2: nothing but the state changes, so the country's tables do not; of voting age and
    of hispanic there are two values, so that they change in an even number of states. Readings 1
    and 5: one record changes its state alone, the others as they like.
    """
    country = Fraction(104, 4099) * PROMISED
    state_totals = Fraction(1440, 4099) * Fraction(3773, 4097) * PROMISED
    county_total = Fraction(447, 4099) * Fraction(3126, 4097) * PROMISED
    of_two = Fraction(1440, 4099) * Fraction(12, 4097) * PROMISED  # voting age, and hispanic
    rest = 51 * (PROMISED - country - state_totals) - county_total - of_two
    secret = replace(policy(), secrets=AttributeChange())
    assert rho(secret, reading="secret-moves") == (rest, 51)
    assert rho(secret) == rho(secret, reading="pufferfish") == (rest + 50**2 * country, 51)


def test_four_cells():
    found, records = rho(policy(), reading="markov")
    assert (round(float(found), 3), records) == (6.711, 2)


def test_the_promise_is_refuted_with_the_pair():
    mechanism = read_mechanism(FOLDER / "mechanism.toml")
    found = certify(mechanism, policy(), Promise(rho=PROMISED))
    assert found.verdict == "refuted" and found.outputs_changed > 1_000
