"""A search whose tasks run elsewhere finds what it finds here, whatever is lost on the way."""

import pickle
import random
from itertools import product

import pytest

from blowproof.models import Domain, Labels, Marginal, Policy, parse_query
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.engines.farmed import farm
from blowproof.verifier.engines.farmed.farm import farmed_to
from blowproof.verifier.engines.farmed.workers import work
from blowproof.verifier.engines.irreducibles import choice, longest, trace, warm_up
from blowproof.verifier.engines.irreducibles.choice import searched_by
from blowproof.verifier.proofs import margins
from blowproof.verifier.proofs.write import certify_answer


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """Even short searches are handed over, in small tasks."""
    warm_up()
    monkeypatch.setattr(farm, "ALONE", 0.0)
    monkeypatch.setattr(farm, "EACH", 0.0)  # a node at a time, however fast the machine is
    monkeypatch.setattr(farm, "FIRST_NODES", 1)
    monkeypatch.setattr(choice, "PLAIN_EFFECTS", 0)


class Here:
    """Workers that run tasks one at a time, in any order, and lose some of them."""

    def __init__(self, many, lost=0.0, seed=0):
        self.many, self.lost = many, lost
        self.rng, self.ran, self.ended, self.least = random.Random(seed), 0, 0, []

    def begin(self, tree):
        return pickle.dumps(tree), []

    def submit(self, tree, number, task, above, nodes):
        self.least.append(above)
        tree[1].append((number, pickle.dumps((task, above, nodes))))

    def back(self, tree, seconds):
        number, blob = tree[1].pop(self.rng.randrange(len(tree[1])))
        self.ran += 1
        if self.rng.random() < self.lost:
            return [(number, None)]
        return [(number, work(pickle.loads(tree[0]), *pickle.loads(blob)))]

    def end(self, tree):
        self.ended += 1


def one_way(*shape):
    """The effects of one change of a record on the one-way margins of a table."""
    cells = list(product(*map(range, shape)))
    keys = [(i, x) for i, values in enumerate(shape) for x in range(values)]
    signatures = [tuple(int(cell[i] == x) for i, x in keys) for cell in cells]
    found = {
        tuple(x - y for x, y in zip(a, b, strict=True)) for a in signatures for b in signatures
    }
    return sorted(d for d in found if any(d))


@pytest.mark.parametrize(("many", "lost"), [(1, 0.0), (2, 0.2), (8, 0.2)])
def test_any_number_of_workers_gives_the_same_answer(many, lost):
    """Workers that die cost their tasks, which are run again, and nothing else."""
    workers = Here(many, lost, seed=many)
    with searched_by(farmed_to(workers)):
        found = longest(one_way(2, 4), time_limit=60)
    assert (found.lower, found.upper, found.complete) == (12, 12, True)
    assert workers.ran > many and workers.ended == 1
    assert set(workers.least) == {12}  # what is known is told to every task


def test_a_task_that_kills_every_worker_proves_nothing():
    workers = Here(2, lost=1.0)
    with searched_by(farmed_to(workers)):
        found = longest(one_way(2, 4), time_limit=60)
    assert not found.complete and found.upper is not None and found.upper >= 12
    assert workers.ended == 1


def test_the_pieces_of_a_proof_are_one_proof(monkeypatch):
    """The kernel, which knows no tasks, accepts what many workers have written."""
    monkeypatch.setattr(margins, "_known", {})  # whatever other tests have found
    monkeypatch.setattr(trace, "PLAIN_EFFECTS", 0)
    monkeypatch.setattr(trace, "SLICE", 20)
    two = Labels(["0", "1"])
    domain = Domain(a=two, b=two, c=two, name=Labels(["x", "y"]))
    policy = Policy(domain=domain, known=tuple(Marginal([name]) for name in "abc"))
    workers = Here(3, lost=0.1)
    with searched_by(farmed_to(workers)):
        answer, found = certify_answer(
            policy, parse_query("histogram", policy), sensitivity(policy)
        )
    assert (answer.status, answer.lower, found.kind) == ("proved", 20, "margins")
    assert workers.ran > 3
