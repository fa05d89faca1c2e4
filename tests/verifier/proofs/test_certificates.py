"""Certificates written for answers: accepted at the value, refused beside it, and true."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.cli.main import run
from blowproof.models import (
    READINGS,
    BudgetError,
    ContradictionError,
    Count,
    Database,
    Domain,
    Impossible,
    Integers,
    InternalError,
    Labels,
    Marginal,
    Policy,
    Reading,
    UndeterminedError,
    parse_query,
)
from blowproof.models.files.writing import digest
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.kernel import check
from blowproof.verifier.kernel.check import upper_bound, world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.proofs.write import Certificate, _Writer, certify_answer
from corpus import BY_NAME, CORPUS, Case
from refusals import answered, refuse
from strategies import KINDS, policies, query_texts

STEPS = 2_000_000
PLAIN_KINDS = (
    *("single", "cycles", "four-cells", "every-database"),
    *("exchanges", "secret-arc", "determined"),
)


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_the_corpus_is_proved(case: Case) -> None:
    answer, found = certified(case.policy, case.query, reading=case.reading, time_limit=10)
    assert answer.lower == answer.upper == case.answer
    assert answer.status == "proved", found.reason
    assert found.document is not None
    _refused_beside(found.document)


def _refused_beside(document: dict[str, Any]) -> None:
    """A claim of one more or one less is not accepted."""
    for step in (1, -1):
        value = Fraction(document["value"]) + step
        assert not check({**document, "value": _number(value)}).accepted


def _number(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@settings(max_examples=25)
def test_exact_answers_are_proved_and_no_less_is(reading: Reading, data: st.DataObject) -> None:
    """No kind of proof shows a bound below what a checked pair of databases reaches.

    Reading 1 with a G that is not complete need not be within the complete graph's bound.
    """
    scope = data.draw(st.sampled_from(["any", "given"]))
    kinds = KINDS if reading in READINGS[:2] else [kind for kind in KINDS if kind != "clause"]
    policy = data.draw(policies(scope=scope, kinds=kinds, max_values=6, max_records=3))
    query = data.draw(st.sampled_from(query_texts(policy)))
    answer, found = _asked(policy, query, reading)
    answered(answer.status != "bounds", "bounds")
    if found.document is None:
        relaxed = reading == "published" and not policy.graph.complete and scope == "any"
        assert relaxed or "nothing determines" in found.reason, found.reason
        return
    assert answer.status == "proved" and found.document["digests"]["policy"] == _digest(
        policy, answer
    )
    _refused_beside(found.document)
    proofs = [found.document["proof"], *({"kind": kind} for kind in PLAIN_KINDS)]
    for proof in proofs if answer.lower else ():
        world, value = world_of(found.document, Budget(STEPS))
        with pytest.raises(Rejected):
            upper_bound(world, proof, Fraction(value) - Fraction(1, 7))


def _asked(policy: Policy, query: str, reading: Reading) -> tuple[Answer, Certificate]:
    try:
        return certified(policy, query, reading=reading, time_limit=10)
    except (BudgetError, UndeterminedError, ContradictionError) as error:
        refuse(error)


def _digest(policy: Policy, answer: Answer) -> str:
    return digest(policy.with_answers(answer.answers))


@given(st.data())
@settings(max_examples=25)
def test_proved_answers_agree_with_brute_force(data: st.DataObject) -> None:
    policy = data.draw(policies(scope="given", max_values=5, max_records=3))
    reading: Reading = data.draw(st.sampled_from(READINGS[:2]))
    query = data.draw(st.sampled_from(query_texts(policy)))
    answer, _ = _asked(policy, query, reading)
    answered(answer.status == "proved", "not proved")
    listed = sensitivity(policy, query, reading=reading, engine="brute")
    assert listed.lower == listed.upper == answer.lower


# what "proved" means -----------------------------------------------------------------------------


def question() -> Policy:
    return BY_NAME["two-margins-2x3-published"].policy


def test_nobody_but_the_kernel_says_proved() -> None:
    answer = sensitivity(question(), engine="search")
    with pytest.raises(InternalError):
        replace(answer, status="proved")
    proved, _ = certify_answer(question(), parse_query("histogram", question()), answer)
    assert proved.status == "proved"
    with pytest.raises(InternalError):
        replace(proved, lower=proved.lower + 2, upper=proved.lower + 2)
    with pytest.raises(InternalError):
        replace(proved, reading="secret-moves")


def test_a_proof_of_another_question_is_none_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """An accepted certificate counts for its policy, query, reading, scope and value only."""
    policy = question()
    answer, found = certified(policy)
    assert found.verdict is not None
    histogram, exact = parse_query("histogram", policy), replace(answer, status="exact", proof=None)
    with pytest.raises(InternalError, match="another question"):
        certify_answer(policy, histogram, replace(exact, query="marginal(A)"))
    others: dict[str, Any] = {
        **{"digests": (), "norm": "linf", "reading": "secret-moves"},
        **{"answers": "given", "value": answer.lower + 1, "least": answer.lower - 1},
    }
    for field, value in others.items():
        forged = replace(found.verdict, **{field: value})
        monkeypatch.setattr(_Writer, "write", lambda _, told=forged: replace(found, verdict=told))
        with pytest.raises(InternalError, match="another question"):
            certify_answer(policy, histogram, exact)
    monkeypatch.setattr(_Writer, "write", lambda _: found)
    assert certify_answer(policy, histogram, exact)[0].status == "proved"


def test_bounds_are_certified_and_stay_bounds() -> None:
    """S is 36; a pair that changes 24 and the bound of 36 are proved together, and no less is."""
    labels = Domain(A=Labels("abcde"), B=Labels("xy"), C=Labels("no"))
    policy = Policy(domain=labels, known=(Marginal(["A"]), Marginal(["B"])))
    histogram, whole = parse_query("histogram", policy), sensitivity(policy)
    four = sensitivity(replace(policy, known=(*policy.known, Impossible([{"A": "e"}]))))
    assert (four.lower, whole.upper) == (24, 36)
    bounds = replace(whole, lower=four.lower, witness=four.witness, status="bounds", decided_by=())
    answer, found = certify_answer(policy, histogram, bounds)
    assert (answer.status, answer.lower, answer.upper, found.kind) == ("bounds", 24, 36, "cells")
    assert "both bounds are proved" in answer.notes[-1]
    assert found.verdict is not None and found.verdict.least == 24
    with pytest.raises(InternalError):
        replace(answer, status="proved")
    less = replace(bounds, upper=35)
    answer, found = certify_answer(policy, histogram, less)
    assert answer == less and found.document is None
    nothing, found = certify_answer(policy, histogram, replace(bounds, upper=None))
    assert nothing.upper is None and "nothing bounds" in found.reason


def test_bounds_of_weights_and_of_other_norms_are_certified() -> None:
    policy = Policy(domain=Domain(a=Labels("xy"), b=Integers(0, 2)), known=(Marginal(["a"]),))
    for norm, upper in (("l2-squared", 5), ("linf", 2), ("range", 3)):
        query = parse_question("histogram", policy, norm)
        exact = sensitivity(policy, query)
        loose = replace(exact, lower=0, upper=upper, witness=None, status="bounds", decided_by=())
        assert exact.upper is not None and exact.upper < upper
        answer, found = certify_answer(policy, query, loose)
        assert found.document is not None and found.document["at_least"] == 0, found.reason
        assert (answer.lower, answer.upper, answer.norm) == (0, upper, norm)


def test_a_wrong_answer_is_an_internal_error() -> None:
    """What the engine gets wrong, the kernel refuses: the witness does not fit the number."""
    answer = sensitivity(question())
    wrong = replace(answer, lower=answer.lower + 2, upper=answer.lower + 2)
    with pytest.raises(InternalError):
        certify_answer(question(), parse_query("histogram", question()), wrong)


def test_too_small_an_answer_has_no_proof() -> None:
    """A pair that changes less, with its own number: every kind of proof is refused."""
    policy = question()
    answer = sensitivity(policy)
    pair = Pair(before=((0, 0), (1, 1)), after=((0, 1), (1, 0)))
    less = replace(answer, lower=4, upper=4, witness=pair)
    found = certify_answer(policy, parse_query("histogram", policy), less)
    assert found[0].status == "exact" and found[1].document is None
    assert "more than the claim" in found[1].reason


def test_large_domains_and_large_n() -> None:
    """Time depends neither on |T| nor on n."""
    domain = Domain(x=Integers(0, 10**12), c=Labels(["p", "q"]))
    known = tuple(Count({"x": {"min": k * 10**6, "max": k * 10**6 + 9}}) for k in (1, 2, 3))
    answer, found = certified(Policy(domain=domain, known=known))
    assert (answer.status, answer.lower, found.kind) == ("proved", 8, "cycles")
    n = 10**6
    margins = (Marginal(["a"], answers=[n // 2] * 2), Marginal(["b"], answers=[n // 2] * 2))
    table = Domain(a=Labels(["0", "1"]), b=Labels(["0", "1"]), c=Labels(["x", "y"]))
    policy = Policy(domain=table, known=margins, database=Database(size=n))
    answer, found = certified(policy)
    assert (answer.status, answer.answers, found.kind) == ("proved", "given", "cells")


def test_queries_with_files_carry_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("1 0 2\n0 1/2 1\n")
    (tmp_path / "w.txt").write_text("1\n2\n")
    (tmp_path / "c.txt").write_text("0\n2\n")
    policy = Policy(domain=Domain(x=Integers(0, 2)), folder=tmp_path)
    for text in ("matrix(m.txt)", "weighted-sum(x,w.txt)", "cluster-sums(c.txt)"):
        answer, found = certified(policy, text)
        assert answer.status == "proved", (text, found.reason)
        assert found.document is not None and "data" in found.document["query"]
        changed = json.loads(found.text)
        changed["query"]["data"] = [[9, 0, 0]] if "matrix" in text else changed["query"]["data"][:1]
        assert not check(changed).accepted


# the command line --------------------------------------------------------------------------------

CENSUS = str(Path(__file__).parents[3] / "examples" / "census.toml")
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def call(*words: object) -> tuple[int, str, str]:
        code = run([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_sensitivity_writes_what_check_accepts(said: Said, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    code, out, err = said("sensitivity", CENSUS, "--certificate", path, "--json")
    assert (code, err, json.loads(out)["status"]) == (0, "", "proved")
    code, out, _ = said("check", path)
    assert code == 0 and out.startswith("accepted: S(histogram) = ")
    code, out, _ = said("check", path, "--json", "--policy", CENSUS, "--query", "histogram")
    told = json.loads(out)
    assert (code, told["schema"], told["verdict"]) == (0, "blowproof/check/1", "accepted")
    assert (told["compared"], told["not_compared"]) == (["policy", "query"], [])
    code, out, _ = said("check", path, "--policy", CENSUS.replace("census", "hospital"))
    assert code == 1 and "another policy" in out


def test_check_says_no_and_unreadable(said: Said, tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "certificates"
    code, out, _ = said("check", folder / "invalid" / "truncated-proof.json")
    assert code == 1 and out.startswith("rejected: ")
    code, out, err = said("check", folder / "malformed" / "deep-nesting.json", "--json")
    assert (code, json.loads(out)["verdict"]) == (2, "unreadable") and "unreadable" in err
    code, _, err = said("check", tmp_path / "none.json")
    assert code == 2 and "unreadable" in err


def test_no_certificate_is_said_and_changes_nothing(said: Said, tmp_path: Path) -> None:
    """Bounds that meet tell a count, which is no linear combination of counts with numbers."""
    policy = tmp_path / "p.toml"
    policy.write_text(
        "[domain]\nx = { min = 0, max = 3 }\n[database]\nsize = 3\n[[known]]\ncount = { x = 0 }\n"
        "[[known]]\ncount = { x = 0 }\nat_least = 2\nat_most = 2\n"
    )
    code, out, err = said("sensitivity", policy, "--certificate", tmp_path / "c.json", "--json")
    assert (code, json.loads(out)["status"]) == (0, "exact")
    assert err.startswith("no certificate: ") and not (tmp_path / "c.json").exists()
