"""Tables as TOML text that people can read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from textwrap import fill

__all__ = ["inline", "write_tables"]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 100


def write_tables(tables: Mapping[str, object]) -> str:
    """Return TOML: plain values first, then a section per table and per item of a list of tables.

    >>> print(write_tables({"name": "m", "release": [{"query": "histogram", "scale": 2}]}), end="")
    name = "m"
    <BLANKLINE>
    [[release]]
    query = "histogram"
    scale = 2
    """
    top, parts = "", []
    for key, value in tables.items():
        if isinstance(value, dict):
            parts.append(_section(f"[{key}]", value))
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            parts += [_section(f"[[{key}]]", item) for item in value]
        else:
            top += _assignment(key, value)
    return "\n".join([top, *parts])


def _section(header: str, items: Mapping[str, object]) -> str:
    return f"{header}\n" + "".join(_assignment(key, value) for key, value in items.items())


def _assignment(key: str, value: object) -> str:
    start = f"{_key(key)} = "
    line = start + inline(value)
    if len(line) <= _WIDTH or not isinstance(value, list):
        return f"{line}\n"
    if all(isinstance(item, int) for item in value):
        inner = fill(", ".join(map(str, value)), _WIDTH - 4).replace("\n", "\n    ")
        return f"{start}[\n    {inner},\n]\n"
    return f"{start}[\n" + "".join(f"    {inline(item)},\n" for item in value) + "]\n"


def inline(value: object) -> str:
    """Return a value as TOML writes it within a line.

    >>> inline(["sex", {"min": 0}])
    '["sex", { min = 0 }]'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        pairs = ", ".join(f"{_key(key)} = {inline(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return _string(value) if isinstance(value, str) else str(value)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but TOML also escapes DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
