"""The bound by singular values, beside all mechanisms of small cases and many of ours."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array, eye, kron

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.expecting.expected import expected
from blowproof.mechanisms.expecting.made_up import made_up
from blowproof.mechanisms.planning import planner
from blowproof.mechanisms.planning.candidates import Candidate
from blowproof.mechanisms.planning.lower_bounds import least_variance, lower_bound
from blowproof.mechanisms.planning.planner import planned
from blowproof.mechanisms.planning.spectral_bound import (
    _how_many,
    change_of_a_step,
    cut_off,
    least_in_a_chain,
    spectral_rmse,
)
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.request import Request
from blowproof.models import (
    Distance,
    Domain,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    parse_query,
    setting,
)

ONE = Fraction(1)


def said(policy, texts, *, epsilon=1.0, rho=None, size=None, weights=None):
    queries = [parse_query(text, policy) for text in texts]
    weights = weights or [1.0] * len(queries)
    return spectral_rmse(queries, weights, setting(policy, None), (epsilon, rho), size)


@pytest.mark.parametrize(("epsilon", "steps", "weights"), [(0.4, 6, (1, 1)), (1.0, 6, (1, 5)),
                                                           (0.7, 4, (1, 0.2))])  # fmt: skip
def test_no_mechanism_at_all_does_better_on_two_chains(epsilon, steps, weights):
    """Two pairs of values: all mechanisms that guess whole numbers, by a linear program."""
    domain = Domain(side=Labels(["l", "r"]), x=Integers(0, 1))
    policy = Policy(domain=domain, secrets=PartitionBy(["side"]))
    bound = said(policy, ["histogram", "sum(x)"], epsilon=epsilon, size=2 * steps, weights=weights)
    states = list(itertools.product(range(steps + 1), repeat=2))
    many, share = len(states), [weight / sum(weights) for weight in weights]
    apart = np.array([[(a - c, b - d) for c, d in states] for a, b in states], dtype=float)
    cost = (
        share[0] * 2 * (apart**2).sum(axis=2) / 4 + share[1] * apart.sum(axis=2) ** 2
    )  # of the cells; of their sum
    steps_at = [(i, j) for i, j in itertools.permutations(range(many), 2)
                if abs(apart[i, j]).sum() == 1]  # fmt: skip
    rows = np.arange(len(steps_at))
    one, two = np.array(steps_at).T
    pairs = coo_array(
        (np.r_[np.ones(len(rows)), np.full(len(rows), -math.exp(epsilon))],
         (np.r_[rows, rows], np.r_[one, two])), shape=(len(rows), many),
    )  # fmt: skip
    private = kron(pairs, eye(many))
    worst = kron(eye(many), np.ones((1, many))).multiply(cost.ravel())
    bounded = coo_array(np.block([[worst.toarray(), -np.ones((many, 1))]]))
    wide = coo_array((private.shape[0], 1))
    from scipy.sparse import hstack, vstack

    program = linprog(  # type: ignore[call-overload] # its stubs know no sparse rows
        np.r_[np.zeros(many * many), 1.0],
        A_ub=vstack([hstack([private, wide]), bounded]),
        b_ub=np.zeros(private.shape[0] + many),
        A_eq=hstack([kron(eye(many), np.ones((1, many))), coo_array((many, 1))]),
        b_eq=np.ones(many),
        method="highs-ipm",
    )
    assert program.status == 0
    assert bound is not None
    assert 0.1 * math.sqrt(program.fun) < bound <= math.sqrt(program.fun)


@pytest.mark.parametrize("rho", [0.01, 0.1, 0.5])
def test_one_chain_is_that_of_gaussian_noise_from_below(rho):
    """Noise of variance 1 / (2 rho) is what is drawn for one count."""
    change = change_of_a_step(0.0, rho)
    endless = least_in_a_chain(change, None)
    assert 0.5 / (2 * rho) < endless <= 1 / (2 * rho)
    found = [least_in_a_chain(change, steps) for steps in (1, 4, 40, 400, 4_000, 40_000)]
    assert found == sorted(found)
    assert found[-1] <= endless
    assert found[-1] > 0.95 * endless


def test_one_chain_of_a_pure_epsilon_is_below_what_is_known_of_it():
    for epsilon in (0.1, 1.0, 2.0):
        assert least_in_a_chain(change_of_a_step(epsilon, None), None) <= least_variance(
            epsilon, None
        )


def test_what_a_step_changes_is_the_largest_square_of_ratios():
    """All laws over three outputs whose ratios keep to epsilon, on a grid of them."""
    epsilon = 0.8
    ratios = np.exp(np.linspace(-epsilon, epsilon, 41))
    best = 0.0
    for a, b in itertools.product(ratios, repeat=2):
        if (a - 1) * (b - 1) < 0:
            chance = (1 - b) / (a - b)  # the mean of the ratios is 1
            best = max(best, chance * a**2 + (1 - chance) * b**2 - 1)
    assert best == pytest.approx(change_of_a_step(epsilon, None), rel=1e-9)


def test_what_is_cut_off_is_what_lies_beyond():
    """Numbers 0..8 and beyond, drawn around 4 in proportion to exp(-(k - 4)^2 / 18)."""
    chance = {k: math.exp(-((k - 4) ** 2) / 18) for k in range(-70, 80)}
    squares = sum(mass * (k - min(8, max(0, k))) ** 2 for k, mass in chance.items())
    assert cut_off(8, 3.0) == pytest.approx(squares / sum(chance.values()), rel=1e-9)
    shifted = sum(chance[k - 1] ** 2 / chance[k] for k in range(-69, 80)) / sum(chance.values())
    assert shifted == pytest.approx(math.exp(1 / 9), rel=1e-6)


def test_all_moves_between_alike_values_count_alike():
    """A histogram under full secrets: all singular values are equal, (2 / (N - 1))^(1/2)."""
    policy = Policy(domain=Domain(x=Integers(0, 7)))
    found = said(policy, ["histogram"], epsilon=0.5)
    assert found == pytest.approx(math.sqrt(2 * 7 / 8 / (2 * math.cosh(0.5) - 2)), rel=1e-6)


def test_known_facts_and_few_records_say_less():
    domain = Domain(ward=Labels(["a", "b"]), x=Integers(0, 5))
    policy = Policy(domain=domain)
    known = Policy(domain=domain, known=(Marginal(("ward",)),))
    free, less = (said(item, ["histogram", "marginal(x)"]) for item in (policy, known))
    few = said(policy, ["histogram", "marginal(x)"], size=3_000)
    assert less < free
    assert few < free
    assert few > 0.5 * free
    assert said(policy, ["histogram"], size=5) == 0
    near = Policy(domain=domain, secrets=Distance(threshold=1, attributes=["x"]))
    assert said(near, ["histogram"]) <= said(policy, ["histogram"]) * 1.2


POLICIES = {
    "line": Policy(domain=Domain(x=Integers(0, 30)), secrets=Distance(threshold=1)),
    "wide": Policy(domain=Domain(x=Integers(0, 30)), secrets=Distance(threshold=9)),
    "full": Policy(domain=Domain(x=Integers(0, 30))),
}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("query", ["cumulative(x)", "ranges(x)", "histogram"])
@pytest.mark.parametrize("promise", [{"epsilon": ONE}, {"epsilon": Fraction(1, 10)},
                                     {"rho": Fraction(1, 2)}, {"rho": Fraction(1, 200)}],
                         ids=str)  # fmt: skip
def test_no_certified_mechanism_is_below_it(name, query, promise):
    """With errors that do not depend on the data: exact ones, or those of sums of noise."""
    policy = POLICIES[name]
    request = Request(policy=policy, query=query, accept_wide_bounds=True, **promise)
    bound = lower_bound(request.bound, policy, request.epsilon, rho=request.rho,
                        reading="published", answers=None, size=10**6, found=None)  # fmt: skip
    assert bound is not None
    shapes = list(made_up(policy, None, 10**6))
    tried = 0
    for mechanism in ("laplace", "gaussian", "transformed", "table", "strategy"):
        try:
            made = made_ready(mechanism, request)
        except RefusedError:
            continue  # Gaussian noise, for an epsilon
        error = expected(made, shapes, 3)
        assert error is not None
        assert error.rmse >= 0.97 * bound.rmse  # rehearsed to a few percent
        tried += 1
    assert tried > 2


def test_marginals_together_have_a_bound_above_that_of_each(monkeypatch):
    few = [Candidate("gaussian"), Candidate("laplace")]
    monkeypatch.setattr(planner, "candidates", lambda query, policy: iter(few))
    domain = Domain(a=Labels(["1", "2", "3"]), b=Labels(["1", "2", "3", "4"]), c=Integers(0, 4))
    policy = Policy(domain=domain)
    texts = ["marginal(a,b)", "marginal(b,c)", "marginal(a,c)"]
    request = Request(policy=policy, query=texts[0], rho=Fraction(1, 50), accept_wide_bounds=True)
    found = planned(request, workload(texts, [], policy), size=10**6)
    assert found.together is not None
    assert found.chosen is not None
    assert found.bound == found.together.rmse
    assert found.bound > 1.2 * max(item.rmse for item in found.bounds if item is not None)
    assert found.chosen.rmse < 2 * found.bound
    assert all(option.rmse >= found.bound for option in found.options)


def test_fewer_chains_are_longer_where_records_are_few():
    """With three records a value, a chain for every pair of values says next to nothing."""
    policy = Policy(domain=Domain(x=Integers(0, 999)))
    query = parse_query("histogram", policy)
    found = lower_bound(query, policy, Fraction(1, 10), reading="published", answers=None,
                        size=3_000, found=None)  # fmt: skip
    assert found is not None
    for steps in (6, 50):
        chains = min(500, 3_000 // steps)
        alone = math.sqrt(2 * chains * least_variance(0.1, steps) / 1_000)
        assert found.rmse >= alone * 0.999
    assert found.rmse > 2 * math.sqrt(least_variance(0.1, 6))


def test_many_answers_leave_time_for_fewer_values():
    """Every rectangle of a grid is answered for each value; ranges of a line have a formula."""
    grid = Domain(x=Integers(0, 44), y=Integers(0, 44))
    queries = [parse_query(text, Policy(domain=grid))
               for text in ("histogram", "ranges(x)", "rectangles(x,y)")]  # fmt: skip
    assert [_how_many([query], grid) for query in queries] == [120, 120, 93]
    assert _how_many(queries, grid) < 93
