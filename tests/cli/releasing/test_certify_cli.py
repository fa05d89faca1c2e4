"""`blowproof certify`: exit codes, the JSON document, the screen, and no traceback on any input."""

import io
import json
from contextlib import chdir, redirect_stderr, redirect_stdout
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_certify_file import LINES, broken

from blowproof.cli.asking import ask
from blowproof.cli.asking import judge as judging
from blowproof.cli.main import run

FOLDER = Path(__file__).parents[2] / "mechanisms"
ROOT = FOLDER.parent.parent


def outcome(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(arguments))
    return code, out.getvalue(), err.getvalue()


def certified(mechanism, policy, epsilon, *options):
    files = [str(FOLDER / f"{mechanism}.toml"), "--policy", str(FOLDER / f"{policy}.policy.toml")]
    return outcome("certify", *files, "--epsilon", epsilon, *options)


def document(*arguments):
    code, out, err = certified(*arguments, "--json")
    assert not err
    return code, json.loads(out)


KEYS = {
    *("schema", "mechanism", "policy", "reading", "answers", "verdict", "epsilon", "loss"),
    *("lower", "upper", "witness", "postprocessing", "engine", "seconds", "notes"),
    *("status", "assumptions", "assumed", "measure"),
}


def test_proved():
    code, found = document("ordered", "line", "1")
    assert code == 0
    assert set(found) == KEYS | {"scales_times"}
    assert found["schema"] == "blowproof/certify/1"
    assert (found["verdict"], found["epsilon"], found["loss"]) == ("proved", "1", "1")
    assert found["witness"]["outputs_changed"] == len(found["witness"]["outputs"]) == 10
    assert found["postprocessing"] == ["isotonic", "clipping"]


def test_refuted():
    code, found = document("ordered", "line", "1/2")
    assert code == 1
    assert (found["verdict"], found["loss"], found["scales_times"]) == ("refuted", "1", "2")
    first, *_ = found["witness"]["outputs"]
    assert first == {
        "release": 1,
        "output": "cumulative(age): up to 0",
        "change": "-1",
        "scale": "10",
    }


TWELVE_WARDS = f"""
[domain]
ward = {{ min = 1, max = 12 }}
outcome = ["home", "died", "else"]
sex = ["F", "M"]

[database]
size = 1200

[[known]]
marginal = ["ward"]
answers = {[100] * 12}

[[known]]
count = {{ outcome = "died" }}
at_least = 5

[[known]]
count = {{ sex = "F" }}
at_most = 900
"""


def test_undecided_when_the_question_is_too_large(tmp_path, monkeypatch):
    judged = judging.judge
    seen: list[Any] = []

    def once(*words, **options):
        seen[:] = seen or [judged(*words, **options)]
        return seen[0]

    monkeypatch.setattr(judging, "judge", once)  # one verdict, told twice
    (tmp_path / "mechanism.toml").write_text(
        '[[release]]\nquery = "histogram"\nscale = 2\n', "utf-8"
    )
    (tmp_path / "policy.toml").write_text(TWELVE_WARDS, "utf-8")
    with chdir(tmp_path):
        words = ["certify", "mechanism.toml", "--policy", "policy.toml", "--epsilon", "65"]
        words += ["--time-limit", "2"]
        code, out, err = outcome(*words)
        assert (code, err) == (3, "")
        assert out.startswith("undecided: mechanism under policy, epsilon = 65\n")
        assert "at least " in out and "at most " in out
        code, out, err = outcome(*words, "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["loss"]) == (3, "undecided", None)
    assert found["witness"] is not None and found["upper"] is not None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["no.toml", "--policy", "line.policy.toml", "--epsilon", "1"],
            "no.toml: there is no such",
        ),
        (["ordered.toml", "--policy", "no.toml", "--epsilon", "1"], "no.toml: there is no such"),
        (["ordered.toml", "--policy", "line.policy.toml"], "Missing option '--epsilon'"),
        (["ordered.toml", "--epsilon", "1"], "Missing option '--policy'"),
        (["ordered.toml", "--policy", "line.policy.toml", "--epsilon", "0"], "not above zero"),
        (["ordered.toml", "--policy", "line.policy.toml", "--epsilon", "x"], "not a number"),
        (
            ["ordered.toml", "--policy", "letters.policy.toml", "--epsilon", "1"],
            "ordered.toml:6: release[0].query: in the query cumulative(age): there is no",
        ),
        (
            ["hierarchical.toml", "--policy", "letters.policy.toml", "--epsilon", "1"],
            "there is no attribute 'age'",
        ),
        (
            [
                "response.toml",
                "--policy",
                "letters.policy.toml",
                "--epsilon",
                "1",
                "--reading",
                "markov",
            ],
            "--reading published or secret-moves",
        ),
        (
            ["response.toml", "--policy", "pair.policy.toml", "--epsilon", "1"],
            "response.toml:6: channel.inputs[2].x: 'c' is not a label",
        ),
    ],
)
def test_bad_input(words, message):
    with chdir(FOLDER):
        code, out, err = outcome("certify", *words)
    assert code == 2
    assert not out
    assert message in err


