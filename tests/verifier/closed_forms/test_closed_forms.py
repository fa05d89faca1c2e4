"""Closed forms against the exact engine, form by form, on families of small policies.

Every repaired form must hold on every instance; a printed one must hold unless a counterexample is
on record, and every counterexample on record is checked again, by brute force where it can be.
"""

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from blowproof.cli.main import run
from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Full,
    Impossible,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    PartitionCells,
    Policy,
    PolicyError,
    Steps,
    Sum,
    parse_query,
)
from blowproof.models.policy.readings import is_labelled
from blowproof.models.queries.kinds import ClusterSizes, ClusterSums, Histogram, WeightedSum
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.closed_forms import FORMS, Case, closed_forms, degree_policy
from blowproof.verifier.engines.one_move.by_structure import largest_change, listed_change
from blowproof.verifier.theorems.affine_frames import kernel

LIMIT = 2
ALL = {form.id: form for form in FORMS}
PAPERS = ("blowfish-2014/", "designing-statistical-privacy-2015/", "exact-cuboids-draft/")


def some(*beginnings: str):
    return tuple(form for form in FORMS if form.id.startswith(beginnings))


def table(*sizes: int, low: int = 1) -> Domain:
    return Domain({"abcd"[i]: Integers(low, low + size - 1) for i, size in enumerate(sizes)})


def line(size: int, theta: int, *ranges: tuple[int, int]) -> Policy:
    known = tuple(Count({"a": Between(*ends)}) for ends in ranges)
    return Policy(domain=table(size), secrets=Distance(threshold=theta), known=known)


def marginals(domain: Domain, *names: str, secrets=None) -> Policy:
    known = tuple(Marginal(list(name)) for name in names)
    return Policy(domain=domain, secrets=secrets or Full(), known=known)


def check(policy: Policy, query="histogram", forms=FORMS) -> dict[str, set[str]]:
    """Hold every form that applies against the engine; return the readings each applied in."""
    applied: dict[str, set[str]] = {}
    for result in closed_forms(policy, query, time_limit=LIMIT, forms=forms):
        if result.applies:
            applied.setdefault(result.form.id, set()).add(result.reading)
            where = f"{result.form.id} {result.reading} {policy!r} {query!r}"
            said = f"{result.form.relation} {result.value}, exact {result.lower}..{result.upper}"
            assert result.agrees is not False or result.recorded_wrong, f"{where}: {said}"
        else:
            assert result.why_not and not result.why_not.endswith(".")
    return applied


# --- the catalogue -------------------------------------------------------------------------------


def test_the_catalogue_is_well_formed():
    assert len(ALL) == len(FORMS)
    for form in FORMS:
        assert form.id.startswith((*PAPERS, "blowproof/")), form.id
        assert form.argument, form.id
        assert form.statement.endswith(".") and form.source
        assert not (form.status == "repaired" and form.wrong)


@pytest.mark.parametrize("form", [form for form in FORMS if form.wrong], ids=lambda form: form.id)
def test_recorded_counterexamples_are_counterexamples(form):
    for item in form.wrong:
        case = Case(item.policy, item.query, LIMIT)
        assert form.why_not(case) is None
        assert form.value(case) == item.claimed
        assert item.reading in form.readings
        broken = {"<=": item.exact > item.claimed, ">=": item.exact < item.claimed}
        assert broken.get(form.relation, item.exact != item.claimed)
        assert confirmed(item), item


