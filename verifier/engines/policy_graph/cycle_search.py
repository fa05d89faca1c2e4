"""Long cycles of one block in plain Python: exact over sets of nodes, or greedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from blowproof.models.base.clock import Pace
from blowproof.models.base.kept import cached_property
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Block", "by_subsets", "greedy_cycle", "joined"]

GREEDY_STARTS = whole_limit(__name__, "GREEDY_STARTS")
ARC = real_limit(__name__, "ARC")


@dataclass(frozen=True)
class Block:
    """A strongly connected digraph on 0, 1, ...: who follows each node, and who must take part."""

    following: tuple[tuple[int, ...], ...]
    through: int | None = None

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.following)

    @cached_property
    def neighbours(self) -> tuple[frozenset[int], ...]:
        """The followers of each node as a set."""
        return tuple(map(frozenset, self.following))

    @cached_property
    def symmetric(self) -> bool:
        """Whether every arc has its opposite."""
        return all(u in self.neighbours[v] for u, row in enumerate(self.following) for v in row)

    @cached_property
    def upper(self) -> int:
        """What no cycle exceeds: the number of nodes, or twice the smaller side if bipartite."""
        sides = self._sides()
        return self.size if sides is None else 2 * min(sides)

    def _sides(self) -> tuple[int, int] | None:
        """Return the sizes of both sides of a bipartite block, else None."""
        colour = {0: 0}
        queue = [0]
        for node in queue:  # strongly connected: all nodes are reached
            for other in self.following[node]:
                if other not in colour:
                    colour[other] = 1 - colour[node]
                    queue.append(other)
                elif colour[other] == colour[node]:
                    return None
        ones = sum(colour.values())
        return self.size - ones, ones


def by_subsets(block: Block) -> tuple[int, ...]:
    """Return a longest cycle: which sets of nodes does a path from the first node run through?

    The first node is the required one, or else each in turn, with the earlier ones gone.

    >>> by_subsets(Block(((1,), (0, 2), (3,), (1,))))
    (1, 2, 3)
    """
    best: tuple[int, ...] = ()
    starts = range(block.size) if block.through is None else (block.through,)
    gone: set[int] = set()
    for start in starts:
        nodes = [start, *(v for v in range(block.size) if v != start and v not in gone)]
        if len(nodes) > len(best):
            cycle = _cycle_from_first(block, nodes)
            best = cycle if len(cycle) > len(best) else best
        gone.add(start)
    return best


def _cycle_from_first(block: Block, nodes: Sequence[int]) -> tuple[int, ...]:
    """Return a longest cycle through nodes[0] within the nodes; bit i of a set is nodes[i]."""
    number = {node: place for place, node in enumerate(nodes)}
    before = [0] * len(nodes)
    for node in nodes:
        for other in block.following[node]:
            if other in number:
                before[number[other]] |= 1 << number[node]
    ends = [0] * (1 << len(nodes))  # for each set with bit 0: where paths through all of it end
    ends[1] = 1
    longest = 1
    for used in range(3, len(ends), 2):
        for last in range(1, len(nodes)):
            if used >> last & 1 and ends[used ^ (1 << last)] & before[last]:
                ends[used] |= 1 << last
        if ends[used] & before[0] and used.bit_count() > longest.bit_count():
            longest = used
    return () if longest == 1 else tuple(nodes[place] for place in _walked(longest, ends, before))


def _walked(used: int, ends: Sequence[int], before: Sequence[int]) -> list[int]:
    """Return the path behind a set, from its first node, ending where it can be closed."""
    path = []
    wanted = before[0]
    while used:
        last = (ends[used] & wanted).bit_length() - 1
        path.append(last)
        used ^= 1 << last
        wanted = before[last]
    return path[::-1]


def greedy_cycle(block: Block, pace: Pace) -> tuple[int, ...]:
    """Return a long cycle of a symmetric block: walk, close the walk, put in what fits.

    Past the deadline: what was found before, perhaps nothing.
    """
    best: tuple[int, ...] = ()
    spread = max(1, block.size // GREEDY_STARTS)
    starts = range(0, block.size, spread) if block.through is None else [block.through]
    for start in starts:
        path = _walk(block, start, pace)
        if pace.late:
            return best
        full = joined(block, _closed(block, path), (), pace)
        best = full if len(full) > len(best) else best
        if len(best) == block.upper:
            return best
    return best


def _walk(block: Block, start: int, pace: Pace) -> list[int]:
    """Return a path: on to the neighbour with the fewest ways on, turning the end when stuck."""
    path, used = [start], {start}
    ways = [len(row) for row in block.following]  # to free nodes
    for v in block.following[start]:
        ways[v] -= 1
    turns = 0
    while True:
        near = block.following[path[-1]]
        if pace.over((2 * len(near) if ways[path[-1]] else len(path)) * ARC):
            return path
        if ways[path[-1]]:
            step = min((v for v in near if v not in used), key=ways.__getitem__)
            path.append(step)
            used.add(step)
            for v in block.following[step]:
                ways[v] -= 1
        elif turns < block.size and (pivot := _turn(block, path, ways)) is not None:
            path[pivot + 1 :] = path[:pivot:-1]
            turns += 1
        else:
            return path


def _turn(block: Block, path: Sequence[int], ways: Sequence[int]) -> int | None:
    """Return where to turn the path's end over so that it ends next to a free node (Posa)."""
    near = block.neighbours[path[-1]]
    for place in range(len(path) - 2):
        if path[place] in near and ways[path[place + 1]]:
            return place
    return None


