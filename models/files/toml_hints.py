"""TOML syntax errors in the words of a policy file: what is wrong, and what to write instead."""

from __future__ import annotations

import re

__all__ = ["explain"]

SMART_DOUBLE = "\u201c\u201d\u201e\u201f\xab\xbb"  # as word processors write them
SMART_SINGLE = "\u2018\u2019\u201a\u201b"
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'')
_FRACTION = re.compile(r"[+-]?\d+\s*/\s*\d+")
_WORD = re.compile(r"[^\s,\[\]{}=#\"']+")
_DATE_OR_RANGE = re.compile(r"\d+\s*(?:-|\.\.)\s*\d+")
_DUPLICATE = re.compile(r"Cannot declare \((.*?),?\) twice")
_LONGEST = 2000
_SINGULAR = {"'known'": "known", "'query'": "query"}


def explain(message: str, text: str, line: int, column: int) -> tuple[str, str | None]:
    """Return the reason and a hint for an error that tomllib reports at a line and column.

    >>> explain("Invalid value", "sex = [F, M]", 1, 8)
    ('F is not a TOML value', 'put text in quotes: "F"')
    """
    lines = text.split("\n")
    content = lines[line - 1] if line <= len(lines) else ""
    if len(content) > _LONGEST:  # the rules look at what stands near the column
        start = max(0, column - _LONGEST // 2)
        content, column = content[start : start + _LONGEST], column - start
    for rule in _RULES:
        found = rule(message, content, column)
        if found:
            return found
    return f"this is not TOML: {message[:1].lower()}{message[1:]}", None


Found = tuple[str, str | None] | None


def _smart_quotes(message: str, content: str, column: int) -> Found:
    """A curly quote outside of all strings."""
    outside = _STRING.sub("", content).partition("#")[0]
    for mark in outside:
        if mark in SMART_DOUBLE + SMART_SINGLE:
            straight = '"' if mark in SMART_DOUBLE else "'"
            return f"{mark} is not a quote in TOML", f"use straight quotes: {straight}"
    return None


def _fraction(message: str, content: str, column: int) -> Found:
    """1/2 without quotes: the error lies at, or just before, the slash."""
    for match in _FRACTION.finditer(content):
        if match.start() < column <= match.end():
            text = re.sub(r"\s", "", match[0])
            return "a fraction is a string in TOML", f'put it in quotes: "{text}"'
    return None


def _leading_zero(message: str, content: str, column: int) -> Found:
    """A number like 007, on its own or in an array or table: the error lies at the second digit."""
    start = max(column - 2, 0)
    if re.match(r"0\d", content[start:]) and not re.match(r"[\w.]", content[start - 1 : start]):
        return "numbers have no leading zeros in TOML", "drop the zeros, or use quotes"
    return None


def _twice(message: str, content: str, column: int) -> Found:
    """A key or a table that is already there."""
    match = _DUPLICATE.search(message)
    if match:
        if match[1] in _SINGULAR:
            name = _SINGULAR[match[1]]
            return f"[{name}] cannot be repeated", f"write [[{name}]] with two brackets each time"
        return f"{content.strip()} is declared twice", "merge the two tables"
    match = re.search(r"Duplicate inline table key '(.*)'", message)
    if match:
        return f"the key {match[1]!r} appears twice", "keep one of them"
    if "Cannot overwrite" in message or "Cannot mutate" in message:
        name = content.partition("=")[0].strip()
        return f"the key {name!r} appears twice" if "=" in content else (
            f"{name} is already a value"
        ), "keep one of them"
    return None


def _bare_word(message: str, content: str, column: int) -> Found:
    """A value that is not one: a label without quotes, True, null, an empty place."""
    if "Invalid value" not in message:
        return None
    match = _WORD.match(content, column - 1)
    word = match[0] if match else ""
    if not word:
        return "a value is missing", None
    if word.lower() in ("true", "false"):
        return f"{word} is not a TOML value", f"write {word.lower()}"
    if word.lower() in ("null", "none", "nil"):
        return f"{word} is not a TOML value", "leave the key out"
    if re.fullmatch(r"[+-]?\.\d+", word):
        return f"{word} is not a TOML value", 'write fractions as strings: "p/q"'
    if word[0].isalpha():
        return f"{word} is not a TOML value", f'put text in quotes: "{word}"'
    return f"{word} is not a TOML value", None


def _statement(message: str, content: str, column: int) -> Found:
    """Keys without =, two statements on a line, text after a value."""
    rest = content[column - 1 :].strip()
    if "Expected '='" in message:
        if rest.startswith(":"):
            return "a key is followed by =, not by a colon", "write key = value"
        return "the key is not followed by =", "write key = value"
    if "Expected newline" in message:
        return f"{rest!r} follows a complete value", "one key per line; put text in quotes"
    if "Invalid statement" in message:
        return "the line is neither key = value nor a table header", "write key = value"
    if "inline table" in message and content[:column].rstrip().endswith(","):
        return _inline()
    if "Invalid initial character for a key part" in message and "{" in content:
        return _inline()
    if "Invalid initial character for a key part" in message:
        return "a key is missing or needs quotes", 'write key = value, or "odd key!" = value'
    return None


def _inline() -> Found:
    hint = "write { ... } on one line and without a comma at its end"
    return "an inline table ends too early", hint


def _unclosed(message: str, content: str, column: int) -> Found:
    """Strings, arrays and tables that do not end."""
    broken = ("nterminated string", "Illegal character '\\n'", "invalid character '\\n'")
    if any(part in message for part in broken):
        return "the string has no end", "close it with the quote that it begins with"
    if message.startswith('Expected "\'"'):
        return "the string has no end", "close it with the quote that it begins with"
    if "Unclosed array" in message:
        return "the array is not closed, or a comma is missing", "write [1, 2, 3]"
    if "Unclosed inline table" in message:
        return "the table is not closed, or a comma is missing", "write { min = 0, max = 9 }"
    if message.startswith("Expected ']"):
        return "the table header is not closed", "write [domain] or [[known]]"
    if "Unescaped" in message:
        return "a backslash in a string starts an escape", "use single quotes: 'a\\b'"
    return None


_RULES = (_smart_quotes, _fraction, _leading_zero, _twice, _bare_word, _statement, _unclosed)
