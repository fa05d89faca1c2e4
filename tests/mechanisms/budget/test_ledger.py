"""Attacks on the ledger: data under other names, ledgers that are mislaid, and rows that change."""

import gzip
import json
import os
import shutil
import sqlite3
import stat
import sys
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from blowproof.mechanisms.base.errors import AlteredError, LedgerError, OverspentError
from blowproof.mechanisms.budget import ledger as ledgers
from blowproof.mechanisms.budget.accountant import Accountant, ledger_beside
from blowproof.mechanisms.budget.heads import Head, keep_head, known_heads
from blowproof.mechanisms.budget.ledger import Ledger
from blowproof.mechanisms.budget.places import heads_place, ledger_place
from blowproof.mechanisms.budget.taking_over import take_over
from blowproof.mechanisms.parts.records import Records
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Request, release
from blowproof.models import Count, DataError, Domain, Integers, Labels, Policy
from blowproof.models.data.dataset import Dataset
from blowproof.models.files.writing import digest

HALF, ONE = Fraction(1, 2), Fraction(1)
POLICY = Policy(domain=Domain(sex=Labels(["F", "M"]), age=Integers(0, 3)))
PEOPLE = "sex,age\nF,1\nM,2\nM,3\n"
TONIGHT = PEOPLE + "F,0\n"


def request(epsilon: Fraction, records: str | None = None) -> Request:
    held = None if records is None else Records.read(records)
    return Request(policy=POLICY, epsilon=epsilon, records=held)


def spend(data: Path, epsilon: Fraction = HALF, records: str | None = None, **rest: Any) -> None:
    """Charge one release about these data to a budget of 1, in the user's own store."""
    account = Accountant(POLICY, data, **{"budget": ONE, **rest})
    account.spend(request(epsilon, records), "laplace")


@pytest.fixture
def data(tmp_path):
    place = tmp_path / "d.csv"
    place.write_text(PEOPLE)
    return place


# --- the same people under another name --------------------------------------------------------


def copied(data, place):
    shutil.copy(data, place)


def hard_linked(data, place):
    os.link(data, place)


def linked(data, place):
    place.symlink_to(data)


def moved(data, place):
    data.rename(place)


def saved_again(data, place):
    place.write_text(data.read_text() + "\n")


def shuffled(data, place):
    place.write_text("age,sex\n3,M\n1,F\n2,M\n")


def renamed_columns(data, place):
    place.write_text(data.read_text().replace("sex,age", "gender,years"))


def compressed(data, place):
    place.with_suffix(".csv.gz").write_bytes(gzip.compress(data.read_bytes()))


@pytest.mark.parametrize(
    "how", [copied, hard_linked, linked, moved, saved_again, shuffled, compressed]
)
def test_a_copy_of_the_data_shares_the_account(data, tmp_path, how):
    """However the data are called, and whatever they are saved as: one budget."""
    spend(data)
    (tmp_path / "elsewhere").mkdir()
    how(data, tmp_path / "elsewhere" / "e.csv")
    (place,) = (tmp_path / "elsewhere").iterdir()
    spend(place)
    with pytest.raises(OverspentError):
        spend(place, Fraction(1, 100))


def test_renamed_columns_share_the_account(data, tmp_path):
    spend(data, ONE)
    renamed_columns(data, tmp_path / "e.csv")
    policy = Policy(domain=Domain(gender=Labels(["F", "M"]), years=Integers(0, 3)))
    with pytest.raises(LedgerError, match="another policy"):
        Accountant(policy, tmp_path / "e.csv", budget=ONE)


def test_rows_appended_overnight_are_never_given_a_budget_in_silence(data):
    spend(data, ONE)
    data.write_text(TONIGHT)
    with pytest.raises(LedgerError, match=r"held other data.*account 1.*\n.*--same-people-as"):
        spend(data)
    with pytest.raises(OverspentError):
        spend(data, people=1)
    spend(data, people="new")
    spend(data)
    with pytest.raises(OverspentError):
        spend(data)
    data.write_text(PEOPLE)
    with pytest.raises(OverspentError):
        spend(data, people="new")  # these rows have an account, whatever one is told


def test_the_same_people_spend_one_budget(data):
    spend(data)
    data.write_text(TONIGHT)
    spend(data, Fraction(1, 4), people=1)
    spend(data, Fraction(1, 4))
    with pytest.raises(OverspentError):
        spend(data, Fraction(1, 100))


