"""The calibrations of blowfish-2014 as printed: which are proved, and which refuted."""

from dataclasses import replace
from fractions import Fraction

import pytest

from blowproof.models import Distance, setting
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.printed.calibrations import (
    HIERARCHY_READINGS,
    ordered_hierarchical,
    tree_height,
)
from blowproof.verifier.certify.printed.privacy_grid import (
    calibrations,
    printed_verdicts,
    smallest_refuting,
)
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair


@pytest.fixture(scope="module")
def certified():
    """What the certifier says of the grid."""
    return printed_verdicts(
        calibrations(
            sizes=(1, 2, 3, 4, 5, 7), fan_outs=(2, 3), splits=(Fraction(1, 4), Fraction(1, 2))
        )
    )


def verdicts(certified, claim, variant):
    found = {
        item.certified.verdict
        for item in certified
        if item.calibration.id == f"blowfish-2014/{claim}"
        and item.calibration.variant.startswith(variant)
    }
    assert found
    return found


@pytest.mark.parametrize(
    ("claim", "variant", "expected"),
    [
        ("section-7.1", "", {"proved"}),
        ("section-7.2", "basic tree", {"proved"}),
        ("theorem-7.2", "as-printed", {"proved", "refuted"}),
        ("theorem-7.2", "roots-not-released", {"proved", "refuted"}),
        ("theorem-7.2", "s1-as-s-node", {"proved", "refuted"}),
        ("theorem-7.2", "h-counts-levels", {"proved"}),
        ("lemma-6.1", "l1 distance", {"refuted"}),
        ("lemma-6.1", "attribute, square", {"refuted"}),
        ("lemma-6.1", "complete graph, from 0", {"proved"}),
        ("lemma-6.1", "complete graph, from 1", {"refuted"}),
        ("corollary-8.3", "a range, secret-moves", {"proved", "refuted"}),
        ("corollary-8.3", "a range, published", {"proved", "refuted"}),
        ("section-3.2", "a chain, scale 2/epsilon", {"proved", "refuted"}),
        ("section-3.2", "a known marginal", {"refuted"}),
    ],
)
def test_verdicts(certified, claim, variant, expected):
    assert verdicts(certified, claim, variant) == expected


@pytest.mark.parametrize(
    ("claim", "variant", "size", "loss"),
    [
        # theta = 2: s_2 and two roots and two leaves change, the roots unpaid for.
        ("theorem-7.2", "as-printed", 3, Fraction(11, 8)),
        ("theorem-7.2", "roots-not-released", 4, Fraction(11, 8)),
        ("theorem-7.2", "s1-as-s-node", 4, Fraction(9, 8)),
        ("theorem-7.2", "as-printed, theta = 1", 2, "inf"),  # h = 0: noise of scale 0
        ("lemma-6.1", "l1 distance, from 1", 2, Fraction(5, 4)),
        ("corollary-8.3", "a range, secret-moves", 4, 2),
        ("corollary-8.3", "a range, published", 5, 2),  # SEMANTICS: 5 values suffice
        ("section-3.2", "a chain, scale 2/epsilon, published", 4, 2),
    ],
)
def test_the_smallest_refuting_policies(certified, claim, variant, size, loss):
    item = smallest_refuting(certified)[f"blowfish-2014/{claim}", variant]
    assert item.calibration.policy.domain.size == size
    assert item.certified.loss == loss


def test_every_refutation_has_a_checked_pair(certified):
    for item in certified:
        if item.certified.verdict == "refuted":
            reading = item.calibration.reading
            prepared = prepare(setting(item.calibration.policy), reading)
            assert item.certified.witness is not None
            assert check_pair(prepared, reading, item.certified.witness)


@pytest.mark.parametrize("reading", HIERARCHY_READINGS, ids=lambda reading: reading.name)
@pytest.mark.parametrize(("theta", "fan_out"), [(2, 2), (3, 2), (4, 4), (5, 3)])
def test_losses_of_section_7_2_follow_the_text(reading, theta, fan_out):
    """Far from both ends: one S node, and the H nodes on two paths, roots included or not."""
    epsilon_s, epsilon_h = Fraction(3, 10), Fraction(7, 10)
    mechanism = ordered_hierarchical(
        size=4 * theta,
        theta=theta,
        fan_out=fan_out,
        epsilon_s=epsilon_s,
        epsilon_h=epsilon_h,
        reading=reading,
    )
    item = next(calibrations(sizes=(4 * theta,), fan_outs=(fan_out,)))
    policy = replace(item.policy, secrets=Distance(threshold=theta))
    found = certify(mechanism, policy, Fraction(1))
    height = tree_height(theta, fan_out)
    budgeted = height + reading.h_counts_nodes
    inner = epsilon_s + 2 * (height + reading.roots) * epsilon_h / (2 * budgeted)
    first = (height * (epsilon_s + epsilon_h) + (height + reading.roots) * epsilon_h) / (
        2 * budgeted
    )
    first += (epsilon_s + epsilon_h) / (2 * budgeted) if reading.s1_is_h else epsilon_s
    assert found.loss == max(inner, first)
