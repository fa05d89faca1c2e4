"""The certifier and `check` under attack: what a stranger may write, and must not be believed."""

import io
import json
import random
from collections import Counter
from contextlib import chdir, redirect_stderr, redirect_stdout
from fractions import Fraction
from importlib import import_module
from itertools import product

import pytest

from blowproof.cli.main import run
from blowproof.models import (
    READINGS,
    BlowproofError,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Integers,
    Labels,
    Marginal,
    Policy,
    PolicyError,
    QueryError,
    setting,
)
from blowproof.models.mechanisms.mechanism import Channel, Mechanism, Prefixes, Release, Tree
from blowproof.models.mechanisms.stacked_releases import bind_release
from blowproof.models.queries.kinds import WeightedSum
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.question import Progress
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.noise import changed_outputs
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.brute import brute_neighbours

ONE, HALF = Fraction(1), Fraction(1, 2)
LINE = Domain(x=Integers(0, 3))


def release(query, scale=ONE, **options):
    return Release(query=query, scale=scale, **options)


def weighted(*weights, domain=LINE):
    return WeightedSum(domain, 0, weights, "weighted-sum(x,w)")


def judged(*releases, policy, **options):
    return certify(Mechanism(releases=releases), policy, ONE, **options)


def outcome(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


# --- weights of single records, composed ---------------------------------------------------------


@pytest.mark.parametrize("scope", ["any", "given"])
def test_a_silent_release_beside_weights_names_its_records(scope):
    policy = Policy(domain=LINE, database=Database(size=2, answers=scope))
    found = judged(release("histogram", Fraction(0)), release(weighted(1, 2)), policy=policy)
    assert (found.verdict, found.loss) == ("refuted", "inf")
    assert found.witness.records is not None
    assert len(found.witness.database) == 2
    assert {item.release for item in found.outputs} == {0, 1}


def test_weights_ask_for_labelled_records_however_small_their_part():
    policy = Policy(domain=LINE, database=Database(size=2))
    for reading in ("add-remove", "markov"):
        with pytest.raises(QueryError, match="does not label them"):
            judged(
                release("histogram", Fraction(0)),
                release(weighted(1, 2)),
                policy=policy,
                reading=reading,
            )


def test_weights_for_different_numbers_of_records():
    policy = Policy(domain=LINE)
    with pytest.raises(QueryError, match=r"3 records.* has 2"):
        judged(release(weighted(1, 2)), release(weighted(1, 2, 3)), policy=policy)
    policy = Policy(domain=LINE, database=Database(size=4))
    with pytest.raises(QueryError, match=r"2 records.*the policy has 4"):
        judged(release("histogram", Fraction(0)), release(weighted(1, 2)), policy=policy)


def test_a_pair_with_more_records_than_weights_refutes_nothing():
    # 0 and 2 trade places with 3 and 1: two records at once, and n = 1 is what the weights say.
    secrets = Edges([({"x": 0}, {"x": 2}), ({"x": 1}, {"x": 3})])
    policy = Policy(domain=LINE, secrets=secrets, known=(Count({"x": [0, 1]}),))
    options = {"policy": policy, "answers": "any", "reading": "secret-moves"}
    silent = release("histogram", Fraction(0))
    assert judged(silent, **options).loss == "inf"
    assert judged(silent, release(weighted(1, 1)), **options).verdict == "refuted"
    assert judged(silent, release(weighted(1, 1, 1)), **options).verdict == "refuted"
    assert judged(silent, release(weighted(1)), **options).verdict == "undecided"


@pytest.mark.parametrize("reading", ["published", "secret-moves"])
@pytest.mark.parametrize("seed", range(12))
def test_bounds_on_compositions_with_weights_hold_the_worst_pair(seed, reading):
    draw = random.Random(seed)
    size = draw.randint(1, 3)
    policy = Policy(
        domain=LINE,
        secrets=Distance(threshold=draw.randint(1, 2)),
        known=(Count({"x": [0, 2]}, answer=draw.randint(0, size)),) * draw.randint(0, 1),
        database=Database(size=size, answers="given"),
    )
    scales = tuple(Fraction(draw.randint(1, 3)) for _ in range(4))
    weights = weighted(*(draw.randint(-2, 2) for _ in range(size)))
    parts = release("histogram", scales), release("cumulative(x)"), release(weights, HALF)
    bound = [bind_release(item, policy) for item in parts]
    pairs = brute_neighbours(prepare(setting(policy), reading), reading, sizes=[size])
    worst = max(
        (sum(difference(part, pair.moves(reading)) for part in bound) for pair in pairs), default=0
    )
    found = judged(*parts, policy=policy, reading=reading)
    assert found.lower <= worst <= found.upper


def difference(part, moves):
    """The loss of a part whose weights are the scales."""
    if part.query.per_record:
        return part.query.difference(moves) / part.weights[0]
    changed = part.changes(moves)
    return sum((abs(change) / part.weight(key) for key, change in changed.items()), Fraction(0))


# --- outputs that are too many to list -----------------------------------------------------------


def pairs_on_a_line(size, count):
    draw = random.Random(size)
    for _ in range(count):
        before = [(draw.randrange(size),) for _ in range(draw.randint(1, 3))]
        yield Pair(before=tuple(before), after=tuple((draw.randrange(size),) for _ in before))


QUERIES = ["cumulative(x)", "ranges(x)", *(Prefixes(attribute="x", every=e) for e in (1, 2, 5))]
QUERIES += [Prefixes(attribute="x", every=e, whole=True) for e in (1, 2, 3, 9)]


@pytest.mark.parametrize("query", QUERIES, ids=str)
@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_outputs_counted_by_runs_are_those_listed(query, size, monkeypatch):
    policy = Policy(domain=Domain(x=Integers(0, size - 1)))
    part = bind_release(release(query), policy)
    monkeypatch.setattr(changed_outputs, "MOST_OUTPUTS", 1000)
    for pair in pairs_on_a_line(size, 30):
        answers = []
        for listed in (1000, -1):
            monkeypatch.setattr(changed_outputs, "LISTED", listed)
            named, count = changed_outputs.changed_outputs([part], pair, "published", policy)
            assert len(named) == count
            answers.append(Counter(named))
        assert answers[0] == answers[1]


def test_all_ranges_of_a_million_values_are_certified():
    policy = Policy(domain=Domain(x=Integers(1, 10**6)), secrets=Distance(threshold=100))
    found = judged(release("ranges(x)", Fraction(100 * (10**6 + 1 - 100))), policy=policy)
    assert (found.verdict, found.loss) == ("proved", 1)
    assert found.outputs_changed == 100 * (10**6 + 1 - 100)


def test_a_billion_prefixes_are_judged_without_being_listed():
    size = 10**9
    policy = Policy(domain=Domain(x=Integers(1, size)), secrets=Distance(threshold=100))
    # From x to x + 100: 100 x ranges hold the one alone, and 100 (size - x - 99) the other.
    for query, loss in (("cumulative(x)", 100), ("ranges(x)", 100 * (size - 99))):
        found = judged(release(query), policy=policy)
        assert (found.verdict, found.loss) == ("refuted", loss)


# --- trees and prefixes with wild numbers --------------------------------------------------------


@pytest.mark.parametrize("level", [5, 10**12, 10**40])
@pytest.mark.parametrize("key", ["first", "last"])
def test_levels_that_no_tree_has_are_refused(level, key):
    policy = Policy(domain=Domain(x=Integers(0, 7)))
    tree = Tree(attribute="x", fan_out=2, **{key: level})
    with pytest.raises(PolicyError, match=f"{key} = {level}, but the trees have the levels 0 to 3"):
        judged(release(tree), policy=policy)


def test_a_short_last_block_needs_no_level_of_its_own():
    policy = Policy(domain=Domain(x=Integers(0, 2)))
    tree = Tree(attribute="x", fan_out=2, block=2, first=1, blocks=(1, 1))
    assert judged(release(tree), policy=policy).loss == 0


def test_numbers_beyond_64_bits_mean_what_they_say():
    policy = Policy(domain=Domain(x=Integers(0, 7)))
    huge = 10**40
    assert judged(release(Tree(attribute="x", fan_out=huge, block=huge)), policy=policy).loss == 2
    whole = Prefixes(attribute="x", every=huge, whole=True)
    assert judged(release(whole), policy=policy).loss == 0
    assert judged(release(Prefixes(attribute="x", every=huge)), policy=policy).loss == 0


# --- channels ------------------------------------------------------------------------------------


def channel(rows, *, inputs=("a", "b"), of="record"):
    outputs = tuple(f"o{place}" for place in range(len(rows[0])))
    return Mechanism(
        channel=Channel(of=of, inputs=tuple(inputs), outputs=outputs, rows=tuple(rows))
    )


def test_the_output_named_for_equal_rows_is_possible():
    policy = Policy(domain=Domain(x=Labels(["a", "b", "c"])), known=(Marginal(["x"]),))
    same, other = ("0", "1/2", "1/2"), ("0", "1/3", "2/3")
    found = certify(channel([same, other, same], inputs="abc"), policy, ONE)
    assert found.witness is not None
    assert "o0" not in found.channel_outputs


LETTERS = Policy(domain=Domain(x=Labels(["a", "b"])))
PAIRS = ((("a",), ("a",)), (("a",), ("b",)), (("b",), ("b",)))


def test_databases_of_one_size_prove_nothing_where_neighbours_have_another():
    rows = [("1/2", "1/2")] * 3
    mechanism = channel(rows, inputs=PAIRS, of="database")
    for reading in READINGS:
        found = certify(mechanism, LETTERS, ONE, reading=reading)
        assert (found.verdict, found.exp_loss) == ("undecided", None)
        assert "write size" in found.notes[-1]
    sized = Policy(domain=LETTERS.domain, database=Database(size=2, answers="any"))
    counted = Policy(domain=LETTERS.domain, known=(Marginal(["x"]),))
    for policy in (sized, counted):
        for reading in READINGS[:3]:
            assert certify(mechanism, policy, ONE, reading=reading).verdict == "proved"


def test_databases_of_some_sizes_still_refute():
    mechanism = channel([("1", "0"), ("0", "1")], inputs=((), (("a",),)), of="database")
    policy = Policy(domain=Domain(x=Labels(["a"])))
    assert certify(mechanism, policy, ONE, reading="add-remove").exp_loss == "inf"


BAD_ROWS = [
    [("1/2", "1/3"), ("1", "0")],
    [("3/2", "-1/2"), ("1", "0")],
    [("1/(eps-1)", "1"), ("1", "0")],
    [("1/(1-1)", "1"), ("1", "0")],
]


@pytest.mark.parametrize("rows", BAD_ROWS, ids=str)
def test_rows_that_are_none_are_refused_with_a_way_out(rows):
    with pytest.raises(BlowproofError, match="\n  try: "):
        certify(channel(rows), LETTERS, ONE)


def test_an_epsilon_next_to_a_transcendental_loss_is_told_apart():
    keep, other = "exp(1)/(1+exp(1))", "1/(1+exp(1))"
    mechanism = channel([(keep, other), (other, keep)])
    assert certify(mechanism, LETTERS, ONE).verdict == "proved"
    below = 1 - Fraction(1, 10**60)
    assert certify(mechanism, LETTERS, below).verdict == "refuted"


# --- files beside files, and the command line ----------------------------------------------------


def test_a_matrix_beside_the_mechanism_is_found(tmp_path):
    for folder in ("plan", "rules", "here"):
        (tmp_path / folder).mkdir()
    (tmp_path / "rules" / "p.toml").write_text("[domain]\nage = { min = 0, max = 1 }\n")
    (tmp_path / "plan" / "m.toml").write_text('[[release]]\nquery = "matrix(mat)"\nscale = 1\n')
    command = ("certify", "../plan/m.toml", "--policy", "../rules/p.toml", "--epsilon", "1")
    with chdir(tmp_path / "here"):
        code, _, err = outcome(*command)
        assert code == 2 and "mat: cannot be read" in err
        (tmp_path / "plan" / "mat").write_text("0,1\n")
        assert outcome(*command)[0] == 0
        (tmp_path / "rules" / "mat").write_text("0,2\n")  # beside the policy comes first
        assert outcome(*command)[0] == 1
        (tmp_path / "rules" / "mat").write_text("0,x\n")  # and is not passed over
        assert outcome(*command)[0] == 2


DATA_POLICY = """
[domain]
a = ["x", "y", "z"]
b = { min = 0, max = 2 }
[[known]]
marginal = ["a"]
[database]
data = "data.csv"
"""


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counted")
    (folder / "p.toml").write_text(DATA_POLICY)
    (folder / "data.csv").write_text("a,b\nx,0\nx,1\ny,2\nz,0\n")
    made = outcome("sensitivity", folder / "p.toml", "--certificate", folder / "c.json")
    assert made[0] == 0
    return folder


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("a,b\nx,0\nx,1\ny,2\nz,0\n", 0),
        ("a,b\ny,0\nz,1\nx,2\nx,2\n", 0),  # the same counts
        ("a,b\nx,0\nx,1\nx,2\nz,0\n", 1),
        ("a,b\nx,0\nx,1\ny,2\nz,0\nz,0\n", 1),
        (None, 1),  # data that is not at hand is not compared
    ],
)
def test_a_certificate_for_other_data_is_rejected(counted, data, code):
    (counted / "data.csv").unlink(missing_ok=True)
    if data is not None:
        (counted / "data.csv").write_text(data)
    asked = ("--policy", counted / "p.toml", "--query", "histogram", "--json")
    found = outcome("check", counted / "c.json", *asked)
    assert found[0] == code
    document = json.loads(found[1])
    assert (document["reason"] is None) == (code == 0)
    assert outcome("check", counted / "c.json", "--embedded")[0] == 0


