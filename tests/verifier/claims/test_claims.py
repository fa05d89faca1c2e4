"""The claims ledger: what is recorded is what comes out, and every counterexample is one."""

import ast
import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.models import (
    Count,
    Distance,
    Domain,
    Edges,
    Full,
    Integers,
    Labels,
    Marginal,
    Policy,
)
from blowproof.verifier.claims import record, session, version
from blowproof.verifier.claims import run as running
from blowproof.verifier.claims.cores import Workers, run_on_cores
from blowproof.verifier.claims.ledger import PAPERS, all_claims, select
from blowproof.verifier.claims.page import page
from blowproof.verifier.claims.run import Failure, put
from blowproof.verifier.claims.session import run_claims
from blowproof.verifier.claims.shrink import shrink
from blowproof.verifier.claims.state import State
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Asked, Claim, Instance, Part, Value
from blowproof.verifier.claims.stating.grades import degenerate
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.measures import Counted, Sensitivity, recheck

ROOT = Path(__file__).resolve().parents[3]
CLAIMS = {claim.id: claim for claim in all_claims()}
RECORD = record.recorded()

NUMBERED = {
    *(f"definition-{n}" for n in ("3.1", "4.1", "4.2", "5.1", "6.1", "7.1", "7.2")),
    *(f"definition-8.{n}" for n in (1, 2, 3, 4)),
    *(f"theorem-4.{n}" for n in (1, 2, 3, 4, 5)),
    *("theorem-5.1", "lemma-5.2", "lemma-6.1", "theorem-7.1", "theorem-7.2", "theorem-8.1"),
    *("theorem-8.2", "corollary-8.3", "theorem-8.4", "theorem-8.5", "theorem-8.6"),
    *(f"example-8.{n}" for n in (1, 2, 3)),
    *(f"equation-{n}" for n in range(4, 22)),
}


# --- the ledger ----------------------------------------------------------------------------------


def test_every_numbered_statement_of_blowfish_has_a_row():
    assert {name.removeprefix("blowfish-2014/") for name in CLAIMS} >= NUMBERED


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_claims_are_well_formed(claim):
    assert claim.paper in PAPERS
    assert claim.statement.endswith(".") and "\n" not in claim.statement
    assert bool(claim.why_not) == (not claim.parts)
    assert bool(claim.repaired) or not any(part.amended for part in claim.parts)
    names = [(part.name, part.reading, part.answers) for part in claim.parts]
    assert len(names) == len(set(names)), names


def test_the_known_errata_are_refuted():
    for name in ("corollary-8.3", "theorem-8.2", "lemma-6.1"):
        item = RECORD[f"blowfish-2014/{name}"]
        assert (item["verdict"], item["cost"]) == ("refuted", "privacy")
        assert item["counterexample"]["checked"]


# --- the record ----------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_the_record_fits_the_ledger(claim):
    item = RECORD[claim.id]
    assert item["statement"] == claim.statement
    parts = [(part.name, part.reading, part.answers, part.amended) for part in claim.parts]
    kept = [(p["name"], p["reading"], p["answers"], p["amended"]) for p in item["parts"]]
    assert parts == kept
    families = [part["family"] for part in item["parts"]]
    assert families == [part.family.shapes for part in claim.parts], "record it again"
    assert all(part["instances"] and not part["undecided"] for part in item["parts"])
    costs = dict(zip(parts, (frozenset(p["failures"]) for p in item["parts"]), strict=True))
    verdict = claim.verdict(lambda p: costs[p.name, p.reading, p.answers, p.amended])
    assert verdict == item["verdict"]
    assert verdict != "refuted" or item["explanation"]
    assert verdict != "refuted" or item["counterexample"] is not None
    assert verdict != "holds-amended" or item["repaired"]


def test_nothing_else_is_recorded_and_the_page_says_the_same():
    assert set(RECORD) == set(CLAIMS)
    text = (ROOT / "verifier" / "claims" / "verdicts.json").read_text("utf-8")
    assert (ROOT / "CLAIMS.md").read_text("utf-8") == page(text)


def _recorded_failures():
    for claim in CLAIMS.values():
        for place, part in enumerate(claim.parts):
            for example in record.counterexamples(claim, place):
                yield pytest.param(part, example, id=f"{claim.id} {part.name} {example['cost']}")


FAILURES = list(_recorded_failures())


