"""Listing neighbours: all solutions of one search, and not a search for each."""

from itertools import islice

import pytest

from blowproof.models import (
    Between,
    BudgetError,
    Count,
    Database,
    Distance,
    Domain,
    Full,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    setting,
)
from blowproof.models.policy.readings import Reading
from blowproof.models.programs import to_cpsat
from blowproof.models.programs.to_cpsat import solve
from blowproof.models.secrets.written import SecretsSpec
from blowproof.verifier.ask import neighbours
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.histograms import listing
from blowproof.verifier.engines.histograms.listing import histogram_neighbours
from blowproof.verifier.neighbours.check import check_pair


def test_a_hundred_pairs_do_not_need_a_hundred_models(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = []

    def counted(*arguments: object, **options: object) -> object:
        solved.append(1)
        return solve(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(to_cpsat, "solve", counted)
    policy = Policy(
        domain=Domain(x=Integers(0, 5)),
        known=(Count({"x": [0, 1]}, answer=2),),
        database=Database(size=6),
    )
    pairs = list(islice(neighbours(policy, every_label=False), 100))
    assert len(pairs) == 100
    assert len(solved) < 20


@pytest.mark.parametrize(
    "secrets",
    [Full(), PartitionBy(["ward"]), Distance(metric="l1", threshold=30, attributes=["age"])],
)
@pytest.mark.parametrize("reading", ["published", "add-remove"])
def test_too_many_values_still_give_some_pairs(secrets: SecretsSpec, reading: Reading) -> None:
    """A data set has more values than moves are listed between: its owner still sees neighbours."""
    policy = Policy(
        domain=Domain(ward=Labels(["a", "b", "c"]), age=Integers(0, 199)),
        secrets=secrets,
        known=(
            Marginal(("ward",), answers=(40, 50, 60)),
            Count({"age": Between(0, 98)}, answer=9),
        ),
        database=Database(size=150),
    )
    prepared = prepare(setting(policy), reading)
    found = histogram_neighbours(prepared, reading, most=150)
    for pair in islice(found, 5):
        assert check_pair(prepared, reading, pair)


def test_all_pairs_over_some_values_are_followed_by_a_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "FEW_VALUES", 4)
    policy = Policy(domain=Domain(age=Integers(0, 299)), database=Database(size=1))
    found = histogram_neighbours(prepare(setting(policy), "published"), "published", most=1)
    assert len(list(islice(found, 12))) == 12
    with pytest.raises(BudgetError, match="too many"):
        next(found)