def test_what_cannot_be_read_is_said_in_words(tmp_path):
    (tmp_path / "c.json").write_bytes(b"\xff")
    for path in (tmp_path / "c.json", tmp_path / "none.json", tmp_path):
        code, out, err = outcome("check", path, "--json")
        assert code == 2 and json.loads(out)["verdict"] == "unreadable"
        assert "Errno" not in err and "codec" not in err


def test_zero_scales_on_outputs_that_never_change():
    """The loss is infinite iff an output with scale 0 changes between two neighbours."""
    policy = Policy(domain=Domain(x=Integers(0, 2)), secrets=Distance(threshold=1))
    for zero in product([0, 1], repeat=3):
        scales = tuple(Fraction(item) for item in zero)
        found = judged(release("cumulative(x)", scales), policy=policy)
        assert (found.loss == "inf") == (0 in zero[:2])  # the whole is n, and never changes


# --- exact arithmetic that was not ---------------------------------------------------------------

TINY = f"(exp(1/{10**40})-1)"
"""Some 10^-40: 64 bits of e^x do not tell it from zero."""


def hidden_loss(much, less):
    """A channel of two values: one output has a ratio of e^much that few digits do not show."""
    one = (TINY, f"exp(-1)/4*{TINY}")
    two = (f"exp(-{much})*{TINY}", f"exp(-{less}-1)/4*{TINY}")
    return channel([(*row, f"1-{row[0]}-{row[1]}") for row in (one, two)])


