"""Plans for a rho: Gaussian noise beside pure mechanisms, in one measure."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.planning.planner import planned
from blowproof.mechanisms.planning.split import square_roots
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.request import Request
from blowproof.models import Distance, Domain, Integers, Policy

LINE = Policy(domain=Domain(age=Integers(0, 20)), secrets=Distance(threshold=3))


def test_gaussian_noise_is_compared_and_nothing_is_below_the_bound() -> None:
    work = workload(["cumulative(age)"], [], LINE)
    request = Request(policy=LINE, query=work.queries[0], rho=Fraction(1, 2))
    found = planned(request, work, size=500)
    rmse = {option.text: option.rmse for option in found.options}
    assert rmse["gaussian"] < rmse["laplace"]
    assert rmse["gaussian"] == pytest.approx(3**0.5, rel=0.05)  # S in squares is 3, rho 1/2
    assert found.bound is not None
    assert found.bound <= min(rmse.values())


def test_shares_of_a_rho_go_with_square_roots() -> None:
    costs = [1.0, 9.0, 25.0]
    shares = square_roots(costs, Fraction(1))
    assert sum(shares) == 1
    assert [round(float(share) * 9) for share in shares] == [1, 3, 5]


def test_a_plan_for_a_rho_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    policy = '[domain]\nage = { min = 0, max = 20 }\n[secrets]\nkind = "distance"\n'
    Path("p.toml").write_text(policy + 'metric = "l1"\nthreshold = 3\n', encoding="utf-8")
    rows = "".join(f"{at % 21}\n" for at in range(400))
    Path("d.csv").write_text(f"age\n{rows}", encoding="utf-8")
    asked = ["--query", "cumulative(age)", "--query", "histogram", "--rho", "1/2"]
    assert run(["plan", "p.toml", "d.csv", *asked, "--output", "plan.json"]) == 0
    option = json.loads(Path("plan.json").read_text(encoding="utf-8"))["options"][0]
    capsys.readouterr()
    assert (
        run(["release", "p.toml", "d.csv", "--plan", "plan.json", "--unaccounted", "--json"]) == 0
    )
    drawn = json.loads(capsys.readouterr().out)
    assert drawn["noise"] == option["noise"]
    assert {item["noise"] for item in drawn["noise"]} == {"discrete-gaussian"}
