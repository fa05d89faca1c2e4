"""Additive noise under every kind of policy: the certified loss against listed databases."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    PolicyError,
    Steps,
    parse_query,
    setting,
)
from blowproof.models.mechanisms.mechanism import Mechanism, Prefixes, Release, Tree
from blowproof.models.mechanisms.stacked_releases import bind_release
from blowproof.models.mechanisms.trees_and_prefixes import TreeQuery, bind_query
from blowproof.models.queries.kinds import ClusterSums, Histogram
from blowproof.models.queries.query import BoundQuery
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.noise.coarse_bound import coarse_bound
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.neighbours.check import check_pair
from corpus import CORPUS
from refusals import refuse
from strategies import query_texts, worlds

ONE = Fraction(1)
READINGS = st.sampled_from(["published", "published", "secret-moves", "add-remove", "markov"])


def answer(query, database):
    """f(D), output by output: the sum of the records' rows."""
    found: dict[Any, Any] = {}
    for point in database:
        for key, value in query.row(point).items():
            found[key] = found.get(key, 0) + value
    return found


def loss(parts, first, second):
    """The loss of one pair, from the definition; the parts' weights are the scales."""
    total = 0
    for part in parts:
        one, two = answer(part.query, first), answer(part.query, second)
        for key in {*one, *two}:
            change = abs(one.get(key, 0) - two.get(key, 0))
            if change and part.weight(key) == 0:
                return "inf"
            total += change / part.weight(key) if change else 0
    return total


def worst_listed(policy, parts, reading, sizes=None):
    """The largest loss over listed neighbours, in both directions."""
    prepared = prepare(setting(policy), reading)
    if sizes is None:
        low, high = size_range(prepared, reading)
        assert high is not None
        sizes = range(low, high + 1)
    worst = 0
    for pair in brute_neighbours(prepared, reading, sizes=sizes):
        found = loss(parts, list(pair.first().elements()), list(pair.second().elements()))
        if found == "inf":
            return found
        worst = max(worst, found)
    return worst


@st.composite
def mechanisms(draw, policy, *, silent=False):
    """One to three releases that fit the policy."""
    scale = st.fractions(min_value=Fraction(1, 4), max_value=8, max_denominator=4)
    scale = st.one_of(scale, st.just(Fraction(0))) if silent else scale
    ordered = [name for name, item in policy.domain.attributes if item.ordered]
    releases = []
    for _ in range(draw(st.integers(1, 3))):
        query = draw(st.sampled_from(query_texts(policy)))
        if ordered and draw(st.booleans()):
            name = draw(st.sampled_from(ordered))
            query = draw(
                st.sampled_from(
                    [
                        Tree(attribute=name, fan_out=2),
                        Tree(attribute=name, fan_out=3, block=2, first=1),
                        Prefixes(attribute=name, every=2, whole=True),
                    ]
                )
            )
        bound = bind_query(query, policy)
        outputs = bound.outputs(policy.domain)
        count = len(bound.levels) if isinstance(bound, TreeQuery) else outputs and outputs.count
        if count and 1 < count <= 12 and draw(st.booleans()):
            many = st.lists(scale, min_size=count, max_size=count)
            releases.append(Release(query=query, scale=tuple(draw(many))))
        else:
            releases.append(Release(query=query, scale=draw(scale)))
    return Mechanism(releases=tuple(releases))


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_known_numbers_against_every_database(data):
    world = data.draw(worlds(scope="given", max_values=5, max_records=3, max_known=2))
    policy = world.policy
    mechanism = data.draw(mechanisms(policy, silent=data.draw(st.booleans())))
    reading = data.draw(READINGS)
    try:
        found = certify(mechanism, policy, ONE, reading=reading, time_limit=20)
    except PolicyError as error:
        refuse(error)
    parts = [bind_release(release, policy) for release in mechanism.releases]
    expected = worst_listed(policy, parts, reading)
    assert found.loss == expected
    assert found.verdict == ("refuted" if expected == "inf" or expected > 1 else "proved")
    require_witness(found, policy, parts, reading)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_answers_against_small_databases(data):
    """What small databases show is a lower bound; without facts, one record shows all."""
    known = data.draw(st.sampled_from([0, 0, 1, 2]))
    world = data.draw(
        worlds(
            scope="any", max_values=5, max_known=known, kinds=("count", "marginal", "impossible")
        )
    )
    policy = world.policy
    mechanism = data.draw(mechanisms(policy))
    reading = data.draw(st.sampled_from(["published", "secret-moves"]))
    found: Any = certify(mechanism, policy, ONE, reading=reading, time_limit=20)
    parts = [bind_release(release, policy) for release in mechanism.releases]
    seen = worst_listed(policy, parts, reading, sizes=range(1, 3 if policy.known else 2))
    if not policy.known:
        assert found.loss == seen
    assert seen <= found.lower
    assert found.upper is None or found.lower <= found.upper
    require_witness(found, policy, parts, reading)


