"""A search that is cut into tasks finds what it finds in one piece, and its proof is one proof."""

import pickle
import random
from itertools import product

import pytest

from blowproof.models import Domain, Labels, Marginal, Policy, parse_query
from blowproof.models.base.clock import Budget
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.engines.irreducibles import irreducibles, lanes, longest, trace, warm_up
from blowproof.verifier.engines.irreducibles.choice import identity, searched_by
from blowproof.verifier.engines.irreducibles.lanes import Lanes
from blowproof.verifier.engines.irreducibles.multiset import canonical
from blowproof.verifier.engines.irreducibles.search_compiled import DOUBLED, Tree
from blowproof.verifier.engines.irreducibles.symmetry import automorphisms
from blowproof.verifier.engines.irreducibles.tasks import Fragment, Split, fragment
from blowproof.verifier.exact.coordinates import Instance
from blowproof.verifier.proofs import margins
from blowproof.verifier.proofs.write import certify_answer


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    warm_up()


def one_way(*shape):
    """The effects of one change of a record on the one-way margins of a table."""
    cells = list(product(*map(range, shape)))
    keys = [(i, x) for i, values in enumerate(shape) for x in range(values)]
    signatures = [tuple(int(cell[i] == x) for i, x in keys) for cell in cells]
    found = {
        tuple(x - y for x, y in zip(a, b, strict=True)) for a in signatures for b in signatures
    }
    return sorted(d for d in found if any(d))


def run_all(split, *, nodes, seed=0, lost=0.0):
    """Run every task in any order, as if elsewhere; some are lost there and run again."""
    rng = random.Random(seed)
    found = []
    while not split.done:
        under_way = [split.next() for _ in range(rng.randint(1, max(1, len(split.waiting))))]
        rng.shuffle(under_way)
        for number, task in filter(None, under_way):
            if rng.random() < lost:
                split.again(number)
                continue
            sent = pickle.loads(pickle.dumps((split.tree, task)))
            part = fragment(*sent, nodes=nodes)
            found += [canonical(members) for members, _ in part.found]
            split.take(number, part)
    return found


@pytest.mark.parametrize("nodes", [1, 7, 100])
def test_tasks_in_any_order_find_everything_once(nodes):
    instance = Instance.of(one_way(2, 3))
    split = Split(Tree.of(instance, identity(instance), eager=False))
    found = run_all(split, nodes=nodes, seed=nodes, lost=0.2)
    assert split.complete
    assert sorted(found) == sorted(irreducibles(instance.effects))
    assert len(split.rest) > 1


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 2), (2, 4)], ids=str)
def test_tasks_with_symmetries_meet_an_image_of_everything(shape):
    instance = Instance.of(one_way(*shape))
    symmetries = automorphisms(instance)
    split = Split(Tree.of(instance, symmetries, eager=False))
    reduced = run_all(split, nodes=3, seed=1)
    images = {
        canonical([int(p[i]) for i, times in m for _ in range(times)])
        for p in symmetries
        for m in reduced
    }
    assert images == set(irreducibles(instance.effects))


def test_a_search_cut_beforehand():
    instance = Instance.of(one_way(2, 4))
    split = Split(Tree.of(instance, automorphisms(instance), eager=False))
    found = [canonical(members) for members, _ in split.cut(12)]
    assert len(split.waiting) >= 12
    found += run_all(split, nodes=10**6)
    assert split.complete
    assert max(sum(times for _, times in m) for m in found) == 12


def test_a_task_that_never_came_back_proves_nothing():
    instance = Instance.of(one_way(2, 3))
    split = Split(Tree.of(instance, identity(instance), eager=False))
    split.cut(3)
    first = split.next()
    assert first is not None
    number, _ = first  # under way, for ever
    run_all_but(split)
    assert number in split.tasks
    assert (split.done, split.complete) == (False, False)
    split.take(number, Fragment(stuck=True))
    assert (split.done, split.complete) == (True, False)


def run_all_but(split):
    while (waiting := split.next()) is not None:
        split.take(waiting[0], fragment(split.tree, waiting[1], nodes=10**6))


def test_lanes_find_what_one_finds(monkeypatch):
    monkeypatch.setattr(lanes, "FIRST_SLICE", 8)
    monkeypatch.setattr(lanes, "SLICE", 0.0)
    for shape, length in (((2, 4), 12), ((2, 5), 18)):
        made: list[Lanes] = []

        def crew(tree, made=made):
            made.append(Lanes(tree, 3))
            return made[-1]

        with searched_by(crew):
            found = longest(one_way(*shape), time_limit=60)
        assert (found.lower, found.upper, found.complete) == (length, length, True)
        assert len(made[-1].split.rest) > 1


def test_the_proofs_of_tasks_are_one_proof(monkeypatch):
    """The kernel, which knows no tasks, accepts the walk that they are put together to."""
    monkeypatch.setattr(margins, "_known", {})
    monkeypatch.setattr(trace, "PLAIN_EFFECTS", 0)
    monkeypatch.setattr(lanes, "FIRST_SLICE", 8)
    monkeypatch.setattr(lanes, "SLICE", 0.0)
    monkeypatch.setattr(lanes, "ALONE", 0.0)
    monkeypatch.setattr(lanes, "cores", lambda: 3)
    cut: list[int] = []
    rows = Split.rows

    def noted(split):
        cut.append(len(split.rest))
        return rows(split)

    monkeypatch.setattr(Split, "rows", noted)
    two = Labels(["0", "1"])
    domain = Domain(a=two, b=two, c=two, name=Labels(["x", "y"]))
    policy = Policy(domain=domain, known=tuple(Marginal([name]) for name in "abc"))
    answer, found = certify_answer(policy, parse_query("histogram", policy), sensitivity(policy))
    assert (answer.status, answer.lower, found.kind) == ("proved", 20, "margins")
    (tasks,) = cut  # one core did not have to search again
    assert tasks > 1


def test_large_sums_of_parts_are_counted_as_work():
    """A node is priced by its effects; the table of its sums may be a thousand times as long."""
    instance = Instance.of(one_way(4, 4, 3))
    used = []
    for nodes in (2, 16):
        crew = Lanes(Tree.of(instance, identity(instance)), 1)
        with Budget() as budget:
            while crew.nodes < nodes:
                crew.advance(nodes - crew.nodes)
            used.append((budget.used, len(crew.first.state.sums)))
        assert crew.first.owing() == 0
    (less, few), (more, many) = used
    assert many > 4 * few
    assert more - less > many * DOUBLED
