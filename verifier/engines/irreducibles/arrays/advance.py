"""The search that `search.py` argues for, compiled.

`advance` can stop after any number of nodes, hand back to Python, and go on later. `enter` and
`promise` begin a task of a search that was split (`tasks`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.engines.irreducibles.arrays.covered_multisets import (
    copy_words,
    exclude_covered,
    mark_covered,
    remove_words,
)
from blowproof.verifier.engines.irreducibles.arrays.state import (
    BEST,
    BLOCK,
    CROWDED,
    DEPTH,
    DONE,
    EAGER,
    EMPTY,
    EXCLUDED,
    FILLED,
    FOUND,
    FULL,
    LARGEST,
    MARKED,
    NODES,
    ONE,
    PAUSED,
    PENALTY,
    TABLES,
    Fixed,
    State,
)
from blowproof.verifier.engines.irreducibles.arrays.subset_sums import add_sums, contains
from blowproof.verifier.exact.compiled import compiled, popcount

__all__ = ["advance", "enter", "promise"]


@compiled
def advance(problem: Fixed, state: State, nodes: int) -> int:
    """Go on until the search ends, `nodes` more are done, `found` is full, or arrays must grow."""
    control = state.control
    stop = control[NODES] + nodes
    while True:
        depth = control[DEPTH]
        branch = _next_branch(state.todo[depth], state.inner)
        if branch < 0:
            if depth == 0:
                return DONE
            _retreat(problem, state)
            continue
        if control[NODES] >= stop:
            return PAUSED
        if depth + 2 >= len(state.chosen):
            return CROWDED
        if 2 * state.sizes[depth] + 1 > len(state.sums) and not control[FULL]:
            return CROWDED
        if 0 < len(state.trace) <= control[NODES]:
            return CROWDED
        if control[FILLED] + depth + 4 > len(state.found):
            return FOUND
        _extend(problem, state, branch)
        if control[EAGER] and control[FILLED]:
            return FOUND


@compiled
def enter(problem: Fixed, state: State, d: int) -> bool:
    """Enter the node w + d, or return False: arrays must grow first."""
    depth = state.control[DEPTH]
    if depth + 2 >= len(state.chosen):
        return False
    if 2 * state.sizes[depth] + 1 > len(state.sums) and not state.control[FULL]:
        return False
    if 0 < len(state.trace) <= state.control[NODES]:
        return False
    _extend(problem, state, d)
    return True


@compiled
def promise(problem: Fixed, state: State, d: int) -> None:
    """Take the node w + d as covered, with its images, though another task has it under way."""
    depth = state.control[DEPTH]
    state.chosen[depth + 1] = d
    if depth < max(1, min(state.control[TABLES], 4)):
        _cover(problem, state, depth + 1)


@compiled
def _next_branch(todo: NDArray[np.uint64], inner: NDArray[np.float64]) -> int:
    """The branch that points back to zero most, -1 if none is left.

    Large subtrees come last then, when most is excluded: five times fewer nodes than in index
    order.
    """
    best, chosen = 0.0, -1
    for k in range(len(todo)):
        word = todo[k]
        while word:
            e = 64 * k + popcount((word & (~word + ONE)) - ONE)
            word &= word - ONE
            if chosen < 0 or inner[e] < best:
                best, chosen = inner[e], e
    return chosen


@compiled
def _extend(problem: Fixed, state: State, d: int) -> None:
    """Enter the node w + d: what is excluded there, its sums, its closing, its branches."""
    control = state.control
    depth = control[DEPTH]
    copy_words(state.available[depth], state.fresh)
    before = _count(state.fresh)
    exclude_covered(state, d, depth)
    bit = ONE << np.uint64(d & 63)
    state.todo[depth, d >> 6] &= ~bit
    state.available[depth, d >> 6] &= ~bit
    depth += 1
    control[DEPTH] = depth
    control[NODES] += 1
    state.entered[depth] = control[NODES]
    state.chosen[depth] = d
    state.weight[depth] = state.weight[depth - 1] + problem.weights[d]
    if len(state.trace):
        state.trace[control[NODES] - 1, 0] = d
        state.trace[control[NODES] - 1, 2] = 0 if _count(state.fresh) == before else EXCLUDED
        state.trace[control[NODES] - 1, 3] = depth
    _shift(problem, state, d, 1)
    add_sums(problem, state, d, depth)
    _close_and_drop(problem, state, depth)
    copy_words(state.fresh, state.available[depth])
    if depth + 2 <= control[LARGEST]:
        _branch(problem, state, depth)
    else:
        remove_words(state.todo[depth], state.todo[depth])


@compiled
def _count(words: NDArray[np.uint64]) -> int:
    found = 0
    for word in words:
        found += popcount(word)
    return found


@compiled
def _retreat(problem: Fixed, state: State) -> None:
    """Leave a finished node w for its parent; w and its images are covered from now on."""
    depth = state.control[DEPTH]
    d = state.chosen[depth]
    _shift(problem, state, d, -1)
    for i in range(state.sizes[depth] - 1, state.sizes[depth - 1] - 1, -1):
        state.table[state.slots[i]] = EMPTY
    state.control[DEPTH] = depth - 1
    large = 4 * (state.control[NODES] - state.entered[depth] + 1) >= len(problem.permutations)
    if depth == 1 or (depth <= state.control[TABLES] and (depth <= 3 or large)):
        if len(state.trace):
            state.trace[state.entered[depth] - 1, 2] |= MARKED
        _cover(problem, state, depth)


@compiled
def _cover(problem: Fixed, state: State, depth: int) -> None:
    """Cover chosen[1..depth] and its images, and take what that excludes from what is left above
    it.
    """
    mark_covered(problem, state, depth)
    copy_words(state.available[depth - 1], state.fresh)
    if depth > 1:
        exclude_covered(state, state.chosen[depth - 1], depth - 2)
    copy_words(state.fresh, state.available[depth - 1])
    for k in range(len(state.fresh)):
        state.todo[depth - 1, k] &= state.fresh[k]


@compiled
def _shift(problem: Fixed, state: State, d: int, sign: int) -> None:
    """Add effect d to w (sign 1) or take it away (sign -1), in the running totals."""
    state.times[d] += sign
    for j in range(len(state.total)):
        x = problem.vectors[d, j]
        state.total[j] += sign * x
        state.spread[int(x < 0), j] += sign * abs(x)
    values, products = problem.values[d], state.products
    for i in range(len(products)):
        products[i] += sign * values[i]
    form, inner = problem.form[d], state.inner
    for i in range(len(inner)):
        inner[i] += sign * form[i]


@compiled
def _close_and_drop(problem: Fixed, state: State, depth: int) -> None:
    """Take the e with -e in Sigma out of `fresh`; record w + e where e = -s."""
    for k in range(len(state.fresh)):
        word = state.fresh[k]
        while word:
            bit = word & (~word + ONE)
            e = 64 * k + popcount(bit - ONE)
            word ^= bit
            closes = _is_opposite(problem.vectors[e], state.total)
            if closes or contains(state.table, -problem.keys[e]):
                state.fresh[k] ^= bit
            if closes:
                _record(problem, state, e, depth)


@compiled
def _is_opposite(vector: NDArray[np.int64], total: NDArray[np.int64]) -> bool:
    for j in range(len(total)):  # noqa: SIM110 (numba compiles no generators)
        if vector[j] != -total[j]:
            return False
    return True


@compiled
def _record(problem: Fixed, state: State, e: int, depth: int) -> None:
    control = state.control
    if state.weight[depth] + problem.weights[e] <= control[BEST]:
        return
    start = control[FILLED]
    state.found[start] = -(depth + 1) if state.inexact[depth] else depth + 1
    for i in range(1, depth + 1):
        state.found[start + i] = state.chosen[i]
    state.found[start + 1 + depth] = e
    control[FILLED] = start + depth + 2


@compiled
def _branch(problem: Fixed, state: State, depth: int) -> None:
    """Choose y with y.s > 0 (or < 0, turned round) and set the branches {available d : y.d < 0}.

    The score counts branches, and adds PENALTY for each occurrence in w of a branch: then w cannot
    grow for ever by the same elements. Functionals with small sides come first; once a block of
    them offers one without penalty, the rest is not looked at.
    """
    best, choice = -1, -1
    for start in range(0, len(state.products), BLOCK):
        count = min(BLOCK, len(state.products) - start)
        _score(problem, state, start, count)
        free = False
        for i in range(count):
            total = state.scratch[0, i] + PENALTY * state.scratch[1, i]
            if state.products[start + i] != 0 and (choice < 0 or total < best):
                best, choice = total, start + i
                free = state.scratch[1, i] == 0
        if choice >= 0 and free:
            break
    if choice < 0:  # no functional in the list sees s: any element may come next
        copy_words(state.fresh, state.todo[depth])
        return
    if len(state.trace):
        sign = 1 if state.products[choice] > 0 else -1
        state.trace[state.control[NODES] - 1, 1] = sign * (choice + 1)
    sides = problem.below if state.products[choice] > 0 else problem.above
    for k in range(len(state.fresh)):
        state.todo[depth, k] = state.fresh[k] & sides[k, choice]


@compiled
def _score(problem: Fixed, state: State, start: int, count: int) -> None:
    """scratch[0]: the number of branches of each functional; scratch[1]: their occurrences in w."""
    branches, occurrences = state.scratch[0, :count], state.scratch[1, :count]
    products = state.products[start : start + count]
    for i in range(count):
        branches[i] = 0
        occurrences[i] = 0
    for k in range(len(state.fresh)):
        word = state.fresh[k]
        below, above = (
            problem.below[k, start : start + count],
            problem.above[k, start : start + count],
        )
        if word:
            for i in range(count):
                branches[i] += popcount(word & (below[i] if products[i] > 0 else above[i]))
        while word:
            e = 64 * k + popcount((word & (~word + ONE)) - ONE)
            word &= word - ONE
            if state.times[e]:
                values = problem.values[e, start : start + count]
                for i in range(count):
                    if (values[i] < 0) if products[i] > 0 else (values[i] > 0):
                        occurrences[i] += state.times[e]
