"""What workers are forked from: everything is loaded, and small questions were asked once.

Importing this module does it, in the process that forks workers and does nothing else. It waits
until no thread of its own is left, since a fork takes no threads along.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["warm_up"]


def warm_up() -> None:
    """Ask a small question in every way that a page may ask; errors are those pages' own.

    Compiled searches are left to the workers that need them: the first time after an installation
    they take many seconds, and nobody should wait for that who asks something small.
    """
    from blowproof.cli.asking.ask import SMALL
    from blowproof.cli.asking.stoppable import until_alone
    from blowproof.cli.serving.work import answer

    asked = {"text": SMALL, "query": "histogram", "job": "report"}
    with until_alone():
        answer(asked, Path(), lambda event: None)


if __name__ != "__main__":
    warm_up()
