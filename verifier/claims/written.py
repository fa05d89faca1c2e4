"""The record as a file: a line for each key and for each part, so that changes show."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from blowproof.verifier.claims.ledger import all_claims
from blowproof.verifier.claims.record import SCHEMA, Json

__all__ = ["merged", "written"]


def merged(path: Path, renewed: list[Json]) -> str:
    """Return the text of the record, with some claims renewed and those of no ledger dropped."""
    known = {}
    if path.exists():
        known = {item["id"]: item for item in json.loads(path.read_text("utf-8"))["claims"]}
    known.update({item["id"]: item for item in renewed})
    return written(known[claim.id] for claim in all_claims() if claim.id in known)


def written(claims: Iterable[Json]) -> str:
    """Return the record as text, a line for each key and for each part, so that changes show."""
    listed = ",\n".join(_lines(item) for item in claims)
    return f'{{\n"schema": "{SCHEMA}",\n"claims": [\n{listed}\n]\n}}\n'


def _lines(item: Json) -> str:
    texts = {key: _dumped(value) for key, value in item.items()}
    texts["parts"] = f"[{_each(item['parts'])}]"
    return " {\n" + ",\n".join(f'  "{key}": {text}' for key, text in texts.items()) + "\n }"


def _each(parts: list[Json]) -> str:
    return "" if not parts else "\n" + ",\n".join(f"   {_dumped(part)}" for part in parts) + "\n  "


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
