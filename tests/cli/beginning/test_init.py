"""`blowproof init`: from a data file to a commented policy and its first audit."""

import io
import json
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from blowproof.cli.main import run
from blowproof.models import Integers, Labels, setting
from blowproof.models.files.reading import read_policy
from blowproof.models.policy.in_words import fact_words
from servers import needs_postgres, postgres

CSV = """region,sex,age
north,F,34
south,M,
north,f,41
"so,uth",M,29
south,F,55
n/a,,3
"""
MANY = CSV + 150 * CSV.partition("\n")[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(MANY, encoding="utf-8")
    return tmp_path


def test_a_policy_is_written_and_audited(folder, capsys, monkeypatch):
    options = ["--public", "region", "--public", "size", "--publish", "region,sex"]
    assert run(["init", "people.csv", "--secret", "everything", *options]) == 0
    out, err = capsys.readouterr()
    assert "query marginal(region,sex): S = 8" in out and "wrote people.toml" in err
    assert "sex has labels that are spelled alike: 'F' and 'f'" in err
    policy = read_policy("people.toml")
    assert policy.domain["sex"] == Labels(["F", "f", "M", ""])
    assert policy.scope == "any" and setting(policy).size == 906
    # what it recommends next can be done at once
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["plan", "people.toml", "--query", "marginal(region,sex)", "--epsilon", "1"]) == 0
    following = "blowproof release people.toml DATA --query 'marginal(region,sex)' --epsilon 1"
    assert f"next: {following} --budget 1" in capsys.readouterr().err


def test_columns_of_any_name_are_published_by_their_names(folder, capsys):
    Path("odd.csv").write_text(MANY.replace("sex", "sex (final)", 1), encoding="utf-8")
    assert run(["init", "odd.csv", "--no-audit", "--publish", "region,sex (final)"]) == 0
    assert 'marginal(region,"sex (final)")' in Path("odd.toml").read_text("utf-8")


def test_what_is_published_without_being_asked_has_records_in_its_cells(folder, capsys):
    """A table of 720,000 cells of 906 people would be noise; 4 x 4 cells are not."""
    columns = "region,sex,age\n" + "".join(
        f"{region},{sex},{age}\n"
        for age in range(100)
        for region, sex in (("n", "F"), ("s", "M"), ("w", "F"), ("w", "M"))
    )
    Path("wide.csv").write_text(columns, encoding="utf-8")
    assert run(["init", "wide.csv", "--no-audit", "--yes"]) == 0
    assert "marginal(region,sex)" in Path("wide.toml").read_text("utf-8")


def test_numbers_with_a_word_for_unknown_are_told_what_would_give_them_an_order(folder, capsys):
    ages = "age\n" + "".join(f"{age}\nunknown\n" for age in range(30)) * 2
    Path("ages.csv").write_text(ages, encoding="utf-8")
    assert run(["init", "ages.csv", "--no-audit", "--yes"]) == 0
    assert "numbers but for 'unknown': with those cells empty" in " ".join(
        Path("ages.toml").read_text("utf-8").replace("#", " ").split()
    )