@pytest.mark.parametrize(
    "text",
    [TONIGHT, "sex\nF\nM\nM\n", "n,sex,age\n1,F,1\n2,M,2\n3,M,3\n", "SEX,years\nF,1\n"],
    ids=["a-row-more", "a-column-less", "a-column-more", "a-column-alike"],
)
def test_changed_data_under_another_name_are_never_given_a_budget_in_silence(data, tmp_path, text):
    """Tomorrow's file, or a column dropped: the same budget with --budget in a script."""
    spend(data, ONE)
    (tmp_path / "e.csv").write_text(text)
    with pytest.raises(LedgerError, match="columns of the same name as those of account 1"):
        Accountant(POLICY, tmp_path / "e.csv", budget=ONE)


def test_a_changed_file_is_known_by_its_hard_link(data, tmp_path):
    spend(data)
    os.link(data, tmp_path / "e.csv")
    data.write_text("other\n1\n")
    with pytest.raises(LedgerError, match="same file as one of account 1"):
        Accountant(POLICY, tmp_path / "e.csv", budget=ONE)


def test_data_like_nothing_known_open_an_account_with_a_budget(data, tmp_path):
    spend(data, ONE)
    (tmp_path / "e.csv").write_text("ward\na\n")
    policy = Policy(domain=Domain(ward=Labels(["a", "b"])))
    with pytest.raises(LedgerError, match="no budget"):
        Accountant(policy, tmp_path / "e.csv")
    assert Accountant(policy, tmp_path / "e.csv", budget=ONE).spent == 0


def test_accounts_are_not_joined_and_must_exist(data, tmp_path):
    spend(data)
    (tmp_path / "e.csv").write_text(TONIGHT)
    spend(tmp_path / "e.csv", people="new")
    with pytest.raises(LedgerError, match="not joined"):
        spend(data, people=2)
    (tmp_path / "f.csv").write_text(TONIGHT + "F,0\n")
    with pytest.raises(LedgerError, match="no account 3"):
        spend(tmp_path / "f.csv", people=3)


def test_data_that_change_between_the_look_and_the_charge_are_refused(data):
    account = Accountant(POLICY, data, budget=ONE)
    with data.open("a") as file:
        file.write("F,0\n")
    with pytest.raises(DataError, match="changed while it was read"):
        account.spend(request(HALF), "laplace")
    assert account.ledger.entries() == ()


def test_an_account_is_not_charged_for_other_data_or_another_guarantee(data, tmp_path):
    (tmp_path / "e.csv").write_text(TONIGHT)
    account = Accountant(POLICY, data, budget=ONE)
    made = plan("laplace", replace(request(HALF), accept_wide_bounds=True))
    with Dataset(tmp_path / "e.csv", POLICY.domain) as other, pytest.raises(LedgerError):
        release(made, other, budget=account)
    known = Policy(domain=POLICY.domain, known=(Count({"sex": "F"}),))
    for asked in (
        Request(policy=known, epsilon=HALF),
        Request(policy=POLICY, epsilon=HALF, reading="add-remove"),
    ):
        with pytest.raises(LedgerError, match="another policy, reading or scope"):
            account.spend(asked, "laplace")
    assert account.spent == 0
    with Dataset(data, POLICY.domain) as same:
        release(made, same, budget=account)
    renamed = replace(POLICY, name="renamed", queries=())
    account.spend(Request(policy=renamed, epsilon=HALF), "laplace")
    assert account.spent == ONE


def test_data_that_change_while_they_are_released_are_refused(data):
    """What was digested is what is counted, or nothing is drawn."""
    account = Accountant(POLICY, data, budget=ONE)
    made = plan("laplace", request(HALF))
    with data.open("a") as file:
        file.write("F,0\n")
    with Dataset(data, POLICY.domain) as changed, pytest.raises(DataError, match="changed while"):
        release(made, changed, budget=account)
    assert account.ledger.entries() == ()


def test_parts_of_a_shuffled_file_are_not_disjoint(data, tmp_path):
    """Record 1 of one file may be record 2 of the other: their costs are added up."""
    spend(data, records="1")
    spend(data, records="2-3")
    assert Accountant(POLICY, data).spent == HALF
    shuffled(data, tmp_path / "e.csv")
    spend(tmp_path / "e.csv", records="2")
    assert Accountant(POLICY, data).spent == ONE


# --- what is no place for a ledger -------------------------------------------------------------


