"""Where each key of a TOML text stands, and TOML syntax errors with a line and a hint.

`tomllib` keeps no positions. `key_lines` walks the text once more, only to note lines: it never
fails, and where it loses the thread it answers with the closest enclosing line that it knows.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from blowproof.models.base.errors import PolicyError
from blowproof.models.files.toml_hints import explain
from blowproof.models.files.toml_limits import refuse_excess

__all__ = ["KeyLines", "key_lines", "parse_toml"]

_POSITION = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)$")
_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[^\s.=\[\]{},#\"']+")
_SCALAR = re.compile(r"[^\n,\]}#]*")
_ONLY_REGION = re.compile(r"(\.(?:count|impossible|in|not_in))\[0\]")
_STRINGS = (
    re.compile(r'"""(?:\\.|[^\\])*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:\\.|[^"\\\n])*"'),
    re.compile(r"'[^'\n]*'"),
)


def parse_toml(text: str) -> dict[str, object]:
    """Return the tables of a TOML text; a syntax error becomes a PolicyError with line and hint."""
    text = text.replace("\r\n", "\n")
    refuse_excess(text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
    line, column = _position(message, text)
    reason, hint = explain(_POSITION.sub("", message).strip(), text, line, column)
    raise PolicyError(reason, hint=hint, line=line)


def _position(message: str, text: str) -> tuple[int, int]:
    """The error's line and column, from 1; at the end of the document, the last line with text."""
    match = _POSITION.search(message)
    if match is None or match[1] is None:
        lines = text.rstrip().split("\n")
        return len(lines), len(lines[-1]) + 1
    return int(match[1]), int(match[2])


@dataclass(frozen=True)
class KeyLines:
    """The lines of the keys, by key path as errors write it: `known[2].count.age.min`."""

    lines: Mapping[str, int]

    def line(self, key: str) -> int:
        """Return the line of a key, or else of the closest enclosing one that is known.

        >>> key_lines('[domain]\\nsex = [\\n  "F",\\n  "M"]').line("domain.sex[1]")
        4
        """
        while key not in self.lines and key:
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return self.lines.get(key, 1)


def key_lines(text: str) -> KeyLines:
    """Return the lines of all keys and array items of a TOML text."""
    scanner = _Scanner(text)
    with suppress(_LostError, RecursionError):
        scanner.document()
    return KeyLines(scanner.lines)


class _LostError(Exception):
    """The scanner does not understand the text: what it noted so far stands."""


class _Scanner:
    """A walk over TOML text that notes the line on which each key and each item begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.line = 1
        self.counted = 0
        self.lines: dict[str, int] = {}
        self.tables: dict[str, int] = {}  # arrays of tables: how many entries so far

    def document(self) -> None:
        """Note every statement of the text."""
        prefix = ""
        self.skip(_GAP)
        while self.place < len(self.text):
            if self.at("["):
                prefix = self.header()
            else:
                self.assignment(prefix)
            self.skip(_GAP)

    def header(self) -> str:
        """Note [a.b] or [[a.b]]; return the path that the keys below it continue."""
        many = self.at("[[")
        self.advance(2 if many else 1)
        names, line = self.names(), self.here()
        self.expect("]]" if many else "]")
        path = self.into("", names[:-1], line)
        path = self.joined(path, names[-1])
        if many:
            self.note(path, line)
            place = self.tables[path] = self.tables.get(path, -1) + 1
            path = f"{path}[{place}]"
        self.note(path, line)
        return path

    def into(self, prefix: str, names: list[str], line: int) -> str:
        """Walk down; a name that is an array of tables means its last entry."""
        for name in names:
            prefix = self.joined(prefix, name)
            self.note(prefix, line)
            if prefix in self.tables:
                prefix = f"{prefix}[{self.tables[prefix]}]"
        return prefix

    def assignment(self, prefix: str) -> None:
        """Note `a.b = value`."""
        line = self.here()
        names = self.names()
        self.expect("=")
        path = self.joined(self.into(prefix, names[:-1], line), names[-1])
        self.note(path, line)
        self.skip(_SPACE)
        self.value(path)

    def names(self) -> list[str]:
        """Read a dotted key."""
        result = [self.name()]
        while self.at("."):
            self.advance(1)
            result.append(self.name())
        return result

    def name(self) -> str:
        self.skip(_SPACE)
        start = self.place
        if self.at('"') or self.at("'"):
            self.string()
            name = _unquoted(self.text[start : self.place])
        else:
            self.take(_BARE)
            name = self.text[start : self.place]
        self.skip(_SPACE)
        return name

    def value(self, path: str) -> None:
        """Walk over a value, noting what is inside it."""
        if self.at('"') or self.at("'"):
            self.string()
        elif self.at("["):
            self.advance(1)
            self.items(path)
        elif self.at("{"):
            self.advance(1)
            self.pairs(path)
        else:
            self.take(_SCALAR)

    def items(self, path: str) -> None:
        """Note the items of an array."""
        place = 0
        self.skip(_GAP)
        while not self.at("]"):
            item = f"{path}[{place}]"
            self.note(item, self.here())
            self.value(item)
            place += 1
            self.separator("]")
        self.advance(1)

    def pairs(self, path: str) -> None:
        """Note the pairs of an inline table."""
        self.skip(_GAP)
        while not self.at("}"):
            self.assignment(path)
            self.separator("}")
        self.advance(1)

    def separator(self, end: str) -> None:
        self.skip(_GAP)
        if not self.at(end):
            self.expect(",")
            self.skip(_GAP)

    def string(self) -> None:
        for form in _STRINGS:
            match = form.match(self.text, self.place)
            if match:
                self.place = match.end()
                return
        raise _LostError

    def note(self, path: str, line: int) -> None:
        """Keep a path's first line, also as errors write it where a union has only one region."""
        self.lines.setdefault(path, line)
        if "[0]" in path:
            self.lines.setdefault(_ONLY_REGION.sub(r"\1", path), line)

    def joined(self, prefix: str, name: str) -> str:
        return f"{prefix}.{name}" if prefix else name

    def here(self) -> int:
        """The line of the current place."""
        self.line += self.text.count("\n", self.counted, self.place)
        self.counted = self.place
        return self.line

    def at(self, token: str) -> bool:
        return self.text.startswith(token, self.place)

    def advance(self, count: int) -> None:
        self.place += count

    def skip(self, form: re.Pattern[str]) -> None:
        match = form.match(self.text, self.place)
        if match:
            self.place = match.end()

    def take(self, form: re.Pattern[str]) -> None:
        """Move over a non-empty match, or give up."""
        match = form.match(self.text, self.place)
        if match is None or match.end() == self.place:
            raise _LostError
        self.place = match.end()

    def expect(self, token: str) -> None:
        if not self.at(token):
            raise _LostError
        self.advance(len(token))


def _unquoted(text: str) -> str:
    """The name that a quoted key stands for."""
    try:
        return next(iter(tomllib.loads(f"{text} = 0")))
    except tomllib.TOMLDecodeError:
        return text[1:-1]
