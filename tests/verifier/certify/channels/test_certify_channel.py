"""Finite channels: exact expressions, and every neighbour pair and output against a listing."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Impossible,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    PartitionCells,
    Policy,
    PolicyError,
    QueryError,
    setting,
)
from blowproof.models.mechanisms.mechanism import Channel, Mechanism
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.channels.exponential_sums import Number, Quotient, enclosure
from blowproof.verifier.certify.channels.expressions import parse_expression, write_quotient
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.neighbours.check import check_pair
from strategies import worlds

ONE = Fraction(1)
LETTERS = "abcdef"


def randomized_response(size, keep="exp(eps)"):
    """Keep a value with probability proportional to e^eps, else tell another one."""
    bottom = f"({keep}+{size - 1})"
    rows = tuple(
        tuple(f"{keep if i == j else 1}/{bottom}" for j in range(size)) for i in range(size)
    )
    names = tuple(LETTERS[:size])
    return Mechanism(channel=Channel(of="record", inputs=names, outputs=names, rows=rows))


def letters(size, **options):
    return Policy(domain=Domain(x=Labels(LETTERS[:size])), **options)


# --- randomized response -------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(2, 7))
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), ONE, Fraction(5, 2)])
def test_randomized_response_spends_exactly_epsilon(size, epsilon):
    found = certify(randomized_response(size), letters(size), epsilon)
    assert (found.verdict, found.exp_loss, found.loss) == ("proved", "exp(eps)", epsilon)


@pytest.mark.parametrize(
    ("options", "power"),
    [
        ({}, 1),
        ({"secrets": PartitionCells([{"x": ["a", "b"]}, {"x": ["c", "d"]}])}, 1),
        ({"secrets": PartitionBy(["x"])}, 0),
        ({"secrets": Edges([({"x": "a"}, {"x": "c"})])}, 1),
        ({"known": (Count({"x": ["a", "b"]}),)}, 2),
        ({"known": (Marginal(["x"]),)}, 4),
        ({"known": (Marginal(["x"]), Impossible({"x": "d"}))}, 3),
        ({"known": (Count({"x": "a"}, answer=1),), "database": Database(size=2)}, 2),
        # One move along the edge; a plain one brings the count back.
        ({"secrets": Edges([({"x": "a"}, {"x": "c"})]), "known": (Count({"x": ["a", "b"]}),)}, 2),
    ],
)
def test_randomized_response_under_other_policies(options, power):
    found: Any = certify(randomized_response(4), letters(4, **options), ONE)
    assert found.loss == power
    assert found.exp_loss == {0: "1", 1: "exp(eps)"}.get(power, f"exp({power}*eps)")
    assert found.verdict == ("proved" if power <= 1 else "refuted")
    assert power == 0 or len(found.witness.before) == power == len(found.channel_outputs)


def test_the_smallest_epsilon_may_be_less_than_what_is_promised():
    found = certify(randomized_response(3, "exp(eps/2)"), letters(3), ONE)
    assert (found.verdict, found.exp_loss, found.loss) == ("proved", "exp(1/2*eps)", ONE / 2)
    found = certify(randomized_response(3, "exp(2*eps)"), letters(3), ONE)
    assert (found.verdict, found.exp_loss, found.loss) == ("refuted", "exp(2*eps)", 2)


@pytest.mark.parametrize(
    ("keep", "verdict"),
    [("2", "proved"), ("3", "refuted"), ("eps", "proved"), ("1+2*eps", "refuted")],
)
def test_numbers_that_are_no_powers_of_e_are_compared_exactly(keep, verdict):
    found: Any = certify(randomized_response(2, f"({keep})"), letters(2), ONE)
    assert found.verdict == verdict
    assert found.loss is None or found.exp_loss == "1"
    low, high = map(Fraction, found.exp_between)
    assert low <= {"2": 2, "3": 3, "eps": 1, "1+2*eps": 3}[keep] <= high


def test_distance_thresholds_of_a_geometric_mechanism():
    """The truncated geometric mechanism loses eps for each step between two values."""
    size = 5
    a = "exp(-eps)"
    rows = []
    for x in range(size):
        row = [f"(1-{a})/(1+{a})*exp(-{abs(x - y)}*eps)" for y in range(size)]
        row[0], row[-1] = f"exp(-{x}*eps)/(1+{a})", f"exp(-{size - 1 - x}*eps)/(1+{a})"
        rows.append(tuple(row))
    inputs = tuple(range(size))
    channel = Channel(of="record", inputs=inputs, outputs=tuple(map(str, inputs)), rows=tuple(rows))
    for theta in range(1, size):
        policy = Policy(domain=Domain(x=Integers(0, size - 1)), secrets=Distance(threshold=theta))
        found = certify(Mechanism(channel=channel), policy, Fraction(1, 2))
        assert found.loss == Fraction(theta, 2)
        assert found.verdict == ("proved" if theta == 1 else "refuted")


# --- against a listing ---------------------------------------------------------------------------


@st.composite
def rational_rows(draw, inputs, outputs):
    """Rows of fractions that add up to 1, some of them with zeros."""
    rows = []
    for _ in range(inputs):
        weights = draw(st.lists(st.integers(0, 4), min_size=outputs, max_size=outputs).filter(any))
        total = sum(weights)
        rows.append(tuple(str(Fraction(weight, total)) for weight in weights))
    return tuple(rows)


def worst_ratio(pairs, distribution):
    """The largest ratio of probabilities over pairs and outputs (None: infinite)."""
    worst = Fraction(1)
    for first, second in pairs:
        one, two = distribution(first), distribution(second)
        for top, bottom in ((one, two), (two, one)):
            for output, chance in top.items():
                if chance and not bottom.get(output):
                    return None
                if chance:
                    worst = max(worst, chance / bottom[output])
    return worst


def labelled_pairs(policy, reading):
    prepared = prepare(setting(policy), reading)
    low, high = size_range(prepared, reading)
    assert high is not None
    for pair in brute_neighbours(prepared, reading, sizes=range(low, high + 1)):
        if pair.database is not None:
            yield pair.database, pair.reversed().database
        else:
            yield tuple(sorted(pair.first().elements())), tuple(sorted(pair.second().elements()))


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_record_channels_against_the_joint_distribution(data):
    """Every record by itself: the joint distribution of all outputs, listed."""
    world = data.draw(worlds(scope="given", max_values=4, max_records=2, max_known=2))
    policy = world.policy
    values = list(policy.domain.points())
    rows = data.draw(rational_rows(len(values), data.draw(st.integers(1, 3))))
    inputs = tuple(list(policy.domain.decode(x)) for x in values)
    outputs = tuple(map(str, range(len(rows[0]))))
    channel = Channel(of="record", inputs=inputs, outputs=outputs, rows=rows)
    reading = data.draw(st.sampled_from(["published", "secret-moves"]))
    found = certify(Mechanism(channel=channel), policy, ONE, reading=reading)
    chances = {x: [Fraction(text) for text in row] for x, row in zip(values, rows, strict=True)}

    def joint(database):
        return {
            outcome: math.prod(
                (chances[x][output] for x, output in zip(database, outcome, strict=True)),
                start=Fraction(1),
            )
            for outcome in product(range(len(outputs)), repeat=len(database))
        }

    require_ratio(found, worst_ratio(labelled_pairs(policy, reading), joint), policy, reading)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_database_channels_against_every_pair(data):
    world = data.draw(worlds(scope="given", max_values=3, max_records=2, max_known=2))
    policy = world.policy
    reading = data.draw(st.sampled_from(["published", "secret-moves", "add-remove", "markov"]))
    prepared = prepare(setting(policy), reading)
    low, high = size_range(prepared, reading)
    assert high is not None
    databases = [
        database
        for size in range(low, high + 1)
        for database in product(policy.domain.points(), repeat=size)
        if reading in ("published", "secret-moves") or list(database) == sorted(database)
    ]
    rows = data.draw(rational_rows(len(databases), 2))
    inputs = tuple([list(policy.domain.decode(x)) for x in database] for database in databases)
    channel = Channel(of="database", inputs=inputs, outputs=("0", "1"), rows=rows)
    found = certify(Mechanism(channel=channel), policy, ONE, reading=reading)
    chances = {
        database: dict(enumerate(map(Fraction, row)))
        for database, row in zip(databases, rows, strict=True)
    }
    expected = worst_ratio(labelled_pairs(policy, reading), chances.__getitem__)
    require_ratio(found, expected, policy, reading)


def require_ratio(found, expected, policy, reading):
    if expected is None:
        assert (found.verdict, found.exp_loss, found.loss) == ("refuted", "inf", "inf")
    else:
        assert Fraction(found.exp_loss) == expected
        assert found.verdict == ("proved" if expected < Fraction(271828, 100000) else "refuted")
    if found.witness is not None:
        prepared = prepare(setting(policy), reading)
        ways = (found.witness, found.witness.reversed())
        assert any(check_pair(prepared, reading, pair) for pair in ways)
    assert (found.witness is None) == (expected == 1)


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_answers_are_at_least_what_small_databases_show(data):
    world = data.draw(
        worlds(scope="any", max_values=4, max_known=2, kinds=("count", "marginal", "impossible"))
    )
    policy = world.policy
    values = list(policy.domain.points())
    rows = data.draw(rational_rows(len(values), 2))
    inputs = tuple(list(policy.domain.decode(x)) for x in values)
    channel = Channel(of="record", inputs=inputs, outputs=("0", "1"), rows=rows)
    reading = data.draw(st.sampled_from(["published", "secret-moves"]))
    found = certify(Mechanism(channel=channel), policy, ONE, reading=reading, time_limit=10)
    chances = {x: [Fraction(text) for text in row] for x, row in zip(values, rows, strict=True)}
    largest = 3 if len(values) <= 3 else 2
    prepared = prepare(setting(policy), reading)
    pairs = list(brute_neighbours(prepared, reading, sizes=range(largest + 1)))

    def joint(database):
        return {
            outcome: math.prod((chances[x][o] for x, o in zip(database, outcome, strict=True)))
            for outcome in product(range(2), repeat=len(database))
        }

    seen = worst_ratio(((p.database, p.reversed().database) for p in pairs), joint)
    if seen is None:
        assert found.exp_loss == "inf"
    elif found.exp_loss is not None:
        shown = found.witness is None or len(found.witness.before) <= largest
        exact = None if found.exp_loss == "inf" else Fraction(found.exp_loss)
        assert exact == seen if shown else exact is None or exact >= seen


# --- what is refused -----------------------------------------------------------------------------


def channel(rows, inputs=("a", "b"), of="record", outputs=("0", "1")):
    return Mechanism(channel=Channel(of=of, inputs=inputs, outputs=outputs, rows=rows))


HALF = ("1/2", "1/2")


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        (channel((HALF, ("1/2", "1/3"))), r"rows\[1\]: the row adds up to 5/6"),
        (channel((HALF, ("3/2", "-1/2"))), r"rows\[1\]\[1\]: '-1/2' is negative"),
        (channel((HALF, ("eps", "1-eps"))), None),
        (channel((HALF, ("2*eps", "1-2*eps"))), "'1-2[*]eps' is negative at eps = 1"),
        (channel((HALF, ("1/(1-eps)", "-eps/(1-eps)"))), "divides by zero at eps = 1"),
        (channel((HALF,), inputs=("a",)), r"the value \['b'\] of the policy has no row"),
        (channel((HALF, HALF), inputs=("a", "c")), r"inputs\[1\].x: 'c' is not a label"),
        (channel((HALF, HALF), inputs=("a", "a")), "the same value"),
        (channel((HALF, HALF), inputs=("a", "b"), of="database"), "is no database"),
        (channel((HALF, HALF), inputs=(["a"], ["a"]), of="database"), "the same database"),
    ],
)
def test_channels_that_do_not_fit(mechanism, message):
    if message is None:
        assert certify(mechanism, letters(2), ONE).exp_loss == "inf"
        return
    with pytest.raises(PolicyError, match=message):
        certify(mechanism, letters(2), ONE)


def test_every_database_of_the_policy_needs_a_row():
    policy = letters(2, database=Database(size=2))
    rows = (HALF, HALF)
    partial = channel(rows, inputs=(["a", "a"], ["b", "b"]), of="database")
    with pytest.raises(PolicyError, match="has no row"):
        certify(partial, policy, ONE)
    whole = channel((HALF,) * 3, inputs=(["a", "a"], ["b", "a"], ["b", "b"]), of="database")
    assert certify(whole, policy, ONE).exp_loss == "1"


def test_records_keep_their_order_in_a_local_mechanism():
    with pytest.raises(QueryError, match="--reading published"):
        certify(randomized_response(2), letters(2), ONE, reading="add-remove")


# --- expressions ---------------------------------------------------------------------------------

EXPRESSIONS = st.recursive(
    st.sampled_from(["0", "1", "2", "7/3", "eps", "exp(eps)", "exp(-eps/2)", "exp(1/3)", "exp(2)"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(
            lambda parts: f"({parts[0]}){parts[1]}({parts[2]})"
        ),
        inner.map(lambda text: f"-({text})"),
        inner.map(lambda text: f"({text})**2"),
    ),
    max_leaves=6,
)


@settings(max_examples=150)
@given(EXPRESSIONS, st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(-3, 4)]))
def test_expressions_have_the_value_that_mpmath_finds(text, epsilon):
    try:
        value = parse_expression(text)
    except PolicyError as error:
        assert "divides by zero" in str(error)
        return
    with mpmath.workdps(60):
        names = {"eps": mpmath.mpf(epsilon.numerator) / epsilon.denominator, "exp": mpmath.exp}
        python = text.replace("7/3", "mpf(7)/3").replace("1/3", "mpf(1)/3")
        try:
            expected = eval(python, {"mpf": mpmath.mpf, "__builtins__": {}}, names)
        except ZeroDivisionError:
            return
        for part, exact in ((value.top, value.top.at(epsilon)), (value.bottom, None)):
            assert exact is None or exact == part.at(epsilon)
        top = middle(value.top.at(epsilon))
        bottom = middle(value.bottom.at(epsilon))
        if bottom != 0 and abs(bottom) > mpmath.mpf(10) ** -40:
            assert mpmath.almosteq(top / bottom, expected, 1e-30, 1e-30)
    assert parse_expression(write_quotient(value)).equals(value)


def middle(number):
    low, high = number.between(250)
    return (
        mpmath.mpf(low.numerator) / low.denominator + mpmath.mpf(high.numerator) / high.denominator
    ) / 2


def test_equality_is_decided_and_not_guessed():
    one = parse_expression("(1-exp(-eps))*(1+exp(-eps)) + exp(-2*eps)")
    assert one.equals(Quotient.of(1))
    digits = "271828182845904523536028747135266249775724709369995"
    almost = parse_expression(f"exp(eps) - {digits}/10**50")
    assert almost.top.at(ONE).terms != {}
    assert almost.top.at(ONE).sign() != 0
    assert Number({}).sign() == 0


@pytest.mark.parametrize(
    "power", [0, Fraction(1, 3), Fraction(-5, 7), 17, 1000, Fraction(1, 10**9)]
)
@pytest.mark.parametrize("bits", [20, 100, 400])
def test_powers_of_e_lie_between_their_bounds(power, bits):
    low, high = enclosure(Fraction(power), bits)
    with mpmath.workdps(800):
        power = mpmath.mpf(Fraction(power).numerator) / Fraction(power).denominator
        value = mpmath.exp(power)
        below, above = (mpmath.mpf(x.numerator) / x.denominator for x in (low, high))
        assert below <= value <= above
        assert (above - below) / value <= mpmath.mpf(2) ** -bits


@pytest.mark.parametrize(
    "text",
    [
        *("", "1 2", "0.5", "exp", "exp()", "exp(eps", "(1", "1)", "1/0", "1/(eps-eps)", "x"),
        *("exp(exp(eps))", "exp(eps*eps)", "exp(1/eps)", "2**eps", "2**(1/2)", "eps^2", "1,2"),
        *(
            "eps**65",
            "__import__('os')",
            "(" * 1000,
            "9" * 300,
            "1+" * 2000 + "1",
            "²",
            "é",
            "\x00",
        ),
        *("**2", "2**", "exp(9999999)**64**2", "((10**64)**64)**64", "1//2", "- - -", "eps eps"),
    ],
)
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(PolicyError):
        parse_expression(text)


@settings(max_examples=200)
@given(st.text(alphabet="eps0123456789+-*/() x.^", max_size=30))
def test_no_text_breaks_the_parser(text):
    try:
        value = parse_expression(text)
    except PolicyError:
        return
    assert parse_expression(write_quotient(value)).equals(value)