@pytest.mark.parametrize(
    ("mechanism", "policy", "epsilon", "code", "exp_loss", "loss"),
    [
        ("response", "letters", "1", 0, "exp(eps)", "1"),
        ("response", "letters", "1/3", 0, "exp(eps)", "1/3"),
        ("response", "letters_known", "1", 1, "exp(2*eps)", "2"),
        ("database", "pair", "1", 1, "3", None),
        ("database", "pair", "9/8", 0, "3", None),
    ],
)
def test_channels(mechanism, policy, epsilon, code, exp_loss, loss):
    found_code, found = document(mechanism, policy, epsilon)
    assert set(found) == KEYS | {"exp_loss", "exp_loss_between"}
    assert (found_code, found["exp_loss"], found["loss"]) == (code, exp_loss, loss)
    low, high = map(Fraction, found["exp_loss_between"])
    assert 0 <= high - low < Fraction(1, 10**9)


def test_silence_loses_everything():
    code, found = document("silent", "letters", "1")
    assert (code, found["loss"], found["lower"], found["upper"]) == (1, "inf", "inf", "inf")


@pytest.mark.parametrize("width", [80, 60])
@pytest.mark.parametrize(
    ("mechanism", "policy"),
    [
        *(("ordered", "line"), ("hierarchical", "line"), ("response", "letters")),
        *(("response", "letters_known"), ("database", "pair"), ("silent", "letters")),
    ],
)
def test_the_screen_fits_and_says_the_verdict(mechanism, policy, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = certified(mechanism, policy, "1")
    assert out.startswith(("proved", "refuted")[code])
    assert max(map(len, out.splitlines())) <= width
    assert "\x1b" not in out and not err
    assert "reading published, answers" in out


def test_readings_and_engines():
    code, found = document("ordered", "line", "10", "--reading", "add-remove")
    assert (code, found["reading"], found["loss"]) == (0, "add-remove", "10")
    code, found = document("silent", "letters_known", "1", "--engine", "brute", "--answers", "any")
    assert (code, found["engine"], found["loss"]) == (1, "brute", "inf")


@pytest.fixture(scope="module", autouse=True)
def _impatient():
    patch = pytest.MonkeyPatch()
    patch.setattr(ask, "GRACE", 0.1)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


POLICIES = [path.read_text() for path in FOLDER.glob("*.policy.toml")]


@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(
    broken(),
    st.sampled_from(POLICIES),
    st.sampled_from(["1", "1/2", "1000", "10000000"]),
    st.lists(
        st.sampled_from(
            [
                *("--json", "--reading=markov", "--reading=secret-moves", "--reading=add-remove"),
                *("--answers=any", "--answers=given", "--engine=brute", "--engine=sat"),
                *("--engine=ilp", "--engine=hilbert", "--engine=search"),
            ]
        ),
        max_size=2,
        unique=True,
    ),
)
def test_no_mechanism_gives_a_traceback(folder, mechanism, policy, epsilon, options):
    (folder / "mechanism.toml").write_text(mechanism, "utf-8")
    (folder / "policy.toml").write_text(policy, "utf-8")
    words = ["--policy", "policy.toml", "--epsilon", epsilon, "--time-limit", "0.2"]
    with chdir(folder):
        code, out, err = outcome("certify", "mechanism.toml", *words, *options)
    assert code in (0, 1, 2, 3)
    assert "Traceback" not in out + err
    assert "bug in blowproof" not in err
    assert (code == 2) == err.startswith("error: ")
    assert LINES


GAUSSIAN = """
[[release]]
query = "histogram"
noise = "discrete-gaussian"
variance = "8"
"""
TABLE = """
[domain]
x = ["a", "b"]
[database]
size = 2
"""


@pytest.fixture
def table(tmp_path):
    (tmp_path / "m.toml").write_text(GAUSSIAN, encoding="utf-8")
    (tmp_path / "p.toml").write_text(TABLE, encoding="utf-8")
    return [str(tmp_path / "m.toml"), "--policy", str(tmp_path / "p.toml")]


def test_rho(table):
    code, out, _ = outcome("certify", *table, "--rho", "1/8", "--json")
    found = json.loads(out)
    assert code == 0 and found["verdict"] == "proved"
    assert (found["rho"], found["rho_promised"], found["epsilon"]) == ("1/8", "1/8", None)
    assert found["measure"] == "rho" and found["witness"]["outputs"][0]["variance"] == "8"
    code, out, _ = outcome("certify", *table, "--rho", "1/9")
    assert code == 1
    assert "Its rho is 1/8 (about 0.125) at the worst: more than rho." in out
    assert "All variances times 9/8 (about 1.125) would lose no more than rho." in out
    assert "At order 2 the pair's divergence is 1/4" in " ".join(out.split())


def test_a_refuted_rho_names_the_order(table):
    """Two cells by 1, variance 8: 2 / 8 is the divergence of order 2; 2 * 1/9 would be allowed."""
    _, out, _ = outcome("certify", *table, "--rho", "1/9", "--json")
    refuted_at = {"order": 2, "divergence": "1/4", "allowed": "2/9"}
    assert json.loads(out)["refuted_at"] == refuted_at
    _, out, _ = outcome("certify", *table, "--rho", "1/8", "--json")
    assert "refuted_at" not in json.loads(out)


def test_epsilon_with_delta(table):
    code, out, _ = outcome("certify", *table, "--epsilon", "3", "--delta", "1/1000000", "--json")
    found = json.loads(out)
    assert code == 0 and found["verdict"] == "proved"
    assert (found["measure"], found["delta"], found["loss"]) == ("epsilon-delta", "1/1000000", None)
    assert 2 < Fraction(found["upper"]) < 3
    code, out, _ = outcome("certify", *table, "--epsilon", "1", "--delta", "0.000001")
    assert code == 1 and "Its epsilon at delta = 1/1000000 is at most" in out


def test_cell_keys_say_how_far_the_noise_goes_and_what_gives_an_answer_away(table):
    """The column "probabilities" showed the grid, 1."""
    mechanism, *rest = table
    text = """[[release]]
query = "histogram"
noise = "bounded"
probabilities = ["1/16", "1/8", "5/8", "1/8", "1/16"]
grid = 1
"""
    Path(mechanism).write_text(text, encoding="utf-8")
    asked = mechanism, *rest, "--epsilon", "1", "--delta", "1/10"
    code, out, _ = outcome("certify", *asked)
    shown = out.partition("told apart by")[2]
    assert code == 1 and "noise up to" in shown and "probabilities" not in shown
    assert "told for sure, chance 1/16" in shown
    told = json.loads(outcome("certify", *asked, "--json")[1])["witness"]["outputs"]
    assert all((item["reach"], item["tells"], item["scale"]) == ("2", "1/16", "1")
               for item in told if item["change"] in ("1", "-1"))  # fmt: skip


def test_a_pure_epsilon_says_what_to_ask_instead(table):
    code, out, _ = outcome("certify", *table, "--epsilon", "1")
    assert code == 1 and "Gaussian noise has no pure epsilon" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "Missing option '--epsilon' (or '--rho')."),
        (("--epsilon", "1", "--rho", "1"), "an epsilon and a rho"),
        (("--rho", "1", "--delta", "1/2"), "delta goes with an epsilon"),
        (("--epsilon", "1", "--delta", "1"), "delta = 1 promises nothing"),
        (("--epsilon", "1", "--delta", "0"), "0 is not above zero"),
        (("--rho", "0"), "0 is not above zero"),
    ],
)
def test_promises_that_are_none(table, options, message):
    code, _, err = outcome("certify", *table, *options)
    assert code == 2 and message in err


@pytest.mark.parametrize(
    ("candidates", "said"),
    [
        ("maximum", "which number of marginal(a) is the largest, with discrete laplace noise"),
        ("exponential", "which number of marginal(a): drawn in proportion to e^(number / 2)"),
        ("intervals", "a choice among intervals by costs of marginal(a) with discrete laplace"),
        ("drawn-intervals", "intervals of marginal(a), drawn in proportion to e^(-cost / 2)"),
    ],
)
def test_choices_say_what_they_are_made_by(candidates, said, tmp_path, capsys):
    (tmp_path / "p.toml").write_text("[domain]\na = { min = 0, max = 3 }\n", encoding="utf-8")
    chosen = f'[[selection]]\nquery = "marginal(a)"\ncandidates = "{candidates}"\nscale = "2"\n'
    (tmp_path / "m.toml").write_text(chosen, encoding="utf-8")
    run(["certify", str(tmp_path / "m.toml"), "--policy", str(tmp_path / "p.toml"),
         "--epsilon", "9"])  # fmt: skip
    assert said in " ".join(capsys.readouterr().out.split())
