"""The search for irreducibles and what surrounds it: bounds without a search, compiling, arcs."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import AttributeChange, Domain, Labels, Marginal, Policy, setting
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.irreducibles import (
    circuits_lower_bound,
    irreducibles,
    longest,
    longest_bound,
    warming,
)
from blowproof.verifier.engines.irreducibles.circuits import circuits
from blowproof.verifier.exact.coordinates import Instance, circuit_bound
from blowproof.verifier.neighbours.check import check_pair

Effects = list[tuple[int, ...]]


@st.composite
def closed(draw: st.DrawFn) -> Effects:
    """Effects in rank 1 to 3, closed under negation."""
    rank = draw(st.integers(1, 3))
    vectors = st.tuples(*[st.integers(-2, 2)] * rank).filter(any)
    drawn = draw(st.lists(vectors, min_size=1, max_size=4))
    return sorted({v for d in drawn for v in (d, tuple(-x for x in d))})


@given(closed())
@settings(max_examples=60, deadline=None)
def test_bounds_without_a_search_hold(effects: Effects) -> None:
    sizes = [sum(times for _, times in multiset) for multiset in irreducibles(effects)]
    assert max(sizes) <= longest_bound(effects)
    weight, _ = circuits_lower_bound(effects, budget=100)
    assert weight <= circuit_bound(Instance.of(effects))


@given(closed(), st.integers(0, 7))
@settings(max_examples=40, deadline=None)
def test_wanted_circuits_have_a_wanted_effect(effects: Effects, place: int) -> None:
    wanted = {place % len(effects)}
    opposite = effects.index(tuple(-x for x in effects[place % len(effects)]))
    instance = Instance.of(effects)
    for weight, circuit in circuits(instance, 40, wanted=wanted):
        assert wanted & {i for i, _ in circuit} or opposite in {i for i, _ in circuit}
        assert instance.value(weight) <= longest(effects).lower


@pytest.mark.wall_clock
def test_nothing_waits_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the compiler is busy (here: for ever), the plain engine ends small searches alone."""
    monkeypatch.setattr(warming, "_done", threading.Event())
    taken = threading.Lock()
    taken.acquire()
    monkeypatch.setattr(warming, "_first", taken)
    units = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)]
    ends = [(*a, *b) for a in units[1:] for b in units[1:]]
    effects = sorted({tuple(x - y for x, y in zip(a, b, strict=True)) for a in ends for b in ends})
    effects = [effect for effect in effects if any(effect)]
    stopped = longest(effects, time_limit=0.5)
    assert stopped.upper is not None and stopped.lower <= 15 <= stopped.upper
    few = [(x,) for x in (-7, -5, -3, 3, 5, 7)]
    assert longest(few).complete


def test_a_long_cycle_of_the_policy_graph_becomes_a_witness() -> None:
    """Sparse, and too many classes to search: the cycle's arcs are made into moves."""
    domain = Domain({name: Labels(["0", "1", "2"]) for name in "abcdef"})
    known = (Marginal(["a", "b"]), Marginal(["c", "d"]), Marginal(["e", "f"]))
    policy = Policy(domain=domain, known=known, secrets=AttributeChange())
    found = sensitivity(policy, reading="secret-moves")
    assert (found.lower, found.upper, found.status) == (18, 18, "exact")
    assert found.witness is not None and len(found.witness.before) == 9
    prepared = prepare(setting(policy), "secret-moves")
    assert check_pair(prepared, "secret-moves", found.witness)
