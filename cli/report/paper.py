"""What pictures are drawn on: a broad page, or the slim one of a phone.

A picture is drawn for both, and the style shows the one that fits: letters are as large on either,
and nothing has to be scrolled. On the slim one names stand above what they name, not beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from blowproof.cli.report.html import Markup, join, tag

__all__ = ["BROAD", "SLIM", "Drawn", "Paper", "as_drawn"]

NAME = 22
"""How much higher a row is that has its name above it."""


class Paper(NamedTuple):
    """How wide a picture is, and for which screens."""

    width: int
    kind: str

    @property
    def slim(self) -> bool:
        """Whether names stand above."""
        return self.kind == "slim"

    def picture(self, height: float, title: str, words: str, *parts: object) -> Markup:
        """Return a picture so high, with what is said in its place."""
        return tag("svg", tag("title", title), tag("desc", words), *parts,
                   viewBox=f"0 0 {self.width} {height:g}", role="img",
                   class_=f"plot {self.kind}")  # fmt: skip

    def step(self, step: int) -> int:
        """Return the height of a row that is so high on broad paper."""
        return step + NAME if self.slim else step

    def room(self, left: int, right: int) -> tuple[int, int]:
        """Return where bars begin, and how long one may be with its number behind it."""
        begin = 0 if self.slim else left
        return begin, self.width - begin - right

    def bar(
        self, y: float, name: str, length: float, said: str, kind: str, *, left: int, high: int
    ) -> list[Markup]:
        """Return a bar from zero, with its name before it or above it, and a number behind it."""
        base = y + high / 2 + 5
        x = 0 if self.slim else left
        top = y + NAME if self.slim else y
        named = (
            tag("text", name, x=0, y=y + 15)
            if self.slim
            else tag("text", name, x=left - 10, y=base, text_anchor="end")
        )
        return [
            named,
            tag("rect", x=x, y=top, width=float(length), height=high, class_=kind),
            tag("text", said, x=x + length + 8, y=top + high / 2 + 5),
        ]


BROAD = Paper(640, "broad")
SLIM = Paper(340, "slim")

Drawn = Callable[[str, Callable[[Paper], Markup | None]], Markup | None]
"""What stands in a picture's place: given its name, and what would draw it as the report has it."""


def as_drawn(_: str, picture: Callable[[Paper], Markup | None]) -> Markup | None:
    """Return the picture itself, for broad and for slim pages."""
    return join([picture(BROAD), picture(SLIM)])
