"""Attackers as data: the table of a mechanism file, secrets, and exact beliefs."""

from fractions import Fraction

import pytest

from blowproof.models import Database, Domain, Integers, Labels, Policy, PolicyError
from blowproof.models.attackers.beliefs import Belief, Chain
from blowproof.models.attackers.secrets import Absence, Intervals, Totals, Values
from blowproof.models.mechanisms.mechanism_file import parse_mechanism, to_mechanism_toml

HEAD = '[[release]]\nquery = "histogram"\nscale = 2\n[attackers]\n'
TABLES = [
    'kind = "any"',
    "given_facts = false",
    'kind = "listed"\nlisted = [{ databases = [[0, 1]], probabilities = [1] }]',
    'kind = "listed"\nlisted = [{ records = [["1/2", "1/2"], [1, 0]] }]',
    'kind = "markov"\nlisted = [{ start = [1, 0], step = [["1/2", "1/2"], [0, 1]] }]',
    'kind = "any"\npairs = { attribute = "v", factor = "3/2" }',
    'kind = "any"\npairs = { sum = "v", width = 2 }',
    'kind = "any"\npairs = { absent = 0 }',
]
BAD = [
    ('kind = "someone"', "attackers.kind"),
    ('kind = "listed"', "attackers.listed"),
    ("listed = [{ databases = [[0]], probabilities = [1] }]", "attackers.listed"),
    (
        'kind = "listed"\nlisted = [{ databases = [[0]], probabilities = ["2/3"] }]',
        "attackers.listed[0].probabilities",
    ),
    (
        'kind = "listed"\nlisted = [{ databases = [[0], [1]], probabilities = ["3/2", "-1/2"] }]',
        "attackers.listed[0].probabilities[1]",
    ),
    ('kind = "listed"\nlisted = [{ start = [1] }]', "attackers.listed[0]"),
    ('kind = "markov"\nlisted = [{ start = [1], step = [[1], [1]] }]', "attackers.listed[0].step"),
    ('kind = "any"\npairs = { attribute = "v", width = 0 }', "attackers.pairs.width"),
    ('kind = "any"\npairs = { width = 1 }', "attackers.pairs"),
]


@pytest.mark.parametrize("table", TABLES)
def test_attackers_are_read_and_written_back(table: str) -> None:
    read = parse_mechanism(HEAD + table)
    assert read.attackers is not None
    assert parse_mechanism(to_mechanism_toml(read)) == read


@pytest.mark.parametrize(("table", "key"), BAD)
def test_bad_tables_name_the_key(table: str, key: str) -> None:
    with pytest.raises(PolicyError) as raised:
        parse_mechanism(HEAD + table)
    assert raised.value.key == key
    assert raised.value.line is not None


def test_pairs_exclude_one_another() -> None:
    """No database makes both statements of a pair true."""
    policy = Policy(domain=Domain(v=Integers(1, 6)), database=Database(size=2))
    databases = [((x,), (y,)) for x in range(6) for y in range(6)]
    for secrets in (
        Values(),
        Absence((1,)),
        Intervals("v", width=Fraction(2)),
        Intervals("v", factor=Fraction(3, 2)),
        Totals("v", Fraction(3)),
    ):
        pairs = list(secrets.pairs(policy, 2))
        assert pairs
        for one, two in pairs:
            assert not any(one.holds(d) and two.holds(d) for d in databases)


def test_a_chain_is_written_out_exactly() -> None:
    policy = Policy(domain=Domain(ill=Labels(["no", "yes"])))
    half, tenth = Fraction(1, 2), Fraction(1, 10)
    chain = Chain((half, half), ((1 - tenth, tenth), (tenth, 1 - tenth)))
    belief = Belief.of(chain, policy, 3, "chain").chances
    assert sum(belief.values()) == 1
    assert belief[(0,), (0,), (1,)] == half * (1 - tenth) * tenth
    with pytest.raises(PolicyError, match="number of records"):
        Belief.of(chain, policy, None, "chain")


def test_intervals_are_for_numbers() -> None:
    policy = Policy(domain=Domain(ill=Labels(["no", "yes"])))
    with pytest.raises(PolicyError, match="no numbers"):
        list(Intervals("ill", width=Fraction(1)).pairs(policy, 1))