@pytest.mark.parametrize("less", [900, 1600])
def test_a_ratio_that_few_digits_do_not_show_is_not_taken_for_10_to_the_400(less):
    plain = channel([(f"exp(-1)/4*{TINY}", f"1-exp(-1)/4*{TINY}")] * 2)
    assert certify(plain, LETTERS, ONE).verdict == "proved"
    one = ("exp(-1)/4", TINY)
    two = (f"exp(-{less}-1)/4", f"exp(-2000)*{TINY}")
    rows = [(*row, f"1-{row[0]}-{row[1]}") for row in (one, two)]
    for rows_now in (rows, [row[::-1] for row in rows]):
        found = certify(channel(rows_now), LETTERS, Fraction(less))
        assert (found.verdict, found.exp_loss) == ("refuted", "exp(2000)")
    assert certify(hidden_loss(2000, less), LETTERS, Fraction(less)).verdict == "refuted"


def test_an_unknown_ratio_has_no_upper_end(monkeypatch):
    from blowproof.verifier.certify.channels import ratios
    from blowproof.verifier.certify.channels.expressions import parse_expression

    monkeypatch.setattr(ratios, "MOST_BITS", 64)
    hidden = ratios.Ratio.of(parse_expression(f"exp(2000)*{TINY}/{TINY}/{TINY}*{TINY}"), ONE)
    assert (*hidden.between, *hidden.decimals) == (0, None, "0.000000000000", None)
    seen = ratios.Ratio.of(parse_expression("exp(1600)"), ONE)
    assert hidden.above(seen)
    assert not seen.above(hidden)


