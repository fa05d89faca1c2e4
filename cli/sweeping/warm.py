"""What the workers of a sweep are forked from: everything is loaded, a small question was asked.

Importing this module does it, in the process that forks workers and does nothing else (see
`cli.serving.warm`).
"""

from __future__ import annotations

__all__ = ["warm_up"]


def warm_up() -> None:
    """Ask a few small questions; compiled searches are left to the workers that need them."""
    from blowproof.cli.asking.ask import SMALL
    from blowproof.cli.asking.stoppable import until_alone
    from blowproof.cli.sweeping.work import Asked, Batch, answer_batch
    from blowproof.models.files.reading import parse_policy
    from blowproof.models.stacks.written import parse_question

    policy = parse_policy(SMALL, name="warm")
    asked = [
        Asked("", text, parse_question(text, policy, "l1"), "published", "l1", "any", 0)
        for text in ("histogram", "marginal(a)")
    ]
    with until_alone():
        answer_batch(Batch("warm", "{}", policy, asked, 5.0, ""))


if __name__ != "__main__":
    warm_up()
