"""Mechanisms with Gaussian, Laplace and bounded noise, beside plain enumeration of neighbours."""

import math
import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Edges,
    Integers,
    Labels,
    Marginal,
    Policy,
    PolicyError,
)
from blowproof.models.mechanisms.mechanism import Channel, Mechanism, Release
from blowproof.models.mechanisms.mechanism_file import parse_mechanism, to_mechanism_toml
from blowproof.verifier.asked.question import Progress
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.certify import certify, undecided
from blowproof.verifier.certify.measures.orders import epsilon_at

OFFICE = Policy(
    domain=Domain(region=Labels(["north", "south"]), size=Labels(["one", "two"])),
    known=(Marginal(["region"], answers=[2, 2]),),
)


def gaussian(query, variance, **more):
    return Release(query=query, noise="discrete-gaussian", variance=variance, **more)


def laplace(query, scale):
    return Release(query=query, noise="discrete-laplace", scale=Fraction(scale))


def bounded(query, *probabilities):
    law = tuple(map(Fraction, probabilities))
    return Release(query=query, noise="bounded", probabilities=law)


def judged(*releases, policy=OFFICE, engine="brute", **promise):
    promised = Promise(**{name: Fraction(value) for name, value in promise.items()})
    return certify(Mechanism(releases=releases), policy, promised, engine=engine)


# --- rho -----------------------------------------------------------------------------------------


def definition(databases, secret):
    """Definition 4.1 of blowfish-2014 with its repair, by looking at every database."""

    def moves(one, two):
        return frozenset((i, x, y) for i, (x, y) in enumerate(zip(one, two, strict=True)) if x != y)

    for one in databases:
        changes = {two: moves(one, two) for two in databases if two != one}
        inside = {
            two: frozenset(m for m in ms if secret(m[1], m[2])) for two, ms in changes.items()
        }
        for two, ms in changes.items():
            if inside[two] and not any(
                (inside[third] and inside[third] < inside[two])
                or (inside[third] == inside[two] and changes[third] < ms)
                for third in changes
            ):
                yield one, two


@pytest.mark.parametrize("seed", range(12))
def test_rho_is_half_the_weighted_squares_of_the_worst_neighbours(seed):
    """Histogram and cumulative counts together, each output with a variance of its own."""
    draw = random.Random(seed)
    size, records = draw.choice([(3, 3), (4, 3), (4, 2)])
    where = sorted(draw.sample(range(size), draw.randint(1, size - 1)))
    answer = draw.randint(0, records)
    pairs = [pair for pair in product(range(size), repeat=2) if pair[0] < pair[1]]
    edges = set(draw.sample(pairs, draw.randint(1, len(pairs))))
    policy = Policy(
        domain=Domain(x=Integers(0, size - 1)),
        secrets=Edges([({"x": a}, {"x": b}) for a, b in sorted(edges)]),
        known=(Count({"x": where}, answer=answer),),
        database=Database(size=records, answers="given"),
    )
    variances = [
        tuple(Fraction(draw.randint(1, 9), draw.randint(1, 4)) for _ in range(size))
        for _ in range(2)
    ]
    databases = [
        one
        for one in product(range(size), repeat=records)
        if sum(x in where for x in one) == answer
    ]

    def outputs(one):
        counts = [one.count(x) for x in range(size)]
        return counts, [sum(counts[: x + 1]) for x in range(size)]

    worst = Fraction(0)
    for one, two in definition(databases, lambda x, y: (min(x, y), max(x, y)) in edges):
        total = Fraction(0)
        for first, second, scales in zip(outputs(one), outputs(two), variances, strict=True):
            for a, b, variance in zip(first, second, scales, strict=True):
                total += Fraction((a - b) ** 2) / (2 * variance)
        worst = max(worst, total)
    releases = gaussian("histogram", variances[0]), gaussian("cumulative(x)", variances[1])
    found = judged(*releases, policy=policy, rho=100)
    assert found.loss == worst
    quick = judged(*releases, policy=policy, engine="auto", rho=100)
    assert quick.lower <= worst <= quick.upper
    if worst:
        assert judged(*releases, policy=policy, rho=worst).verdict == "proved"
        assert judged(*releases, policy=policy, rho=worst - Fraction(1, 10**9)).verdict == "refuted"


