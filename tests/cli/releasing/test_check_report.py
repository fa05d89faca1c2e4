"""A report as a record: verified by the kernel, and rejected wherever it was changed."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.cli.report.record import main_digest, read_record
from blowproof.mechanisms.budget.fingerprints import fingerprint
from blowproof.models.data.content import content_of

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    assert run(["audit", str(ROOT / "examples/census.toml"), "--html", str(folder / "r.html")]) == 0
    return (folder / "r.html").read_text("utf-8")


def checked(tmp_path, capsys, text):
    (tmp_path / "r.html").write_text(text, "utf-8")
    capsys.readouterr()
    code = run(["check", str(tmp_path / "r.html")])
    out, err = capsys.readouterr()
    return code, out + err


def test_a_report_is_accepted_and_says_what_it_is_about(report, tmp_path, capsys):
    code, said = checked(tmp_path, capsys, report)
    assert code == 0 and said.startswith("accepted (made 20")
    assert "S(histogram) = 4 under the reading published is proved" in said
    record = read_record(report)
    assert record is not None
    assert record["policy"]["text"] == (ROOT / "examples/census.toml").read_text("utf-8")
    assert {"blowproof", "python", "ortools"} <= set(record["versions"])
    for part in ("What a release would be worth", "The attacker who learns most", "The record"):
        assert part in report
    assert run(["check", str(tmp_path / "r.html"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "accepted"


def test_a_report_of_a_number_of_five_digits_is_accepted(tmp_path, capsys):
    """It shows 12,000: what is compared with its record has the comma, too."""
    policy, page = tmp_path / "long.toml", tmp_path / "long.html"
    policy.write_text("[domain]\nage = { min = 0, max = 12000 }\n", encoding="utf-8")
    assert run(["audit", str(policy), "--query", "cumulative(age)", "--html", str(page)]) == 0
    assert "S = 12,000</strong>" in page.read_text(encoding="utf-8")
    assert run(["check", str(page)]) == 0


def forged(report: str, old: str, new: str) -> str:
    """The report with something changed everywhere, and the digests made to fit again."""
    changed = report.replace(old, new)
    record = read_record(changed)
    assert record is not None and changed != report
    text = record["policy"]["text"]
    fitting = changed.replace(record["policy"]["sha256"], sha256(text.encode()).hexdigest())
    return fitting.replace(record["page"], main_digest(fitting))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("S = 4</strong>", "S = 2</strong>", "another number than its record"),
        ('"lower":4,"upper":4}', '"lower":2,"upper":2}', "another number"),
        ("marginal = [", "marginal = [&quot;size&quot;, ", "is not the one of its record"),
        ('"value":4', '"value":2', "answer 1"),
    ],
)
def test_a_forged_report_is_rejected_though_its_digests_fit(
    report, tmp_path, capsys, old, new, why
):
    code, said = checked(tmp_path, capsys, forged(report, old, new))
    assert code == 1 and said.startswith("rejected") and why in said


def test_a_page_that_was_changed_by_hand_is_rejected(report, tmp_path, capsys):
    code, said = checked(tmp_path, capsys, report.replace("Laplace noise of scale 4", "no noise"))
    assert code == 1 and "changed after it was made" in said


def test_a_page_without_a_record_is_unreadable(report, tmp_path, capsys):
    for text in ("<p>hello</p>", re.sub(r"\{\"schema.*?</script>", "{</script>", report)):
        code, said = checked(tmp_path, capsys, text)
        assert code == 2 and "no record" in said


def test_data_of_a_report_have_a_fingerprint_and_rows(tmp_path, capsys, monkeypatch):
    """None that a guess of the data could be checked by, and none where no key can be kept."""
    target = tmp_path / "r.html"
    asked = ["audit", str(ROOT / "examples/survey.toml"), "--html", str(target)]
    assert run(asked) == 0
    page = target.read_text("utf-8")
    record = read_record(page)
    assert record is not None and record["data"]["rows"] == 6
    data = ROOT / "examples/survey.csv"
    assert record["data"]["fingerprint"] == fingerprint(data) and fingerprint(data) in page
    assert content_of(data).digest not in page
    monkeypatch.setenv("BLOWPROOF_STATE", str(target))  # a file, where a folder is needed
    target.unlink()
    target.write_text("")
    assert run([*asked[:-1], str(tmp_path / "s.html")]) == 0
    record = read_record((tmp_path / "s.html").read_text("utf-8"))
    assert record is not None and record["data"]["fingerprint"] is None