def require_witness(found, policy, parts, reading):
    """The pair is one, for another program; and it loses what is said."""
    if not found.lower:
        assert found.witness is None or not loss_of(found, parts)
        return
    prepared = prepare(setting(policy), reading)
    assert check_pair(prepared, reading, found.witness)
    assert loss_of(found, parts) == found.lower
    document = found.to_json(policy.domain)
    assert document["witness"]["outputs_changed"] == found.outputs_changed > 0
    if found.lower == "inf":
        assert found.outputs[0].scale == 0
    elif found.outputs_changed == len(found.outputs):
        assert found.lower == sum(abs(item.change) / item.scale for item in found.outputs)


def loss_of(found, parts):
    pair = found.witness
    return loss(parts, list(pair.first().elements()), list(pair.second().elements()))


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_one_query_loses_its_sensitivity(case):
    mechanism = Mechanism(releases=(Release(query=case.query, scale=Fraction(3, 2)),))
    found = certify(mechanism, case.policy, ONE, reading=case.reading)
    assert found.loss == Fraction(case.answer) / Fraction(3, 2)


def test_several_releases_add_up_where_one_pair_is_worst_for_all():
    policy = Policy(domain=Domain(A=Labels("ab"), B=Labels("cd")), known=(Marginal(["A"]),))
    releases = (
        Release(query="histogram", scale=Fraction(4)),
        Release(query="marginal(B)", scale=Fraction(8)),
    )
    assert certify(Mechanism(releases=releases), policy, ONE).loss == 1 + Fraction(1, 2)


def test_releases_that_no_single_pair_changes_lose_less_than_their_sum():
    policy = Policy(domain=Domain(x=Integers(0, 2)), secrets=Distance(threshold=1))
    releases = tuple(Release(query=f"range(x,{at},{at})", scale=ONE) for at in (0, 2))
    assert certify(Mechanism(releases=releases), policy, ONE).loss == 1


def test_silence_is_allowed_only_where_nothing_changes():
    domain = Domain(A=Labels("ab"), B=Labels("cd"))
    silent = Mechanism(releases=(Release(query="marginal(A)", scale=Fraction(0)),))
    known = Policy(domain=domain, known=(Marginal(["A"]),))
    found = certify(silent, known, ONE)
    assert (found.verdict, found.loss, found.witness) == ("proved", 0, None)
    found = certify(silent, Policy(domain=domain), ONE)
    assert (found.verdict, found.loss, found.scales_times) == ("refuted", "inf", None)
    assert found.witness is not None
    assert {item.scale for item in found.outputs} == {0}


def test_the_spare_noise_can_be_taken_away():
    policy = Policy(domain=Domain(x=Integers(0, 9)), secrets=Distance(threshold=3))
    mechanism = Mechanism(releases=(Release(query="cumulative(x)", scale=Fraction(7)),))
    found: Any = certify(mechanism, policy, ONE)
    assert found.scales_times == Fraction(3, 7)
    tight = Mechanism(releases=(Release(query="cumulative(x)", scale=7 * found.scales_times),))
    assert certify(tight, policy, ONE).loss == 1


def test_postprocessing_costs_nothing():
    policy = Policy(domain=Domain(x=Integers(0, 9)))
    release = Release(query="histogram", scale=Fraction(2))
    found = certify(Mechanism(releases=(release,), postprocessing=("rounding",)), policy, ONE)
    assert found.loss == 1
    assert found.to_json(policy.domain)["postprocessing"] == ["rounding"]


# --- discrete noise ------------------------------------------------------------------------------

HALVES = Policy(domain=Domain(temp=Steps(35, 37, "1/2")))