@pytest.mark.parametrize("name", [":memory:", "", "file::memory:?cache=shared", " :memory:"])
def test_a_memory_ledger_is_refused(data, name):
    for _ in range(3):
        with pytest.raises(LedgerError, match="is not the path of a file"):
            Accountant(POLICY, data, ledger=name, budget=ONE)


@pytest.mark.parametrize("name", ["file:l.sqlite?mode=memory", "FILE:l.sqlite", "file:///l.sqlite"])
def test_a_uri_ledger_is_refused(data, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError, match="is not the path of a file"):
        Accountant(POLICY, data, ledger=name, budget=ONE)


@pytest.mark.parametrize("what", ["device", "folder", "pipe", "symbolic", "dangling", "hard"])
def test_a_ledger_that_is_no_file_of_its_own_is_refused(data, tmp_path, what):
    place = tmp_path / "l.sqlite"
    if what == "device":
        place = Path(os.devnull)
    elif what == "folder":
        place.mkdir()
    elif what == "pipe":
        os.mkfifo(place)
    elif what == "dangling":
        place.symlink_to(tmp_path / "nothing")
    else:
        spend(data, ledger=tmp_path / "real.sqlite")
        (os.symlink if what == "symbolic" else os.link)(tmp_path / "real.sqlite", place)
    with pytest.raises(LedgerError, match=r"the ledger .* (is a|has 2 names)"):
        spend(data, ledger=place)


def test_a_ledger_that_turned_into_a_link_is_refused_when_charged(data, tmp_path):
    account = Accountant(POLICY, data, ledger=tmp_path / "l.sqlite", budget=ONE)
    (tmp_path / "l.sqlite").symlink_to(tmp_path / "other.sqlite")
    with pytest.raises(LedgerError, match="symbolic link"):
        account.spend(request(HALF), "laplace")


def test_a_ledger_in_no_folder_is_refused(data, tmp_path):
    with pytest.raises(LedgerError, match="no folder"):
        spend(data, ledger=tmp_path / "none" / "l.sqlite")


def test_the_store_lies_where_the_platform_says(monkeypatch, tmp_path):
    for name in ("BLOWPROOF_LEDGER", "BLOWPROOF_STATE", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ledger_place() == tmp_path / ".local/share/blowproof/ledger.sqlite"
    assert heads_place() == tmp_path / ".local/state/blowproof/heads.sqlite"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert ledger_place() == tmp_path / ".local/share/blowproof/ledger.sqlite"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "x"))
    assert ledger_place() == tmp_path / "x/blowproof/ledger.sqlite"
    monkeypatch.setenv("BLOWPROOF_LEDGER", str(tmp_path / "y.sqlite"))
    assert ledger_place() == tmp_path / "y.sqlite"
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delenv("BLOWPROOF_LEDGER")
    assert "Application Support" in str(ledger_place())


def test_a_store_in_memory_named_by_the_environment_is_refused(data, monkeypatch):
    monkeypatch.setenv("BLOWPROOF_LEDGER", ":memory:")
    with pytest.raises(LedgerError, match="is not the path of a file"):
        spend(data)


def test_ledgers_are_for_the_eyes_of_their_user(data, own_store):
    spend(data)
    for place in (own_store, heads_place()):
        assert stat.S_IMODE(place.stat().st_mode) == 0o600


# --- rows that change --------------------------------------------------------------------------


def change(place: Path, *statements: str) -> None:
    connection = sqlite3.connect(place)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.fixture
def spent(data, own_store):
    """A store with three charges of 1/4."""
    for _ in range(3):
        spend(data, Fraction(1, 4))
    return own_store


def refused(data: Path, **rest: Any) -> str:
    """What is said, on looking and on charging alike; nothing is written."""
    with pytest.raises(AlteredError) as caught:
        spend(data, Fraction(1, 4), **rest)
    return str(caught.value)


ALTERED = {
    "deleted": "DELETE FROM log WHERE number = 5",
    "deleted-and-renumbered": "DELETE FROM log WHERE number = 5; "
    "UPDATE log SET number = number - 1 WHERE number > 5",
    "first": "DELETE FROM log WHERE number = 1",
    "altered": """UPDATE log SET entry = replace(entry, '"1/4"', '"1/400"') WHERE number = 5""",
    "budget": """UPDATE log SET entry = replace(entry, '"budget":"1"', '"budget":"9"')""",
    "swapped": "UPDATE log SET number = -5 WHERE number = 5; "
    "UPDATE log SET number = 5 WHERE number = 6; UPDATE log SET number = 6 WHERE number = -5",
    "inserted": "INSERT INTO log SELECT max(number) + 1, '{}', hash FROM log",
    "hash": "UPDATE log SET hash = 'x' WHERE number = 5",
    "bytes": "UPDATE log SET entry = CAST(x'f4ff' || entry AS TEXT) WHERE number = 5",
}


