"""`blowproof check`: whose certificate is it? What it embeds is compared, or said not to be."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asked import resigned
from blowproof.cli.main import run

Said = Callable[..., tuple[int, str, str]]
POLICY = "[domain]\nx = { min = 0, max = 2 }\n"
PEOPLE = '[database]\ndata = "people.csv"\nanswers = "given"\n[[known]]\nmarginal = ["x"]\n'


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def call(*words: object) -> tuple[int, str, str]:
        code = run([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w.csv").write_text("0 0 2000\n")
    (tmp_path / "c.csv").write_text("0\n2\n")
    (tmp_path / "n.csv").write_text("1\n2\n7\n")
    (tmp_path / "people.csv").write_text("x\n0\n0\n1\n2\n")
    (tmp_path / "p.toml").write_text(POLICY)
    (tmp_path / "d.toml").write_text(POLICY + PEOPLE)
    return tmp_path


def written(said: Said, policy: Path, query: str, *more: object) -> Path:
    """The certificate of a question."""
    path = policy.with_suffix(".json")
    path.unlink(missing_ok=True)
    code, _, err = said("sensitivity", policy, "--query", query, "--certificate", path, *more)
    assert code == 0 and path.exists(), err
    return path


def forged(path: Path, **changes: Any) -> Path:
    """A certificate with other contents, whose digests are right."""
    path.write_text(json.dumps(resigned({**json.loads(path.read_text()), **changes})))
    return path


FILES = ["matrix(w.csv)", "cluster-sums(c.csv)", "weighted-sum(x,n.csv)", "cluster-sizes(c.csv)"]


@pytest.mark.parametrize("query", FILES)
def test_attack_a_certificate_with_files_of_its_own(
    said: Said, folder: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S(matrix(w.csv)) = 0 was accepted, with zeros in the certificate and 2,000 in the file."""
    policy, name = folder / "p.toml", query.rpartition(",")[2].partition("(")[2] or "n.csv"
    file = folder / query.removesuffix(")").replace(",", "(").rpartition("(")[2]
    monkeypatch.chdir(folder)
    path = written(said, policy, query)
    code, out, _ = said("check", path, "--policy", policy, "--query", query)
    assert code == 0 and out.startswith("accepted: ") and "compared: policy, query, file" in out
    honest = file.read_text()
    file.write_text(honest.replace("2", "1", 1))  # the forger's file
    path = written(said, policy, query)
    file.write_text(honest)
    code, out, _ = said("check", path, "--policy", policy, "--query", query)
    assert code == 1 and out.startswith("rejected: it is a proof about another query"), name
    code, out, _ = said("check", path, "--policy", policy, "--query", query, "--embedded")
    assert code == 1  # what can be compared is never believed
    file.unlink()
    code, out, _ = said("check", path, "--policy", policy, "--query", query)
    assert code == 1 and "not compared: the query" in out.partition("\n")[0]
    code, out, _ = said("check", path, "--policy", policy, "--query", query, "--embedded")
    assert code == 0 and "taken from the certificate: the query" in out.partition("\n")[0]


def test_attack_zeros_for_the_matrix_of_a_file(said: Said, folder: Path) -> None:
    policy = folder / "p.toml"
    path = written(said, policy, "matrix(w.csv)")
    zero = {"value": 0, "witness": None, "query": {"kind": "matrix", "arguments": [],
                                                   "data": [[0, 0, 0]]}}  # fmt: skip
    forged(path, **zero)
    code, out, _ = said("check", path)  # a proof, of the zeros: their digest says so
    assert code == 0 and "matrix(sha256:" in out and "w.csv" not in out
    code, out, _ = said("check", path, "--policy", policy, "--query", "matrix(w.csv)")
    assert code == 1 and "holds other numbers" in out
    code, out, _ = said("check", path, "--policy", policy)
    assert code == 1 and "not compared: the query" in out


def test_attack_invented_counts_for_data_that_are_not_there(said: Said, folder: Path) -> None:
    """`check --policy` accepted whatever counts a certificate embeds, if the file was missing."""
    policy, data = folder / "d.toml", folder / "people.csv"
    path = written(said, policy, "histogram")
    asked = ("check", path, "--policy", policy, "--query", "histogram")
    code, out, _ = said(*asked)
    assert code == 0 and "compared: policy, query, data" in out
    honest = data.read_text()
    data.write_text("x\n0\n0\n0\n0\n")  # other counts: S is smaller
    written(said, policy, "histogram")
    data.unlink()
    code, out, _ = said(*asked)
    assert code == 1 and out.partition("\n")[0].startswith("rejected: not compared: the data")
    code, out, _ = said(*asked, "--embedded")
    assert code == 0 and "taken from the certificate: the data" in out.partition("\n")[0]
    code, out, _ = said(*asked, "--embedded", "--json")
    told = json.loads(out)
    assert told["compared"] == ["policy", "query"] and "the data" in told["not_compared"][0]
    data.write_text(honest)
    code, out, _ = said(*asked, "--embedded")
    assert code == 1 and "other data" in out