def divergence(shift, scale, order):
    """Renyi's, of discrete Laplace noise and the same moved by so many steps, by its chances."""
    far = int(60 * scale) + shift
    norm = math.tanh(1 / (2 * scale))
    logs = (
        (-order * abs(z) - (1 - order) * abs(z - shift)) / scale for z in range(-far, far + shift)
    )
    return math.log(norm * math.fsum(map(math.exp, logs))) / (order - 1)


@pytest.mark.parametrize("seed", range(4))
def test_laplace_noise_has_the_rho_of_each_output(seed):
    """It was epsilon^2 / 2 of all outputs together: 1/2 where this is 1/8."""
    draw = random.Random(f"each output {seed}")
    scales = tuple(Fraction(draw.randint(2, 9), draw.randint(1, 2)) for _ in range(4))
    wide = Fraction(draw.randint(2, 6))
    policy = Policy(
        domain=OFFICE.domain,
        known=(Marginal(["region"], answers=[2, 1]),),
        database=Database(size=3, answers="given"),
    )
    releases: Any = [
        Release(query="histogram", noise="discrete-laplace", scale=scales),
        laplace("marginal(size)", wide),
    ]
    if seed % 2:
        releases.append(gaussian("marginal(size)", Fraction(5)))
    values: list[Any] = list(product(range(2), repeat=2))
    databases = [one for one in product(values, repeat=3) if [x[0] for x in one].count(0) == 2]
    worst = Fraction(0)
    pairs: set[Any] = set()
    for one, two in definition(databases, lambda x, y: x != y):
        cells = [abs(one.count(x) - two.count(x)) for x in values]
        sizes = [abs(sum(x[1] == k for x in one) - sum(x[1] == k for x in two)) for k in range(2)]
        half = Fraction(0)
        half += sum(Fraction(x * x) / b**2 for x, b in zip(cells, scales, strict=True))
        half += sum(Fraction(x * x) / wide**2 for x in sizes)
        half += sum(Fraction(x * x, 5) for x in sizes) * (seed % 2)
        worst = max(worst, half / 2)
        pairs.add((tuple(cells), tuple(sizes)))
    found = judged(*releases, policy=policy, rho=100)
    assert found.upper == worst and found.lower <= worst
    assert any("each output" in note for note in found.notes)
    for cells, sizes in pairs:
        for order in (1.01, 1.5, 2, 5, 40):
            each = zip(cells, scales, strict=True)
            lost = sum(divergence(x, float(b), order) for x, b in each if x)
            lost += sum(divergence(x, float(wide), order) for x in sizes if x)
            lost += sum(order * x * x / 10 for x in sizes) * (seed % 2)
            assert lost <= order * float(worst) + 1e-9
    assert judged(*releases, policy=policy, rho=worst).verdict == "proved"


def test_too_small_a_variance_is_refuted_with_a_pair():
    found = judged(gaussian("histogram", Fraction(8)), rho=Fraction(1, 5))
    assert found.verdict == "refuted" and found.loss == Fraction(1, 4)
    assert found.witness is not None and len(found.witness.before) == 2
    assert {item.width for item in found.outputs} == {"variance"}
    assert found.scales_times == Fraction(5, 4)


def test_stacked_releases_are_one_question():
    """The pair that is worst for one is not worst for the other: S of the stack is less."""
    policy = Policy(
        domain=Domain(x=Integers(0, 3)),
        secrets=Edges([({"x": 0}, {"x": 1}), ({"x": 2}, {"x": 3})]),
    )
    rows = [
        gaussian("range(x,1,1)", Fraction(1)),
        gaussian("range(x,3,3)", Fraction(1)),
    ]
    both = judged(*rows, policy=policy, engine="auto", rho=2)
    assert both.loss == Fraction(1, 2)
    alone = [judged(row, policy=policy, engine="auto", rho=2).loss for row in rows]
    assert alone == [Fraction(1, 2), Fraction(1, 2)]