def row(place: Path, number: int) -> tuple[str, str]:
    connection = sqlite3.connect(place)
    found = connection.execute("SELECT entry, hash FROM log WHERE number = ?", (number,))
    entry, mark = found.fetchone()
    connection.close()
    return entry, mark


@pytest.mark.parametrize("how", ALTERED)
def test_an_altered_row_shows(data, spent, how):
    change(spent, *ALTERED[how].split("; "))
    assert "was altered: entry" in refused(data)


def test_a_deleted_row_shows(data, spent):
    change(spent, "DELETE FROM log WHERE number = 6")
    assert "entry 6 is missing or not what was written" in refused(data)


@pytest.mark.parametrize("kept", range(7))
def test_rows_cut_off_at_the_end_show(data, spent, kept):
    change(spent, f"DELETE FROM log WHERE number > {kept}")
    assert f"it has {kept} entries, and had 7" in refused(data) or kept == 0


def test_a_chain_computed_anew_shows_by_its_head(data, spent):
    """Whoever forges a row and all hashes after it still has another head."""
    connection = sqlite3.connect(spent)
    rows = connection.execute("SELECT number, entry FROM log ORDER BY number").fetchall()
    before = ""
    with connection:
        for number, text in rows:
            forged = text.replace('"1/4"', '"1/400"')
            before = sha256(f"{before}\n{forged}".encode()).hexdigest()
            where = (forged, before, number)
            connection.execute("UPDATE log SET entry = ?, hash = ? WHERE number = ?", where)
    connection.close()
    assert "is another than it was" in refused(data)


def test_a_deleted_ledger_does_not_start_a_new_one(data, spent):
    spent.unlink()
    assert "a ledger of 7 entries here, and it is gone" in refused(data)
    assert not spent.exists()


def test_an_emptied_ledger_does_not_start_a_new_one(data, spent):
    spent.write_bytes(b"")
    assert "it is empty" in refused(data)


def test_a_ledger_written_over_is_known_to_have_been_one(data, spent):
    spent.write_bytes(b"this is no database, but long enough to be taken for one" * 20)
    assert "it is damaged" in refused(data)


def test_another_ledger_in_its_place_shows(data, spent, tmp_path):
    spend(data, ledger=tmp_path / "fresh.sqlite")
    (tmp_path / "fresh.sqlite").replace(spent)
    assert "another ledger lies where it lay" in refused(data)


def test_an_older_copy_put_back_shows(data, own_store, tmp_path):
    spend(data)
    shutil.copy(own_store, tmp_path / "old")
    spend(data)
    shutil.copy(tmp_path / "old", own_store)
    assert "it has 5 entries, and had 6" in refused(data)


def test_two_copies_of_a_ledger_do_not_make_two_budgets(data, own_store, tmp_path):
    spend(data)
    shutil.copy(own_store, tmp_path / "copy.sqlite")
    spend(data, ledger=tmp_path / "copy.sqlite")
    assert "it has 5 entries, and had 6" in refused(data)


def test_a_ledger_may_be_moved(data, spent, tmp_path):
    spent.rename(tmp_path / "moved.sqlite")
    spend(data, Fraction(1, 4), ledger=tmp_path / "moved.sqlite")
    with pytest.raises(OverspentError):
        spend(data, Fraction(1, 4), ledger=tmp_path / "moved.sqlite")
    assert [(head.path, head.count) for head in known_heads()] == [
        (str(tmp_path / "moved.sqlite"), 8)
    ]


def test_a_crash_before_the_head_is_kept_loses_no_payment(data, own_store, monkeypatch):
    spend(data)

    def killed(head):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ledgers, "keep_head", killed)
        with pytest.raises(KeyboardInterrupt):
            spend(data, Fraction(1, 4))
    assert Accountant(POLICY, data).spent == Fraction(3, 4)
    spend(data, Fraction(1, 4))
    assert known_heads()[0].count == 7