def test_discrete_noise_needs_a_grid_that_holds_every_difference():
    def release(**options):
        return Mechanism(releases=(Release(query="sum(temp)", scale=Fraction(4), **options),))

    with pytest.raises(PolicyError, match=r"changes by 1/2\n  try: write grid = \"1/2\""):
        certify(release(noise="discrete-laplace"), HALVES, ONE)
    fine = release(noise="discrete-laplace", grid=Fraction(1, 2))
    assert certify(fine, HALVES, ONE).loss == Fraction(1, 2)
    with pytest.raises(PolicyError, match="changes by 1/2"):
        certify(release(noise="discrete-laplace"), HALVES, ONE, reading="add-remove")


def test_counts_lie_on_the_integers():
    release = Release(query="histogram", noise="discrete-laplace", scale=Fraction(4))
    assert certify(Mechanism(releases=(release,)), HALVES, ONE).loss == Fraction(1, 2)
    coarse = Release(
        query="histogram", noise="discrete-laplace", scale=Fraction(4), grid=Fraction(2)
    )
    with pytest.raises(PolicyError, match="multiples of 2"):
        certify(Mechanism(releases=(coarse,)), HALVES, ONE)


def test_a_query_made_by_a_program_is_looked_at_value_by_value():
    class Thirds(BoundQuery):
        name = "thirds"

        def row(self, point):
            return {0: Fraction(point[0], 3)}

    policy = Policy(domain=Domain(x=Integers(0, 3)))
    release = Release(query=Thirds(), noise="discrete-laplace", scale=Fraction(2))
    with pytest.raises(PolicyError, match='grid = "1/3"'):
        certify(Mechanism(releases=(release,)), policy, ONE)
    release = Release(query=Thirds(), scale=Fraction(2))
    assert certify(Mechanism(releases=(release,)), policy, ONE).loss == Fraction(1, 2)


# --- what does not fit ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "message"),
    [
        (Release(query="histogram", scale=(ONE, ONE)), r"release\[0\].scale: 2 scales, but"),
        (Release(query=Tree(attribute="x", fan_out=2), scale=(ONE, ONE)), "has 4 levels"),
        (Release(query=Tree(attribute="y", fan_out=2), scale=ONE), "no attribute 'y'"),
        (Release(query=Tree(attribute="x", fan_out=1), scale=ONE), "fan_out = 1 is below 2"),
        (
            Release(query=Tree(attribute="x", fan_out=2, block=3, blocks=(0, 2)), scale=ONE),
            "blocks 0 to 1",
        ),
        (Release(query=Prefixes(attribute="x", every=0), scale=ONE), "every = 0 is below 1"),
    ],
)
def test_a_description_that_does_not_fit_the_policy(release, message):
    policy = Policy(domain=Domain(x=Integers(0, 4)))
    with pytest.raises(PolicyError, match=message):
        certify(Mechanism(releases=(release,)), policy, ONE)


@pytest.mark.parametrize("value", [0.5, True, "2", Fraction(-1)])
def test_scales_are_exact_and_not_negative(value):
    with pytest.raises(PolicyError):
        Release(query="histogram", scale=value)


@pytest.mark.parametrize("epsilon", [0.5, 0, -1, True])
def test_epsilon_is_exact_and_above_zero(epsilon):
    mechanism = Mechanism(releases=(Release(query="histogram", scale=ONE),))
    with pytest.raises(PolicyError):
        certify(mechanism, Policy(domain=Domain(x=Integers(0, 4))), epsilon)


def test_no_records_no_loss():
    policy = Policy(domain=Domain(x=Integers(0, 4)), database=Database(size=0))
    mechanism = Mechanism(releases=(Release(query="histogram", scale=ONE),))
    assert certify(mechanism, policy, ONE).loss == 0


def test_sums_of_clusters_are_not_bounded_by_the_distance():
    """Lemma 6.1's mistake: at theta = 1 a record takes its whole vector to another cluster."""
    domain = Domain(x=Integers(0, 100))
    policy = Policy(domain=domain, secrets=Distance(threshold=1))
    sums = ClusterSums(domain, ((Fraction(49),), (Fraction(52),)))
    found = certify(Mechanism(releases=(Release(query=sums, scale=Fraction(2)),)), policy, ONE)
    assert found.loss == Fraction(50 + 51, 2)


def test_too_large_a_domain_is_answered_part_by_part():
    """A fact, and more values than the engines take one by one: each release has its own bound."""
    policy = Policy(domain=Domain(x=Integers(0, 4999), s=Labels("ab")), known=(Count({"s": "a"}),))
    releases = (
        Release(query="histogram", scale=Fraction(8)),
        Release(query="sum(x)", scale=Fraction(10**6)),
    )
    found: Any = certify(Mechanism(releases=releases), policy, ONE)
    assert found.verdict == "proved"
    assert found.upper == Fraction(4, 8) + Fraction(2 * 4999, 10**6)


