"""The form of a policy: its fields as texts, and the policy that they say.

Numbers travel as texts, since a browser's numbers are floats. What the form cannot show (regions,
sums, named queries) goes along as it is, in JSON that the page hands back unread.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from blowproof.models import Marginal, Policy, PolicyError
from blowproof.models.base.numbers import show
from blowproof.models.domain.attributes import Attribute, Integers, Labels, Steps
from blowproof.models.files.writing import to_mapping
from blowproof.models.policy.in_words import fact_words, secret_words
from blowproof.models.queries.arguments import query_name, split_arguments

__all__ = ["fields", "tables"]

_SPAN = re.compile(r"\s*(-?[0-9/.]+)\s*\.\.\s*(-?[0-9/.]+)\s*(?:step\s+([0-9/.]+)\s*)?")


def fields(policy: Policy) -> dict[str, Any]:
    """Return the form of a policy."""
    mapping: dict[str, Any] = to_mapping(policy)
    secrets = dict(mapping.get("secrets", {"kind": "full"}))
    database = dict(mapping.get("database", {}))
    simple = secrets["kind"] in ("full", "attribute", "distance") or "by" in secrets
    return {
        "name": str(mapping.get("name", "")),
        "attributes": [
            {"name": name, **_shown(attribute)} for name, attribute in policy.domain.attributes
        ],
        "secrets": {
            "kind": secrets["kind"] if simple else "",
            "words": secret_words(policy),
            "changes": str(secrets.get("changes", 1)),
            "by": [str(name) for name in secrets.get("by", [])],
            "threshold": str(secrets.get("threshold", 1)),
            "attributes": [str(name) for name in secrets.get("attributes", [])],
            "source": json.dumps(secrets),
        },
        "answers": str(database.get("answers", "")),
        "scope": policy.scope,
        "size": "" if policy.database.size is None else str(policy.database.size),
        "database": json.dumps(
            {key: value for key, value in database.items() if key not in ("answers", "size")}
        ),
        "known": [
            {
                "words": fact_words(policy, fact),
                "marginal": list(fact.attributes) if isinstance(fact, Marginal) else None,
                "source": json.dumps(source),
            }
            for fact, source in zip(policy.known, mapping.get("known", []), strict=True)
        ],
        "queries": json.dumps(mapping.get("query", [])),
    }


def _shown(attribute: Attribute) -> dict[str, Any]:
    if isinstance(attribute, Integers):
        return {"kind": "numbers", "values": f"{attribute.min}..{attribute.max}"}
    if isinstance(attribute, Steps):
        ends = f"{show(attribute.min)}..{show(attribute.max)}"
        return {"kind": "numbers", "values": f"{ends} step {show(attribute.step)}"}
    assert isinstance(attribute, Labels)
    listed = query_name("", [str(label) for label in attribute.labels])[1:-1]
    whole = any(isinstance(label, int) for label in attribute.labels)
    kind = "ordered" if attribute.ordered else "labels"
    return {"kind": kind, "values": listed.replace(",", ", "), "whole": whole}


def tables(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of the policy that a form says; a PolicyError names the field."""
    result: dict[str, Any] = {}
    form = _table(form)
    if form.get("name"):
        result["name"] = str(form["name"])
    result["domain"] = {}
    for item in _listed(form, "attributes"):
        name = str(item.get("name", "")).strip()
        if name in result["domain"]:
            raise PolicyError(f"two attributes are named {name!r}", key="domain")
        result["domain"][name] = _attribute(name, item)
    result["secrets"] = _secrets(_table(form.get("secrets")))
    database = _table(_json(form.get("database"), {}))
    if form.get("answers"):
        database["answers"] = str(form["answers"])
    size = str(form.get("size") or "").strip()
    if size:
        database["size"] = _whole(size, "database.size")
    result["database"] = database
    known = [_fact(item) for item in _listed(form, "known")]
    if known:
        result["known"] = known
    queries = _json(form.get("queries"), [])
    if queries:
        result["query"] = queries
    return result


def _listed(form: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    items = form.get(key, [])
    return [_table(item) for item in items] if isinstance(items, list) else []


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PolicyError("the form is not as the page sends it", hint="reload the page")
    return dict(value)


def _json(text: object, default: object) -> Any:
    try:
        return json.loads(str(text)) if text else default
    except (ValueError, RecursionError):
        raise PolicyError("the form is not as the page sends it", hint="reload the page") from None


def _attribute(name: str, item: Mapping[str, Any]) -> object:
    text = str(item.get("values", ""))
    if item.get("kind") == "numbers":
        found = _SPAN.fullmatch(text)
        if found is None:
            raise PolicyError(
                f"{text!r} is no range of numbers", key=f"domain.{name}",
                hint="write 0..115, or 35..42 step 1/2",
            )  # fmt: skip
        low, high, step = found.groups()
        if step is None:
            key = f"domain.{name}"
            return {"min": _whole(low, key), "max": _whole(high, key)}
        return {"min": low, "max": high, "step": step}
    labels: list[Any] = split_arguments(text) or []
    if item.get("whole"):
        labels = [_whole(label, f"domain.{name}") for label in labels]
    return {"labels": labels, "ordered": True} if item.get("kind") == "ordered" else labels


def _whole(text: str, key: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,1000}", text.strip()):
        raise PolicyError(f"{text!r} is no whole number", key=key, hint="write 40")
    return int(text)


def _secrets(form: Mapping[str, Any]) -> dict[str, Any]:
    before = _table(_json(form.get("source"), {"kind": "full"}))
    kind = str(form.get("kind") or "")
    if kind == "attribute":
        return {"kind": kind, "changes": _whole(str(form.get("changes", 1)), "secrets.changes")}
    if kind == "partition":
        return {"kind": kind, "by": [str(name) for name in form.get("by") or []]}
    if kind == "distance":
        kept = before if before.get("kind") == "distance" else {"metric": "l1"}
        threshold = str(form.get("threshold", 1)).strip()
        made = {**kept, "kind": kind, "threshold": threshold}
        made.pop("attributes", None)
        if form.get("attributes"):
            made["attributes"] = [str(name) for name in form["attributes"]]
        return made
    return {"kind": "full"} if kind == "full" else before


def _fact(item: Mapping[str, Any]) -> dict[str, Any]:
    before = _table(_json(item.get("source"), {}))
    if item.get("marginal") is None:
        return before
    names = [str(name) for name in item["marginal"]]
    return before if before.get("marginal") == names else {"marginal": names}
