"""Certificates in other norms, and of stacks: proved, and never taken for one another."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import (
    READINGS,
    AttributeChange,
    Between,
    BlowproofError,
    Count,
    Database,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    Policy,
    Reading,
)
from blowproof.models.norms import NORMS
from blowproof.verifier.ask import certified
from blowproof.verifier.kernel import check
from blowproof.verifier.kernel.check import alone, upper_bound, world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.measure import Measure
from blowproof.verifier.proofs.claim import digests
from refusals import refuse
from strategies import policies, question_texts

DOMAIN = Domain(sex=Labels(["F", "M"]), age=Integers(0, 3))
ANY = Policy(domain=DOMAIN, known=(Count({"sex": "F"}),))
GIVEN = Policy(domain=DOMAIN, known=(Count({"sex": "F"}, answer=1),), database=Database(size=2))


@pytest.mark.parametrize(("norm", "value"), [("l2-squared", 80 + 4 * 19), ("linf", 2)])
def test_long_axes_are_proved_by_how_far_each_output_goes(norm: str, value: int) -> None:
    """Two classes lie on both sides of 54 and of 64 cuts, 19 of which are the same."""
    domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 99))
    known = (
        Marginal(["sex"]),
        Impossible({"sex": "F", "age": Between(55, 99)}),
        Impossible({"sex": "M", "age": Between(0, 34)}),
    )
    policy = Policy(domain=domain, known=known)
    answer, found = certified(policy, "cumulative(age)", norm=norm)
    assert (answer.upper, answer.status) == (value, "proved"), found.reason
    assert found.document is not None and found.document["proof"]["kind"] == "cells"
    less = {**found.document, "value": value - 1}
    less["digests"] = digests(less)
    assert not check(less).accepted


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    ("policy", "query"),
    [(ANY, "sum(age)"), (ANY, "range(age,1,2)"), (GIVEN, "histogram"), (GIVEN, "cumulative(age)")],
)
def test_answers_are_proved_in_every_norm(policy: Policy, query: str, norm: str) -> None:
    answer, found = certified(policy, query, norm=norm)
    assert answer.status == "proved" and answer.norm == norm, found.reason
    assert found.verdict is not None and found.verdict.norm == norm


def test_a_certificate_in_one_norm_is_none_in_another() -> None:
    for policy, query in ((ANY, "sum(age)"), (GIVEN, "histogram")):
        documents = {norm: certified(policy, query, norm=norm)[1].document for norm in NORMS}
        for norm, document in documents.items():
            assert document is not None and document["norm"] == norm
            for other in NORMS:
                values = {document["value"], *(d["value"] for d in documents.values() if d)}
                for value in values:
                    turned = {**document, "norm": other, "value": value}
                    turned["digests"] = digests(turned)
                    right = documents[other]
                    assert right is not None
                    accepted = check(turned).accepted
                    assert accepted <= (value == right["value"]), (norm, other, value)


def test_a_proof_about_l1_is_refused_for_several_outputs() -> None:
    secrets = AttributeChange()
    policy = Policy(
        domain=DOMAIN,
        secrets=secrets,
        known=(Count({"sex": "F"}, answer=1), Count({"age": Between(0, 1)}, at_least=1)),
        database=Database(size=4),
    )
    _, found = certified(policy, "histogram", time_limit=20)
    assert found.document is not None and found.kind == "branching"
    turned = {**found.document, "norm": "l2-squared", "proof": {"kind": "secret-arc"}}
    assert "about l1, not l2-squared" in check(turned).reason
    larger = {**found.document, "norm": "l2-squared", "value": 8}  # what it is there
    assert not check(larger).accepted


TABLE = Policy(
    domain=Domain(ward=Labels("abc"), out=Labels("xy"), age=Integers(0, 2)),
    known=(Marginal(["ward"]), Marginal(["out"])),
)
NESTED = Policy(
    domain=Domain(ward=Labels("abc"), out=Labels("xy"), age=Integers(0, 2)),
    known=(Marginal(["ward"]),),
)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    ("policy", "query", "kind"),
    [
        (ANY, "histogram", ("cycles", "cells")),
        (NESTED, "marginal(age)", ("cells",)),
        (NESTED, "histogram+1/4*marginal(age)", ("cells", "irreducible")),
        (NESTED, "1/2*histogram", ("cells",)),
        (Policy(domain=DOMAIN), "cumulative(age)", ("single",)),
        (Policy(domain=DOMAIN), "histogram+[1/4]*sum(age)", ("irreducible",)),
    ],
)
def test_several_outputs_and_stacks_are_proved(
    policy: Policy, query: str, kind: tuple[str, ...], norm: str
) -> None:
    """They were `exact`: the kernel measured one output, or l1."""
    answer, found = certified(policy, query, norm=norm)
    assert answer.status == "proved", found.reason
    assert found.kind in (*kind, "cycles")


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("reading", ["secret-moves", "add-remove", "markov"])
def test_a_table_with_both_margins(norm: str, reading: Reading) -> None:
    answer, found = certified(TABLE, "marginal(ward,out)", norm=norm, reading=reading)
    assert answer.status == "proved", found.reason


@given(st.data())
@settings(max_examples=60)
def test_no_proof_holds_below_the_value(data: st.DataObject) -> None:
    """Every proof that is accepted for S is refused for anything less, whatever its kind."""
    policy = data.draw(policies(max_values=6, max_records=3))
    text = data.draw(question_texts(policy))
    norm = data.draw(st.sampled_from([*NORMS]))
    reading = data.draw(st.sampled_from(READINGS))
    try:
        answer, found = certified(policy, text, norm=norm, reading=reading, time_limit=3)
    except BlowproofError as error:
        refuse(error)
    if found.document is None or not answer.lower:
        return
    less = Fraction(answer.lower) * (1 - Fraction(1, 10**9))
    tried = [found.document["proof"], *({"kind": kind} for kind in ("cycles", "single"))]
    tried += [{"kind": "four-cells"}, {"kind": "every-database"}]
    tried += [{"kind": "cells", "base": [0]}, {"kind": "cells", "base": [0, 1]}]
    for proof in tried:
        world, _ = world_of({**found.document, "proof": proof}, Budget(10**7))
        with pytest.raises(Rejected):
            upper_bound(world, proof, less)


@given(st.data())
@settings(max_examples=60)
def test_measures_bound_sums(data: st.DataObject) -> None:
    """Lengths add up to no less than the length of the sum, and sizes are what they should be."""
    changes = st.dictionaries(st.integers(0, 3), st.integers(-5, 5).filter(bool), max_size=4)
    one, two = data.draw(changes), data.draw(changes)
    total = {k: one.get(k, 0) + two.get(k, 0) for k in one | two}
    total = {k: value for k, value in total.items() if value}
    for norm in NORMS:
        weight = (lambda output: output + 1) if norm == "l2-squared" else None  # type: ignore[operator] # outputs are numbers
        measure = Measure(norm, data.draw(st.sampled_from([None, 4])), weight)
        sizes = [measure.size(change.items()) for change in (one, two)]
        whole = measure.size(total.items())
        assert whole <= measure.together(sizes) <= measure.repeated(max(sizes), 2)
        assert measure.length(whole) <= sum(map(measure.length, sizes))
        assert measure.length(whole) <= measure.within(whole) < measure.length(whole + 1)


def test_squares_have_exact_roots_or_none() -> None:
    assert alone("l2-squared", Fraction(9, 4)) == Fraction(3, 2)
    assert alone("linf", 3) == 3
    with pytest.raises(Rejected):
        alone("l2-squared", 8)