@pytest.mark.parametrize(
    ("factor", "shown"),
    [("exp(1500)/4", "6.91294e+650"), ("exp(1)", "2.71828"), ("exp(20)", "4.85165e+8")],
)
def test_decimals_beside_an_expression_are_rounded_or_absent(factor, shown, tmp_path):
    (tmp_path / "p.toml").write_text('[domain]\nx = ["a", "b"]\n')
    keep, other = f"{factor}/(1+{factor})", f"1/(1+{factor})"
    (tmp_path / "m.toml").write_text(
        f'[channel]\nof = "record"\ninputs = ["a", "b"]\noutputs = ["y", "n"]\n'
        f'rows = [["{keep}", "{other}"], ["{other}", "{keep}"]]\n'
    )
    code, out, _ = outcome(
        "certify", tmp_path / "m.toml", "--policy", tmp_path / "p.toml", "--epsilon", "1500"
    )
    assert code == 0
    assert f"(about {shown})" in out


# --- a user's word -------------------------------------------------------------------------------

HISTOGRAM = '[[release]]\nquery = "histogram"\nscale = 2\n'
CHOICE = '[[selection]]\nquery = "histogram"\nscale = "1/1000000"\nstep = 0\n'
WORDS = {
    "selection-1": HISTOGRAM + CHOICE + 'candidates = "whatever is cheapest"\n',
    "postprocessing-1": 'postprocessing = ["print the true histogram"]\n' + HISTOGRAM,
}


