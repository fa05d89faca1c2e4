"""`blowproof audit --norm`: the noise, the plan and the words that belong to each norm."""

import json
from fractions import Fraction

import pytest

from blowproof.cli.audit.noise import NOISE
from blowproof.cli.main import run

POLICY = """
[domain]
sex = ["F", "M"]
age = { min = 0, max = 2 }
[[known]]
count = { sex = "F" }
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    return str(tmp_path / "policy.toml")


def document(capsys, *arguments):
    code = run(["audit", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("norm", "size", "kind", "parameter"),
    [
        ("l1", 4, "laplace", ("scale", 4)),
        ("l2-squared", 4, "gaussian", ("variance", 2)),
        ("linf", 1, "noisy-maximum", ("scale", 2)),
        ("range", 2, "exponential", ("scale", 2)),
    ],
)
def test_each_norm_names_its_noise(capsys, path, norm, size, kind, parameter):
    code, found = document(capsys, path, "--norm", norm)
    (query,) = found["queries"]
    assert code == 0 and (query["norm"], query["upper"]) == (norm, size)
    name, needed = parameter
    assert query["noise"]["kind"] == kind and query["noise"][name] == needed
    assert {row["answer"]["norm"] for row in query["readings"]} == {norm}
    assert (found["epsilon"] is None) == (norm == "l2-squared")


@pytest.mark.parametrize(
    ("plan", "enough"),
    [
        (("--planned-variance", "4"), True),
        (("--planned-variance", "7/2"), False),
        (("--claimed", "4"), True),
        (("--claimed", "2"), False),
    ],
)
def test_a_plan_in_squares_is_judged(capsys, path, plan, enough):
    code, found = document(capsys, path, "--norm", "l2-squared", "--rho", "1/2", *plan)
    (query,) = found["queries"]
    assert code == (0 if enough else 1)
    assert [item["enough"] for item in query["judgements"]] == [enough]
    assert query["plain"]["real_rho"] == {"lower": 1, "upper": 1}  # 1/2 is really 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rho", "1"), "rho is not for the norm l1"),
        (("--norm", "l2-squared", "--epsilon", "1"), "epsilon is not for the norm l2-squared"),
        (("--norm", "l2-squared", "--planned-scale", "1"), "planned-scale is not for the norm"),
        (("--norm", "range", "--planned-variance", "1"), "planned-variance is not for the norm"),
    ],
)
def test_what_belongs_to_another_norm_is_refused(capsys, path, arguments, said):
    assert run(["audit", path, *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("written", ["0", "0.0", "0/3", "-1", "-1/2", "1/0", "none"])
def test_a_variance_of_zero_or_below_is_bad_input(capsys, path, written):
    """Zero was judged, as too small, with exit code 1."""
    said = ["audit", path, "--norm", "l2-squared", f"--planned-variance={written}"]
    assert run(said) == 2
    captured = capsys.readouterr()
    assert not captured.out and "'--planned-variance'" in captured.err
    assert "write 3, 7/2 or 3.5" in captured.err


def test_a_mechanism_is_judged_by_rho(capsys, tmp_path, path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[[release]]\nquery = "histogram"\nnoise = "discrete-gaussian"\nvariance = "2"\n',
        encoding="utf-8",
    )
    asked = ("--norm", "l2-squared", "--mechanism", str(plan))
    code, found = document(capsys, path, *asked)
    assert code == 0 and found["mechanism"]["rho"] == "1"
    code, found = document(capsys, path, *asked, "--rho", "1/2")
    assert code == 1 and found["mechanism"]["verdict"] == "refuted"


@pytest.mark.parametrize("norm", NOISE)
def test_noise_covers_what_it_was_set_for(norm):
    noise, promised = NOISE[norm], Fraction(3, 7)
    assert noise.covers(noise.needed(Fraction(22, 5), promised), promised) == Fraction(22, 5)


def test_the_page_speaks_of_the_noise(capsys, tmp_path, path):
    page = tmp_path / "page.html"
    for norm, said in (("l2-squared", "Gaussian of variance 2"), ("range", "Exponential")):
        assert run(["audit", path, "--norm", norm, "--html", str(page)]) == 0
        assert said in page.read_text(encoding="utf-8")
    capsys.readouterr()