def test_a_pure_epsilon_is_converted_and_said():
    found = judged(laplace("histogram", 8), rho=Fraction(1, 8))
    assert found.verdict == "proved" and found.upper == 4 * Fraction(1, 8) ** 2 / 2
    assert any("converted" in note for note in found.notes)
    assert 0 < found.lower < found.upper and found.loss is None
    assert judged(laplace("histogram", 8), rho=Fraction(1, 100)).verdict == "refuted"


def test_mixtures_add_what_each_is_worth_in_rho():
    found = judged(laplace("histogram", 8), gaussian("histogram", Fraction(8)), rho=1)
    assert found.upper == Fraction(1, 32) + Fraction(1, 4)
    assert Fraction(1, 4) < found.lower < found.upper


def test_gaussian_noise_has_no_pure_epsilon():
    found = judged(gaussian("histogram", Fraction(10**9)), epsilon=100)
    assert found.verdict == "refuted" and found.loss == "inf"
    still = judged(gaussian("marginal(region)", Fraction(1)), epsilon=1)
    assert still.verdict == "proved" and still.loss == 0


# --- epsilon and delta ---------------------------------------------------------------------------


def test_epsilon_at_a_delta_is_what_rho_gives():
    delta = Fraction(1, 10**6)
    found = judged(gaussian("histogram", Fraction(8)), epsilon=6, delta=delta)
    assert found.verdict == "proved" and found.upper == epsilon_at(Fraction(1, 4), delta)
    assert 0 < found.lower < found.upper
    assert judged(gaussian("histogram", Fraction(8)), epsilon=2, delta=delta).verdict == "refuted"


def test_laplace_noise_keeps_its_epsilon_at_any_delta():
    found = judged(laplace("histogram", 8), epsilon=Fraction(1, 2), delta=Fraction(1, 10**30))
    assert found.verdict == "proved" and found.upper == Fraction(1, 2)
    large = judged(laplace("histogram", 8), epsilon=Fraction(1, 4), delta=Fraction(1, 3))
    assert large.verdict == "proved"


def test_a_delta_never_refutes_what_is_proved():
    """Whatever is refuted at some epsilon is not proved there by the other argument."""
    for variance, power in ((1, 3), (8, 6), (100, 9)):
        delta = Fraction(1, 10**power)
        found = judged(gaussian("histogram", Fraction(variance)), epsilon=1, delta=delta)
        assert found.lower <= found.upper


# --- bounded noise -------------------------------------------------------------------------------


def test_cell_keys_have_an_exact_delta():
    """Four cells change by one each under noise that is uniform on -1, 0, 1."""
    third = Fraction(1, 3)
    found = judged(bounded("histogram", third, third, third), epsilon=1, delta=Fraction(4, 5))
    assert (found.delta is not None and found.delta.low == found.delta.high) or found.delta.text
    assert found.delta.text == str(1 - Fraction(2, 3) ** 4)
    assert found.verdict == "refuted"
    enough = judged(bounded("histogram", third, third, third), epsilon=1, delta=Fraction(65, 81))
    assert enough.verdict == "proved"


def test_cell_keys_have_no_pure_epsilon_and_no_rho():
    release = bounded("histogram", "1/4", "1/2", "1/4")
    assert judged(release, epsilon=100).loss == "inf"
    assert judged(release, rho=100).loss == "inf"


