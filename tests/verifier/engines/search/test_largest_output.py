"""The norm linf, output by output: the best of all choices, and symmetries that keep it."""

import random
from collections import Counter
from fractions import Fraction

import pytest

from blowproof.models import Domain, Labels, Marginal, Policy, parse_query, setting
from blowproof.models.norms import LINF
from blowproof.models.stacks.combined import combined
from blowproof.models.stacks.stacked import in_norm
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.irreducibles import irreducibles
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.engines.search.engine import multiset_sensitivity
from blowproof.verifier.engines.search.largest_output import Outputs
from blowproof.verifier.moves.best_choice import best_choice, size_of
from blowproof.verifier.moves.kinds import Moves


def margins(*sides):
    names = "ABCD"[: len(sides)]
    axes = {name: Labels([f"{name}{k}" for k in range(side)])
            for name, side in zip(names, sides, strict=True)}  # fmt: skip
    return Policy(domain=Domain(axes), known=tuple(Marginal([name]) for name in names))


def asked(policy, rows):
    """Sums of the cells, in linf."""
    query = parse_query("histogram", policy)
    return in_norm(combined(query, rows, policy.domain), LINF, policy.domain)


def moves_of(policy, rows):
    here = prepare(setting(policy, "any"), "published")
    return Moves.over(here, asked(policy, rows), "published", tuple(here.domain.points()))


def outputs_of(moves):
    found = Outputs.of(moves, EffectTable.of(moves))
    assert found is not None
    return found


def drawn_rows(many, size, seed):
    draw = random.Random(seed)
    return tuple(tuple(draw.randint(-3, 3) for _ in range(size)) for _ in range(many))


CELL, SQUARE = (0,) * 8 + (1,), (1, -1, 0, -1, 1, 0, 0, 0, 0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sides", [(2, 2), (2, 3)])
def test_a_multiset_is_worth_the_best_of_all_choices(sides, seed):
    """And the search ends with the worst of all multisets, listed without it."""
    size = sides[0] * sides[1]
    moves = moves_of(margins(*sides), drawn_rows(3, size, seed))
    table = EffectTable.of(moves)
    outputs = Outputs.of(moves, table)
    assert outputs is not None
    worst = max(kind.size for kind in table.idle) if table.idle else 0
    found = irreducibles(table.effects)
    for multiset in found:
        value = outputs.worth(multiset)
        assert value == best_choice(table.groups(multiset))[0]
        assert value == size_of(outputs.choice(multiset))
        assert value <= sum(outputs.most[place] * times for place, times in multiset)
        worst = max(worst, value)
    assert found.complete
    answer = multiset_sensitivity(moves)
    assert (answer.status, answer.lower) == ("exact", moves.unscaled(worst))


def test_symmetries_keep_what_multisets_are_worth():
    """Of a cell and a square of 3 x 3 with all their images: all 144 maps, but those of drawn rows
    only where they keep them.
    """
    policy = margins(3, 3)
    cells = tuple(tuple(int(k == at) for k in range(9)) for at in range(9))
    moves = moves_of(policy, cells)
    table = EffectTable.of(moves)
    outputs = Outputs.of(moves, table)
    assert outputs is not None
    symmetries = outputs.symmetries()
    assert len(symmetries) == 144
    draw = random.Random(3)
    listed = irreducibles(table.effects, limit=400)
    for multiset in list(listed)[::8]:
        turn = draw.choice(symmetries)
        turned = tuple((turn[place], times) for place, times in multiset)
        assert outputs.worth(turned) == outputs.worth(multiset)
    some = outputs_of(moves_of(policy, (CELL,)))
    assert len(some.symmetries()) == 16  # those that leave one cell where it is, and both ways
    odd = outputs_of(moves_of(policy, drawn_rows(2, 9, 8)))
    assert len(odd.symmetries()) < 16


def test_rows_that_differ_by_what_is_published_are_the_same():
    """A published row of cells more changes nothing for any pair, so no symmetry is lost."""
    policy = margins(3, 3)
    cells = [tuple(int(k == at) for k in range(9)) for at in range(9)]
    shifted = tuple(tuple(a + 2 * (k // 3 == 0) for k, a in enumerate(row)) for row in cells)
    moves = moves_of(policy, shifted)
    outputs = Outputs.of(moves, EffectTable.of(moves))
    assert outputs is not None
    assert len(outputs.symmetries()) == 144


def test_a_table_of_three_by_three_is_searched_to_its_end():
    """S of a cell is 5, as was listed (`theorems.listed_margins`); of a square, what brute force
    over all listed multisets says.
    """
    policy = margins(3, 3)
    cells = tuple(tuple(int(k == at) for k in range(9)) for at in range(9))
    answer = multiset_sensitivity(moves_of(policy, cells))
    assert (answer.status, answer.lower) == ("exact", 5)
    moves = moves_of(policy, (SQUARE,))
    answer = multiset_sensitivity(moves)
    assert answer.status == "exact"
    assert sensitivity(policy, asked(policy, (SQUARE,)), engine="search").upper == answer.upper


def test_other_norms_and_huge_numbers_are_left_alone():
    policy = margins(2, 2)
    here = prepare(setting(policy, "any"), "published")
    plain = Moves.over(here, parse_query("histogram", policy), "published",
                       tuple(here.domain.points()))  # fmt: skip
    assert Outputs.of(plain, EffectTable.of(plain)) is None
    huge = moves_of(policy, ((2**50, 0, 0, 0),))
    scaled = Outputs.of(huge, EffectTable.of(huge))
    assert scaled is None
    one = multiset_sensitivity(moves_of(policy, ((1, 0, 0, 0),))).upper
    assert one is not None
    assert multiset_sensitivity(huge).upper == 2**50 * Fraction(one)


def test_counts_that_are_large_are_added_up_exactly():
    """More than 2^20 moves were refused, by an error that the plan does not know."""
    moves = moves_of(margins(2, 2), ((2**39, 0, 0, 0),))
    outputs = Outputs.of(moves, EffectTable.of(moves))
    assert outputs is not None
    place = max(range(len(outputs.most)), key=lambda k: outputs.most[k])
    one = outputs.most[place]
    assert one >= 2**39
    assert outputs.worth(((place, 2**20),)) == one * 2**20
    assert outputs.worth(((place, 2**30),)) == one * 2**30
    assert outputs.choice(((place, 2**30),)).total() == 2**30
    assert outputs.worth(tuple(Counter({0: 2}).items())) >= 0
