"""The longest cycle of one block by a linear model: propose, refute, cut.

Choose arcs (edges, if the block is symmetric) so that every chosen node has one before and one
after it, as many as possible. That makes disjoint cycles. One cycle: it is a longest one. Several:
each of them is a cycle of the block and gives a lower bound, together they are the start of a
longer one (`joined`); and then they are cut off. Only cycles longer than the best one so far are of
interest, and these do not fit into the nodes S of one of the proposed cycles. So a longer cycle
with a node u of S crosses the border of S: for each u in S,

    (edges between S and the rest) >= 2 * (u is on the cycle).

Where a node is required, this holds for the same reason if S has it, and else because the cycle
has to reach it. The search ends when no longer cycle is left: the model is infeasible, or its
maximum has been reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from blowproof.models import InternalError
from blowproof.models.base.clock import Pace, now
from blowproof.models.programs.linear import IntVar, LinearModel, weighted_sum
from blowproof.verifier.engines.policy_graph.cycle_search import Block, joined
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["improve"]

CUT_NODES = whole_limit(__name__, "CUT_NODES")
ARC = real_limit(__name__, "ARC")


def improve(
    block: Block,
    *,
    floor: int,
    pace: Pace,
    on_cycle: Callable[[Sequence[int]], None],
    on_upper: Callable[[int], None],
) -> None:
    """Report longer and longer cycles, and smaller and smaller upper bounds (of this block).

    Cycles up to `floor` are of no interest: "none is longer" is reported as the upper bound
    `floor`. Returns when the bounds meet, at the deadline, or where a model would not be written
    before that.
    """
    from blowproof.models.programs.to_cpsat import solve

    arcs = sum(map(len, block.following))
    if not pace.fits(arcs * ARC):
        return
    master = _Master(block)
    best, upper = floor, block.upper
    while best < upper:
        if not pace.fits(arcs * ARC):  # it is written for the solver again
            return
        left = None if pace.deadline is None else pace.deadline - now()
        master.demand(best + 1, upper)
        outcome = solve(master.model, time_limit=left)
        if outcome.status == "infeasible":
            return on_upper(best)
        upper = min(upper, upper if outcome.upper is None else outcome.upper)
        on_upper(max(upper, best))
        if outcome.assignment is None:
            return
        cycles = master.cycles(outcome.assignment)
        for cycle in _lengthened(block, cycles, pace):
            if len(cycle) > best:
                best = len(cycle)
                on_cycle(cycle)
        for cycle in cycles:
            if pace.over(arcs * ARC):
                return
            master.cut(cycle)


def _lengthened(block: Block, cycles: Sequence[Sequence[int]], pace: Pace) -> list[Sequence[int]]:
    """Return the cycles that count (those through the required node), lengthened where possible."""
    usable = [c for c in cycles if block.through is None or block.through in c]
    if not usable or not block.symmetric:
        return list(usable)
    longest = max(usable, key=len)
    return [joined(block, longest, [c for c in cycles if c is not longest], pace)]


class _Master:
    """The model: a 0/1 variable per edge and per node, and the cuts so far."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self.model = LinearModel(name="longest cycle")
        self._nodes = [self.model.bool_var(f"node{v}") for v in range(block.size)]
        self._edges: dict[tuple[int, int], IntVar] = {}
        for u, row in enumerate(block.following):
            for v in row:
                if not block.symmetric or u < v:
                    self._edges[u, v] = self.model.bool_var(f"edge{u}_{v}")
        self._add_degrees()
        if block.through is not None:
            self.model.add(self._nodes[block.through], lower=1)
        self.model.maximise(weighted_sum((1, node) for node in self._nodes))

    def _add_degrees(self) -> None:
        out: list[list[IntVar]] = [[] for _ in self._nodes]
        into: list[list[IntVar]] = [[] for _ in self._nodes]
        for (u, v), edge in self._edges.items():
            out[u].append(edge)
            into[v].append(edge)
        for v, node in enumerate(self._nodes):
            if self._block.symmetric:
                touching = weighted_sum((1, edge) for edge in out[v] + into[v])
                self.model.add(touching - 2 * node, lower=0, upper=0)
            else:
                for side in (out[v], into[v]):
                    self.model.add(
                        weighted_sum((1, edge) for edge in side) - node, lower=0, upper=0
                    )

    def demand(self, lower: int, upper: int) -> None:
        """Ask for cycles of so many nodes together; more than `upper` are known to be impossible.

        Saying so spares the solver the proof, in every round in which it gets there.
        """
        self.model.add(weighted_sum((1, node) for node in self._nodes), lower=lower, upper=upper)

    def cycles(self, assignment: dict[str, int]) -> list[list[int]]:
        """Return the disjoint cycles that were chosen."""
        after: dict[int, list[int]] = {}
        for (u, v), edge in self._edges.items():
            if assignment[edge.name]:
                after.setdefault(u, []).append(v)
                if self._block.symmetric:
                    after.setdefault(v, []).append(u)
        found = []
        while after:
            cycle = [next(iter(after))]
            while (steps := after.pop(cycle[-1], None)) is not None:
                cycle += [v for v in steps if v in after][:1]
            found.append(cycle)
        if sum(map(len, found)) != sum(assignment[node.name] for node in self._nodes):
            raise InternalError("the chosen arcs are not disjoint cycles")
        return found

    def cut(self, cycle: Sequence[int]) -> None:
        """Forbid that a longer cycle stays within these nodes, or leaves them out of touch."""
        inside = set(cycle)
        once = 2 if self._block.symmetric else 1
        border = [
            edge
            for (u, v), edge in self._edges.items()
            if (u in inside and v not in inside)
            or (self._block.symmetric and v in inside and u not in inside)
        ]
        crossing = weighted_sum((1, edge) for edge in border)
        for u in cycle[:CUT_NODES]:
            self.model.add(crossing - once * self._nodes[u], lower=0)