def confirmed(item) -> bool:
    """Whether brute force reaches `exact`, and no more on databases of the sizes that it tries."""
    if item.before:
        return stands(item)
    policy = item.policy
    if item.query.per_record:
        policy = Policy(
            domain=policy.domain,
            secrets=policy.secrets,
            database=Database(size=len(item.query.weights), answers="given"),
        )
    most = min(4, 1 + item.exact // 2) if is_labelled(item.reading) else min(4, 1 + item.exact)
    found = sensitivity(
        policy, item.query, reading=item.reading, engine="brute", max_size=int(most)
    )
    return found.lower == item.exact


def stands(item) -> bool:
    """Whether a recorded pair are neighbours with that change, by the definitions alone."""
    policy, pairs = item.policy, list(zip(item.before, item.after, strict=True))
    if item.reading == "add-remove":
        moves = [(-1, x) for x in item.before] + [(1, y) for y in item.after]
        effects = [[sign * n for n in policy.signature(x)] for sign, x in moves]
        change: Counter[Any] = Counter()
        for sign, x in moves:
            change[x] += sign
    else:  # one secret move: 3(a) is empty, and 3(b) asks for parts that contain it
        secret = [policy.graph.is_edge(x, y) for x, y in pairs]
        assert item.reading == "published"
        assert sum(secret) == 1
        signed = [(policy.signature(x), policy.signature(y)) for x, y in pairs]
        effects = [[b - a for a, b in zip(*ends, strict=True)] for ends in signed]
        change = Counter(item.after)
        change.subtract(Counter(item.before))
    assert sum(map(abs, change.values())) == item.exact
    found = [
        part
        for size in range(1, len(effects) + 1)
        for part in combinations(range(len(effects)), size)
        if not any(map(sum, zip(*(effects[place] for place in part), strict=True)))
    ]
    return found == [tuple(range(len(effects)))]


# --- nothing is known ----------------------------------------------------------------------------

CELLS = PartitionCells([{"a": [1, 3]}, {"a": 2}])
SECRETS: list[Any] = [
    Full(),
    AttributeChange(),
    Distance(threshold=1),
    Distance(threshold="5/2", metric="linf"),
    Distance(threshold=2, metric="l2", strict=True),
    PartitionBy(["a"]),
]


@pytest.mark.parametrize("sizes", [(1,), (2,), (3,), (4,), (2, 3), (1, 2)])
def test_without_facts_against_the_engine(sizes):
    for low in (-1, 1):
        domain = table(*sizes, low=low)
        secrets: list[Any] = [*SECRETS, *([CELLS] if sizes == (3,) and low == 1 else [])]
        for kind in secrets:
            policy = Policy(domain=domain, secrets=kind)
            queries = ["histogram", "cumulative(a)", "ranges(a)", "sum(a)", f"range(a,{low},{low})"]
            queries += ["sum(a,b)", "marginal(b)"] if len(sizes) > 1 else []
            for query in [*queries, *(["partition"] if kind.kind == "partition" else [])]:
                assert "blowproof/no-facts" in check(policy, query)


def test_clusters_against_the_engine():
    for low, size, theta in [(0, 1, 1), (1, 2, 1), (-1, 3, 2), (0, 4, 3)]:
        kinds: list[Any] = [Full(), AttributeChange(), PartitionBy(["a"])]
        for secrets in [*kinds, Distance(threshold=theta)]:
            policy = Policy(domain=table(size, low=low), secrets=secrets)
            for places in ((0,), (1, 2), (2, 1, 0)):
                centroids = tuple((place,) for place in places)
                for kind in (ClusterSizes, ClusterSums):
                    check(policy, kind(policy.domain, centroids, kind.name))


@pytest.mark.parametrize("weights", [(1,), (-1,), (2, -3), (0, Fraction(1, 2))])
def test_weighted_sums_against_the_engine(weights):
    cases: list[Any] = [(1, Full()), (2, Full()), (3, Distance(threshold=1))]
    for size, secrets in cases:
        policy = Policy(domain=table(size), secrets=secrets)
        query = WeightedSum(policy.domain, 0, weights, "weighted-sum")
        assert "blowfish-2014/section-5-linear-sum-repaired" in check(policy, query)


def test_the_structure_says_what_the_edges_say():
    mixed = Domain(a=Integers(0, 3), b=Steps(0, 6, 2), c=Labels(["x", "y"]))
    odd = Domain(a=Steps(0, 2, "1/2"), b=Steps(0, 2, "2/3"))
    metrics = [(m, t) for m in ("l1", "l2", "linf") for t in (1, 2, 3, "7/2", 5, 9)]
    for domain in (mixed, odd, table(3, 4, 2)):
        secrets: list[Any] = [Distance(threshold=t, metric=m) for m, t in metrics]
        secrets += [AttributeChange(changes=2), PartitionBy(["b"]), Full()]
        for kind in secrets:
            policy = Policy(domain=domain, secrets=kind)
            for text in ("histogram", "sum(a,b)", "sum(b)", "cumulative(b)", "ranges(a)",
                         "marginal(b)", "range(b,2,2)"):  # fmt: skip
                query = parse_query(text, policy)
                assert largest_change(policy, query) == listed_change(policy, query), (kind, text)


def test_listed_partitions_too():
    domain = table(4, 3)
    cells: list[Any] = [[{"a": [1, 4], "b": [1, 2]}, {"a": 3, "b": 3}], {"a": [2, 3], "b": [1, 2]}]
    rest = {"a": [1, 2, 4], "b": 3}
    policy = Policy(domain=domain, secrets=PartitionCells([*cells, rest]))
    for text in ("histogram", "sum(a,b)", "sum(a)", "cumulative(b)", "ranges(a)", "marginal(b)",
                 "range(b,2,2)", "partition"):  # fmt: skip
        query = parse_query(text, policy)
        assert largest_change(policy, query) == listed_change(policy, query), text


def test_a_domain_of_ten_to_the_twelve_is_not_listed():
    domain = Domain(a=Integers(0, 10**6 - 1), b=Integers(0, 10**6 - 1))
    far = 10**6 - 1
    expected: dict[Any, int] = {
        (Full(), "sum(a,b)"): 2 * far,
        (Full(), "ranges(a)"): 500_000 * 500_001,
        (AttributeChange(), "sum(a,b)"): far,
        (Distance(threshold=7), "sum(a,b)"): 7,
        (Distance(threshold=5, metric="l2"), "sum(a,b)"): 7,
        (Distance(threshold=7, metric="linf"), "sum(a,b)"): 14,
        (Distance(threshold=10**9), "cumulative(a)"): far,
        (PartitionBy(["a"]), "cumulative(a)"): 0,
        (PartitionBy(["a"]), "histogram"): 2,
        (PartitionCells([{"a": {"max": 9}}, {"a": {"min": 10}}]), "sum(a)"): far - 10,
        (Distance(threshold=1), "range(a,0,9)"): 1,
    }
    for (secrets, text), value in expected.items():
        policy = Policy(domain=domain, secrets=secrets)
        assert largest_change(policy, parse_query(text, policy)) == value, (secrets, text)


# --- known counts --------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (3, 2), (2, 3), (5, 2)])
def test_marginals_against_the_engine(sizes):
    domain = table(*sizes)
    for secrets in (Full(), AttributeChange()):
        applied = check(marginals(domain, "a", secrets=secrets))
        name = "8.4" if secrets.kind == "full" else "8.5"
        assert f"blowfish-2014/theorem-{name}-repaired" in applied
    both = marginals(domain, "a", "b", secrets=AttributeChange())
    check(both, forms=some("blowfish-2014/theorem-8.5-repaired"))


def test_three_attributes_and_attribute_secrets():
    only = some("blowfish-2014/theorem-8.5-repaired")
    for sizes, names in [((2, 2, 2), ("ab",)), ((3, 1, 2), ("a", "c")), ((2, 3, 2), ("ab", "c"))]:
        policy = marginals(table(*sizes), *names, secrets=AttributeChange())
        assert check(policy, forms=only)


def test_the_odd_cycle_over_two_values():
    policy = marginals(table(3, 2), "a", secrets=AttributeChange())
    case = Case(policy, Histogram())
    assert ALL["blowfish-2014/theorem-8.5"].value(case) == 6
    assert ALL["blowfish-2014/theorem-8.5-repaired"].value(case) == 4
    assert sensitivity(policy, reading="secret-moves", engine="brute", max_size=3).lower == 4


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_ranges_on_a_line_against_the_engine(size):
    ends = [(low, high) for low in range(1, size + 1) for high in range(low, size + 1)]
    chosen = [(), *((one,) for one in ends)]
    chosen += [(x, y) for x, y in combinations(ends, 2) if x[1] < y[0]]
    for ranges in chosen:
        for theta in (1, 2):
            check(line(size, theta, *ranges), forms=some("blowfish-2014/", "blowproof/"))


@pytest.mark.parametrize(
    "ranges", [((1, 2), (4, 5)), ((1, 2), (3, 4), (5, 6)), ((1, 1), (2, 2), (4, 6))]
)
def test_more_ranges_with_secret_moves(ranges):
    only = tuple(form for form in FORMS if form.readings == ("secret-moves",))
    for theta in (1, 2, 3):
        applied = check(line(6, theta, *ranges), forms=only)
        assert "blowfish-2014/theorem-8.6-repaired" in applied


def test_stars_and_listed_edges():
    domain = Domain(a=Labels("vwxyz"))
    pairs = [({"a": "v"}, {"a": other}) for other in "wxyz"]
    for facts in (("v",), ("w", "x"), ("wx", "yz"), ("v", "wxyz")):
        known = tuple(Count({"a": list(letters)}) for letters in facts)
        policy = Policy(domain=domain, secrets=Edges(pairs), known=known)
        only = tuple(form for form in FORMS if form.readings == ("secret-moves",))
        assert check(policy, forms=only)


# --- few signatures ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "facts"),
    [
        (4, [(1, 2)]),
        (4, [(1,), (2,)]),
        (5, [(1, 2), (2, 3)]),
        (8, [(1, 2, 3, 4), (3, 4, 5, 6)]),
        (7, [(1, 2, 3, 4), (3, 4, 5, 6)]),
        (6, [(1, 2), (2, 3), (3, 4)]),
        (6, [(1, 2, 3), (1, 4)]),
        (5, [(1,), (2,), (3,), (1, 2, 3)]),
        (8, [(1, 2), (1, 3, 4), (1, 5)]),
    ],
)
def test_few_signatures_against_the_engine(size, facts):
    known = tuple(Count({"a": list(values)}) for values in facts)
    for extra in ((), (Impossible({"a": size}),)):
        applied = check(
            Policy(domain=table(size), known=(*known, *extra)), forms=some("blowproof/")
        )
        assert any("signatures" in name or "dependency" in name for name in applied)


