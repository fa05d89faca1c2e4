"""Listing neighbours: all solutions of one search, and not a search for each."""

from itertools import islice

import pytest

from blowproof.models import Count, Database, Domain, Integers, Policy
from blowproof.models.programs import to_cpsat
from blowproof.models.programs.to_cpsat import solve
from blowproof.verifier.ask import neighbours


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
