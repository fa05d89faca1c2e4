"""The record as a file: a line for each key and for each part, so that changes show."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from blowproof.verifier.claims.ledger import all_claims
from blowproof.verifier.claims.record import SCHEMA, Json, texts
from blowproof.verifier.claims.stating.claim import Claim, Cost, Part

__all__ = ["merged", "retold", "written"]


def merged(path: Path, renewed: list[Json]) -> str:
    """Return the text of the record, with some claims renewed and those of no ledger dropped."""
    known = {}
    if path.exists():
        known = {item["id"]: item for item in json.loads(path.read_text("utf-8"))["claims"]}
    known.update({item["id"]: item for item in renewed})
    return written(known[claim.id] for claim in all_claims() if claim.id in known)


def retold(path: Path) -> str:
    """Return the text of the record with what the claims say now, their findings as they were.

    For texts that were edited: what was found, and by which engines, is not touched. A claim whose
    parts are others than those on record keeps its old row, until it is run again.
    """
    listed = {item["id"]: item for item in json.loads(path.read_text("utf-8"))["claims"]}
    return written(told(claim, listed[claim.id]) for claim in all_claims() if claim.id in listed)


def told(claim: Claim, item: Json) -> Json:
    """Return a row of the record with what its claim says now."""
    keys = [(part["name"], part["reading"], part["answers"]) for part in item["parts"]]
    if keys != [(part.name, part.reading, part.answers) for part in claim.parts]:
        return {**dict.fromkeys(texts(claim)), **item}
    recorded = dict(zip(keys, item["parts"], strict=True))

    def failed(part: Part) -> frozenset[Cost]:
        return frozenset(recorded[part.name, part.reading, part.answers]["failures"])

    def properly(part: Part) -> frozenset[Cost]:
        shown = recorded[part.name, part.reading, part.answers]["counterexamples"]
        return frozenset(one["cost"] for one in shown if one["degenerate"] is None)

    new = {
        **texts(claim),
        "verdict": claim.verdict(failed),
        "grade": claim.grade(failed, properly),
    }
    found = {key: new.get(key, value) for key, value in item.items()}
    return {**found, **{key: value for key, value in new.items() if key not in found}}


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
