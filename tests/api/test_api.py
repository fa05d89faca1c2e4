"""`import blowproof`: the public names, what they take, and values in what they return."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from importlib.metadata import version
from inspect import getdoc
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import blowproof
from blowproof.cli.main import run
from blowproof.models import (
    ContradictionError,
    DataError,
    Domain,
    Labels,
    Policy,
    PolicyError,
    QueryError,
)
from blowproof.models.files.reading import read_policy

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CENSUS = EXAMPLES / "census.toml"
QUEUE = EXAMPLES / "exam_queue.toml"


def test_the_public_names_are_there_and_documented() -> None:
    assert blowproof.__all__ == sorted(set(blowproof.__all__))
    for name in blowproof.__all__:
        assert getdoc(getattr(blowproof, name)), name
    assert set(blowproof.__all__) <= set(dir(blowproof))
    assert blowproof.__version__ == version("blowproof")
    assert blowproof.Policy is Policy
    with pytest.raises(AttributeError, match="no attribute 'sensitivty'"):
        blowproof.sensitivty  # type: ignore[attr-defined] # noqa: B018


def test_importing_it_loads_nothing() -> None:
    code = "import sys; a = set(sys.modules); import blowproof; print(*(set(sys.modules) - a))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.partition(".")[0] == "blowproof"}
    assert ours == {"blowproof"}
    foreign = {name.partition(".")[0] for name in done.stdout.split()} - {"blowproof"}
    assert foreign <= sys.stdlib_module_names


def test_from_the_checkout_too() -> None:
    code = "import blowproof, blowproof.models; print(blowproof.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=EXAMPLES.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == version("blowproof")


@pytest.mark.parametrize(
    "given", [str(CENSUS), CENSUS, read_policy(CENSUS), tomllib.loads(CENSUS.read_text("utf-8"))]
)
def test_a_policy_may_be_a_path_an_object_or_tables(given: Any) -> None:
    answer = blowproof.sensitivity(given)
    assert (answer.lower, answer.upper, answer.status) == (4, 4, "exact")
    assert blowproof.read(given).domain == read_policy(CENSUS).domain


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(PolicyError, match="int is no policy"):
        blowproof.read(3)  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match=r"no such file\n.*census.toml"):
        blowproof.read(EXAMPLES / "censsus.toml")


def test_answers_show_values() -> None:
    answer = blowproof.sensitivity(CENSUS)
    pair = answer.witness
    assert pair is not None
    domain = blowproof.read(CENSUS).domain
    for record in (*pair.before, *pair.after):
        assert domain.decode(domain.encode(list(record))) == record
    assert "'north'" in repr(answer) and "Point" not in repr(answer)
    assert str(answer).startswith("S = 4   exact") and "north, 1, owned" in str(answer)
    document = answer.to_json()
    assert document["schema"] == "blowproof/sensitivity/1"
    assert document["witness"]["before"] == [list(record) for record in pair.before]
    assert "north" in answer._repr_html_() and "north" in pair._repr_html_()


def test_records_are_numbered_from_one_where_it_matters() -> None:
    pair = next(blowproof.neighbours(QUEUE))
    assert pair.records == (1,) and pair.before == ((0,),) and pair.after == ((1,),)
    assert pair.to_json()["records"] == [1] and "record 1" in str(pair)


def test_neighbours_are_listed_lazily_and_up_to_a_limit() -> None:
    everything = list(blowproof.neighbours(QUEUE))
    assert list(blowproof.neighbours(QUEUE, limit=2)) == everything[:2]
    assert list(islice(blowproof.neighbours(QUEUE), 2)) == everything[:2]
    with pytest.raises(QueryError, match="scope"):
        next(blowproof.neighbours(CENSUS))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reading": "publishd"}, "did you mean 'published'"),
        ({"answers": "some"}, "answers"),
        ({"engine": "magic"}, "engine"),
        ({"time_limit": 0}, "time_limit"),
    ],
)
def test_options_that_there_are_not(options: Mapping[str, Any], said: str) -> None:
    with pytest.raises(QueryError, match=said):
        blowproof.sensitivity(CENSUS, **options)


def test_a_wrong_fact_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(
        '[domain]\nsex = ["F", "M"]\n[database]\nsize = 2\n'
        '[[known]]\ncount = { sex = "F" }\nanswer = 3\n'
    )
    with pytest.raises(ContradictionError, match=r"p\.toml:5"):
        blowproof.sensitivity(path)


def test_a_certificate_is_written_and_proves(tmp_path: Path) -> None:
    place = tmp_path / "c.json"
    answer = blowproof.sensitivity(CENSUS, certificate=place)
    assert answer.status == "proved"
    assert json.loads(place.read_text("utf-8"))["value"] == 4
    copy = tmp_path / "census.toml"
    copy.write_bytes(CENSUS.read_bytes())
    with pytest.raises(DataError, match="overwrite"):
        blowproof.sensitivity(copy, certificate=copy)
    assert copy.read_bytes() == CENSUS.read_bytes()


def test_an_audit_tells_the_whole_story() -> None:
    story = blowproof.audit(CENSUS, ["histogram", "marginal(size)"], time_limit=60)
    assert [answer.upper for answer in story.answers] == [4, 4] and story.enough is True
    assert "do this" in str(story) and "'north'" in repr(story)
    assert story.to_json()["schema"] == "blowproof/audit/1"
    assert story.to_html().startswith("<!doctype html>")


@pytest.mark.parametrize("planned", [{"claimed": 3}, {"planned_scale": "7/2"}])
def test_an_audit_judges_a_plan(planned: Mapping[str, Any]) -> None:
    assert blowproof.audit(CENSUS, **planned).enough is False
    with pytest.raises(QueryError, match="one query"):
        blowproof.audit(CENSUS, ["histogram", "marginal(size)"], **planned)


@pytest.mark.parametrize("variance", [0, "0", -1])
def test_a_planned_variance_is_above_zero(variance: int | str) -> None:
    with pytest.raises(PolicyError, match="is not above 0"):
        blowproof.audit(CENSUS, norm="l2-squared", planned_variance=variance)


def test_a_mechanism_may_be_a_path_or_tables(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('[[release]]\nquery = "histogram"\nscale = "2"\n')
    for given in (path, tomllib.loads(path.read_text())):
        found = blowproof.certify(given, CENSUS, 1)
        assert (found.verdict, found.loss) == ("refuted", 2)
        assert found.witness is not None and "north" in repr(found)
        assert str(found).startswith("refuted") and found.to_json()["loss"] == "2"
    assert blowproof.certify(path, CENSUS, 2).verdict == "proved"
    assert blowproof.certify(path, CENSUS, "3/2").epsilon == Fraction(3, 2)
    path.write_text('[[release]]\nquery = "histogramm"\nscale = "2"\n')
    with pytest.raises(PolicyError, match=r"plan\.toml:2"):
        blowproof.certify(path, CENSUS, 1)


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    place = tmp_path / "proof.json"
    assert blowproof.sensitivity(CENSUS, certificate=place).status == "proved"
    return place


def test_a_certificate_is_compared_with_a_policy_and_a_query(proof: Path) -> None:
    for policy in (CENSUS, read_policy(CENSUS)):
        found = blowproof.check(proof, policy, "histogram")
        assert (found.accepted, found.value, found.not_compared) == (True, 4, ())
        assert {"policy", "query"} <= set(found.compared)
        assert str(found).startswith("accepted: S(") and found.to_json()["verdict"] == "accepted"
    alone = blowproof.check(proof)
    assert alone.accepted and alone.not_compared == ("everything",)
    other = blowproof.check(proof, EXAMPLES / "hospital.toml", "histogram")
    assert not other.accepted and "another policy" in other.reason
    part = blowproof.check(proof, CENSUS)
    assert not part.accepted and "the query" in part.reason
    assert blowproof.check(proof, CENSUS, embedded=True).accepted
    with pytest.raises(QueryError, match="policy"):
        blowproof.check(proof, query="histogram")


def test_a_forged_certificate_is_rejected_and_another_file_is_none(proof: Path) -> None:
    text = proof.read_text("utf-8")
    proof.write_text(text.replace('"value":4', '"value":2'), "utf-8")
    found = blowproof.check(proof, CENSUS, "histogram")
    assert not found.accepted and found.value is None and str(found).startswith("rejected")
    for content in (b"{", b"\xff", b"[]"):
        proof.write_bytes(content)
        with pytest.raises(DataError, match="no certificate"):
            blowproof.check(proof)
    with pytest.raises(DataError, match="cannot be read"):
        blowproof.check(proof.with_name("none.json"))


def people(folder: Path) -> Path:
    place = folder / "people.csv"
    place.write_bytes((EXAMPLES / "census.csv").read_bytes())
    return place


def test_a_release_has_a_row_for_each_answer(tmp_path: Path) -> None:
    data = people(tmp_path)
    place = tmp_path / "out.csv"
    found = blowproof.release(CENSUS, data, epsilon="3/2", unaccounted=True, output=place)
    assert found.columns == ("region", "size", "tenure", "count") and len(found.rows) == 12
    assert found.rows[0][:3] == ("north", "1", "owned")
    assert all(isinstance(value, int) for value in found.values) and found.epsilon == Fraction(3, 2)
    assert found.to_json()["released"] is True and "released by laplace" in str(found)
    lines = place.read_text("utf-8").splitlines()
    assert lines[1].startswith(f"north,1,owned,{found.values[0]},")


def test_what_a_plan_says_is_drawn(tmp_path: Path) -> None:
    """From the plan or from its file; with a data set, for these data alone."""
    data, place = people(tmp_path), tmp_path / "plan.json"
    policy = {"domain": {"region": ["north", "south"], "tenure": ["owned", "rented"]}}
    plan = blowproof.plan(policy, "marginal(region)", data, epsilon=1)
    plan.save(place)
    for given in (plan, place, str(place)):
        found = blowproof.release(policy, data, plan=given, unaccounted=True)
        assert plan.chosen is not None and len(found.values) == 2
        assert found.to_json()["noise"] == plan.chosen["noise"] and found.epsilon == 1
    for rest in ({"epsilon": 1}, {"mechanism": "laplace"}, {"query": "histogram(x)"}):
        with pytest.raises(QueryError, match="a plan says what is released"):
            blowproof.release(policy, data, plan=plan, unaccounted=True, **rest)  # type: ignore[arg-type]
    other = tmp_path / "other.csv"
    other.write_text("region,tenure\nnorth,owned\n", "utf-8")
    with pytest.raises(DataError, match="made for other data"):
        blowproof.release(policy, other, plan=plan, unaccounted=True)


def test_noise_that_is_hardly_worth_its_price(tmp_path: Path) -> None:
    from blowproof.mechanisms.base.errors import RefusedError

    data = people(tmp_path)
    with pytest.raises(RefusedError):
        blowproof.release(CENSUS, data, epsilon="1/1000", unaccounted=True)
    found = blowproof.release(
        CENSUS, data, epsilon="1/1000", unaccounted=True, accept_wide_bounds=True
    )
    assert len(found.values) == 12


def test_releases_share_a_budget(tmp_path: Path) -> None:
    from blowproof.mechanisms.base.errors import RefusedError

    data, ledger = people(tmp_path), tmp_path / "l.sqlite"
    for _ in range(2):
        blowproof.release(CENSUS, data, epsilon="1/2", budget=1, ledger=ledger)
    with pytest.raises(RefusedError, match="is spent"):
        blowproof.release(CENSUS, data, epsilon="1/2", ledger=ledger)


@pytest.mark.parametrize(
    "options",
    [
        {"budget": 1, "unaccounted": True},
        {"new_people": True, "same_people_as": 1},
        {"unaccounted": True, "mechanism": "laplas"},
        {"unaccounted": True, "settings": {"block": 3}},
        {"unaccounted": True, "records": "x"},
    ],
)
def test_a_release_that_is_asked_for_wrongly(tmp_path: Path, options: Mapping[str, Any]) -> None:
    with pytest.raises(QueryError):
        blowproof.release(CENSUS, people(tmp_path), epsilon=1, **options)


def test_answers_are_not_written_over_the_data(tmp_path: Path) -> None:
    data = people(tmp_path)
    with pytest.raises(QueryError, match="overwrite"):
        blowproof.release(CENSUS, data, epsilon=1, unaccounted=True, output=data)
    assert data.read_bytes() == (EXAMPLES / "census.csv").read_bytes()


@pytest.mark.parametrize("epsilon", [0.5, 0, -1, "0.5", True, None])
def test_epsilon_is_exact_and_above_zero(epsilon: Any) -> None:
    with pytest.raises(PolicyError, match="epsilon"):
        blowproof.certify({"release": [{"query": "histogram", "scale": "2"}]}, CENSUS, epsilon)


def test_ctrl_c_ends_the_program_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    from blowproof.cli.asking import ask
    from blowproof.cli.asking.stoppable import Interrupted

    def interrupted(*_: Any, **__: Any) -> None:
        raise Interrupted("stopped by Ctrl-C")

    monkeypatch.setattr(ask, "watch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        blowproof.sensitivity(Policy(domain=Domain(sex=Labels(["F", "M"]))))


def test_nothing_is_written_to_the_screen(capfd: pytest.CaptureFixture[str]) -> None:
    blowproof.sensitivity(CENSUS)
    blowproof.audit(CENSUS)
    assert capfd.readouterr() == ("", "")


def test_the_script_in_the_readme_prints_what_it_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (EXAMPLES.parent / "README.md").read_text("utf-8")
    scripts = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    monkeypatch.chdir(EXAMPLES.parent)
    for script in scripts:
        exec(script, {})
        said = capsys.readouterr().out.splitlines()
        assert said == re.findall(r"  # (.*)$", script, re.M)
    assert scripts


def test_a_plan_is_the_document_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", str(CENSUS), "--query", "histogram", "--epsilon", "1", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    found = blowproof.plan(CENSUS, "histogram", epsilon=1)
    assert found.to_json() == said
    assert found.chosen == said["options"][0]
    assert found.lower_bound == said["lower_bound"]["rmse"]
    assert said["options"][0]["mechanism"] in str(found)
    found.save(tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text("utf-8")) == said
    with pytest.raises(QueryError, match="empty"):
        blowproof.plan(CENSUS, [], epsilon=1)
