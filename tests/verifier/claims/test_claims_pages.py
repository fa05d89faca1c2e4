"""What the ledger says of itself: readings, grades, proofs, pages, and the sentences left out."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.cli.report.ledger_pages import pages
from blowproof.verifier.claims import record
from blowproof.verifier.claims.blowfish.trees.regression import ascending
from blowproof.verifier.claims.ledger import PAPERS, all_claims
from blowproof.verifier.claims.page import PAGES, anchor, matters, page, paper_of
from blowproof.verifier.claims.passed import passed_over
from blowproof.verifier.claims.run import Failure, Tally, judge, put
from blowproof.verifier.claims.stating.claim import Claim
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.measured import EPSILONS, against
from blowproof.verifier.claims.stating.range_trees import OrderedTree
from blowproof.verifier.claims.written import retold

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "verifier" / "claims" / "verdicts.json").read_text("utf-8")
CLAIMS = {claim.id: claim for claim in all_claims()}
RECORD = {item["id"]: item for item in json.loads(TEXT)["claims"]}
WORDS = 8
"""A quotation is a few words, by which the sentence is found."""


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_each_row_says_where_it_stands_and_how_it_was_read(claim):
    assert claim.source
    assert claim.read_as.endswith(".") and "\n" not in claim.read_as
    assert bool(claim.quote) == (claim.paper != "ours")
    assert len(claim.quote.split()) <= WORDS
    assert bool(claim.status) or claim.paper != "ours"


def test_every_identity_is_proved_by_sympy():
    found = [item for claim in CLAIMS.values() for item in claim.identities]
    assert len(found) > 10
    assert [item for item in found if not item.proved()] == []


def test_an_identity_that_is_none_shows_as_a_change():
    wrong = Identity("one is two", "1", "2")
    claim = Claim(id="blowfish-2014/test", source="", statement="A test.", identities=(wrong,))
    finding = judge(claim, [])
    assert finding.unproved == ["one is two"]


def test_every_substantial_refutation_has_a_proper_witness_that_was_confirmed():
    found = [item for item in RECORD.values() if item["grade"] == "substantial"]
    assert len(found) > 20
    for item in found:
        example = item["counterexample"]
        assert example["degenerate"] is None and example["checked"], item["id"]


def test_what_is_degenerate_is_shown_only_where_there_is_nothing_else():
    for item in RECORD.values():
        example = item["counterexample"]
        if example is not None and example["degenerate"]:
            assert item["grade"] in ("degenerate", "misprint"), item["id"]


def test_a_changed_verdict_shows_the_first_instance_that_differs(monkeypatch):
    claim = CLAIMS["blowfish-2014/section-5-linear-sum"]
    place = next(p for p, part in enumerate(claim.parts) if record.counterexamples(claim, p))
    part, (example, *_) = claim.parts[place], record.counterexamples(claim, place)
    failure = put(part, record.instance_from(example), None)
    assert isinstance(failure, Failure)
    tally = Tally(finished=True)
    tally.keep(failure)
    claim = replace(claim, parts=(part,))
    empty = {**RECORD[claim.id]["parts"][place], "failures": {}, "counterexamples": []}
    before = {claim.id: {**RECORD[claim.id], "parts": [empty], "verdict": "holds"}}
    monkeypatch.setattr(record, "recorded", lambda: before)
    said = "\n".join(record.changes(judge(claim, [tally])))
    assert "the first instance that fails" in said
    assert f"exact {example['exact']}" in said and "[domain]" in said


# --- the page ------------------------------------------------------------------------------------


def test_the_page_is_short_and_opens_with_what_matters():
    text = page(TEXT)
    assert len(text.splitlines()) < 2000
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings[:2] == [
        "## What matters most: substantial, and costs privacy",
        "## Results of our own",
    ]
    first = text.partition("## What matters most")[2].partition("## Results of our own")[0]
    for item in RECORD.values():
        assert (f"[{item['id']}](" in first) == matters(item), item["id"]


def test_every_version_of_the_engines_is_named():
    versions = {item["engines"] for item in RECORD.values() if item["engines"]}
    assert versions and all(version in page(TEXT) for version in versions)


NAMED = r"(?:section|theorem|lemma|example|definition|figure)-[\w.-]*\w"


NAMED = r"(?:section|theorem|lemma|example|definition|figure)-[\w.-]*\w"


def test_the_sentences_left_out_have_reasons_and_are_on_the_page():
    text, rows_on_record = page(TEXT), [anchor(item) for item in RECORD.values()]
    assert set(passed_over()) == set(PAPERS) - {"ours"}
    for paper, rows in passed_over().items():
        assert len(rows) > 10
        for row in rows:
            assert row.where and row.why, (paper, row)
            assert len(row.words.split()) <= WORDS
            assert f"“{row.words}”" in text
            for name in re.findall(NAMED, row.why):
                assert any(known.startswith(name) for known in rows_on_record), (row, name)


class _Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.steppers, self.open = set(), [], 0, []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.add(given.get("id"))
        if tag == "a":
            self.links.append(given["href"])
        self.steppers += given.get("class") == "stepper"


def test_every_link_leads_to_a_row_on_the_written_pages():
    written = pages(TEXT, "0")
    parsed = {}
    for name, text in written.items():
        parsed[name] = _Links()
        parsed[name].feed(text)
    wanted = re.findall(rf"\]\({PAGES}/([^)#]+)#([^)]+)\)", page(TEXT))
    links = [link.split("#") for item in parsed.values() for link in item.links]
    wanted += [tuple(link) for link in links if len(link) > 1]
    for name, place in wanted:
        assert place in parsed[name].ids, (name, place)
    assert {f"{paper_of(item)}.html" for item in RECORD.values()} < set(written)


def test_counterexamples_can_be_stepped_through_and_need_nothing_else():
    text = pages(TEXT, "0")["blowfish-2014.html"]
    parsed = _Links()
    parsed.feed(text)
    pairs = [
        item["counterexample"] for item in RECORD.values() if paper_of(item) == "blowfish-2014"
        and item["counterexample"] and item["counterexample"].get("witness")
    ]  # fmt: skip
    assert parsed.steppers >= len(pairs) > 5
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", text)
    assert "default-src &#x27;none&#x27;" in text


def test_the_command_writes_the_pages(capsys, tmp_path):
    assert run(["claims", "--html", str(tmp_path / "pages")]) == 0
    assert "index.html" in capsys.readouterr().out
    assert (tmp_path / "pages" / "exact-cuboids-draft.html").exists()


def test_texts_are_renewed_without_a_run(capsys, tmp_path):
    folder = tmp_path / "verifier" / "claims"
    folder.mkdir(parents=True)
    document = json.loads(TEXT)
    document["claims"][0]["read_as"] = "Otherwise."
    path = folder / "verdicts.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert run(["claims", "--retell", str(tmp_path)]) == 0
    assert path.read_text("utf-8") == retold(path)
    assert json.loads(retold(path)) == json.loads(TEXT)
    assert (tmp_path / "CLAIMS.md").read_text("utf-8") == page(TEXT)
    capsys.readouterr()


# --- what rows are measured with -----------------------------------------------------------------


@pytest.mark.parametrize(("size", "theta", "fan_out"), [(1, 1, 2), (5, 2, 2), (9, 3, 3), (8, 5, 4)])
def test_ranges_read_nodes_as_often_as_listed(size, theta, fan_out):
    tree = OrderedTree(size, theta, fan_out)
    scales = {"S": 1, "top": 3, "H1": 3, "H": 7, "root": 7}
    exact = {kind: Fraction(scale) for kind, scale in scales.items()}
    total = Fraction(0)
    for last in range(1, size + 1):
        for first in range(1, last + 1):
            used = tree.prefix(last) ^ tree.prefix(first - 1)
            total += sum((2 * exact[kind] ** 2 for kind, _, _ in used), Fraction(0))
    assert tree.range_error(exact, shared=True) == total / (size * (size + 1) // 2)


@pytest.mark.parametrize(
    ("values", "fitted"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([3, 1], [2, 2]),
        ([2, 3, 1, 5, 4], [2, 2, 2, Fraction(9, 2), Fraction(9, 2)]),
        ([3, 2, 1], [2, 2, 2]),
        ([0, 0], [0, 0]),
    ],
)
def test_ascending_is_the_nearest_ascending_sequence(values, fitted):
    assert ascending(values) == fitted


def test_measured_claims_are_held_against_the_numbers_of_the_benchmark():
    part = against("", "clusters", EPSILONS, better="attribute", worse="full", times=1)
    found = [part.measure(item, None).lower for item in part.family.instances("full")]
    assert found[:2] == [Fraction(890, 804), Fraction(487, 386)]
    text = (ROOT / "benchmarks" / "paper_figures.md").read_text("utf-8")
    assert "skin 1 % 8.04, 3.86, 2.35 (full: 8.90, 4.87, 2.91)" in text
