"""Reading policies: TOML text, a file, or tables that are already parsed (e.g. from JSON).

Every error is a PolicyError with the full key path, and for text with the file and the line. The
parts are read in `reading_parts`; here are the file, the top level and the assembly.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from blowproof.models.base.door import is_standard_input, read_document, stem
from blowproof.models.base.errors import PolicyError
from blowproof.models.base.toml_values import (
    array,
    check_keys,
    choice,
    each,
    integer,
    table,
    text,
    within,
)
from blowproof.models.data.table_at import TableAt, refuse_address
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.region_reading import regions
from blowproof.models.facts.facts import Known, Where
from blowproof.models.files.reading_facts import known_fact
from blowproof.models.files.reading_parts import attribute
from blowproof.models.files.toml_lines import key_lines, parse_toml
from blowproof.models.policy.policy import Answers, Database, NamedCount, Policy
from blowproof.models.secrets import Full
from blowproof.models.secrets.kinds import read_secrets

__all__ = ["parse_policy", "policy_from", "read_policy"]

TOP_KEYS = ("name", "domain", "secrets", "database", "known", "query")
DATABASE_KEYS = ("size", "answers", "data")
TABLE_KEYS = ("url", "table", "key")
QUERY_KEYS = ("name", "count")
ELSEWHERE = {
    **{key: f"{key} belongs under [database]" for key in DATABASE_KEYS},
    **{
        key: f"{key} belongs under [secrets]"
        for key in ("kind", "changes", "by", "cells", "metric", "threshold", "strict", "pairs")
    },
    **{
        key: f"{key} belongs in a [[known]] table"
        for key in ("marginal", "count", "sum", "impossible", "clause")
    },
    **dict.fromkeys(
        ("release", "channel", "selection", "attackers", "postprocessing"),
        "this is a mechanism: blowproof certify FILE --policy POLICY judges it",
    ),
    **dict.fromkeys(
        ("policies", "template", "parameters", "questions"),
        "this is a grid: blowproof sweep FILE asks its questions",
    ),
    "facts": "write [[known]]",
    "queries": "write [[query]]",
}


_DATA = ("a data file, not a policy", "blowproof init writes a first policy for it")
_OTHERS = {
    **dict.fromkeys((".csv", ".gz", ".tsv", ".parquet", ".pq", ".xlsx", ".ods"), _DATA),
    ".html": ("a page, not a policy", "blowproof check verifies a report"),
    ".json": ("JSON, not a policy in TOML", "blowproof check verifies a certificate"),
    **dict.fromkeys(
        (".yaml", ".yml"), ("YAML, not a policy in TOML", "audit --from registry reads an entry")
    ),
}
"""What a file is that is no policy, by the end of its name, and what to do with it."""


def read_policy(path: str | Path) -> Policy:
    """Return the policy in a TOML file; its name defaults to the file's stem."""
    folder = None if is_standard_input(path) else Path(path).parent
    other = _OTHERS.get(Path(path).suffix.lower())
    try:
        content = read_document(path)
        if other is not None:
            parse_toml(content)
    except PolicyError as error:
        if other is None or error.line is None:  # it was not read at all
            raise
        raise PolicyError(f"this is {other[0]}", hint=other[1], file=str(path)) from None
    return parse_policy(content, name=stem(path), file=str(path), folder=folder)


def parse_policy(
    text: str, *, name: str = "policy", file: str | None = None, folder: Path | None = None
) -> Policy:
    """Return the policy written in a TOML text.

    >>> parse_policy('[domain]\\nsex = ["F", "M"]').domain
    Domain(sex=Labels(['F', 'M']))
    >>> parse_policy('[domain]\\nage = { min = 9, max = 0 }')
    Traceback (most recent call last):
    ...
    blowproof.models.base.errors.PolicyError: line 2: domain.age: min = 9 is above max = 0
      try: swap min and max
    """
    try:
        tables = parse_toml(text)
    except PolicyError as error:
        raise error.at(file=file, line=error.line) from None
    try:
        return policy_from(tables, name=name, folder=folder)
    except PolicyError as error:
        raise error.at(file=file, line=key_lines(text).line(error.key)) from None


def policy_from(
    mapping: Mapping[str, object], *, name: str = "policy", folder: Path | None = None
) -> Policy:
    """Return the policy in tables that are already parsed; `answers_file` lies in the folder.

    >>> policy_from({"domain": {"age": {"min": 0, "max": 9}}, "database": {"size": 3}}).scope
    'given'
    """
    top = table(mapping, need="a table with the key domain")
    check_keys(top, TOP_KEYS, elsewhere=ELSEWHERE)
    if "name" in top:
        with within("name"):
            name = text(top["name"])
    domain = _domain(top)
    with within("secrets"):
        graph = read_secrets(top["secrets"]) if "secrets" in top else Full()
    with within("database"):
        database = _database(top.get("database", {}))
    return Policy(
        name=name,
        domain=domain,
        secrets=graph,
        database=database,
        known=tuple(_known(top.get("known", []), domain, folder)),
        queries=tuple(_queries(top.get("query", []))),
        folder=folder,
    )


def _domain(top: dict[str, object]) -> Domain:
    if "domain" not in top:
        raise PolicyError(
            "the policy has no [domain]", hint='add one, e.g. [domain] with sex = ["F", "M"]'
        )
    attributes = {}
    with within("domain"):
        for name, value in table(
            top["domain"], hint='write [domain], then sex = ["F", "M"]'
        ).items():
            with within(name):
                attributes[name] = attribute(value)
        return Domain(attributes)


def _database(value: object) -> Database:
    items = table(value, hint="write [database], then size = 40")
    check_keys(items, DATABASE_KEYS, elsewhere={"n": "write size"})
    size, scope = None, None
    data: str | TableAt | None = None
    if "size" in items:
        with within("size"):
            size = integer(items["size"])
    if "answers" in items:
        with within("answers"):
            scope = choice(items["answers"], ("any", "given"), what="scope")
    if "data" in items:
        with within("data"):
            data = _data(items["data"])
    return Database(size=size, answers=cast("Answers | None", scope), data=data)


def _data(value: object) -> str | TableAt:
    """Return the name of a file, or the address of a table."""
    if isinstance(value, str):
        refuse_address(value)
        return value
    items = table(value, need="a file's name, or a table with url and table")
    check_keys(items, TABLE_KEYS)
    words: dict[str, str] = {}
    for key in TABLE_KEYS:
        if key in items:
            with within(key):
                words[key] = text(items[key])
        elif key != "key":
            raise PolicyError(
                f"there is no {key}", hint='write data = { url = "postgres://...", table = "..." }'
            )
    return TableAt(**words)


def _known(value: object, domain: Domain, folder: Path | None) -> list[Known]:
    with within("known"):
        items = array(value, of="tables", hint="write [[known]] with two brackets, once per fact")
        return each(items, lambda item: known_fact(item, domain, folder))


def _queries(value: object) -> list[NamedCount]:
    with within("query"):
        items = array(value, of="tables", hint="write [[query]] with two brackets, once per query")
        return each(items, _query)


def _query(value: object) -> NamedCount:
    items = table(value)
    check_keys(items, QUERY_KEYS)
    for key in QUERY_KEYS:
        if key not in items:
            raise PolicyError(f"the query has no {key}", hint="a query has name and count")
    with within("name"):
        name = text(items["name"])
    return NamedCount(name, _where(items["count"]))


def _where(value: object) -> Where:
    with within("count"):
        return regions(value)