def test_a_head_never_goes_back(data, spent):
    (head,) = known_heads()
    keep_head(Head(head.id, head.path, head.count - 1, "earlier"))
    assert known_heads() == (head,)


@pytest.mark.parametrize(
    "statement",
    ["", "UPDATE head SET count = 'many'", "UPDATE head SET count = -1", "DROP TABLE head; "
     "CREATE TABLE head (id)"],
)  # fmt: skip
def test_damaged_heads_are_an_error(data, spent, statement):
    if statement:
        change(heads_place(), *statement.split("; "))
    else:
        heads_place().write_bytes(b"no database, but long enough to be taken for one" * 20)
    with pytest.raises(LedgerError, match="cannot be read"):
        spend(data)


@pytest.mark.parametrize("entry", ["[]", "{}", '{"kind":"charge","account":7}', "no json"])
def test_entries_that_make_no_sense_are_refused(data, spent, entry):
    _, before = row(spent, 7)
    mark = sha256(f"{before}\n{entry}".encode()).hexdigest()
    change(spent, f"INSERT INTO log VALUES (8, '{entry}', '{mark}')")
    assert "makes no sense" in refused(data)


def test_what_a_ledger_says_is_text_and_exact(data, own_store):
    spend(data, Fraction(1, 3))
    entries = Ledger().entries()
    assert [entry["kind"] for entry in entries] == ["account", "data", "budget", "charge"]
    assert entries[-1]["epsilon"] == "1/3" and "." not in json.dumps(entries[-1]["epsilon"])


# --- ledgers of version 1 ----------------------------------------------------------------------


def old_ledger(data: Path, *charges: tuple[str, str | None]) -> Path:
    place = ledger_beside(data)
    connection = sqlite3.connect(place)
    with connection:
        connection.execute("CREATE TABLE ledger (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        connection.execute(
            "CREATE TABLE charge (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL,"
            " epsilon TEXT NOT NULL, mechanism TEXT NOT NULL, query TEXT NOT NULL, records TEXT)"
        )
        kept = {
            "version": "1",
            "budget": "1",
            "policy": "p",
            "digest": digest(POLICY),
            "reading": "published",
            "answers": "any",
        }
        connection.executemany("INSERT INTO ledger VALUES (?, ?)", kept.items())
        connection.executemany(
            "INSERT INTO charge (at, epsilon, mechanism, query, records)"
            " VALUES ('2026', ?, 'laplace', 'histogram', ?)",
            charges,
        )
    connection.close()
    return place


def test_an_old_ledger_beside_the_data_is_not_passed_by(data, tmp_path):
    old = old_ledger(data, ("1/2", None))
    with pytest.raises(LedgerError, match=r"version 1 .*\n.*--take-over"):
        spend(data)
    (tmp_path / "link.csv").symlink_to(data)
    with pytest.raises(LedgerError, match="--take-over"):
        spend(tmp_path / "link.csv")
    with pytest.raises(LedgerError, match=r"version 1.*\n.*--take-over"):
        Ledger(old).entries()


def test_an_old_ledger_is_taken_over_once(data):
    old = old_ledger(data, ("1/4", None), ("1/2", "1"), ("1/4", "2-3"))
    text = old.read_bytes()
    account = take_over(data, old, Ledger())
    assert account.number == 1 and account.guarantees[0].spent == Fraction(3, 4)
    assert not old.exists() and old.with_name(f"{old.name}.taken-over").read_bytes() == text
    old.write_bytes(text)  # as after a crash before the file was renamed
    assert take_over(data, old, Ledger()).guarantees[0].spent == Fraction(3, 4)
    spend(data, Fraction(1, 4))
    with pytest.raises(OverspentError):
        spend(data, Fraction(1, 4))


@pytest.mark.parametrize("damage", ["text", "epsilon", "missing", "new"])
def test_an_old_ledger_that_is_damaged_is_not_taken_over(data, damage, tmp_path):
    old = old_ledger(data, ("-1" if damage == "epsilon" else "1", None))
    if damage == "text":
        old.write_bytes(b"this is no database, but long enough to be taken for one" * 20)
    elif damage == "missing":
        old.unlink()
    elif damage == "new":
        old.unlink()
        spend(data, ledger=tmp_path / "new.sqlite")
        (tmp_path / "new.sqlite").rename(old)
    with pytest.raises(LedgerError):
        take_over(data, old, Ledger())
    assert Ledger().entries() == ()