@pytest.mark.parametrize(
    ("secret", "kind"),
    [
        ("each-column", 'kind = "attribute"\nchanges = 1'),
        ("within(region)", 'kind = "partition"\nby = ["region"]'),
        ("near(age,5)", 'kind = "distance"\nmetric = "l1"\nthreshold = 5\nattributes = ["age"]'),
    ],
)
def test_every_kind_of_secret_is_written(folder, secret, kind):
    assert run(["init", "people.csv", "--secret", secret, "--no-audit"]) == 0
    assert f"\n{kind}\n" in Path("people.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["people.csv", "--public", "regoin"], "did you mean 'region'? (columns: region"),
        (["people.csv", "--publish", "marginal(sx)"], "sx"),
        (["people.csv", "--secret", "some"], "each-column, within(COLUMN,...)"),
        (["people.csv", "--secret", "near(sex,1)"], "have no order"),
        (["people.csv", "--columns", "region,sx"], "did you mean 'sex'?"),
        (["nobody.csv"], "nobody.csv"),
        (["people.csv", "--column", "a=b,c"], "leave it out"),
        ([], "name one of them"),
        (["--column", "age", "--yes"], "write sex=F,M or age=0..115"),
        (["people.csv", "--output", "people.csv"], "would overwrite"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(folder, capsys, arguments, said):
    assert run(["init", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert sorted(item.name for item in folder.iterdir()) == ["people.csv"]


def test_a_file_that_is_there_stays(folder, capsys):
    Path("people.toml").write_text("mine", "utf-8")
    assert run(["init", "people.csv"]) == 2
    assert "--force" in capsys.readouterr().err and Path("people.toml").read_text() == "mine"
    assert run(["init", "people.csv", "--force", "--no-audit"]) == 0


TABLE = [(k, "n" if k % 3 else "s", "F" if k % 2 else None, 20 + k % 30) for k in range(1, 61)]


@pytest.mark.parametrize(
    "address", ["people.db", "people.duckdb", pytest.param("postgres", marks=needs_postgres)]
)
def test_a_table_of_a_database(folder, capsys, address):
    """Columns as from a file; the key is left out, what is missing is a label of its own."""
    rows = ", ".join(
        f"({k}, '{r}', {'NULL' if s is None else repr(s)}, {a})" for k, r, s, a in TABLE
    )
    made = [
        "CREATE TABLE people (id INTEGER PRIMARY KEY, region TEXT, sex TEXT, age INTEGER)",
        f"INSERT INTO people VALUES {rows}",
    ]
    if address == "postgres":
        with postgres() as server:
            server.execute(*made)
            return _from_table(server.url, capsys)
    open_it = duckdb.connect if address.endswith("duckdb") else sqlite3.connect
    with closing(open_it(address)) as link:
        for statement in made:
            link.execute(statement)
        link.commit()
    return _from_table(address, capsys)


def _from_table(address, capsys):
    assert run(["init", address, "--table", "people", "--public", "sex", "--publish", "sex"]) == 0
    out, err = capsys.readouterr()
    assert "id is left out: a number for each person" in err and "S = 0" in out
    policy = read_policy("people.toml")
    assert policy.domain["sex"] == Labels(["F", ""]) and policy.domain["age"] == Integers(20, 50)
    # with its numbers, as the comment in the policy says they can be had
    text = Path("people.toml").read_text("utf-8")
    place = next(line for line in text.splitlines() if line.startswith("#   data = "))
    text = text.replace('answers = "any"', f'answers = "given"\n{place.removeprefix("#   ")}')
    Path("people.toml").write_text(text, "utf-8")
    assert setting(read_policy("people.toml")).size == 60
    assert [fact.answer for fact in setting(read_policy("people.toml")).equalities] == [30, 30]


def test_the_primary_key_of_a_small_table_is_left_out(folder, capsys):
    """Of four rows it was an attribute: too few to tell a number of a person by itself."""
    with closing(sqlite3.connect("people.db")) as link:
        link.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, sex TEXT)")
        link.executemany("INSERT INTO people VALUES (?, ?)", [(k, "FM"[k % 2]) for k in range(4)])
        link.commit()
    assert run(["init", "people.db", "--table", "people", "--no-audit"]) == 0
    assert "id is left out" in capsys.readouterr().err
    assert list(read_policy("people.toml").domain.names) == ["sex"]


def test_of_a_database_the_table_is_asked_for(folder, capsys):
    with closing(sqlite3.connect("people.db")) as link:
        link.execute("CREATE TABLE people (id INTEGER)")
    for words, said in (
        (["people.db"], "name the --table in it"),
        (["people.db", "--table", "poeple"], "did you mean 'people'?"),
        (["people.csv", "--table", "people"], "--table is for a database"),
        (["postgres://ann:s3cret@db.example/x", "--table", "p"], "take it out"),
        (["postgres://ann:s3cret@db.example/x"], "name the --table in it"),
        (["people.db", "--table", "people"], "there are no rows"),
    ):
        assert run(["init", *words]) == 2
        err = capsys.readouterr().err
        assert said in err and "s3cret" not in err
    assert not Path("people.toml").exists()


def test_piped_data_are_spoken_of_as_such(folder, monkeypatch, capsys):
    text = Path("people.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert run(["init", "-", "--no-audit"]) == 0
    written = Path("policy.toml").read_text("utf-8")
    assert "from standard input" in written and "blowproof-" not in written


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04 xl/workbook.xml", "a spreadsheet or a zip archive, not CSV"),
        (b"%PDF-1.7\n", "this is a PDF, not CSV"),
        (b'{"people": []}\n', "this is JSON, not CSV"),
        ("a,b\nä,1\n".encode("utf-16"), "text in UTF-16, not CSV"),
        ("a,b\nä,1\n".encode("latin-1"), "this is not UTF-8 text"),
        (b"region,sex\n", "there are no rows below the names of the columns"),
        (b"", "the first line is empty"),
        (b"a,b\n1\n", "1 fields, but the header names 2 columns"),
    ],
)
def test_what_is_no_csv_is_a_sentence(folder, capsys, content, said):
    Path("people.csv").write_bytes(content)
    assert run(["init", "people.csv"]) == 2
    assert said in capsys.readouterr().err
    assert [item.name for item in folder.iterdir()] == ["people.csv"]


def test_without_data_columns_are_described(folder, capsys):
    columns = ["--column", "sex=F,M", "--column", "age=0..9"]
    assert run(["init", *columns, "--output", "-", "--no-audit"]) == 0
    out = capsys.readouterr().out
    assert 'sex = ["F", "M"]' in out and "age = { min = 0, max = 9 }" in out


SCHOOLS = "district,school,meals\n" + "".join(
    f"{school[0]},{school},{meals}\n"
    for at in range(12)
    for school in ("A1", "A2", "B1", "B2", "B3")
    for meals in ("yes" if at % 3 else "no",)
)


def test_a_school_lies_in_one_district(folder, capsys):
    """Known to all it is a fact, else a comment; a district is in no table beside its schools."""
    Path("pupils.csv").write_text(SCHOOLS, encoding="utf-8")
    assert run(["init", "pupils.csv", "--no-audit", "--yes"]) == 0
    said = capsys.readouterr().err
    assert "each school has one district" in said and "--public 'school in district'" in said
    assert read_policy("pupils.toml").known == ()
    assert "'marginal(school,meals)'" in Path("pupils.toml").read_text("utf-8")
    commented = Path("pupils.toml").read_text("utf-8").partition("# [[known]]\n# impossible")[2]
    told = ["init", "pupils.csv", "--no-audit", "--yes", "--force", "--public", "school"]
    assert run([*told, "--public", "school in district"]) == 0
    assert "each school" not in capsys.readouterr().err
    policy = read_policy("pupils.toml")
    assert fact_words(policy, policy.known[1]) == "each school has one district (5, in 2)"
    listed = Path("pupils.toml").read_text("utf-8").partition("\nimpossible")[2]
    assert commented.replace("\n# ", "\n").partition("]\n\n")[0] == listed.partition("]\n\n")[0]
    assert run([*told, "--public", "meals in school"]) == 2
    assert "found in the data: school in district" in capsys.readouterr().err


def test_json_says_what_was_found(folder, capsys):
    assert run(["init", "people.csv", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "blowproof/init/1" and document["rows"] == 906
    assert [item["kind"] for item in document["columns"]] == ["labels", "labels", "labels"]
    # each age is that of one person, 151 times over
    told = [(item["inner"], item["outer"], item["public"]) for item in document["nested"]]
    assert told == [("age", "region", False), ("age", "sex", False)]


def test_the_questions_in_a_terminal(folder):
    """As somebody types: a slip is said and asked again, and the policy is what was answered."""
    mine, theirs = pty.openpty()
    command = [sys.executable, "-m", "blowproof.cli", "init", "people.csv", "--no-audit"]
    asked = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(theirs)
    os.write(mine, b"3\nregon\nregion\ny\nn\nsex,regoin\nsex\nsize\n\nhistogramm\nregion,sex\n")
    _, err = asked.communicate(timeout=120)
    os.close(mine)
    assert asked.returncode == 0, err.decode()
    said = err.decode()
    assert "did you mean 'region'" in said and "What is already public" in said
    text = Path("people.toml").read_text("utf-8")
    assert "In the data each age has one sex." in said and "Does everybody know which" in said
    assert "# Public: which region each age has" in text and "\n# impossible" in text
    assert 'by = ["region"]' in text and 'marginal = ["sex"]' in text and "size = 906" in text
    assert "--query 'marginal(region,sex)'" in text
