"""`python -m blowproof.verifier.kernel CERT.json`, or `python kernel CERT.json` on a copy."""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # the folder itself is run
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    __package__ = Path(__file__).resolve().parent.name
    __import__(__package__)

from .check import check_text
from .document import MOST_BYTES, Unreadable

SECONDS = 600.0
"""Whatever takes longer is rejected, as by `blowproof check` where no other limit is given."""


def main(arguments: list[str]) -> int:
    """Print one line of verdict and the claim; return 0 accepted, 1 rejected, 2 unreadable."""
    if len(arguments) != 1:
        print("usage: python -m kernel CERT.json")
        return 2
    try:
        with Path(arguments[0]).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        verdict = check_text(data.decode("utf-8"), seconds=SECONDS)
    except (OSError, ValueError, Unreadable) as error:
        print(f"unreadable: {error}")
        return 2
    if not verdict.accepted:
        print(f"rejected: {verdict.reason}")
        return 1
    print(f"accepted ({verdict.kind}): {verdict.claim}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
