"""Which certificates of this folder stand: they are left as they are when others are made.

Wherever an engine changes, a search finds another pair or another proof, and files would change
that nobody wanted renewed. A file stands if it claims what would be claimed today, with a proof of
the same kind, and the kernel says of it what it should say.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from blowproof.verifier.kernel import Unreadable, check
from blowproof.verifier.kernel.document import load

__all__ = ["read", "why_renewed"]

Document = dict[str, Any]

FOUND = ("witness", "implied", "proof", "tools")
"""What was looked for; all else is the claim."""


def read(path: Path) -> Document | None:
    """Return the document of a file, None where it holds none."""
    try:
        return load(path.read_text(encoding="ascii"))
    except (OSError, ValueError, Unreadable):
        return None


def why_renewed(
    held: Document | None, claim: Document, kind: str = "", *, accepted: bool = True
) -> str:
    """Return why a file is written anew, "" where it stands: the claim is today's, the proof is of
    the kind (if one is named), and the kernel accepts it, or refuses it where it is an attack.
    """
    if held is None:
        return "there was none"
    today = json.loads(json.dumps(claim))
    keys = sorted({*held, *today} - {*FOUND})
    other = [key for key in keys if held.get(key) != today.get(key)]
    if other:
        said = ", ".join(f"{key} {json.dumps(held.get(key))[:40]}" for key in other)
        return f"it was about something else: {said}"
    if kind and held["proof"]["kind"] != kind:
        return f"its proof was of the kind {held['proof']['kind']}"
    try:
        told = check(held)
    except Unreadable as error:
        return f"it is unreadable: {error}"
    if told.accepted == accepted:
        return ""
    return f"the kernel refuses it: {told.reason}" if accepted else "the kernel accepts it"
