"""The state file of a run: a JSON line for each part, so that an interrupted run goes on.

The first line names the engines by their version. A state of other engines is thrown away, since
what they said need not be so any more; and what was found for statements that were edited since is
passed over. A run that comes to its end forgets its claims, and the file when nothing is left: the
next one starts afresh.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from blowproof.verifier.claims.ledger import room_of
from blowproof.verifier.claims.record import tally_from, tally_json
from blowproof.verifier.claims.run import Tally
from blowproof.verifier.claims.stating.claim import Claim, Level
from blowproof.verifier.claims.version import source_of, version

__all__ = ["State", "default_state"]


def default_state(level: Level) -> Path:
    """Return where the state lies unless told otherwise: the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME")
    folder = Path(home) if home else Path.home() / ".cache"
    return folder / "blowproof" / f"claims-{level}.jsonl"


class State:
    """What earlier, interrupted runs found, and where this one writes its own.

    A file that cannot be read or written costs only the resumption.
    """

    def __init__(self, path: Path | None, level: Level) -> None:
        self.path = path
        self._head = json.dumps({"version": version(), "level": level})
        self._found: dict[tuple[str, int], Any] = {}
        if path is not None:
            with suppress(OSError, ValueError):
                self._read(path)

    def _read(self, path: Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()
        if not lines or lines[0] != self._head:
            path.unlink()
            return
        for text in lines[1:]:
            with suppress(ValueError, KeyError):  # cut short, or a second head
                item = json.loads(text)
                if item["source"] == source_of(room_of(item["claim"])):
                    self._found[item["claim"], item["part"]] = item["tally"]

    @property
    def resumed(self) -> int:
        """How many parts an earlier run has begun or finished."""
        return len(self._found)

    def tally(self, claim: Claim, place: int) -> Tally:
        """Return what is known about a part, to go on from there."""
        item = self._found.get((claim.id, place))
        return Tally() if item is None else tally_from(claim.parts[place], item)

    def write(self, claim: Claim, place: int, tally: Tally) -> None:
        """Add a part's tally."""
        if self.path is None:
            return
        item = {
            "claim": claim.id,
            "part": place,
            "source": source_of(room_of(claim.id)),
            "tally": tally_json(claim.parts[place], tally),
        }
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as file:  # one write: other processes add theirs
                head = "" if file.tell() else self._head + "\n"
                file.write((head + json.dumps(item) + "\n").encode())

    def forget(self, claims: Iterable[Claim]) -> None:
        """Forget these claims: their run came to its end, and the next one starts afresh."""
        if self.path is None:
            return
        done = {claim.id for claim in claims}
        with suppress(OSError, ValueError):
            head, *lines = self.path.read_text(encoding="utf-8").splitlines()
            kept = [line for line in lines if json.loads(line)["claim"] not in done]
            if kept:
                self.path.write_text("\n".join([head, *kept]) + "\n", encoding="utf-8")
            else:
                self.path.unlink()
