"""K-norm noise is judged by the gauge of all neighbours, and by nothing else."""

from collections import Counter
from fractions import Fraction

import pytest

from blowproof.models import (
    AttributeChange,
    Count,
    Database,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    PolicyError,
    Region,
)
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.models.mechanisms.mechanism_file import (
    mechanism_from,
    parse_mechanism,
    to_mechanism_toml,
)
from blowproof.verifier.ask import neighbours
from blowproof.verifier.certify.certify import certify

ONE = Fraction(1)
DOMAIN = Domain(ward=Labels(["a", "b", "c"]), sex=Labels(["F", "M"]))
TABLE = Policy(domain=DOMAIN, known=(Marginal(("ward",)),))


def k_norm(scale: Fraction, *, groups: int, query: str = "histogram") -> Mechanism:
    noise = Release(query=query, noise="discrete-k-norm", scale=scale, groups=groups)
    return Mechanism(releases=(noise,))


def test_a_published_margin_has_the_gauge_one() -> None:
    assert certify(k_norm(ONE, groups=2), TABLE, ONE).verdict == "proved"
    weak = certify(k_norm(Fraction(99, 100), groups=2), TABLE, ONE)
    assert weak.verdict == "refuted"
    assert weak.witness is not None


@pytest.mark.parametrize("answers", [(2, 1, 1), (1, 1, 1), (0, 3, 1)])
def test_no_neighbours_have_a_larger_gauge(answers: tuple[int, ...]) -> None:
    """By listing them all: each ward changes by one sex more and one less, at the most."""
    policy = Policy(
        domain=DOMAIN,
        known=(Marginal(("ward",), answers=answers),),
        database=Database(size=sum(answers)),
    )
    largest = 0
    for pair in neighbours(policy, engine="brute"):
        change = Counter(pair.after)
        change.subtract(pair.before)
        for ward in range(3):
            held = [change[ward, sex] for sex in range(2)]
            assert sum(held) == 0
            largest = max(largest, *map(abs, held))
    assert largest == 1


@pytest.mark.parametrize(
    ("policy", "groups"),
    [
        (Policy(domain=DOMAIN, known=(Marginal(("sex",)),)), 2),
        (Policy(domain=DOMAIN, known=(Marginal(("ward",)), Marginal(("sex",)))), 2),
        (Policy(domain=DOMAIN, known=(Count(Region(ward="a")),)), 2),
        (
            Policy(domain=DOMAIN, known=(Marginal(("ward",)),), secrets=AttributeChange(changes=1)),
            2,
        ),
        (TABLE, 3),
        (TABLE, 6),
    ],
    ids=["other margin", "two margins", "one count", "other secrets", "threes", "all"],
)
def test_groups_that_are_not_known_are_not_proved(policy: Policy, groups: int) -> None:
    found = certify(k_norm(Fraction(1000), groups=groups), policy, ONE)
    assert found.verdict != "proved"


def test_without_facts_all_outputs_are_one_group() -> None:
    policy = Policy(domain=DOMAIN)
    assert certify(k_norm(ONE, groups=6), policy, ONE).verdict == "proved"
    assert certify(k_norm(Fraction(1, 2), groups=6), policy, ONE).verdict == "refuted"


def test_the_cube_is_judged_in_linf() -> None:
    policy = Policy(domain=Domain(age=Integers(0, 5)))
    query = "cumulative(age)"
    assert certify(k_norm(ONE, groups=1, query=query), policy, ONE).verdict == "proved"
    weak = k_norm(Fraction(9, 10), groups=1, query=query)
    assert certify(weak, policy, ONE).verdict == "refuted"


def test_losses_of_several_releases_add_up() -> None:
    laplace = Release(query="marginal(sex)", noise="discrete-laplace", scale=Fraction(6))
    (joint,) = k_norm(Fraction(2), groups=2).releases
    found = certify(Mechanism(releases=(laplace, joint)), TABLE, ONE)
    assert found.upper is not None
    assert Fraction(found.upper) >= Fraction(1, 2)
    alone = certify(Mechanism(releases=(laplace,)), TABLE, ONE)
    assert found.upper == Fraction(1, 2) + Fraction(str(alone.upper))
    twice = certify(Mechanism(releases=(joint, joint)), TABLE, ONE)
    assert twice.upper == 1


def test_the_noise_is_written_and_read() -> None:
    mechanism = k_norm(Fraction(7, 2), groups=2)
    assert parse_mechanism(to_mechanism_toml(mechanism)).releases == mechanism.releases


def test_what_k_norm_noise_does_not_have_is_refused() -> None:
    with pytest.raises(PolicyError, match="groups"):
        Release(query="histogram", noise="discrete-laplace", scale=ONE, groups=2)
    with pytest.raises(PolicyError, match="one scale"):
        Release(query="histogram", noise="discrete-k-norm", scale=(ONE, ONE))
    with pytest.raises(PolicyError):
        certify(k_norm(Fraction(0), groups=2), TABLE, ONE)


def test_the_margin_in_another_order_is_the_same_group() -> None:
    policy = Policy(domain=Domain(a=Labels(["x", "y"]), b=Labels(["u", "v", "w"])),
                    known=(Marginal(("b",)),))  # fmt: skip
    assert certify(k_norm(ONE, groups=2, query="marginal(b,a)"), policy, ONE).verdict == "proved"
    assert certify(k_norm(ONE, groups=2, query="marginal(a,b)"), policy, ONE).verdict != "proved"


def test_facets_of_a_tree_are_refused_in_words() -> None:
    """Its nodes have no numbers: how deep a tree is was taken for how many answers it has."""
    policy = Policy(domain=Domain(x=Integers(0, 1)))
    for rows in ([[1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]):
        tree = {"attribute": "x", "fan_out": 2}
        table = {"tree": tree, "noise": "discrete-k-norm", "scale": "2", "facets": rows}
        described = mechanism_from({"release": [table]})
        with pytest.raises(PolicyError, match=r"the outputs of tree\(x\) are not known one by one"):
            certify(described, policy, ONE)