@pytest.mark.parametrize(("part", "example"), FAILURES)
def test_every_counterexample_is_one_without_the_engines(part, example):
    instance = record.instance_from(example)
    found = put(part, instance, None)
    assert isinstance(found, Failure)
    again = record.failure_json(part, found)
    for key in ("claimed", "exact", "cost", "policy", "reading", "answers"):
        assert again[key] == example[key], key
    assert example["checked"]


SEEN: set[str] = set()


@pytest.mark.parametrize(("part", "example"), FAILURES)
def test_brute_force_confirms_it(part, example):
    key = json.dumps([example["policy"], example["query"], example["reading"], example["exact"]])
    if not isinstance(part.measure, Sensitivity) or key in SEEN:
        return
    SEEN.add(key)
    instance = record.instance_from(example)
    value = part.measure(instance, None)
    assert recheck(part.measure, instance, value)


# --- running -------------------------------------------------------------------------------------

SLICE = (
    "blowfish-2014/theorem-8.4",
    "blowfish-2014/equation-9",
    "blowfish-2014/section-5-linear-sum",
    "blowfish-2014/theorem-7.2",
    "blowfish-2014/example-8.2",
    "blowfish-2014/theorem-4.4",
)


def said(capsys, *arguments):
    code = run(["claims", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def test_a_slice_comes_out_as_recorded(capsys, tmp_path):
    code, out, _ = said(capsys, *SLICE, "--json", "--state", tmp_path / "state")
    found = json.loads(out)
    assert code == 0, [item["changes"] for item in found["claims"]]
    assert found["schema"] == "blowproof/claims/1" and found["complete"]
    assert [item["id"] for item in found["claims"]] == [c.id for c in select(SLICE)]
    for item in found["claims"]:
        assert {"id", "statement", "verdict", "reading", "instances", "counterexample"} < set(item)
        assert item["verdict"] == RECORD[item["id"]]["verdict"]
        assert (item["instances"] > 0) == (item["verdict"] != "not-checkable")
    assert not (tmp_path / "state").exists()


def test_people_see_the_statement_the_counterexample_and_why(capsys, tmp_path):
    code, out, _ = said(capsys, "blowfish-2014/section-5-linear-sum", "--state", tmp_path / "s")
    assert code == 0
    for words in ("refuted", "Smallest counterexample (costs privacy)", "Repaired:", "Why:"):
        assert words in out


def test_a_changed_verdict_is_exit_1(capsys, tmp_path, monkeypatch):
    name = "blowfish-2014/example-8.2"
    other = {**RECORD[name], "verdict": "refuted"}
    monkeypatch.setattr(record, "recorded", lambda: {**RECORD, name: other})
    code, out, _ = said(capsys, name, "--json", "--state", tmp_path / "state")
    assert code == 1
    assert json.loads(out)["claims"][0]["changes"] == ["the verdict was refuted and is holds"]


def test_a_counterexample_that_no_longer_is_one_is_a_change(monkeypatch):
    claim = CLAIMS["blowfish-2014/section-7.2-ordered-theta"]
    example = dict(RECORD["blowfish-2014/corollary-8.3"]["counterexample"])
    parts = [dict(part) for part in RECORD[claim.id]["parts"]]
    parts[0] = {**parts[0], "failures": {"privacy": 1}, "counterexamples": [example]}
    kept = {claim.id: {**RECORD[claim.id], "verdict": "refuted", "parts": parts}}
    monkeypatch.setattr(record, "recorded", lambda: kept)
    monkeypatch.setattr(session, "counterexamples", lambda claim, place: [])
    (found,) = run_claims([claim], "quick")
    assert [change.partition(":")[0] for change in found.changes] == [
        "the verdict was refuted and is holds",
        "exact privacy loss at epsilon = 1 (published)",
    ]


@pytest.mark.parametrize("name", ["blowfish-2014/theorem-8.44", "blowfsh-2014/theorem-8.4", "x"])
def test_an_unknown_id_is_bad_input_with_a_suggestion(capsys, name):
    code, out, err = said(capsys, name)
    assert (code, out) == (2, "")
    assert "try: " in err
    assert name == "x" or "blowfish-2014/theorem-8.4" in err


def test_writing_needs_the_full_check(capsys, tmp_path):
    code, _, err = said(capsys, "blowfish-2014/example-8.2", "--write", tmp_path)
    assert code == 2 and "--full" in err


def test_writing_renews_the_record_and_the_page(capsys, tmp_path):
    folder = tmp_path / "verifier" / "claims"
    folder.mkdir(parents=True)
    name = "blowfish-2014/example-8.2"
    code, _, _ = said(
        capsys, name, "--full", "--jobs", "1", "--write", tmp_path, "--state", tmp_path / "s"
    )
    assert code == 0
    text = (folder / "verdicts.json").read_text("utf-8")
    (item,) = json.loads(text)["claims"]
    assert (item["id"], item["engines"]) == (name, version.version())
    assert name.partition("/")[2] in (tmp_path / "CLAIMS.md").read_text("utf-8")


# --- going on where a run stopped ----------------------------------------------------------------


def counting(calls, relation="=", claimed=0):
    """A claim about the numbers 0..99: each is `claimed`; what is measured is noted in `calls`."""

    def measure(instance, time_limit):
        calls.append(instance.whole("number"))
        return Value.of(instance.whole("number") // 90)

    part = Part(
        name="numbers",
        family=some.family(
            "0..99", lambda: [Instance(shape="n", parameters={"number": n}) for n in range(100)]
        ),
        claimed=lambda instance: claimed,
        measure=measure,
        relation=relation,
    )
    return Claim(id="blowfish-2014/test", source="", statement="A test.", parts=(part,))


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    calls: list[int] = []
    claim = counting(calls)
    ticks = iter(range(10**6))
    monkeypatch.setattr(running.time, "monotonic", lambda: next(ticks))
    state = State(tmp_path / "state", "quick")
    assert list(run_claims([claim], "quick", state=state, deadline=next(ticks) + 60)) == []
    stopped = len(calls)
    assert 0 < stopped < 90
    monkeypatch.undo()
    again = State(tmp_path / "state", "quick")
    assert again.resumed == 1
    (found,) = run_claims([claim], "quick", state=again)
    assert calls[stopped : stopped + 60] == list(range(stopped, min(100, stopped + 60)))
    assert found.finding.tallies[0].instances == 100
    assert found.finding.tallies[0].failures == {"privacy": 10}
    assert found.finding.verdict == "refuted"
    assert State(tmp_path / "state", "full").resumed == 0  # another level is another run


SEVERAL = ("blowfish-2014/example-8.", "blowfish-2014/equation-4")


def test_two_cores_find_what_one_finds(tmp_path):
    claims = select(SEVERAL)
    state = State(tmp_path / "state", "quick")
    many = list(run_on_cores(claims, "quick", Workers(2), state=state))
    alone = {item.finding.claim.id: item for item in run_claims(claims, "quick")}
    assert {item.finding.claim.id for item in many} == set(alone)
    for item in many:
        one = alone[item.finding.claim.id]
        found, other = (record.document(each.finding) for each in (item, one))
        for part in (*found["parts"], *other["parts"]):
            part["seconds"] = 0
        assert found == other and item.changes == one.changes == ()
    again = State(tmp_path / "state", "quick")
    assert again.resumed == sum(len(claim.parts) for claim in claims)  # and nothing runs twice
    waited = list(run_on_cores(claims, "quick", Workers(2, exit), state=again))
    assert {item.finding.claim.id for item in waited} == set(alone)


def test_a_part_whose_processes_die_is_left_out(tmp_path):
    state = State(tmp_path / "state", "quick")
    claims = select(["blowfish-2014/example-8.2"])
    assert list(run_on_cores(claims, "quick", Workers(2, os._exit, (1,)), state=state)) == []


def test_cores_stop_at_the_deadline_and_go_on(tmp_path):
    claims = select(["blowfish-2014/example-8.2"])
    state = State(tmp_path / "state", "quick")
    assert list(run_on_cores(claims, "quick", Workers(2), state=state, deadline=0.0)) == []
    assert len(list(run_on_cores(claims, "quick", Workers(2), state=state))) == 1


def test_a_state_of_other_sources_is_thrown_away(tmp_path):
    path = tmp_path / "state"
    state = State(path, "quick")
    claim = counting([])
    state.write(claim, 0, running.Tally(done=5))
    assert State(path, "quick").resumed == 1
    path.write_text(path.read_text().replace('"version": "', '"version": "0'))
    assert State(path, "quick").resumed == 0
    assert not path.exists()


def test_the_time_limit_is_exit_3_and_keeps_the_state(capsys, tmp_path):
    state = tmp_path / "state"
    code, out, _ = said(
        capsys,
        "blowfish-2014/theorem-8.2",
        "--full",
        "--jobs",
        "1",
        "--time-limit",
        "1",
        "--state",
        state,
    )
    assert code == 3 and "goes on from here" in " ".join(out.split())
    assert state.exists()


def test_what_cannot_be_decided_is_counted():
    claim = counting([])
    part = replace(claim.parts[0], measure=lambda instance, limit: Value(0, None))
    (found,) = run_claims([replace(claim, parts=(part,))], "quick")
    assert found.finding.tallies[0].undecided == 100
    assert found.finding.undecided and found.finding.verdict == "holds-checked"


# --- verdicts ------------------------------------------------------------------------------------


def verdict(*costs, repaired="", amendment="formula", fails=()):
    claim = counting([])
    parts = (claim.parts[0], replace(claim.parts[0], name="amended", amended=True))
    claim = replace(claim, parts=parts, repaired=repaired, amendment=amendment)
    return claim.verdict(lambda part: frozenset(fails if part.amended else costs))


def test_the_rule_of_verdicts():
    assert verdict() == "holds-checked"
    for proved in ({"proof": "p"}, {"listed": True}, {"identities": (Identity("i", "1", "1"),)}):
        claim = replace(counting([]), **proved)
        assert claim.verdict(lambda part: frozenset()) == "holds"
    assert verdict("accuracy") == "refuted"
    assert verdict("accuracy", repaired="r", amendment="condition") == "holds-amended"
    assert verdict("privacy", repaired="r", amendment="condition") == "refuted"
    assert verdict("privacy", repaired="r", amendment="misprint") == "holds-amended"
    assert verdict("accuracy", repaired="r", amendment="formula") == "refuted"
    assert verdict("accuracy", repaired="r", amendment="condition", fails=["nothing"]) == "refuted"
    nothing = replace(counting([]), parts=(), why_not="planned")
    assert nothing.verdict(lambda part: frozenset()) == "not-checkable"


@pytest.mark.parametrize(
    ("relation", "bounds", "cost", "decided"),
    [
        ("<=", (3, 3), "privacy", False),
        ("<=", (1, 1), None, True),
        ("<=", (1, None), None, False),
        ("<=", (3, None), "privacy", False),
        (">=", (1, 1), "accuracy", False),
        (">=", (2, None), None, True),
        ("=", (1, 1), "accuracy", False),
        ("=", (2, 2), None, True),
        ("=", (1, 3), None, False),
    ],
)
def test_bounds_and_equalities_are_told_apart(relation, bounds, cost, decided):
    part = counting([], relation, 2).parts[0]
    assert part.failure(2, Value(*bounds)) == cost
    assert cost is not None or part.decided(2, Value(*bounds)) == decided


@pytest.mark.parametrize(
    ("failed", "properly", "amendment", "grade"),
    [
        ([], [], "formula", None),
        (["privacy"], ["privacy"], "formula", "substantial"),
        (["privacy"], [], "formula", "degenerate"),
        (["privacy"], ["privacy"], "misprint", "misprint"),
        (["privacy"], [], "misprint", "misprint"),
    ],
)
def test_failures_are_graded(failed, properly, amendment, grade):
    claim = replace(counting([]), repaired="r", amendment=amendment)
    assert claim.grade(lambda p: frozenset(failed), lambda p: frozenset(properly)) == grade


def test_the_smallest_proper_counterexample_is_kept_beside_a_smaller_degenerate_one():
    def claimed(instance):
        return 2  # right for three values alone

    domains = [Policy(domain=Domain(a=Integers(1, size))) for size in (1, 2, 3)]
    instances = [Instance(shape="", policy=policy) for policy in domains]
    where = some.family("1 to 3 values", lambda: instances)
    part = replace(wrong(claimed), family=where, relation="=", large="accuracy")
    measure = Counted(lambda instance: instance.the_policy.domain.size - 1)
    tally = running.check(replace(part, measure=measure), "quick", running.Tally())
    assert tally.failures == {"accuracy": 2} and tally.degenerate == {"accuracy": 1}
    assert [item.degenerate for item in tally.shown()] == ["", "one value"]
    sizes = [item.instance.the_policy.domain.size for item in tally.shown()]
    assert sizes == [2, 1]


@pytest.mark.parametrize(
    ("instance", "reading", "words"),
    [
        (Instance(shape="", policy=Policy(domain=Domain(a=Integers(1, 1)))), None, "one value"),
        (
            Instance(shape="", policy=Policy(domain=Domain(a=Integers(1, 2), b=Integers(1, 1)))),
            None,
            "an attribute of one value",
        ),
        (Instance(shape="", policy=some.letters(2, [], [])), "published", "no secret pair"),
        (Instance(shape="", policy=some.letters(2, [], [])), "add-remove", ""),
        (Instance(shape="", policy=some.letters(2, [(0, 1)], [])), "published", ""),
        (Instance(shape="", policy=some.line(2, 1)), "published", ""),
        (Instance(shape="", policy=some.line(2, 2)), "published", "no values are so far apart"),
        (
            Instance(shape="", policy=some.line(2, 1), query=Asked("matrix", ((1, 1),))),
            "published",
            "every record counts alike",
        ),
        (
            Instance(shape="", policy=some.line(3, 1), query=Asked("cluster-sizes", ((1,), (9,)))),
            "published",
            "every record counts alike",
        ),
        (
            Instance(shape="", policy=replace(some.line(2, 1), known=(Marginal(["a"]),))),
            "add-remove",
            "the whole table is known",
        ),
        (Instance(shape="", parameters={"n": 1}), None, "one record"),
        (Instance(shape="", parameters={"n": 2}), None, ""),
    ],
)
def test_what_is_degenerate(instance, reading, words):
    assert degenerate(replace(wrong(lambda i: 0), reading=reading), instance) == words


# --- by which engines ----------------------------------------------------------------------------


def test_what_a_claim_says_is_no_reason_to_run_it_again(monkeypatch):
    module = "blowfish.section_8.corollary_8_3"
    before = version.source_of(module)
    text = (ROOT / "verifier/claims/blowfish/section_8/corollary_8_3.py").read_text("utf-8")
    assert 'explanation="' in text and 'relation="<="' in text

    def digest(changed):
        version.source_of.cache_clear()
        kept = version._parsed
        monkeypatch.setattr(
            version, "_parsed", lambda name: ast.parse(changed) if name == module else kept(name)
        )
        found = version.source_of(module)
        monkeypatch.undo()
        version.source_of.cache_clear()
        return found

    assert digest(text) == before
    assert digest(text.replace('explanation="', 'explanation="Well, ')) == before
    assert digest(text.replace('relation="<="', 'relation=">="')) != before


# --- shrinking -----------------------------------------------------------------------------------


def wrong(claimed):
    return Part(
        name="wrong",
        family=some.family("none", lambda: []),
        claimed=claimed,
        measure=Sensitivity("published"),
        relation="<=",
    )


def shrunk(policy, claimed=lambda instance: 2):
    part = wrong(claimed)
    found = put(part, Instance(shape="", policy=policy), None)
    assert isinstance(found, Failure)
    return shrink(part, found).instance.the_policy


def test_a_counterexample_is_shrunk_to_a_smallest_one():
    domain = Domain(a=Labels("uvwxyz"))
    counts = (Count({"a": ["u", "v"]}), Count({"a": ["w"]}), Count({"a": ["x", "y"]}))
    small = shrunk(Policy(domain=domain, known=counts))
    assert small.domain.size == 4 and len(small.known) == 1  # two values on either side

    line = Policy(
        domain=Domain(a=Integers(1, 6)),
        secrets=Distance(threshold=2),
        known=(Count({"a": {"min": 2, "max": 3}}), Count({"a": 6})),
    )
    assert shrunk(line).domain.size <= 4

    pairs = [({"a": x}, {"a": y}) for x, y in ("uv", "vw", "wx", "xy", "yz")]
    listed = Policy(domain=domain, secrets=Edges(pairs), known=counts[:2])
    assert shrunk(listed).domain.size < 6


def test_shrinking_stays_inside_the_claim():
    def claimed(instance):
        policy = instance.the_policy
        return 2 if any(isinstance(fact, Marginal) for fact in policy.known) else None

    domain = Domain(a=Integers(1, 3), b=Integers(1, 2))
    small = shrunk(Policy(domain=domain, known=(Marginal(["a"]), Count({"b": 1}))), claimed)
    assert any(isinstance(fact, Marginal) for fact in small.known)


def test_an_instance_survives_its_record():
    policy = Policy(domain=Domain(a=Integers(1, 3)), secrets=Full())
    instance = Instance(
        shape="s", policy=policy, parameters={"epsilon": Fraction(1, 2), "n": 3, "edges": "0-1"}
    )
    part = replace(wrong(lambda i: 0), measure=Counted(lambda i: 1))
    found = put(part, instance, None)
    assert isinstance(found, Failure)
    again = record.instance_from(json.loads(json.dumps(record.failure_json(part, found))))
    assert (again.parameters, again.policy) == (instance.parameters, policy)


def test_the_quick_check_is_quick_enough_to_be_run():
    """No family is lazy about being listed: the quick ones are a few hundred instances at most."""

    for claim in CLAIMS.values():
        for part in claim.parts:
            assert sum(1 for _ in part.family.instances("quick")) < 10_000, (claim.id, part.name)
