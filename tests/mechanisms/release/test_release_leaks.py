"""What a release says and writes beside its answers: no counts, no formulas."""

import csv
from fractions import Fraction

import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.release.publish import OutputFile
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Request, release
from blowproof.models import Domain, Integers, Labels, Policy
from blowproof.models.data.dataset import Dataset
from blowproof.models.data.encoding import escaped
from blowproof.models.domain.attributes import Attribute

POLICY = """
[domain]
sex = ["F", "M"]
age = { min = 0, max = 9 }
"""
N = 4357
"""How many records hold what is secret; no refusal may say so."""

SIZE = f"[database]\nsize = {N + 2}\n"
REFUSALS = {
    "impossible": ("[[known]]\nimpossible = { sex = 'M' }\n", "", "known[0]"),
    "answer": ("[[known]]\ncount = { sex = 'M' }\nanswer = 5\n" + SIZE, "", "known[0]"),
    "marginal": ("[[known]]\nmarginal = ['sex']\nanswers = [1, 5]\n", "", "known[0]"),
    "sum": (
        "[[known]]\nsum = [{ times = 2, count = { sex = 'M' } }]\nequals = 6\n" + SIZE,
        "",
        "known[0]",
    ),
    "bound": ("[[known]]\ncount = { sex = 'M' }\nat_most = 5\n" + SIZE, "", "known[0]"),
    "least": ("[[known]]\ncount = { sex = 'F' }\nat_least = 5\n" + SIZE, "", "known[0]"),
    "size": ("[database]\nsize = 9\n", "", "size"),
    "missing record": ("", "--records 1-99999", "99999"),
    "outside the domain": ("", "", "age"),
    "empty": ("", "", "age"),
    "weights": ("", "--query weighted-sum(age,w.txt)", "weights"),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_refusal_says_which_fact_and_never_how_many(tmp_path, capsys, kind):
    facts, words, named = REFUSALS[kind]
    bad = {"outside the domain": "M,77", "empty": "M,"}.get(kind, "M,3")
    (tmp_path / "p.toml").write_text(POLICY + facts)
    (tmp_path / "d.csv").write_text("sex,age\nF,1\n" + f"{bad}\n" * N + "F,2\n")
    (tmp_path / "w.txt").write_text("1\n2\n")
    command = ["release", str(tmp_path / "p.toml"), str(tmp_path / "d.csv"), "--epsilon", "1"]
    code = run([*command, "--unaccounted", *words.split()])
    out, err = capsys.readouterr()
    assert code in (1, 2) and named in err
    said = (out + err).replace(",", "").replace(str(tmp_path), "")
    assert not [count for count in (N - 1, N, N + 1, N + 2, 2 * N) if str(count) in said], said


# --- formulas -------------------------------------------------------------------------------------

FORMULAS = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx", "\r=x", "'=y", '=HYPERLINK("u")', "plain"]


def test_names_that_a_spreadsheet_would_run_are_escaped_and_read_back(tmp_path):
    attributes: dict[str, Attribute] = {"=name": Labels(FORMULAS), "x": Integers(-1, 0)}
    domain = Domain(**attributes)
    policy = Policy(domain=domain)
    data = tmp_path / "d.csv"
    with data.open("w", newline="") as file:
        csv.writer(file).writerows([["=name", "x"], *([label, -1] for label in FORMULAS)])
    place = OutputFile(tmp_path / "out.csv")
    with Dataset(data, domain) as found:
        place.save(release(plan("laplace", Request(policy=policy, epsilon=Fraction(10**6))), found))
    with (tmp_path / "out.csv").open(newline="") as file:
        header, *rows = list(csv.reader(file))
    assert header == ["'=name", "x", "count"]
    assert not [row for row in rows if row[0].startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert [row[1:] for row in rows] == [["-1", "1"], ["0", "0"]] * len(FORMULAS)
    with Dataset(tmp_path / "out.csv", domain) as again:
        assert again.marginal((0,)) == [2] * len(FORMULAS)


def test_escaping_keeps_texts_apart():
    texts = [*FORMULAS, *(escaped(text) for text in FORMULAS), "-1", "'-1", "''=1+1"]
    assert len({escaped(text) for text in set(texts)}) == len(set(texts))
    assert escaped("-1/2") == "-1/2" and escaped("+3.5") == "+3.5" and escaped("") == ""