def test_histograms_and_marginals_of_a_large_domain_are_one_question():
    """Two values of each class that the facts and the marginal cut out are enough for both."""
    policy = Policy(domain=Domain(x=Integers(0, 4999), s=Labels("ab")), known=(Count({"s": "a"}),))
    releases = (
        Release(query="histogram", scale=Fraction(8)),
        Release(query="marginal(s)", scale=Fraction(1)),
    )
    found: Any = certify(Mechanism(releases=releases), policy, ONE)
    assert (found.verdict, found.loss, found.engine) == ("proved", Fraction(1, 2), "search")
    assert Histogram().difference(found.witness.moves("published")) == 4
    assert parse_query("marginal(s)", policy).difference(found.witness.moves("published")) == 0


def test_a_coarse_bound_where_no_engine_takes_the_values():
    """One count known, under full secrets: two records move at once, and no more."""
    domain = Domain(x=Integers(0, 9_999))
    policy = Policy(domain=domain, known=(Count({"x": Between(max=40)}),))
    tree = Tree(attribute="x", fan_out=10)
    mechanism = Mechanism(releases=(Release(query=tree, scale=Fraction(20)),))
    found: Any = certify(mechanism, policy, ONE)
    assert (found.verdict, found.upper) == ("proved", Fraction(2 * 4 * 2, 20))
    require_witness(found, policy, [bind_release(mechanism.releases[0], policy)], "published")
    assert 0 < found.lower <= Fraction(3, 4)
    assert certify(mechanism, policy, Fraction(3, 4)).verdict == "undecided"
    assert certify(mechanism, policy, Fraction(1, 100)).verdict == "refuted"
    small = Policy(domain=Domain(x=Integers(0, 99)), known=(Count({"x": Between(max=40)}),))
    assert certify(mechanism, small, ONE).loss == Fraction(2 * 2 * 2, 20)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_the_coarse_bound_is_one(data):
    scope = data.draw(st.sampled_from(["any", "given"]))
    kinds = ("count", "marginal", "impossible")
    world = data.draw(worlds(scope=scope, max_values=4, max_records=3, max_known=2, kinds=kinds))
    policy = world.policy
    mechanism = data.draw(mechanisms(policy))
    reading = data.draw(st.sampled_from(["published", "secret-moves"]))
    parts = [bind_release(release, policy) for release in mechanism.releases]
    asked = Asked(
        policy=policy,
        setting=prepare(setting(policy), reading),
        reading=reading,
        answers=None,
        engine="auto",
        deadline=None,
        listener=None,
    )
    weighted = [replace(part, weights=tuple(1 / w for w in part.weights)) for part in parts]
    found: Any = coarse_bound(asked, weighted)
    sizes = range(1, 4) if scope == "any" else None
    assert worst_listed(policy, parts, reading, sizes=sizes) <= found.upper
    assert found.lower <= found.upper


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_records_that_join_or_leave(data):
    """Reading 3 without facts, or with n alone: n up to 1, or 2, shows all."""
    scope = data.draw(st.sampled_from(["any", "given"]))
    size = data.draw(st.sampled_from(["always", "never" if scope == "any" else "always"]))
    options: dict[str, Any] = {"scope": scope, "size": size, "kinds": ("impossible",)}
    policy = data.draw(worlds(max_values=6, max_known=1, max_records=3, **options)).policy
    mechanism = data.draw(mechanisms(policy))
    found = certify(mechanism, policy, ONE, reading="add-remove")
    assert found.engine in ("brute", "ceiling", "edges", "exchanges", "structure", "search", "rank")
    parts = [bind_release(release, policy) for release in mechanism.releases]
    sizes = range(3) if scope == "any" else None
    assert found.loss == worst_listed(policy, parts, "add-remove", sizes=sizes)
    require_witness(found, policy, parts, "add-remove")


def test_records_that_join_large_domains():
    policy = Policy(domain=Domain(x=Integers(0, 19_999)))
    mechanism = Mechanism(
        releases=(Release(query=Tree(attribute="x", fan_out=10), scale=Fraction(20)),)
    )
    assert certify(mechanism, policy, ONE, reading="add-remove").loss == Fraction(6, 20)
    known = replace(policy, database=Database(size=7))
    assert certify(mechanism, known, ONE, reading="add-remove").loss == Fraction(10, 20)
