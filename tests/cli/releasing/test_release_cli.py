"""`blowproof release`: exit codes, documents, files, budgets, and what it refuses."""

import csv
import json
from fractions import Fraction

import pyarrow.parquet
import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.release.registry import MECHANISMS
from blowproof.mechanisms.release.release import Draw

POLICY = """
name = "wards"
[domain]
sex = ["F", "M"]
age = { min = 0, max = 4 }
temp = { min = 36, max = 37, step = "1/2" }
[[known]]
marginal = ["sex"]
[[query]]
name = "old"
count = { age = { min = 3 } }
"""
DATA = "sex,age,temp\nF,0,36\nF,4,36.5\nM,3,37\n"
ORDERED = """
[domain]
age = { min = 0, max = 30 }
[secrets]
kind = "distance"
metric = "l1"
threshold = 3
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "p.toml").write_text(POLICY)
    (tmp_path / "d.csv").write_text(DATA)
    (tmp_path / "line.toml").write_text(ORDERED)
    (tmp_path / "line.csv").write_text("age\n" + "\n".join(str(k % 31) for k in range(100)) + "\n")
    return tmp_path


ACCOUNT = {"--budget", "--ledger", "--unaccounted", "--help"}


def said(capsys, *words, unaccounted=True):
    """What a release says; it has no account unless it names one, or is told to look for it."""
    if unaccounted and ACCOUNT.isdisjoint(map(str, words)):
        words = (*words, "--unaccounted")
    code = run(["release", "--accept-wide-bounds", *map(str, words)])  # the data are a few records
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err and "this is a bug" not in err
    return code, out, err


def document(capsys, files, *words, policy="p.toml", data="d.csv", **rest):
    code, out, err = said(capsys, files / policy, files / data, *words, "--json", **rest)
    assert err == "" and out.endswith("\n") and out.count("\n") == 1
    return code, json.loads(out)


def test_a_release_as_a_document(files, capsys):
    words = ["--epsilon", "1/2", "--query", "sum(age,temp)"]
    code, found = document(capsys, files, *words, "--mechanism", "laplace")
    assert code == 0 and found["released"] is True
    assert found["schema"] == "blowproof/release/1"
    assert (found["policy"], found["query"], found["mechanism"]) == (
        "wards", "sum(age,temp)", "laplace"
    )  # fmt: skip
    assert (found["reading"], found["answers"], found["epsilon"]) == ("published", "any", "1/2")
    assert found["sensitivity"]["status"] in ("exact", "proved")
    scale = Fraction(found["sensitivity"]["upper"]) * 2
    assert [Fraction(item["scale"]) for item in found["noise"]] == [scale]
    assert len(found["values"]) == 2 and found["columns"] == ["sum"]
    assert all((Fraction(value) * 2).denominator == 1 for value in found["values"])
    code, planned = document(capsys, files, *words)  # two sums: noise in the shape of their hull
    assert (code, planned["mechanism"], len(planned["values"])) == (0, "k-norm", 2)
    assert all((Fraction(value) * 2).denominator == 1 for value in planned["values"])


@pytest.mark.parametrize(
    "query", ["histogram", "marginal(sex,age)", "cumulative(age)", "range(age,1,2)", "ranges(age)",
              "sum(temp)", "count(old)"],
)  # fmt: skip
def test_every_query_of_the_contract(files, capsys, query):
    code, found = document(capsys, files, "--epsilon", "2", "--query", query)
    assert code == 0 and len(found["values"]) == {
        "histogram": 30, "marginal(sex,age)": 10, "cumulative(age)": 5, "ranges(age)": 15,
    }.get(query, 1)  # fmt: skip


def test_people_see_the_answers_and_what_they_rest_on(files, capsys):
    words = ["--epsilon", "0.5", "--mechanism", "laplace"]
    code, out, err = said(capsys, files / "p.toml", files / "d.csv", *words)
    assert code == 0 and err == ""
    assert "epsilon 1/2 under policy wards" in out
    assert "S = 4 for histogram" in out and "noise of scale 8" in out
    assert "... and 10 more" in out


@pytest.mark.parametrize("mechanism", ["laplace", "ordered", "hierarchical"])
def test_every_mechanism_of_this_file(files, capsys, mechanism):
    words = ["--epsilon", "1", "--mechanism", mechanism, "--query", "cumulative(age)"]
    code, found = document(capsys, files, *words, policy="line.toml", data="line.csv")
    assert code == 0 and len(found["values"]) == 31
    if mechanism != "laplace":
        assert found["values"] == sorted(found["values"]) and found["values"][-1] == 100
    code, out, _ = said(capsys, files / "line.toml", files / "line.csv", *words)
    assert code == 0 and f"released by {mechanism}" in out


def test_settings_reach_the_mechanism(files, capsys):
    words = ["--epsilon", "1", "--mechanism", "hierarchical", "--query", "range(age,3,9)"]
    words += ["--set", "block=4", "--set", "fan-out=2"]
    code, found = document(capsys, files, *words, policy="line.toml", data="line.csv")
    assert code == 0 and "8 blocks of 4 values, each a tree with fan-out 2" in found["notes"][0]
    for wrong in (["--set", "blocks=4"], ["--set", "block=none"], ["--set", "block"]):
        code, out, err = said(capsys, files / "line.toml", files / "line.csv", *words, *wrong)
        assert code == 2 and out == "" and "block" in err


def test_a_seed_is_refused_in_a_sentence(files, capsys):
    code, out, err = said(
        capsys, files / "p.toml", files / "d.csv", "--epsilon", "1", "--seed", "7"
    )
    assert code == 2 and out == "" and "noise has no seed" in err


def test_unknown_mechanisms_get_a_suggestion(files, capsys):
    words = ["--epsilon", "1", "--mechanism", "hierachical"]
    code, out, err = said(capsys, files / "p.toml", files / "d.csv", *words)
    assert code == 2 and out == "" and "did you mean 'hierarchical'?" in err
    assert all(name in err for name in MECHANISMS)


@pytest.mark.parametrize("epsilon", ["0", "-1", "1/0", "nan", "inf", "one", "1e3", ""])
def test_epsilon_is_exact_and_above_zero(files, capsys, epsilon):
    code, out, _ = said(capsys, files / "p.toml", files / "d.csv", f"--epsilon={epsilon}")
    assert code == 2 and out == ""


def test_epsilon_is_required(files, capsys):
    code, _, err = said(capsys, files / "p.toml", files / "d.csv")
    assert code == 2 and "--epsilon" in err


def test_data_that_contradict_the_policy(files, capsys):
    (files / "p.toml").write_text(POLICY + "[[known]]\nimpossible = { age = 4 }\n")
    words = ["--epsilon", "1", "--budget", "1"]
    code, out, err = said(capsys, files / "p.toml", files / "d.csv", *words)
    assert code == 2 and out == "" and "impossible" in err and "try:" in err
    (files / "d.csv").write_text(DATA.replace("F,4,", "F,3,"))
    code, found = document(capsys, files, *words)
    assert code == 0 and "1 of 1 spent" in found["notes"][-1]


def test_a_budget_is_kept_from_one_command_to_the_next(files, capsys, own_store):
    code, found = document(capsys, files, "--epsilon", "3/5", "--budget", "1")
    assert code == 0 and found["notes"][-1] == "budget: 3/5 of 1 spent, 2/5 left"
    assert own_store.exists()
    code, found = document(capsys, files, "--epsilon", "0.5", unaccounted=False)
    assert code == 1 and found["released"] is False and "at most 2/5" in found["reason"]
    assert "values" not in found
    words = (files / "p.toml", files / "d.csv", "--epsilon", "1/2")
    code, out, err = said(capsys, *words, unaccounted=False)
    assert code == 1 and out == "" and err.startswith("refused: ")
    code, _ = document(capsys, files, "--epsilon", "2/5", "--budget", "1")
    assert code == 0
    code, _, err = said(
        capsys, files / "p.toml", files / "d.csv", "--epsilon", "1", "--budget", "9"
    )
    assert code == 2 and "its budget is 1, not 9" in err


def test_a_ledger_of_its_own(files, capsys, own_store):
    place = files / "own.sqlite"
    code, _, err = said(
        capsys, files / "p.toml", files / "d.csv", "--epsilon", "1", "--ledger", place
    )
    assert code == 2 and "--budget" in err and not place.exists()
    words = ["--epsilon", "1", "--ledger", place, "--budget", "3/2"]
    assert document(capsys, files, *words)[0] == 0
    assert document(capsys, files, *words)[0] == 1
    assert not own_store.exists()
    place.write_text("not a database " * 100)
    code, _, err = said(capsys, files / "p.toml", files / "d.csv", *words)
    assert code == 2 and "damaged" in err


def test_a_release_without_an_account_says_so_and_must_be_told(files, capsys, own_store):
    words = (files / "p.toml", files / "d.csv", "--epsilon", "1")
    code, out, err = said(capsys, *words, unaccounted=False)
    assert code == 2 and out == "" and "there is no budget" in err and "--unaccounted" in err
    before = sorted(files.iterdir())
    code, found = document(capsys, files, "--epsilon", "1", "--unaccounted")
    assert code == 0 and "no account was kept" in found["notes"][-1]
    assert sorted(files.iterdir()) == before and not own_store.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--unaccounted", "--budget", "1"],
        ["--unaccounted", "--ledger", "l.sqlite"],
        ["--unaccounted", "--new-people"],
        ["--unaccounted", "--same-people-as", "1"],
        ["--unaccounted", "--new-guarantee"],
        ["--budget", "1", "--new-people", "--same-people-as", "1"],
    ],
    ids=" ".join,
)
def test_options_that_contradict_each_other(files, capsys, own_store, words):
    words = [files / "p.toml", files / "d.csv", "--epsilon", "1", *words]
    code, out, err = said(capsys, *words)
    assert code == 2 and out == "" and "Traceback" not in err and not own_store.exists()


def test_parts_of_the_records(files, capsys):
    words = ["--epsilon", "1", "--budget", "1", "--query", "range(age,0,9)"]
    for records, code in (("1-50", 0), ("51-100", 0), ("100", 1), ("9-3", 2), ("101", 2)):
        said_code, _, _ = said(
            capsys, files / "line.toml", files / "line.csv", *words, "--records", records
        )
        assert said_code == code
    code, found = document(capsys, files, "--epsilon", "1", "--records", "1-2")
    assert code == 1 and "known[0]" in found["reason"]


def test_answers_as_a_csv_file(files, capsys):
    place = files / "out.csv"
    words = ["--epsilon", "1", "--query", "marginal(sex,temp)", "--output", place]
    code, out, _ = said(capsys, files / "p.toml", files / "d.csv", *words)
    assert code == 0 and "6 answers written to" in out
    with place.open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["sex", "temp", "count", *ERRORS]
    assert [row[:2] for row in rows[1:3]] == [["F", "36"], ["F", "73/2"]]
    assert all(row[2].lstrip("-").isdigit() for row in rows[1:])
    assert not [path for path in files.iterdir() if path.name.startswith(".")]


ERRORS = ["standard_error", "low95", "high95", "mechanism"]


def test_an_answer_file_says_what_a_reader_needs(files, capsys):
    """A row a number with its error; what all rest on stands in the JSON, or beside the others."""
    words = ["--epsilon", "1", "--mechanism", "laplace", "--query", "marginal(age)", "--output"]
    for name in ("out.csv", "out.json"):
        assert said(capsys, files / "p.toml", files / "d.csv", *words, files / name)[0] == 0
    found = json.loads((files / "out.json").read_text())
    beside = json.loads((files / "out.csv.meta.json").read_text())
    for document in (found, beside):
        assert document["schema"] == "blowproof/answers/1" and document["epsilon"] == "1"
        assert document["columns"] == ["age", "count", *ERRORS]
        assert len(document["policy_digest"]) == 64 and document["version"]
        assert document["sensitivity"]["status"] == "exact"
    assert beside["rows"] == len(found["rows"]) == 5
    for _, count, error, low, high, mechanism in found["rows"]:
        scale = Fraction(found["noise"][0]["scale"])
        assert low < count < high and mechanism == "laplace"
        assert abs(error - (2 * scale**2) ** 0.5) < 0.1


def test_an_answer_file_that_exists_is_refused_before_anything_is_spent(files, capsys, own_store):
    for name in ("out.csv", "out.parquet", "out.json"):
        (files / name).write_text("mine")
        words = ["--epsilon", "1", "--budget", "1", "--output", files / name]
        code, out, err = said(capsys, files / "p.toml", files / "d.csv", *words)
        assert code == 2 and out == "" and "--overwrite" in err
        assert (files / name).read_text() == "mine" and not own_store.exists()
    words = ["--epsilon", "1", "--output", files / "out.csv", "--overwrite"]
    assert said(capsys, files / "p.toml", files / "d.csv", *words)[0] == 0
    assert (files / "out.csv").read_text() != "mine"


def test_clusters_have_a_form_of_their_own(files, capsys):
    words = ["--epsilon", "9", "--mechanism", "k-means", "--set", "clusters=2"]
    names = ["cluster", "age", "size"]
    names += [f"{of}_{what}" for of in ("age", "size") for what in ERRORS[:-1]] + ["mechanism"]
    for name in ("out.csv", "out.parquet", "out.json"):
        more = [*words, "--output", files / name]
        assert said(capsys, files / "line.toml", files / "line.csv", *more)[0] == 0
    lines = (files / "out.csv").read_text().splitlines()
    assert lines[0].split(",") == names and len(lines) == 3
    table = pyarrow.parquet.read_table(files / "out.parquet")
    assert table.column_names == names and table.num_rows == 2
    found = json.loads((files / "out.json").read_text())
    beside = json.loads((files / "out.csv.meta.json").read_text())
    assert found["columns"] == names == beside["columns"] and beside["rows"] == 2
    size = beside["size"]
    for row in found["rows"]:
        at = dict(zip(names, row, strict=True))
        assert at["age_low95"] <= at["age"] <= at["age_high95"] and at["mechanism"] == "k-means"
        assert 0 <= at["size_low95"] <= at["size"] <= at["size_high95"] <= size
    assert sum(row[2] for row in found["rows"]) == size
    out = said(capsys, files / "line.toml", files / "line.csv", *words)[1]
    assert out.startswith("clusters, released by k-means") and " to " in out
    document = json.loads(
        said(capsys, files / "line.toml", files / "line.csv", *words, "--json")[1]
    )
    assert [item["cluster"] for item in document["clusters"]] == [1, 2]
    assert document["columns"] == ["cluster", "attribute"] and len(document["values"]) == 2


def test_k_means_does_not_answer_a_query(files, capsys):
    """It drew clusters whatever was asked for, and said nothing."""
    words = ["--epsilon", "9", "--mechanism", "k-means", "--query", "sum(age)"]
    code, out, err = said(capsys, files / "line.toml", files / "line.csv", *words)
    assert code == 2 and not out and "leave --query out" in err


def test_answers_as_a_parquet_file(files, capsys):
    place = files / "out.parquet"
    for query, columns, kind in (
        ("marginal(age)", ["age", "count"], "int64"),
        ("sum(temp,age)", ["sum", "value"], "string"),
    ):
        words = ["--epsilon", "1/9", "--query", query, "--output", place, "--overwrite"]
        assert said(capsys, files / "p.toml", files / "d.csv", *words)[0] == 0
        table = pyarrow.parquet.read_table(place)
        assert table.column_names == [*columns, *ERRORS]
        assert str(table.schema[len(columns) - 1].type) in (kind, "int64")
    words = ["--epsilon", "1", "--mechanism", "ordered", "--query", "histogram", "--output", place]
    words.append("--overwrite")
    for more, kind in ((["--real"], "double"), ([], "int64")):
        assert said(capsys, files / "line.toml", files / "line.csv", *words, *more)[0] == 0
        assert str(pyarrow.parquet.read_table(place).schema.field("count").type) == kind


def test_parquet_loses_no_digit_and_no_sign(files, capsys):
    """Labels of any text, halves, and numbers beyond 64 bits, read back by another library."""
    wide = 2**70
    (files / "p.toml").write_text(
        "[domain]\nCount = ['', 'q\"', \"it's\", 'a,b', 'é', '=1+1', 'NULL']\n"
        f"'the \"x\"' = {{ min = {wide}, max = {wide + 1} }}\n"
        "half = { min = 0, max = 1, step = '1/2' }\n"
    )
    with (files / "d.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["Count", "half", 'the "x"'], ['q"', "0.5", str(wide)]])
    folder = files / "it's [1] {a} *"
    folder.mkdir()
    place = folder / "o'ut.parquet"
    words = ["--epsilon", "1", "--output", place]
    assert said(capsys, files / "p.toml", files / "d.csv", *words)[0] == 0
    names = ["o'ut.parquet", "o'ut.parquet.meta.json"]
    assert sorted(path.name for path in folder.iterdir()) == names
    table = pyarrow.parquet.ParquetFile(place).read()
    assert table.column_names == ["Count", 'the "x"', "half", "value", *ERRORS]
    kinds = ["string", "string", "string", "int64", "double", "double", "double", "string"]
    assert [str(kind) for kind in table.schema.types] == kinds
    labels = ["", 'q"', "it's", "a,b", "é", "=1+1", "NULL"]
    expected = [(a, str(b), c) for a in labels for b in (wide, wide + 1) for c in ("0", "1/2", "1")]
    rows = [tuple(row.values())[:3] for row in table.to_pylist()]
    assert rows == expected


def test_a_sum_beyond_64_bits_is_written_as_text(files, capsys):
    wide = 2**200
    (files / "p.toml").write_text(f"[domain]\nx = {{ min = 0, max = {wide}, step = {wide} }}\n")
    (files / "d.csv").write_text("x\n" + f"{wide}\n" * 5)
    place = files / "out.parquet"
    words = ["--epsilon", "100", "--query", "sum(x)", "--output", place]
    code, found = document(capsys, files, *words)
    (row,) = pyarrow.parquet.read_table(place).to_pylist()
    assert code == 0 and (row["sum"], row["value"]) == ("x", str(found["values"][0]))


@pytest.mark.parametrize("second", ["SEX", '""', '"a\\u0000b"'])
def test_names_that_parquet_cannot_hold_are_refused_before_anything_is_spent(files, capsys, second):
    (files / "p.toml").write_text(f"[domain]\nsex = ['F', 'M']\n{second} = ['F', 'M']\n")
    words = ["--epsilon", "1", "--budget", "1", "--output", files / "out.parquet"]
    code, out, err = said(capsys, files / "p.toml", files / "d.csv", *words)
    assert code == 2 and out == "" and ".csv file" in err
    assert not (files / "d.csv.blowproof.sqlite").exists()


@pytest.mark.parametrize("output", ["out.xls", "none/out.csv", "d.csv", "p.toml", "."])
def test_outputs_are_checked_before_anything_is_spent(files, capsys, output, own_store):
    words = ["--epsilon", "1", "--budget", "1", "--output", files / output]
    code, out, _ = said(capsys, files / "p.toml", files / "d.csv", *words)
    assert code == 2 and out == "" and (files / "d.csv").read_text() == DATA
    assert not own_store.exists()


def test_a_refused_release_leaves_no_file(files, capsys):
    place = files / "out.csv"
    words = ["--epsilon", "2", "--budget", "1", "--output", place]
    assert said(capsys, files / "p.toml", files / "d.csv", *words)[0] == 1
    assert not place.exists()
    assert not [path for path in files.iterdir() if path.name.startswith(".blowproof-")]


@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove"])
@pytest.mark.parametrize("answers", ["any", "given"])
def test_readings_and_scopes_decide_about_the_scale(files, capsys, reading, answers):
    (files / "p.toml").write_text(POLICY + '[database]\ndata = "d.csv"\n')
    words = ["--epsilon", "1", "--query", "marginal(sex)"]
    code, found = document(capsys, files, *words, "--reading", reading, "--answers", answers)
    assert code == 0 and found["answers"] == answers and found["reading"] == reading
    assert found["noise"][0]["scale"] == "0" and found["values"] == [2, 1]
    assert "no two neighbouring databases differ" in found["notes"][0]


def test_after_ctrl_c_nothing_is_released(files, capsys, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    drawn = []
    monkeypatch.setattr("blowproof.cli.asking.ask.sensitivity", interrupted)
    monkeypatch.setattr(Draw, "__call__", lambda *arguments: drawn.append(arguments))
    code, out, _ = said(capsys, files / "p.toml", files / "d.csv", "--epsilon", "1")
    assert code != 0 and out == "" and not drawn


def test_help_names_the_exit_codes(capsys):
    code, out, _ = said(capsys, "--help")
    assert code == 0 and "0: released; 1: refused; 2: bad input" in out
