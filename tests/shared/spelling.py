"""Proofs of kind `irreducible` with an entry of its own for each node, to be altered one by one."""

import copy
from typing import Any


def spelled(proof: dict[str, Any]) -> dict[str, Any]:
    """The same proof: `steps[k]` is [branch, choice, mark, look] of node k, and of no other."""
    steps = [[*proof["steps"][place]] for place in proof["nodes"]]
    return {**copy.deepcopy(proof), "steps": steps, "nodes": list(range(len(steps)))}