def test_laplace_noise_beside_cell_keys_takes_its_epsilon_first():
    release = bounded("histogram", "1/4", "1/2", "1/4")
    alone = judged(release, epsilon=1, delta=Fraction(99, 100))
    both = judged(release, laplace("histogram", 8), epsilon=1, delta=Fraction(99, 100))
    assert both.delta.high > alone.delta.high


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "message"),
    [
        ("variance = 0", "release[0].variance: the variance 0 is not above 0"),
        ('variance = "-1/2"', "release[0].variance: the variance -1/2 is not above 0"),
        ("variance = 0.5", "release[0].variance: 0.5 is a float, and floats are not exact"),
        ("variance = []", "release[0].variance: the list of variances is empty"),
        ("variance = [1, 0]", "release[0].variance[1]: the variance 0 is not above 0"),
        ("scale = 1", "release[0].scale: discrete-gaussian noise has a variance, and no scale"),
        ("", "release[0]: the release has no variance"),
    ],
)
def test_a_variance_that_is_none_is_refused(release, message):
    text = f'[[release]]\nquery = "histogram"\nnoise = "discrete-gaussian"\n{release}\n'
    with pytest.raises(PolicyError) as error:
        parse_mechanism(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "law",
    ['["1/2", "1/2"]', '["1/2", "1/2", "1/2"]', "[]", '["3/2", "-1", "1/2"]', "[0.5, 0, 0.5]"],
)
def test_probabilities_that_are_none_are_refused(law):
    text = f'[[release]]\nquery = "histogram"\nnoise = "bounded"\nprobabilities = {law}\n'
    with pytest.raises(PolicyError):
        parse_mechanism(text)


def test_a_variance_beside_laplace_noise_is_refused():
    with pytest.raises(PolicyError, match="laplace noise has a scale, and no variance"):
        parse_mechanism('[[release]]\nquery = "histogram"\nvariance = 1\n')


def test_choices_have_no_gaussian_noise():
    text = '[[selection]]\nquery = "histogram"\ncandidates = "pairs"\nscale = 1\nnoise = "{}"\n'
    with pytest.raises(PolicyError, match=r"selection\[0\]\.noise"):
        parse_mechanism(text.format("discrete-gaussian"))


def test_a_grid_that_misses_a_change_is_refused():
    release = gaussian("histogram", Fraction(4), grid=Fraction(2))
    with pytest.raises(PolicyError, match="multiples of 2, and histogram changes by 1"):
        judged(release, rho=1)
    half = gaussian("histogram", Fraction(8), grid=Fraction(1, 2))
    assert judged(half, rho=1).loss == Fraction(1, 4)


def test_variances_are_as_many_as_outputs():
    with pytest.raises(PolicyError, match="2 variances, but histogram has 4 outputs"):
        judged(gaussian("histogram", (Fraction(1), Fraction(2))), rho=1)


def test_a_channel_is_judged_by_a_pure_epsilon():
    rows = (("1", "0"), ("0", "1"))
    channel = Channel(of="record", inputs=(0, 1), outputs=("a", "b"), rows=rows)
    policy = Policy(domain=Domain(x=Integers(0, 1)))
    with pytest.raises(PolicyError, match="pure epsilon"):
        certify(Mechanism(channel=channel), policy, Promise(rho=Fraction(1)))


def test_gaussian_and_bounded_releases_are_written_back():
    made = Mechanism(
        name="m",
        releases=(
            gaussian("histogram", Fraction(7, 2), grid=Fraction(1, 2)),
            gaussian("marginal(size)", (Fraction(1), Fraction(2))),
            bounded("histogram", "1/4", "1/2", "1/4"),
        ),
    )
    assert parse_mechanism(to_mechanism_toml(made)) == made


@pytest.mark.parametrize(("noise", "kept"), [("discrete-gaussian", True), ("laplace", False)])
def test_what_bounded_rho_when_it_was_stopped_is_not_lost(noise: str, kept: bool) -> None:
    """It was null in the end, though a theorem had said it at once; of a part it says nothing."""
    policy = Policy(domain=Domain(x=Labels(["a", "b"])))
    width = "variance" if noise == "discrete-gaussian" else "scale"
    text = f'[[release]]\nquery = "histogram"\nnoise = "{noise}"\n{width} = "8"\n'
    found = undecided(
        parse_mechanism(text),
        policy,
        Promise(rho=Fraction(1, 2)),
        reading="published",
        answers=None,
        latest=Progress(lower=0, upper=Fraction(1, 8), what=""),
        why="stopped",
    )
    assert found.upper == (Fraction(1, 8) if kept else None)
    assert found.verdict == ("proved" if kept else "undecided")
