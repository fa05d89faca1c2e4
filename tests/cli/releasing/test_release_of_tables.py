"""Releases, plans and ledgers of a table in a database: its rows of the moment."""

import csv
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from blowproof.cli.main import run
from blowproof.cli.releasing.tables import data_in
from blowproof.models import BudgetError
from blowproof.models.data.snapshot import snapshot
from blowproof.models.data.table_at import TableAt
from servers import needs_postgres, postgres

ROWS = [(k, "n" if k % 3 else None, 20 + k % 30, k % 2 == 0) for k in range(1, 121)]


@pytest.fixture
def office(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BLOWPROOF_LEDGER", str(tmp_path / "ledger.sqlite"))
    Path("p.toml").write_text('[domain]\nregion = ["n", ""]\nage = { min = 20, max = 49 }\n')
    for name, open_it in (("o.db", sqlite3.connect), ("o.duckdb", duckdb.connect)):
        with closing(open_it(name)) as link:
            link.execute("CREATE TABLE people (id INTEGER, region TEXT, age INTEGER, ill BOOLEAN)")
            link.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
            link.commit()
    return tmp_path


@pytest.mark.parametrize("address", ["o.db", "o.duckdb"])
def test_a_release_of_a_table_has_an_account(office, capsys, address):
    words = [address, "--table", "people"]
    command = ["release", "p.toml", *words, "--query", "marginal(region)"]
    assert run([*command, "--epsilon", "8", "--mechanism", "laplace", "--budget", "9",
                "--output", "out.csv"]) == 0  # fmt: skip
    lines = Path("out.csv").read_text("utf-8").splitlines()
    counts = [int(row["count"]) for row in csv.DictReader(lines)]
    assert abs(counts[0] - 80) < 20 and abs(counts[1] - 40) < 20
    assert run([*command, "--epsilon", "8"]) == 1  # the account of these rows has 1 left
    assert "an epsilon of at most 1" in capsys.readouterr().err
    assert run(["ledger", *words]) == 0
    assert "8 of 9 spent" in capsys.readouterr().out
    assert run(["plan", "p.toml", *words, "--epsilon", "1", "--query", "marginal(region)",
                "--output", "plan.json"]) == 0  # fmt: skip
    assert run(["release", "p.toml", *words, "--plan", "plan.json"]) == 0


def test_what_is_no_table_is_refused_before_anything_is_spent(office, capsys):
    for words, said in (
        (["o.db"], "name the --table in it"),
        (["o.db", "--table", "poeple"], "tables: people"),
        (["d.csv", "--table", "people"], "--table is for a database"),
        (["postgres://ann:s3cret@db.example/x", "--table", "p"], "take it out"),
    ):
        assert run(["release", "p.toml", *words, "--epsilon", "1", "--budget", "1"]) == 2
        err = capsys.readouterr().err
        assert (said in err or "did you mean" in err) and "s3cret" not in err
    assert not Path("ledger.sqlite").exists()


def test_a_snapshot_has_all_columns_as_texts(office, monkeypatch):
    with tempfile.TemporaryDirectory() as folder:
        found = snapshot(TableAt("o.duckdb", "people"), Path(folder)).read_text("utf-8")
    lines = found.splitlines()
    assert lines[0] == "id,region,age,ill" and len(lines) == 121
    assert "3,,23,false" in lines and "2,n,22,true" in lines
    monkeypatch.setattr("blowproof.models.data.snapshot.MOST_ROWS", 100)
    with pytest.raises(BudgetError, match="Parquet file"):
        data_in("o.duckdb", "people")
    assert data_in("people.csv", None) == "people.csv"


@needs_postgres
def test_a_release_of_a_postgres_table_has_an_account(office, capsys):
    """Counted where it lies, charged by what it holds, and another account for other rows."""
    with postgres() as server:
        rows = ", ".join(
            f"({at}, {'NULL' if region is None else repr(region)}, {age}, {ill})"
            for at, region, age, ill in ROWS
        )
        server.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, region TEXT, age INTEGER, ill BOOLEAN)",
            f"INSERT INTO people VALUES {rows}",
        )
        words = [server.url, "--table", "people"]
        command = ["release", "p.toml", *words, "--query", "marginal(region)", "--epsilon"]
        assert run([*command, "8", "--budget", "9", "--output", "out.csv"]) == 0
        lines = Path("out.csv").read_text("utf-8").splitlines()
        counts = [int(row["count"]) for row in csv.DictReader(lines)]
        assert abs(counts[0] - 80) < 20 and abs(counts[1] - 40) < 20
        assert run([*command, "8"]) == 1  # the account of these rows has 1 left
        capsys.readouterr()
        assert run(["ledger", *words]) == 0
        assert "8 of 9 spent" in capsys.readouterr().out
        plan = ["plan", "p.toml", *words, "--query", "histogram", "--epsilon", "1/2"]
        assert run([*plan, "--output", "plan.json"]) == 0
        server.execute("DELETE FROM people WHERE id = 1")
        assert run(["release", "p.toml", *words, "--plan", "plan.json"]) == 2
        assert "other data" in capsys.readouterr().err
