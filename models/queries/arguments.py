"""The text of queries: a kind, and arguments in brackets.

A bound query's `name` is its one canonical text: no spaces, ends of ranges as values, and a name
that is more than letters, digits and a few signs in double quotes, escaped as in JSON. What is
written otherwise means the same; the canonical text reads back to the same query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from blowproof.models.base.errors import PolicyError
from blowproof.models.domain.domain import Domain

__all__ = [
    "numeric_axis",
    "ordered_axis",
    "query_arguments",
    "query_file",
    "query_name",
    "split_arguments",
    "split_query",
]

_FORM = re.compile(r"\s*([a-z-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_ARGUMENT = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([^",][^,]*|))\s*(,|\Z)', re.DOTALL)
_BARE = re.compile(r"[\w.:/~+%-]+")


def query_name(kind: str, arguments: Sequence[object] = ()) -> str:
    """Return the canonical text of a query: every argument can be told from every other.

    >>> query_name("marginal", ["sex", "a,b"]), query_name("count", ["x) = 0"])
    ('marginal(sex,"a,b")', 'count("x) = 0")')
    """
    return f"{kind}({','.join(_written(str(item)) for item in arguments)})" if arguments else kind


def query_arguments(text: str) -> list[str]:
    """Return the arguments in the text of a query.

    >>> query_arguments('marginal(sex,"a,b")'), query_arguments("histogram")
    (['sex', 'a,b'], [])
    """
    _, inner = split_query(text) or (text, None)
    return split_arguments(inner) or []


def _written(text: str) -> str:
    if _BARE.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def split_query(text: str) -> tuple[str, str | None] | None:
    """Return the kind in a query's text, and what stands in its brackets; None: it is none."""
    match = _FORM.fullmatch(text)
    return None if match is None else (match[1], match[2])


def split_arguments(inner: str | None) -> list[str] | None:
    """Split at commas outside double quotes; a text in quotes is one as in JSON.

    None where nothing stands between two commas.
    """
    if inner is None:
        return []
    found, end, more = [], 0, ","
    while more:
        match = _ARGUMENT.match(inner, end)
        if match is None:
            raise PolicyError(
                f"the quotes in {inner[end:].strip()!r} do not fit",
                hint='put a name in double quotes as in JSON: "a,b", or \\" for a quote in it',
            )
        quoted, bare, more = match.groups()
        found.append(_unquoted(quoted) if quoted else bare.strip())
        if not (quoted or found[-1]):
            return None
        end = match.end()
    return found


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        hint = "a backslash is written twice, and other escapes as in JSON"
        raise PolicyError(f"{text} is not a text in quotes", hint=hint) from None


def ordered_axis(domain: Domain, name: str) -> int:
    """Return the place of an ordered attribute, or refuse the name."""
    axis = domain.axis(name)
    if not domain.attribute(axis).ordered:
        raise PolicyError(
            f"the attribute {name!r} is not ordered",
            hint="declare { labels = [...], ordered = true }, or ask for marginal(...)",
        )
    return axis


def numeric_axis(domain: Domain, name: str) -> int:
    """Return the place of a numeric attribute, or refuse the name."""
    axis = domain.axis(name)
    if not domain.attribute(axis).numeric:
        numbers = ", ".join(name for name, item in domain.attributes if item.numeric)
        hint = (
            f"the numbers are {numbers}" if numbers else "no attribute is one: marginal(...) counts"
        )
        raise PolicyError(f"the attribute {name!r} is not a number", hint=hint)
    return axis


def query_file(name: str, folder: Path | None) -> Path:
    """Return a query's file: it lies where the command runs, else in the policy's folder."""
    here = Path(name)
    if here.exists() or here.is_absolute() or folder is None:
        return here
    beside = folder / name
    return beside if beside.exists() else here