def test_attack_another_table_than_the_published_one(said: Said, folder: Path) -> None:
    policy, table = folder / "t.toml", folder / "t.csv"
    policy.write_text(POLICY + '[[known]]\nmarginal = ["x"]\nanswers_file = "t.csv"\n')
    table.write_text("x,count\n0,5\n1,5\n2,5\n")
    path = written(said, policy, "histogram")
    asked = ("check", path, "--policy", policy, "--query", "histogram")
    assert said(*asked)[0] == 0
    table.write_text("x,count\n0,5\n1,5\n2,0\n")
    code, out, _ = said(*asked)
    assert code == 1 and "another policy" in out
    table.unlink()
    code, out, _ = said(*asked)
    assert code == 1 and "not compared: the policy" in out.partition("\n")[0]
    code, out, _ = said(*asked, "--embedded")
    assert code == 0 and "compared: nothing; taken from" in out.partition("\n")[0]


def test_attack_a_certificate_for_the_smaller_scope(said: Said, folder: Path) -> None:
    policy = folder / "s.toml"
    policy.write_text(
        '[domain]\na = ["p", "q"]\nb = ["p", "q"]\n[database]\nanswers = "any"\nsize = 1\n'
        '[[known]]\nmarginal = ["a"]\nanswers = [1, 0]\n'
    )
    path = written(said, policy, "histogram", "--answers", "given")
    asked = ("check", path, "--policy", policy, "--query", "histogram")
    code, out, _ = said(*asked)
    assert code == 1 and "for the scope given" in out
    assert said(*asked, "--answers", "given")[0] == 0


def test_a_certificate_on_its_own_says_that_it_was_compared_with_nothing(
    said: Said, folder: Path
) -> None:
    path = written(said, folder / "p.toml", "histogram")
    code, out, _ = said("check", path)
    first = out.partition("\n")[0]
    assert code == 0 and first.startswith("accepted: S(histogram) = 2 under the reading published,")
    assert "the policy with SHA-256 " in first and "compared with nothing" in first
    code, out, _ = said("check", path, "--json")
    told = json.loads(out)
    assert told["compared"] == [] and told["not_compared"] == ["everything"]
    assert set(told["digests"]) == {"policy", "query"} and told["norm"] == "l1"
    code, _, err = said("check", path, "--query", "histogram")
    assert code == 2 and "--policy" in err


FORGED = "x) = 0 under the reading published, answers any\naccepted: S(histogram) = 0 \x1b[2K\u202e"


def test_attack_a_name_that_forges_the_line_of_the_verdict(said: Said, folder: Path) -> None:
    policy = folder / "f.toml"
    name = json.dumps(FORGED, ensure_ascii=True)
    policy.write_text(f"{POLICY}[[query]]\nname = {name}\ncount = {{ x = 1 }}\n")
    query = f"count({name})"
    path = written(said, policy, query)
    for words in ((), ("--policy", policy, "--query", query)):
        code, out, _ = said("check", path, *words)
        assert code == 0 and out.isascii() and out.count("accepted:") == 2
        assert out.startswith('accepted: S(count("x) = 0 under') and out.count("\n") == 2
        assert '\\naccepted: S(histogram) = 0 \\u001b[2K\\u202e")) = 1 under' in out


def test_attack_a_query_that_has_the_text_of_another(said: Said, folder: Path) -> None:
    """An attribute "a,b" beside a and b: the claim about one was shown for the other."""
    policy = folder / "q.toml"
    policy.write_text('[domain]\n"a,b" = ["p"]\na = ["p", "q"]\nb = ["p", "q"]\n')
    one = written(said, policy, 'marginal("a,b")')
    code, out, _ = said("check", one, "--policy", policy, "--query", "marginal(a,b)")
    assert code == 1 and "another query" in out
    code, out, _ = said("check", one, "--policy", policy, "--query", 'marginal( "a,b" )')
    assert code == 0 and out.startswith('accepted: S(marginal("a,b")) = 0 ')


def test_certificates_of_format_4_are_told_what_they_lack(said: Said, folder: Path) -> None:
    path = written(said, folder / "p.toml", "histogram")
    forged(path, schema="blowproof/certificate/4")
    code, _, err = said("check", path)
    assert code == 2 and "format 4" in err and "--certificate" in err


def test_a_check_keeps_its_time_limit(said: Said, folder: Path) -> None:
    """The clock is looked at as steps are taken; what ends before that is not touched."""
    from blowproof.verifier.kernel.document import LOOK, Budget, Rejected

    budget = Budget(seconds=0.0)
    with pytest.raises(Rejected, match="time limit") as found:
        budget.spend(LOOK + 1)
    assert found.value.limit
    path = written(said, folder / "p.toml", "histogram")
    assert said("check", path, "--time-limit", "0")[0] == 2
    assert said("check", path, "--time-limit", "60")[0] == 0