@pytest.fixture
def asked(tmp_path):
    (tmp_path / "p.toml").write_text('[domain]\nx = ["a", "b", "c"]\n')

    def ask(content, *options):
        (tmp_path / "m.toml").write_text(content)
        words = ("certify", tmp_path / "m.toml", "--policy", tmp_path / "p.toml", "--epsilon", 1)
        return outcome(*words, *options)

    return ask


@pytest.mark.parametrize("name", WORDS)
def test_what_a_file_claims_is_an_assumption_by_name(asked, name):
    code, out, _ = asked(WORDS[name], "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["status"]) == (1, "proved-assuming", "proved-assuming")
    assert found["assumptions"] == [name] == list(found["assumed"])
    code, out, _ = asked(WORDS[name])
    assert code == 1
    assert out.startswith("proved, assuming: ") and f"--assume {name}" in out
    code, out, _ = asked(WORDS[name], "--assume", name)
    assert code == 0
    assert out.startswith("proved, assuming: ") and "--assume" not in out
    code, _, err = asked(WORDS[name], "--assume", name, "--assume", "selection-7")
    assert code == 2 and "assumes no such thing" in err


def test_every_assumption_has_to_be_named(asked):
    text = WORDS["postprocessing-1"] + WORDS["selection-1"].removeprefix(HISTOGRAM)
    assert asked(text, "--assume", "selection-1")[0] == 1
    assert asked(text, "--assume", "selection-1", "--assume", "postprocessing-1")[0] == 0


@pytest.mark.parametrize("candidates", ["intervals", "pairs"])
def test_a_step_that_the_file_invents_does_not_count(asked, candidates):
    """Scale 10^-6: the choice tells the cheapest partition as it is."""
    code, out, _ = asked(f'{HISTOGRAM}{CHOICE}candidates = "{candidates}"\n', "--json")
    found = json.loads(out)
    assert (code, found["verdict"]) == (3, "undecided")
    assert Fraction(found["upper"]) > 10**6
    assert not found["assumptions"]
    if candidates == "intervals":  # and with its price it is all there is to know
        code, out, _ = asked(f'{HISTOGRAM}{CHOICE}candidates = "intervals"\npenalty = 1\n')
        assert code == 1 and out.startswith("refuted")


def test_what_nobody_knows_of_a_choice_is_asked_for(asked):
    unknown = CHOICE.replace("step = 0\n", "")
    code, _, err = asked(f'{HISTOGRAM}{unknown}candidates = "whatever"\n')
    assert code == 2 and "selection[0].step" in err and "\n  try: " in err
    code, _, err = asked(f'{unknown}candidates = "pairs"\n'.replace("histogram", "sum(x)"))
    assert code == 2


def test_a_refutation_assumes_nothing(asked):
    text = WORDS["postprocessing-1"].replace("scale = 2", "scale = 1")
    code, out, _ = asked(text, "--assume", "postprocessing-1", "--json")
    assert (code, json.loads(out)["verdict"]) == (1, "refuted")


def test_the_steps_of_our_own_mechanisms_are_known():
    from blowproof.mechanisms.release.registry import MECHANISMS
    from blowproof.verifier.certify.base.steps import STEPS

    kinds = [
        getattr(import_module(f"blowproof.mechanisms.kinds.{file}"), kind)
        for file, kind in MECHANISMS.values()
    ]
    steps = {step for kind in kinds for step in kind.postprocessing}
    assert steps and steps <= set(STEPS)


def test_a_channel_hides_no_choice(asked):
    channel_text = (
        '[channel]\nof = "record"\ninputs = ["a", "b", "c"]\noutputs = ["y"]\n'
        'rows = [["1"], ["1"], ["1"]]\n'
    )
    assert asked(channel_text)[0] == 0
    code, _, err = asked(f'{channel_text}{CHOICE}candidates = "pairs"\n')
    assert code == 2 and "both releases and a channel" in err
    code, _, _ = asked('postprocessing = ["print the input"]\n' + channel_text)
    assert code == 1


def test_a_stopped_search_takes_no_bound_of_a_choice_for_a_loss():
    """What a choice can lose at the most is no lower bound, however it is asked for."""
    from blowproof.models.mechanisms.mechanism import Selection

    heard: list[Progress] = []
    known = (Marginal(["x"]),)
    policy = Policy(domain=Domain(x=Integers(0, 2), y=Integers(0, 2)), known=known)
    item = Selection(query="histogram", candidates="pairs", scale=Fraction(1, 100))
    found = certify(Mechanism(selections=(item,)), policy, ONE, listener=heard.append)
    assert (found.verdict, found.lower) == ("undecided", 0)
    assert all(progress.lower == 0 for progress in heard)


def test_choices_are_not_told_to_be_scaled(asked):
    """The loss of a choice is no multiple of 1 / scale, so no factor is advised."""
    text = '[[selection]]\nquery = "histogram"\ncandidates = "intervals"\nscale = 2\nlongest = 2\n'
    code, out, _ = asked(HISTOGRAM.replace("scale = 2", "scale = 8") + text, "--json")
    assert code == 3
    assert json.loads(out)["scales_times"] is None
    code, out, _ = asked(HISTOGRAM.replace("scale = 2", "scale = 8") + text)
    assert "scales" not in out
