"""Keys have the lines on which they stand, and syntax errors say what to write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blowproof.models import Policy, PolicyError
from blowproof.models.files.toml_lines import key_lines, parse_toml
from blowproof.models.files.writing import to_mapping, to_toml
from strategies import policies

TEXT = '''# a comment with [brackets] and "quotes"
name = """
[domain]   # not a table: inside a string
"""
[domain]
sex = ["F",  # a "comment" ] here
       'M\\']
temp = { min = 35, max = 42, step = "1/2" }
ward.labels = [
  "a",

  "b"]
ward . "ordered" = true
[secrets] # end
cells = [
  { age = {max = 3} },
  [{ age = 4 },
   { age = [5,
            6] }],
]
[[known]]
count = [{ sex = "F" }]
answer = 3
[[known]]
count = {}
[[known]]
count = [
  { sex = "F" }, { sex = "M",
  # only TOML 1.1 has this
  ward = "a" } ]
[[query]]
name = 'q'
'''

LINES = {
    "name": 2,
    "domain": 5,
    "domain.sex": 6,
    "domain.sex[1]": 7,
    "domain.temp.step": 8,
    "domain.ward": 9,
    "domain.ward.labels[0]": 10,
    "domain.ward.labels[1]": 12,
    "domain.ward.ordered": 13,
    "secrets": 14,
    "secrets.cells": 15,
    "secrets.cells[0].age.max": 16,
    "secrets.cells[1]": 17,
    "secrets.cells[1][0].age": 17,
    "secrets.cells[1][1].age[1]": 19,
    "known": 21,
    "known[0]": 21,
    "known[0].count[0].sex": 22,
    "known[0].count.sex": 22,
    "known[0].answer": 23,
    "known[1]": 24,
    "known[1].count.no.such.key[3]": 25,
    "known[2].count[1].sex": 28,
    "known[2].count[1].ward": 30,
    "query[0].name": 32,
    "query[0].count": 31,
    "nothing": 1,
    "": 1,
}


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n")], ids=["lf", "crlf"])
@pytest.mark.parametrize("key", LINES)
def test_line_of_key(key: str, text: str) -> None:
    assert key_lines(text).line(key) == LINES[key]


def test_arrays_of_tables_below_arrays_of_tables() -> None:
    lines = key_lines("[[a]]\n[[a.b]]\nx = 1\n[[a]]\n[[a.b]]\n[[a.b]]\nx = 1\n[a.c]\ny = 1\n")
    assert lines.line("a[0].b[0].x") == 3
    assert lines.line("a[1].b[1].x") == 7
    assert lines.line("a[1].c.y") == 9


@given(st.text(st.sampled_from("ab.=[]{}\",'#\n\\ 1")))
def test_the_scanner_never_fails(text: str) -> None:
    lines = key_lines(text)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.lines.values())
    try:
        parse_toml(text)
    except PolicyError as error:
        assert error.line is not None
        assert 1 <= error.line <= text.count("\n") + 1


def paths(value: object, prefix: str) -> list[str]:
    """Every key path of nested tables and arrays."""
    if isinstance(value, dict):
        inner = [(f"{prefix}.{key}" if prefix else key, item) for key, item in value.items()]
    elif isinstance(value, list):
        inner = [(f"{prefix}[{place}]", item) for place, item in enumerate(value)]
    else:
        inner = []
    return [path for key, item in inner for path in (key, *paths(item, key))]


@given(policies(odd=True))
def test_every_key_of_a_written_policy_is_found(policy: Policy) -> None:
    found = key_lines(to_toml(policy)).lines
    assert [path for path in paths(to_mapping(policy), "") if path not in found] == []


SLIPS = {
    "sex = [F, M]": 'put text in quotes: "F"',
    "sex = F": 'put text in quotes: "F"',
    "sex = [\u201cF\u201d]": 'use straight quotes: "',
    "sex = [\u2018F\u2019]": "use straight quotes: '",
    "\u201csex\u201d = 1": 'use straight quotes: "',
    "step = 1/2": 'put it in quotes: "1/2"',
    "step = -1 / 2  # half": 'put it in quotes: "-1/2"',
    "temp = { step = 1/2, min = 0 }": 'put it in quotes: "1/2"',
    "values = [1, 1/2]": 'put it in quotes: "1/2"',
    "strict = True": "write true",
    "strict = FALSE": "write false",
    "size = None": "leave the key out",
    "size = null": "leave the key out",
    "size = 007": "drop the zeros, or use quotes",
    "size 3": "write key = value",
    "size: 3": "write key = value",
    "a = 1\na = 2": "keep one of them",
    "a = { x = 1, x = 2 }": "keep one of them",
    "[a]\n[b]\n[a]": "merge the two tables",
    "[known]\n[known]": "write [[known]] with two brackets each time",
    "[query]\n[query]": "write [[query]] with two brackets each time",
    'a = "x': "close it with the quote that it begins with",
    'a = "x\nb = 1': "close it with the quote that it begins with",
    "a = 'x": "close it with the quote that it begins with",
    "a = 'x\nb = 1": "close it with the quote that it begins with",
    "a = [1 2]": "write [1, 2, 3]",
    "a = [1, 2": "write [1, 2, 3]",
    "a = { x = 1 y = 2 }": "write { min = 0, max = 9 }",
    "[a": "write [domain] or [[known]]",
    "[[a]": "write [domain] or [[known]]",
    "step = .5": 'write fractions as strings: "p/q"',
    'path = "C:\\data"': "use single quotes: 'a\\b'",
    "= 1": "write key = value",
    "a. = 1": 'write key = value, or "odd key!" = value',
    "a = 1 b = 2": "one key per line; put text in quotes",
}


@pytest.mark.parametrize("text", SLIPS)
def test_usual_slips_get_a_hint(text: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_toml(text)
    assert caught.value.hint == SLIPS[text]


def test_quotes_inside_strings_are_left_alone() -> None:
    assert parse_toml("a = '\u201cx\u201d 1/2'") == {"a": "\u201cx\u201d 1/2"}
    with pytest.raises(PolicyError) as caught:
        parse_toml("a = ['\u201cx\u201d', F]  # \u201cnot here\u201d")
    assert caught.value.hint == 'put text in quotes: "F"'


def test_nesting_too_deep_is_refused() -> None:
    with pytest.raises(PolicyError, match="nested"):
        parse_toml("a = " + "[" * 100_000)


def test_integers_beyond_python_s_limit_are_refused() -> None:
    with pytest.raises(PolicyError, match="too many digits"):
        parse_toml("a = " + "1" * 10_000)
