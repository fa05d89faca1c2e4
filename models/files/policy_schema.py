"""The JSON Schema of the policy file; editors can use `policy.schema.json` directly.

It describes the shape: keys, types, and which keys go together. Whether a region fits the domain or
answers fit each other is the reader's business (`reading`).
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from blowproof.models.secrets.kinds import KINDS

__all__ = ["schema"]


def schema() -> dict[str, object]:
    """Return the JSON Schema (draft 2020-12) of a policy, kinds of secrets made elsewhere included.

    >>> list(schema()["properties"])
    ['name', 'domain', 'secrets', 'database', 'known', 'query']
    """
    text = (
        files("blowproof.models.files").joinpath("policy.schema.json").read_text(encoding="utf-8")
    )
    result: dict[str, Any] = json.loads(text)
    kinds = result["properties"]["secrets"]["oneOf"]
    listed = {kind["properties"]["kind"]["const"] for kind in kinds}
    kinds += [kind.schema() for name, kind in KINDS.items() if name not in listed]
    return result
