"""Histograms in other norms: what never cancels, symmetries of classes, tables that were listed."""

import itertools
import random
from collections import Counter

import pytest

from blowproof.models import Count, Domain, Exact, Labels, Marginal, Policy, setting
from blowproof.models.norms import NORMS
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.irreducibles import irreducibles
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.engines.search.engine import multiset_sensitivity
from blowproof.verifier.engines.search.straight import straight_kinds, symmetries_of
from blowproof.verifier.moves.best_choice import best_choice, size_of
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.theorems.listed_margins import LEFT

OTHERS = [name for name in NORMS if name != "l1"]


def margins(*sides: int, extra: tuple[Count, ...] = ()) -> Policy:
    """One-way margins, and a free attribute: two values in every cell."""
    names = "ABCD"[: len(sides)]
    axes = {
        name: Labels([f"{name}{k}" for k in range(side)])
        for name, side in zip(names, sides, strict=True)
    }
    known = tuple(Marginal([name]) for name in names)
    return Policy(domain=Domain({**axes, "z": Labels("01")}), known=(*known, *extra))


def moves_of(policy: Policy, norm: str) -> Moves:
    asked = prepare(setting(policy, "any"), "published")
    query = parse_question("histogram", policy, norm)
    return Moves.over(asked, query, "published", tuple(asked.domain.points()))


def listed(moves: Moves) -> Exact:
    """The worst of all irreducible multisets, each with the best of all its choices."""
    table = EffectTable.of(moves)
    best = max(kind.size for kind in table.idle)
    found = irreducibles(table.effects)
    for multiset in found:
        choices = (itertools.combinations_with_replacement(table.kinds[place], times)
                   for place, times in multiset)  # fmt: skip
        if sum(times for _, times in multiset) <= 4:
            for chosen in itertools.product(*choices):
                best = max(best, size_of(Counter(itertools.chain(*chosen))))
        else:
            best = max(best, best_choice(table.groups(multiset))[0])
    assert found.complete
    return moves.unscaled(best)


@pytest.mark.parametrize(
    ("sides", "norm"), [*(((2, 2), norm) for norm in OTHERS), ((2, 3), "l2-squared")]
)
def test_the_search_finds_what_all_multisets_show(sides: tuple[int, ...], norm: str) -> None:
    moves = moves_of(margins(*sides), norm)
    assert straight_kinds(moves) is not None
    answer = multiset_sensitivity(moves)
    assert (answer.status, answer.lower) == ("exact", listed(moves))


@pytest.mark.parametrize("norm", NORMS)
def test_only_more_than_is_known_is_looked_for(norm: str) -> None:
    moves = moves_of(margins(2, 3), norm)
    whole = multiset_sensitivity(moves)
    best = int(whole.lower * moves.scale)
    less = multiset_sensitivity(moves, known=best - 1)
    assert (less.status, less.lower, less.upper) == ("exact", whole.lower, whole.lower)
    assert less.witness is not None
    same = multiset_sensitivity(moves, known=best)
    assert (same.lower, same.upper, same.witness) == (0, whole.upper, None)
    assert same.status == "bounds"


@pytest.mark.parametrize("sides", [(2, 3), (2, 4), (3, 3), (2, 2, 2)])
def test_the_squares_of_tables_that_were_listed(sides: tuple[int, ...]) -> None:
    answer = multiset_sensitivity(moves_of(margins(*sides), "l2-squared"))
    assert (answer.status, answer.lower) == ("exact", LEFT[sides].squares)
    whole = sensitivity(margins(*sides), "histogram", norm="l2-squared")
    assert (whole.status, whole.upper) == ("exact", LEFT[sides].squares)


def test_symmetries_keep_the_size_of_every_multiset() -> None:
    random.seed(0)
    region = Count({"A": "A0", "B": ["B0", "B1"]})
    for policy in (margins(2, 3), margins(3, 2, extra=(region,))):
        moves = moves_of(policy, "l2-squared")
        joined, table = straight_kinds(moves), EffectTable.of(moves)
        assert joined is not None
        straight = table.straight(moves)
        symmetries = symmetries_of(joined, table.effects)
        assert len(symmetries) > 1
        for _ in range(40):
            some = Counter(random.choices(range(len(table.effects)), k=4))
            sizes = {
                best_choice([(straight.kinds[p[k]], n) for k, n in some.items()])[0]
                for p in symmetries
            }
            assert len(sizes) == 1
            # first values leave, second ones enter: no choice of values is larger
            assert sizes == {best_choice([(table.kinds[k], n) for k, n in some.items()])[0]}


def test_what_does_not_apply() -> None:
    one = Policy(domain=Domain(a=Labels("xyz")), known=(Count({"a": "x"}),))
    assert straight_kinds(moves_of(one, "linf")) is None  # a class of one value
    assert straight_kinds(moves_of(margins(2, 2), "l1")) is None