def _closed(block: Block, path: Sequence[int]) -> tuple[int, ...]:
    """Return a cycle in a path: closed at its first node, or at the earliest one possible."""
    if block.through is None:
        first = next(i for i, v in enumerate(path) if v in block.neighbours[path[-1]])
        return tuple(path[first:])
    last = max(i for i, v in enumerate(path) if v in block.neighbours[path[0]])
    return tuple(path[: last + 1])


def joined(
    block: Block, cycle: Sequence[int], others: Iterable[Sequence[int]], pace: Pace
) -> tuple[int, ...]:
    """Return a symmetric block's cycle, lengthened by other cycles and by nodes beside it.

    Between two nodes that follow each other on the cycle goes another cycle, opened at one of its
    edges, or a path of one or two free nodes, for as long as something fits (and there is time).
    """
    result = list(cycle)
    owner = {node: list(other) for other in others for node in other}
    used = set(result)
    place = idle = 0
    while idle < len(result) and len(used) < block.size:
        a, b = result[place - 1], result[place]
        detour = _detour(block, a, b, used, owner, pace)
        if pace.late:
            break
        if detour is None:
            place = (place + 1) % len(result)
            idle += 1
            continue
        result[place:place] = detour
        used.update(detour)
        idle = 0
    return tuple(result)


def _detour(
    block: Block, a: int, b: int, used: set[int], owner: dict[int, list[int]], pace: Pace
) -> list[int] | None:
    """Return free nodes that lead from a to b; a whole cycle if there is one."""
    near_b = block.neighbours[b]
    short: list[int] | None = None
    pace.over(len(block.following[a]) * ARC)
    for c in block.following[a]:
        if c in used:
            continue
        other = owner.get(c)
        if other is not None and not used.intersection(other):
            place = other.index(c)
            turned = other[place:] + other[:place]  # from c on; it ends beside c too
            if turned[-1] in near_b:
                return turned
            if turned[1] in near_b:
                return [c, *turned[:0:-1]]
        if short is None or len(short) < 2:
            if pace.over(len(block.following[c]) * ARC):
                return short
            two = next((d for d in block.following[c] if d not in used and d in near_b), None)
            if two is not None:
                short = [c, two]
            elif short is None and c in near_b:
                short = [c]
    return short
