"""Certificates in other norms: proved where l1 says it, and never taken for one another."""

from fractions import Fraction

import pytest

from blowproof.models import Count, Database, Domain, Integers, Labels, Policy
from blowproof.models.norms import NORMS
from blowproof.verifier.ask import certified
from blowproof.verifier.kernel import check
from blowproof.verifier.kernel.check import alone
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.proofs.claim import digests

DOMAIN = Domain(sex=Labels(["F", "M"]), age=Integers(0, 3))
ANY = Policy(domain=DOMAIN, known=(Count({"sex": "F"}),))
GIVEN = Policy(domain=DOMAIN, known=(Count({"sex": "F"}, answer=1),), database=Database(size=2))


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
    _, found = certified(ANY, "histogram")
    assert found.document is not None and found.document["proof"]["kind"] != "every-database"
    turned = {**found.document, "norm": "l2-squared"}
    assert "about l1, not l2-squared" in check(turned).reason


def test_squares_have_exact_roots_or_none() -> None:
    assert alone("l2-squared", Fraction(9, 4)) == Fraction(3, 2)
    assert alone("linf", 3) == 3
    with pytest.raises(Rejected):
        alone("l2-squared", 8)