def test_sums_with_larger_kernels():
    for times in (2, 3, -2):
        known = (Sum([(times, {"a": [1, 2]}), (1, {"a": [3, 4]})]),)
        applied = check(Policy(domain=table(6), known=known), forms=some("blowproof/"))
        assert "blowproof/one-affine-dependency" in applied


def test_kernels_are_primitive():
    assert kernel([(0,), (2,), (3,)]) == ((1, -3, 2),)
    assert kernel([(0,), (1,)]) == ()
    assert len(kernel([(0,), (1,), (2,), (3,)])) == 2


# --- cuboids and graphs --------------------------------------------------------------------------

CUBOIDS = some("exact-cuboids-draft/")


@pytest.mark.parametrize("sizes", [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (2, 1, 2), (2, 2, 2)])
def test_cuboids_against_the_engine(sizes):
    names = ["".join(c) for r in (1, 2) for c in combinations("abc"[: len(sizes)], r)]
    for known in [*((one,) for one in names), *combinations(names, 2)]:
        policy = marginals(table(*sizes), *known)
        assert f"{PAPERS[2]}lemma-4.3-repaired" in check(policy, forms=CUBOIDS)
        for asked in names:
            check(policy, f"marginal({','.join(asked)})", forms=CUBOIDS)


@pytest.mark.parametrize("rows", range(4))
@pytest.mark.parametrize("columns", range(4))
def test_partial_knowledge_of_two_cuboids(rows, columns):
    known = [Count({"a": i + 1}) for i in range(rows)]
    known += [Count({"b": i + 1}) for i in range(columns)]
    for domain in (table(3, 3), table(3, 3, 2), table(4, 3)):
        policy = Policy(domain=domain, known=tuple(known))
        assert f"{PAPERS[2]}lemma-4.3-repaired" in check(policy, forms=CUBOIDS)


