"""What a page may open: the policies in the folder that is served, and the examples."""

from __future__ import annotations

from pathlib import Path

from blowproof.cli.beginning.demo import examples
from blowproof.models.base.door import FileError, read_bytes

__all__ = ["MOST_BYTES", "folder_of", "listed", "opened"]

MOST_BYTES = 1_000_000
"""A policy that a page shows and sends; larger ones are for the command line."""

MOST_FILES = 200
PLACES = ("folder", "examples")


def folder_of(place: object, served: Path) -> Path:
    """Return the folder that a page means: its files are those that policies may name."""
    return examples() if place == "examples" else served


def listed(served: Path) -> list[dict[str, str]]:
    """Return the policies that can be opened, those of the folder first."""
    found = []
    for place in PLACES:
        folder = folder_of(place, served)
        names = sorted(item.name for item in folder.glob("*.toml") if item.is_file())
        found += [{"place": place, "name": name} for name in names[:MOST_FILES]]
    return found


def opened(place: object, name: object, served: Path) -> str | None:
    """Return the text of a policy in the list; None for any other name."""
    if {"place": place, "name": name} not in listed(served):
        return None
    file = folder_of(place, served) / str(name)
    if not file.resolve().is_relative_to(folder_of(place, served).resolve()):
        return None
    try:
        return read_bytes(file, most=MOST_BYTES).decode("utf-8", "replace")
    except FileError:
        return None
