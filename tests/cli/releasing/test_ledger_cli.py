"""`blowproof ledger`: what was spent on which data, exit codes, and documents."""

import json
import sqlite3

import pytest
from test_ledger import old_ledger

from blowproof.cli.main import run

POLICY = '[domain]\nsex = ["F", "M"]\nage = { min = 0, max = 3 }\n'
PEOPLE = "sex,age\nF,1\nM,2\nM,3\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    (tmp_path / "p.toml").write_text(POLICY)
    (tmp_path / "d.csv").write_text(PEOPLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys, *words):
    code = run(list(map(str, words)))
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err and "this is a bug" not in err
    return code, out, err


def released(capsys, *words, data="d.csv"):
    command = [
        "release",
        "--accept-wide-bounds",
        "p.toml",
        data,
        "--epsilon",
        "1/2",
        "--query",
        "marginal(sex)",
    ]
    return said(capsys, *command, *words)


def document(capsys, *words):
    code, out, err = said(capsys, "ledger", *words, "--json")
    assert err == "" and out.count("\n") == 1
    return code, json.loads(out)


def test_nothing_was_spent_yet(files, capsys, own_store):
    assert said(capsys, "ledger") == (0, "no account: nothing was spent\nin order\n", "")
    assert said(capsys, "ledger", "d.csv")[0] == 0
    code, found = document(capsys)
    assert code == 0 and found == {
        "schema": "blowproof/ledger/1",
        "ledger": str(own_store),
        "verdict": "in order",
        "reason": None,
        "accounts": [],
    }
    assert not own_store.exists()


def test_what_was_spent_on_which_data_by_which_release(files, capsys):
    assert released(capsys, "--budget", "1")[0] == 0
    (files / "e.csv").write_text(PEOPLE)
    assert released(capsys, "--records", "1-2", data="e.csv")[0] == 0
    code, found = document(capsys)
    (account,) = found["accounts"]
    (budget,) = account["budgets"]
    assert code == 0 and found["verdict"] == "in order" and account["account"] == 1
    assert [item["path"] for item in account["data"]] == [
        str(files / "d.csv"), str(files / "e.csv")
    ]  # fmt: skip
    assert (budget["budget"], budget["spent"], budget["left"]) == ("1", "1", "0")
    assert [(item["epsilon"], item["records"]) for item in budget["releases"]] == [
        ("1/2", None), ("1/2", "1-2")
    ]  # fmt: skip
    code, out, err = said(capsys, "ledger", "e.csv")
    assert code == 0 and err == "" and out.startswith("account 1\n") and out.endswith("in order\n")
    assert "1 of 1 spent, 0 left, under policy p, reading published, answers any" in out
    assert "marginal(sex)" in out and "data 3 records in" in " ".join(out.split())


def test_no_digest_of_the_data_is_printed(files, capsys):
    """The digest of few records can be guessed by trying; it stays in the ledger."""
    from blowproof.models.data.content import content_of, order_of

    _, out, _ = released(capsys, "--budget", "1", "--records", "1", "--json")
    for words in (["ledger"], ["ledger", "--json"], ["ledger", "d.csv"]):
        out += said(capsys, *words)[1]
    assert content_of("d.csv").digest not in out and order_of("d.csv") not in out


def test_one_file_s_account_alone(files, capsys):
    assert released(capsys, "--budget", "1")[0] == 0
    (files / "d.csv").write_text(PEOPLE + "F,0\n")
    code, _, err = said(capsys, "ledger", "d.csv")
    assert code == 2 and "held other data" in err
    assert released(capsys, "--budget", "1")[0] == 2
    assert released(capsys, "--budget", "1", "--new-people")[0] == 0
    code, found = document(capsys, "d.csv")
    assert code == 0 and [item["account"] for item in found["accounts"]] == [2]
    assert len(document(capsys)[1]["accounts"]) == 2
    (files / "d.csv").write_text(PEOPLE + "F,0\nF,0\n")
    assert released(capsys, "--same-people-as", "2")[0] == 0
    assert "not joined" in released(capsys, "--same-people-as", "1")[2]
    assert released(capsys)[0] == 1


def test_a_further_guarantee_is_shown_apart(files, capsys):
    assert released(capsys, "--budget", "1")[0] == 0
    assert released(capsys, "--budget", "1", "--reading", "add-remove")[0] == 2
    words = ["--budget", "2", "--reading", "add-remove", "--new-guarantee"]
    assert released(capsys, *words)[0] == 0
    code, out, _ = said(capsys, "ledger")
    assert code == 0 and "reading add-remove" in out and "do not add up" in out


def test_a_ledger_that_was_altered_is_not_shown(files, capsys, own_store):
    assert released(capsys, "--budget", "1")[0] == 0
    connection = sqlite3.connect(own_store)
    with connection:
        connection.execute("DELETE FROM log WHERE number = 5")
    connection.close()
    before = own_store.read_bytes()
    code, out, err = said(capsys, "ledger")
    assert code == 1 and out == "" and err.startswith("altered: ")
    code, found = document(capsys)
    assert code == 1 and found["verdict"] == "altered" and found["accounts"] == []
    assert "it has 4 entries, and had 5" in found["reason"]
    assert released(capsys)[0] == 2
    assert own_store.read_bytes() == before
    own_store.unlink()
    assert document(capsys)[1]["verdict"] == "altered"


def test_an_old_ledger_is_taken_over_and_may_be_overspent(files, capsys):
    old = old_ledger(files / "d.csv", ("3/4", None), ("1/2", None))
    for words in (["ledger", "d.csv"], ["release", "p.toml", "d.csv", "--epsilon", "1"]):
        code, _, err = said(capsys, *words)
        assert code == 2 and "--take-over" in err
    assert said(capsys, "ledger", "--take-over", old)[0] == 2
    code, out, _ = said(capsys, "ledger", "d.csv", "--take-over", old)
    assert code == 1 and "5/4 of 1 spent, -1/4 left" in out and out.endswith("overspent\n")
    assert document(capsys)[1]["verdict"] == "overspent"
    assert released(capsys)[0] == 1


def test_a_ledger_that_is_named_must_be_there(files, capsys):
    code, out, err = said(capsys, "ledger", "--ledger", "none.sqlite")
    assert code == 2 and out == "" and "there is no ledger" in err
    assert not (files / "none.sqlite").exists()


@pytest.mark.parametrize("place", [":memory:", "file:x?mode=memory", "/dev/null", "."])
def test_a_ledger_that_can_be_no_ledger_is_bad_input(files, capsys, place):
    for words in (["ledger", "--ledger", place],
                  ["release", "p.toml", "d.csv", "--epsilon", "1", "--budget", "1",
                   "--ledger", place]):  # fmt: skip
        code, out, err = said(capsys, *words)
        assert code == 2 and out == "" and "try:" in err


def test_no_output_is_written_over_the_ledger(files, capsys, own_store):
    own_store.parent.mkdir()
    words = ["--budget", "1", "--ledger", files / "l.csv", "--output", files / "l.csv"]
    code, _, err = released(capsys, *words)
    assert code == 2 and "would overwrite" in err
