"""Clusters in a form of their own: sizes, errors and intervals that hold what they say."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from blowproof.mechanisms.expecting.clusters import Noise, formed, ratio_interval
from blowproof.mechanisms.expecting.rehearsal import Stage
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.planning.picture import of_answers
from blowproof.mechanisms.release.form import Form
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Released, Request
from blowproof.models import Distance, Domain, Integers, Policy, PolicyError, QueryError

DOMAIN = Domain(age=Integers(0, 39), size=Integers(0, 29))
CENTRES = [(8, 8), (30, 10), (20, 22)]
EPSILON = Fraction(3)
WIDE = Noise(Fraction(10), Fraction(10), normal=False)


class Kept(Stage):
    """A stage that keeps what was drawn, as a release does."""

    def __init__(self, policy, data, seed):
        super().__init__(policy, data, seed)
        self.drawn, self.noisy = [], []

    def __call__(self, release):
        """Return noisy answers, and keep them."""
        found = super().__call__(release)
        self.drawn.append(release)
        self.noisy.append(found)
        return found


def made(rho=None, **options):
    policy = Policy(domain=DOMAIN, secrets=Distance(threshold=4))
    counts = np.zeros((40, 30), dtype=np.int64)
    for x, y in CENTRES:
        counts[x - 4 : x + 5, y - 4 : y + 5] += 25
    options = {"clusters": "3", **options}
    epsilon = EPSILON if rho is None else Fraction(0)
    request = Request(policy=policy, epsilon=epsilon, rho=rho, options=options)
    return plan("k-means", request), NoisyTable(counts, DOMAIN)


def drawn(how, data, seed):
    stage = Kept(how.request.policy, data, seed)
    answers = how.run(stage)
    released = Released(
        request=how.request, mechanism=how.name, description=how.described(*stage.drawn),
        answers=answers, measured=tuple(stage.noisy), sensitivity=None, size=data.size,
    )  # fmt: skip
    return formed(released)


@pytest.mark.parametrize("rho", [None, Fraction(1, 50)])
@pytest.mark.parametrize("margin", ["0", "1"])
def test_intervals_hold_the_truth_as_often_as_they_say(margin, rho):
    how, data = made(margin=margin, rho=rho)
    held, sizes = [], []
    for seed in range(100):
        found = drawn(how, data, seed)
        sums, last = found.description.releases[-2:]
        many = found.description.releases[-3].query.evaluate(data).units
        ways = sums.query.evaluate(data).units.reshape(3, 2)
        old = sums.query.clusters.centroids
        truth = (old + ways / many[:, None]) * float(how.grid)
        counts = last.query.evaluate(data).units
        for row, centre, count in zip(found.form.rows, truth.tolist(), counts, strict=True):
            held += [low <= it <= high for (_, _, low, high), it in zip(row, centre, strict=False)]
            sizes.append(row[2][2] <= count <= row[2][3])
    assert 0.93 <= np.mean(held) <= 0.999
    assert 0.93 <= np.mean(sizes) <= 0.999


def test_all_of_epsilon_is_shared_and_no_more():
    for options in ({}, {"sizes": "0"}, {"sizes": "1/2"}):
        how, data = made(iterations="2", **options)
        releases = drawn(how, data, 1).description.releases
        assert len(releases) == (4 if options.get("sizes") == "0" else 5)
        assert how.counted + 2 * (1 - how.counted) / 2 == 1
        if len(releases) == 5:
            assert releases[-1].scales[0] == 2 / (how.counted * EPSILON)
            assert releases[-1].query.clusters.margin == 0


def test_names_never_stand_twice():
    how, data = made()
    columns = drawn(how, data, 2).form.columns
    assert columns[:4] == ("cluster", "age", "size", "size_")
    assert len(columns) == len(set(columns)) == 1 + 3 * 4 + 1
    odd = Form("cluster", ("Cluster", "a", "A_low95"), (), "coordinate", "k-means").columns
    assert len(odd) == len({name.casefold() for name in odd})


def test_a_cluster_that_nobody_is_near_to_says_so():
    """Its noisy size drowns in noise: it stays where it was, and no error is known."""
    policy = Policy(domain=DOMAIN, secrets=Distance(threshold=4))
    counts = np.zeros((40, 30), dtype=np.int64)
    counts[2, 2] = 5
    options = {"clusters": "3", "iterations": "1"}
    how = plan("k-means", Request(policy=policy, epsilon=Fraction(1, 9), options=options))
    rows = [
        row for seed in range(9) for row in drawn(how, NoisyTable(counts, DOMAIN), seed).form.rows
    ]
    silent = [row for row in rows if row[0][1] is None]
    assert silent and all(row[0][2:] == (0.0, 39.0) for row in silent)


def test_an_interval_of_a_ratio_ends_where_the_domain_does():
    assert ratio_interval((5.0, 1.0), WIDE.beyond, (-3.0, 9.0)) == (-3.0, 9.0)


@pytest.mark.parametrize("share", ["-1", "1", "2", "x"])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises((QueryError, PolicyError)):
        made(sizes=share)


def test_coordinates_beyond_floats_stay_as_they_are():
    """They are paid for by then, so that nothing may fail."""
    policy = Policy(domain=Domain(x=Integers(10**400, 10**400 + 6)))
    options = {"clusters": "2", "iterations": "1"}
    how = plan("k-means", Request(policy=policy, epsilon=EPSILON, options=options))
    found = drawn(how, NoisyTable(np.array([3, 0, 1, 0, 5, 0, 2]), policy.domain), 1)
    assert found.form is None and len(found.answers) == 2


def test_a_picture_of_clusters_shows_their_centres_and_how_sure_they_are():
    how, data = made()
    found = drawn(how, data, 1)
    picture = of_answers(found)
    assert "<title>clusters: released, with intervals of 95 %</title>" in picture
    assert picture.count("<circle") == 6 and ">cluster 3, size<" in picture
    assert "size_" not in picture  # how many records there are: no coordinate
    wide = re.findall(r'<line x1="([0-9.]+)" x2="([0-9.]+)"[^>]* stroke="#1f6fb2"', picture)
    assert len(wide) == 6 and all(float(last) > float(first) for first, last in wide)
    bare = replace(found, form=None)
    assert "released, without errors<" in of_answers(bare)
