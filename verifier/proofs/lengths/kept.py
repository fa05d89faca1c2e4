"""Searches over tables that take longer than anybody waits: their proofs are kept as files.

The longest irreducible multiset for the margins of 3 x 4 cells takes a search of half a minute, and
the kernel eight seconds to go through what it found. So the proof is a file of this folder, made by
`benchmarks/kept.py`. It is no more trusted than one that was just found: the kernel replays it.

A file is compressed (LZMA): a line of JSON, the proof but for its nodes, and then each of the nodes
in two bytes, the lower one first.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

__all__ = ["kept", "packed", "unpacked"]


def kept(sides: Sequence[int]) -> dict[str, Any] | None:
    """Return the proof that is kept for a table of these sides, in this order; None: there is none.

    >>> kept((2, 3)) is None
    True
    """
    file = files(__package__) / f"margins-{'x'.join(map(str, sides))}.xz"
    if not file.is_file():
        return None
    try:
        return unpacked(file.read_bytes())
    except ImportError:  # a Python without LZMA searches
        return None


def packed(proof: dict[str, Any]) -> bytes:
    """Return the bytes of a file."""
    import lzma

    head = {key: value for key, value in proof.items() if key != "nodes"}
    nodes = _in_order(array("H", proof["nodes"]))
    line = json.dumps(head, separators=(",", ":")).encode("ascii") + b"\n"
    return lzma.compress(line + nodes.tobytes(), preset=9 | lzma.PRESET_EXTREME)


def unpacked(content: bytes) -> dict[str, Any]:
    """Return the proof that a file holds.

    >>> unpacked(packed({"kind": "irreducible", "nodes": [0, 1, 65535]}))
    {'kind': 'irreducible', 'nodes': [0, 1, 65535]}
    """
    import lzma

    line, _, rest = lzma.decompress(content).partition(b"\n")
    nodes = array("H")
    nodes.frombytes(rest)
    return {**json.loads(line), "nodes": _in_order(nodes).tolist()}


def _in_order(nodes: array[int]) -> array[int]:
    """Return numbers with the lower byte first, or such numbers as they are on this machine."""
    if sys.byteorder == "big":
        nodes.byteswap()
    return nodes
