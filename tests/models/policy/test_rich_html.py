"""What a notebook shows: well-formed, escaped, and with the values of the policy."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from blowproof.models import Distance, Domain, Integers, Labels, Policy
from blowproof.models.policy.notebook_html import SHOWN, pair_html
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from corpus import CORPUS

NASTY = '<script>alert(1)</script> & "quotes"'
VOID = {"br"}


class Reader(HTMLParser):
    """Checks that tags are balanced, and gathers the text of the cells."""

    def __init__(self):
        super().__init__()
        self.open, self.cells = [], []

    def handle_starttag(self, tag, attrs):
        assert tag in {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "span", "br"}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return " ".join(reader.cells)


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_policies_are_well_formed_and_name_their_attributes(case):
    text = read(case.policy._repr_html_())
    assert case.policy.name in text
    assert all(name in text for name in case.policy.domain.names)


def test_names_and_labels_are_escaped():
    domain = Domain({"x": Labels([NASTY, "b"])})
    policy = Policy(domain=domain, name=NASTY)
    assert "<script" not in policy._repr_html_()
    answer = sensitivity(policy)
    assert "<script" not in answer.to_html(domain)
    assert answer.witness is not None
    assert NASTY in read(answer.witness.to_html(domain))


def test_an_answer_shows_its_number_and_the_changed_values():
    policy = Policy(domain=Domain(sex=Labels(["F", "M"])), name="people")
    text = read(sensitivity(policy)._repr_html_())
    assert "S = 2" in text and "people" in text and "exact" in text
    assert "F" in text.split() and "M" in text.split()
    alone = read(replace(sensitivity(policy), domain=None)._repr_html_())
    assert "F" not in alone.split() and "0" in alone.split()  # positions stand for values


def test_pairs_of_both_kinds_and_long_ones():
    assert "removed" in read(Pair(before=((0,), (0,)), after=())._repr_html_())
    many = tuple((place,) for place in range(SHOWN + 5))
    other = tuple((place + 1,) for place in range(SHOWN + 5))
    text = read(Pair(before=many, after=other, unchanged=(((0,), 3),))._repr_html_())
    assert "and 5 more" in text and "3 other records" in text


def test_a_pair_says_which_moves_are_secret_where_the_secrets_are_given():
    policy = Policy(domain=Domain(x=Integers(0, 3)), secrets=Distance(threshold=1))
    before, after = ((0,), (0,)), ((1,), (3,))
    text = read(pair_html(policy.domain, before, after, graph=policy.graph)).split()
    assert text.count("secret") == text.count("plain") == 1
    assert text.index("secret") < text.index("3") < text.index("plain")
    assert "secret" not in read(pair_html(policy.domain, before, after))
