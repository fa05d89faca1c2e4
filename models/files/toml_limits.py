"""What a TOML text may not hold, seen in one walk before `tomllib` reads it.

`tomllib` takes time that grows with the square of the parts of a dotted key, or more, and recurses
into arrays; numbers in base 16 escape Python's limit on digits, and printing them then fails. No
policy needs any of that, so the limits are far above what is of use, and far below what hurts.
"""

from __future__ import annotations

import re

from blowproof.models.base.errors import PolicyError

__all__ = ["MOST_DEEP", "MOST_LETTERS", "MOST_PARTS", "refuse_excess"]

MOST_PARTS = 16
"""Parts of a dotted key; `known.count.age.min` has four."""
MOST_DEEP = 32
"""Brackets within brackets; a union of regions in an array of facts takes five."""
MOST_LETTERS = 1000
"""Letters or digits in a row outside of strings: numbers in strings end there too."""

_STRING = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"{3,5}'
    r"|'''(?:[^']++|'(?!''))*+'{3,5}"
    r'|"(?!"")(?:[^"\\\n]++|\\.)*+"'
    r"|'(?!'')[^'\n]*+'",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^\"'#\[\]{}]++")
_COMMENT = re.compile(r"#[^\n]*+")
_LONG_KEY = re.compile(rf"(?:\.[^.\n=,]*+){{{MOST_PARTS}}}")
_LONG_WORD = re.compile(rf"(?<![^\s.=,])[^\s.=,]{{{MOST_LETTERS + 1}}}")


def refuse_excess(text: str) -> None:
    """Refuse keys of too many parts, brackets too deep and words too long, with their line.

    Each character is looked at a bounded number of times. Where a string does not end the walk
    does: `tomllib` stops there too, and says so.

    >>> refuse_excess("a = [1, 2]\\nb." + "c." * 20 + "d = 1")
    Traceback (most recent call last):
    ...
    blowproof.models.base.errors.PolicyError: line 2: a key has more than 16 parts
      try: no key of a policy has more than four; put a name with dots in quotes
    """
    place, deep, dots = 0, 0, 0
    while place < len(text):
        letter = text[place]
        if letter in "\"'":
            match = _STRING.match(text, place)
            if match is None:
                return
            place = match.end()
        elif letter == "#":
            place = _end(_COMMENT, text, place)
        elif letter in "[{":
            place, deep, dots = place + 1, deep + 1, 0
            if deep > MOST_DEEP:
                hint = "no key takes more than three levels"
                raise _excess("the arrays are nested too deeply", text, place, hint)
        elif letter in "]}":
            place, deep, dots = place + 1, max(0, deep - 1), 0
        else:
            end = _end(_PLAIN, text, place)
            dots = _plain(text, place, end, dots)
            place = end


def _end(form: re.Pattern[str], text: str, place: int) -> int:
    match = form.match(text, place)
    return match.end() if match else place + 1


def _plain(text: str, start: int, end: int, dots: int) -> int:
    """Check what stands between strings and brackets; return the dots of a key that goes on."""
    word = _LONG_WORD.search(text, start, end)
    if word:
        reason = f"a name or a number has too many digits or letters: more than {MOST_LETTERS}"
        hint = "put a long name in quotes; no number of a policy needs so many digits"
        raise _excess(reason, text, word.start(), hint)
    last = max(text.rfind(mark, start, end) for mark in "\n=,")
    if last < 0:
        dots += text.count(".", start, end)
    else:
        first = min(at for mark in "\n=," if (at := text.find(mark, start, end)) >= 0)
        dots += text.count(".", start, first)
    long = _LONG_KEY.search(text, start, end)
    if dots >= MOST_PARTS or long:
        hint = "no key of a policy has more than four; put a name with dots in quotes"
        raise _excess(
            f"a key has more than {MOST_PARTS} parts", text, long.start() if long else start, hint
        )
    return dots if last < 0 else text.count(".", last, end)


def _excess(reason: str, text: str, place: int, hint: str) -> PolicyError:
    return PolicyError(reason, line=text.count("\n", 0, place) + 1, hint=hint)
