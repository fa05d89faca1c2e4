"""Policies in words, and what plain differential privacy would have assumed."""

from itertools import combinations

import pytest

from blowproof.models import parse_query
from blowproof.models.files.reading import parse_policy
from blowproof.models.policy.in_words import fact_words, known_words, printable, secret_words
from blowproof.models.queries.query import Move

DOMAIN = """
[domain]
sex = ["F", "M"]
ward = { labels = ["a", "b", "c"], ordered = true }
age = { min = 0, max = 3 }
temp = { min = 35, max = 36, step = "1/2" }
"""


def policy(text=""):
    return parse_policy(DOMAIN + text)


@pytest.mark.parametrize(
    ("secrets", "words"),
    [
        ('kind = "full"', "everything: nobody may tell any value of a record from any other"),
        ('kind = "attribute"', "any one attribute of a record, even from those who know"),
        ('kind = "attribute"\nchanges = 2', "any 2 attributes of a record"),
        (
            'kind = "partition"\nby = ["sex", "ward"]',
            "everything about a record but its sex and ward",
        ),
        (
            'kind = "partition"\ncells = [{ age = { max = 1 } }, { age = { min = 2 } }]',
            "everything about a record but which of 2 cells it lies in",
        ),
        (
            'kind = "distance"\nmetric = "l1"\nthreshold = "3/2"\n'
            'attributes = ["temp"]\nstrict = true',
            "the exact temp: nobody may tell apart values at l1 distance less than 3/2",
        ),
        (
            'kind = "edges"\npairs = [[{ sex = "F", ward = "a", age = 1, temp = 35 }, '
            '{ sex = "M", ward = "a", age = 1, temp = 35 }]]',
            "1 listed pair of values that nobody may tell apart",
        ),
    ],
)
def test_secrets(secrets, words):
    assert secret_words(policy(f"[secrets]\n{secrets}\n")).startswith(words)


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        ('marginal = ["sex", "ward"]', "how many records have each sex and ward (6 counts)"),
        ('marginal = ["age"]', "how many records have each age (4 counts)"),
        ('count = { sex = "F" }\nanswer = 3', "how many records have sex = F: 3"),
        ('count = { age = { min = 1, max = 2 }, ward = ["a", "b"] }\nat_least = 1',
         "how many records have age in 1..2 and ward in a/b: at least 1"),
        ("count = [{ age = { max = 0 } }, { temp = \"71/2\" }]",
         "how many records have age <= 0 or temp = 71/2"),
        ('sum = [{ times = 1, count = { sex = "F" } }, { times = -2, count = {} }]\nequals = 0',
         "(records with sex = F) - 2 x (records with any value): 0"),
        ('impossible = { sex = "M", ward = "c" }', "nobody has sex = M and ward = c"),
        ('clause = [{ record = 1, in = { sex = "F" } }, { record = 2, not_in = { age = 0 } }]',
         "record 1 has sex = F, or record 2 does not have age = 0"),
    ],
)  # fmt: skip
def test_facts(fact, words):
    found = policy(f"[database]\nsize = 9\n[[known]]\n{fact}\n")
    assert fact_words(found, found.known[0]) == words


def test_many_facts_are_counted_and_no_facts_said():
    facts = "".join(f"[[known]]\ncount = {{ age = {place % 4} }}\n" for place in range(9))
    lines = known_words(policy(facts), None)
    assert len(lines) == 7 and lines[-1] == "... and 3 more facts"
    assert known_words(policy(), None) == ["nothing"]
    assert known_words(policy(), 1234567)[0] == "the number of records: 1,234,567"


def test_names_cannot_disturb_a_terminal():
    assert printable("a\x1b[2Jb\nc") == r"a\x1b[2Jb\nc"
    assert printable("Zoë") == "Zoë"


def files(folder):
    """Query files: a matrix over the 72 values, centroids and weights."""
    matrix = "\n".join(",".join(str(row * place % 5) for place in range(72)) for row in (1, 2))
    for name, text in (("matrix.csv", matrix), ("weights.txt", "1\n-7/2\n2\n")):
        (folder / name).write_text(text + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "histogram",
            "marginal(sex,ward)",
            "cumulative(ward)",
            "range(age,1,2)",
            "range(age,0,3)",
        ),
        *("ranges(age)", "ranges(ward)", "ranges(temp)", "sum(age)", "sum(age,temp)", "partition"),
        *("count(warm)", "matrix(FOLDER/matrix.csv)", "weighted-sum(temp,FOLDER/weights.txt)"),
    ],
)
def test_plain_differential_privacy_is_the_largest_change_of_one_record(tmp_path, text):
    files(tmp_path)
    found = policy(
        '[secrets]\nkind = "partition"\nby = ["sex"]\n'
        '[[query]]\nname = "warm"\ncount = { temp = 36 }\n[[known]]\nmarginal = ["sex"]\n'
    )
    query = parse_query(text.replace("FOLDER", str(tmp_path)), found)
    records = range(3) if query.per_record else [None]
    expected = max(
        query.difference([Move(x, y, record)])
        for x, y in combinations(found.domain.points(), 2)
        for record in records
    )
    assert query.largest_change(found.domain) == expected


def test_plain_differential_privacy_on_a_domain_that_nobody_lists():
    huge = parse_policy("[domain]\na = { min = 0, max = 999999 }\nb = { min = 0, max = 999999 }\n")
    values = {"histogram": 2, "sum(a,b)": 1999998, "cumulative(a)": 999999, "range(a,1,1)": 1}
    for text, expected in values.items():
        assert parse_query(text, huge).largest_change(huge.domain) == expected
