"""Which engines: a digest of the sources that a verdict depends on, the claims themselves apart.

A row of the record says by which engines it was found; `--full` on one version stands behind every
number when all rows say the same. The statements are told apart by themselves (`source_of`), so
that a row that is edited is run again, and the others need not be.
"""

from __future__ import annotations

from ast import Call, ImportFrom, Module, Name, NodeTransformer, dump, parse, walk
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["source_of", "version"]

SHORT = 16
PREFIX = "blowproof.verifier.claims."
SAID = (
    *("source", "quote", "statement", "read_as", "repaired", "amendment", "explanation"),
    *("proof", "proof_in", "why_not", "listed", "identities", "status"),
)
"""What a claim says, and its run does not depend on."""


@cache
def version() -> str:
    """Return a digest of `models` and `verifier`, without what is stated in `verifier.claims`."""
    found = [*_sources(files("blowproof.models")), *_sources(files("blowproof.verifier"), "claims")]
    return _digest(found)


@cache
def source_of(module: str) -> str:
    """Return a digest of how a module of claims checks them, with all that it imports of the room.

    `module` is its dotted name in `verifier.claims`. What claims only say (statement, explanation,
    proof, ...) is left out: to put it better calls for no new run.
    """
    seen: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            tree = _parsed(name)
            seen[name] = dump(_Silent().visit(tree))
            waiting += [
                node.module.removeprefix(PREFIX)
                for node in walk(tree)
                if isinstance(node, ImportFrom) and node.module and node.module.startswith(PREFIX)
            ]
    return _digest([(name, seen[name].encode()) for name in sorted(seen)])


def _parsed(name: str) -> Module:
    place = files("blowproof.verifier.claims")
    for folder in name.split(".")[:-1]:
        place = place.joinpath(folder)
    source = place.joinpath(f"{name.rpartition('.')[2]}.py")
    return parse(source.read_text("utf-8") if source.is_file() else "")


class _Silent(NodeTransformer):
    """Drops what a claim only says."""

    def visit_Call(self, node: Call) -> Call:
        """Drop the texts of a Claim."""
        self.generic_visit(node)
        if isinstance(node.func, Name) and node.func.id in ("Claim", "replace"):
            node.keywords = [word for word in node.keywords if word.arg not in SAID]
        return node


def _digest(found: list[tuple[str, bytes]]) -> str:
    total = sha256()
    for name, content in found:
        total.update(name.encode() + b"\0" + content + b"\0")
    return total.hexdigest()[:SHORT]


def _sources(folder: Traversable, without: str = "") -> Iterator[tuple[str, bytes]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir() and item.name not in ("__pycache__", without):
            yield from _sources(item)
        elif item.name.endswith((".py", ".toml")):
            yield item.name, item.read_bytes()