def test_partial_knowledge_with_a_shared_attribute():
    cells = [
        {"a": 1, "b": 1},
        {"a": 1, "b": 2},
        {"a": 2, "b": 1},
        {"a": 1, "c": 2},
        {"c": 1, "a": 2},
    ]
    for count in range(len(cells) + 1):
        policy = Policy(domain=table(2, 3, 3), known=tuple(map(Count, cells[:count])))
        check(policy, forms=CUBOIDS)


@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_three_cuboids(size):
    policy = marginals(table(2, size, 2), "a", "b", "c")
    rows = closed_forms(policy, time_limit=20, forms=some(f"{PAPERS[2]}section-4.1"))
    repaired = next(row for row in rows if row.form.status == "repaired")
    assert repaired.agrees, (repaired.value, repaired.lower, repaired.upper)


@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_degrees_against_the_engine(nodes):
    names = "abcdef"[:nodes]
    for known in range(nodes + 1):
        policy = degree_policy(names, names[:known])
        assert f"{PAPERS[2]}lemma-5.1-undirected-repaired" in check(policy, forms=CUBOIDS)


@pytest.mark.parametrize("nodes", [2, 3])
def test_in_and_out_degrees_against_the_engine(nodes):
    whole = degree_policy("abc"[:nodes], directed=True)
    for sources in range(nodes + 1):
        for targets in range(nodes + 1):
            known = (*whole.known[:sources], *whole.known[nodes : nodes + targets])
            policy = Policy(domain=whole.domain, known=known)
            assert f"{PAPERS[2]}lemma-5.1-directed-repaired" in check(policy, forms=CUBOIDS)


