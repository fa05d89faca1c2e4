"""The text of a query: one canonical form, which nothing in a name can make into another."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blowproof.models import (
    Count,
    Domain,
    Integers,
    Labels,
    NamedCount,
    Policy,
    QueryError,
    Steps,
    parse_query,
)
from blowproof.models.domain.attributes import Attribute
from blowproof.models.queries.arguments import query_arguments, query_name
from blowproof.verifier.kernel.policy import Policy as Read
from blowproof.verifier.kernel.query import Query as Bound
from blowproof.verifier.proofs.claim import query_table

HARD = '",()\\ \n\t=:a1-\u202e\u00e9\u05d0'
NAMES = st.text(alphabet=st.sampled_from(HARD), max_size=5) | st.text(max_size=5)
"""Names of all sorts, most of them of what has a meaning in the text of a query."""


@st.composite
def hard_policies(draw: st.DrawFn) -> Policy:
    """A label attribute with hard labels, and numbers, under hard names."""
    names = draw(st.lists(NAMES, min_size=4, max_size=4, unique=True))
    labels = draw(st.lists(NAMES, min_size=2, max_size=3, unique=True))
    kinds: list[Attribute] = [
        Labels(labels, ordered=True),
        Labels([3, -1, 20], ordered=True),
        Integers(-2, 5),
        Steps("1/2", "7/2", "1/2"),
    ]
    named = draw(st.lists(NAMES.filter(bool), min_size=1, max_size=2, unique=True))
    return Policy(
        domain=Domain(dict(zip(names, kinds, strict=True))),
        queries=tuple(NamedCount(name, [{names[2]: k}]) for k, name in enumerate(named)),
    )


def texts(policy: Policy, draw: Any) -> str:
    """The canonical text of a query, from arguments that are known."""
    names = [*policy.domain.names]
    some = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    place = draw(st.integers(0, 3))
    attribute = policy.domain.attribute(place)
    ends = sorted(draw(st.integers(0, attribute.size - 1)) for _ in range(2))
    values = [str(attribute.value(end)) for end in ends]
    return draw(
        st.sampled_from([
            query_name("marginal", some),
            query_name("cumulative", [names[place]]),
            query_name("range", [names[place], *values]),
            query_name("sum", names[2:]),
            query_name("count", [policy.queries[-1].name]),
        ])
    )  # fmt: skip


@given(st.data())
def test_a_canonical_text_reads_back_to_the_same_query(data: st.DataObject) -> None:
    policy = data.draw(hard_policies())
    text = texts(policy, data.draw)
    query = parse_query(text, policy)
    assert query.name == text
    assert parse_query(query.name, policy) == query
    spaced = text.replace("(", " (\n ", 1) if '"' not in text else f" {text} "
    assert parse_query(spaced, policy) == query


@given(st.lists(NAMES, min_size=1, max_size=3), st.lists(NAMES, min_size=1, max_size=3))
def test_two_lists_of_names_never_have_one_text(one: list[str], two: list[str]) -> None:
    first, second = query_name("marginal", one), query_name("marginal", two)
    assert (first == second) == (one == two)
    assert query_arguments(first) == one
    assert first.isprintable()


@given(st.data())
def test_the_kernel_names_a_query_so_that_it_reads_back(data: st.DataObject) -> None:
    """In ASCII, on one line; it need not be the same text, as it quotes more."""
    import json

    from blowproof.models.files.writing import canonical

    policy = data.draw(hard_policies())
    query = parse_query(texts(policy, data.draw), policy)
    told = Bound(Read(json.loads(canonical(policy))), query_table(query, policy)).text
    assert told.isascii() and told.isprintable()
    assert parse_query(told, policy) == query


TWO = Policy(
    domain=Domain({"a,b": Labels(["p", "q"]), "a": Labels(["p", "q"]), "b": Integers(0, 3)})
)


def test_attack_an_attribute_named_a_comma_b() -> None:
    """`marginal(a,b)` was the name of two queries."""
    two, one = parse_query("marginal(a,b)", TWO), parse_query('marginal("a,b")', TWO)
    assert two != one
    assert (two.name, one.name) == ("marginal(a,b)", 'marginal("a,b")')


def test_attack_a_name_that_holds_a_quote() -> None:
    names = ['a"', '"', 'a","b', "a\\", '\\"', "a\nb", ""]
    policy = Policy(domain=Domain({name: Labels(["p", "q"]) for name in names}))
    told = {parse_query(query_name("marginal", [name]), policy).name for name in names}
    assert len(told) == len(names)


def test_integers_as_labels_have_ranges() -> None:
    policy = Policy(domain=Domain(x=Labels([3, 1, 2], ordered=True)), known=(Count({"x": 1}),))
    assert parse_query("range(x, 3, 1)", policy).name == "range(x,3,1)"


@pytest.mark.parametrize(
    "text",
    ['marginal("a,b)', 'marginal("a,b"x)', 'marginal("a\\,b")', "marginal(a,)", "marginal(,a)",
     "marginal()", "histogram()", "cumulative(a,b)", 'marginal("a,b"'],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(QueryError, match="try: "):
        parse_query(text, TWO)
