"""That there is a database is seen without a solver, where it is easy to see."""

import pytest

from blowproof.models import Count, Database, Domain, Labels, Marginal, Policy, Sum, setting
from blowproof.models.programs import to_cpsat
from blowproof.verifier.databases.consistency import check_consistent
from blowproof.verifier.databases.fact_model import FactModel

TABLE = Domain(a=Labels(["x", "y", "z"]), b=Labels(["u", "v"]))


@pytest.mark.parametrize(
    "known",
    [
        (),
        (Count({"a": "x"}, answer=3), Count({"a": ["x", "y"]}, answer=7)),
        (Marginal(["a"], answers=[2, 5, 3]), Marginal(["b"], answers=[6, 4])),
        (Count({"b": "u"}, at_least=4), Count({"a": "x"}, at_most=2)),
    ],
)
def test_no_solver_is_asked(known: tuple[Count, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*arguments: object, **options: object) -> None:
        raise AssertionError("a solver was asked")

    monkeypatch.setattr(to_cpsat, "solve", asked)
    check_consistent(Policy(domain=TABLE, known=known, database=Database(size=10)))


@pytest.mark.parametrize(
    "known",
    [
        (Count({"a": "x"}, answer=11),),
        (Marginal(["a"], answers=[2, 5, 4]), Count({"b": "u"}, answer=1)),
        (Sum([(1, {"a": "x"}), (-1, {"a": "y"})], equals=20),),
    ],
)
def test_what_contradicts_itself_is_not_easy(known: tuple[Count, ...]) -> None:
    policy = Policy(domain=TABLE, known=known, database=Database(size=10))
    assert not FactModel.of(setting(policy)).easily()