def test_simple_graphs_are_given_and_bounded():
    cycle = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    policy = degree_policy("abcd", edges=cycle, simple=True)
    found = sensitivity(policy, reading="add-remove", time_limit=10)
    assert (found.lower, found.upper, found.answers) == (4, 4, "given")
    assert not check(policy)


@pytest.mark.parametrize(
    "arguments",
    [
        {"nodes": ["a"]},
        {"nodes": ["a", "a"]},
        {"nodes": ["a", "b"], "known": ["c"]},
        {"nodes": ["a", "b"], "simple": True},
    ],
)
def test_graphs_that_are_none(arguments):
    with pytest.raises(PolicyError):
        degree_policy(**arguments)


# --- the command ---------------------------------------------------------------------------------

POLICY = """
[domain]
a = { min = 1, max = 3 }
b = { min = 1, max = 2 }
[secrets]
kind = "attribute"
[[known]]
marginal = ["a"]
"""
KEYS = [
    *("id", "source", "statement", "status", "recorded_wrong", "applies", "why_not", "reading"),
    *("answers", "relation", "value", "exact_lower", "exact_upper", "agrees"),
]


@pytest.fixture
def policy_file(tmp_path):
    path = tmp_path / "odd.toml"
    path.write_text(POLICY, encoding="utf-8")
    return str(path)


def test_the_command_in_json(capsys, policy_file):
    assert run(["closed-forms", policy_file, "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert err == ""
    assert (found["schema"], found["policy"]) == ("blowproof/closed-forms/1", "odd")
    assert found["query"] == "histogram"
    assert all(list(item) == KEYS for item in found["forms"])
    rows = {(item["id"], item["reading"]): item for item in found["forms"]}
    printed = rows["blowfish-2014/theorem-8.5", "secret-moves"]
    assert (printed["value"], printed["exact_lower"], printed["agrees"]) == (6, 4, False)
    assert printed["recorded_wrong"] and printed["status"] == "printed"
    repaired = rows["blowfish-2014/theorem-8.5-repaired", "secret-moves"]
    assert (repaired["value"], repaired["agrees"], repaired["why_not"]) == (4, True, None)
    other = rows["blowfish-2014/theorem-8.4", "published"]
    assert not other["applies"] and other["value"] is None and other["agrees"] is None
    assert "full" in other["why_not"]


def test_the_command_for_people(capsys, policy_file):
    assert run(["closed-forms", policy_file]) == 0
    out, _ = capsys.readouterr()
    assert "Wrong, as is known of it: too large." in out
    assert "They agree." in out


def test_the_command_and_bad_input(capsys, policy_file):
    assert run(["closed-forms", policy_file, "--query", "nothing"]) == 2
    assert run(["closed-forms", "missing.toml"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "nothing" in err


def test_a_form_that_fails_unrecorded_is_exit_code_1(capsys, policy_file, monkeypatch):
    from blowproof.verifier.closed_forms import catalogue

    liar = ALL["blowfish-2014/theorem-8.5-repaired"]
    monkeypatch.setattr(catalogue._Exact, "_bounds", lambda self, reading: (3, 3))
    assert liar.status == "repaired"
    assert run(["closed-forms", policy_file, "--json"]) == 1
    monkeypatch.setattr(catalogue._Exact, "_bounds", lambda self, reading: (0, None))
    assert run(["closed-forms", policy_file, "--json"]) == 3
    capsys.readouterr()
