"""Findings as JSON, counterexamples back from JSON, and what changed since the record."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any, cast

from blowproof.models import Exact
from blowproof.models.base.numbers import exact, plain
from blowproof.models.files.reading import policy_from
from blowproof.models.files.writing import to_mapping, to_toml
from blowproof.verifier.asked.answer import json_number
from blowproof.verifier.claims.run import COSTS, Failure, Finding, Tally
from blowproof.verifier.claims.stating.claim import (
    Asked,
    Claim,
    Cost,
    Instance,
    Parameter,
    Part,
    Value,
)
from blowproof.verifier.claims.stating.measures import Counted, Shown
from blowproof.verifier.claims.version import version

__all__ = [
    "SCHEMA",
    "changes",
    "counterexamples",
    "document",
    "failure_json",
    "instance_from",
    "recorded",
    "tally_from",
    "tally_json",
    "texts",
]

SCHEMA = "blowproof/claims/1"
Json = dict[str, Any]
_FRACTION = re.compile(r"-?\d+/\d+")


@cache
def recorded() -> Mapping[str, Json]:
    """Return the recorded claims by id: what `--write` wrote last."""
    text = files("blowproof.verifier.claims").joinpath("verdicts.json").read_text("utf-8")
    return {item["id"]: item for item in json.loads(text)["claims"]}


# --- writing -------------------------------------------------------------------------------------


def document(finding: Finding) -> Json:
    """Return a claim as the contract has it, and more: parts, shapes, proof, explanation.

    `counterexample` is the one to look at first: on an instance that is not degenerate, if any is
    not, and of these one that costs privacy, if any does.
    """
    claim = finding.claim
    parts = [_part(part, tally) for part, tally in zip(claim.parts, finding.tallies, strict=True)]
    printed = [part for part in parts if not part["amended"]]
    examples = [example for part in printed for example in part["counterexamples"]]
    worst = sorted(examples, key=lambda one: (one["degenerate"] is not None, _rank(one["cost"])))
    found: Json = {
        "verdict": finding.verdict,
        "grade": finding.grade,
        "reading": ", ".join(dict.fromkeys(_taken(part) for part in printed if _taken(part))),
        "instances": sum(part["instances"] for part in printed),
        "cost": _worst(part["failures"] for part in printed),
        "counterexample": worst[0] if worst else None,
        "engines": version() if parts else None,
    }
    said = texts(claim)
    head = {key: said[key] for key in ("id", "source", "quote", "statement", "read_as", "status")}
    return {**head, **found, **said, "parts": parts}


def texts(claim: Claim) -> Json:
    """Return what a claim says of itself, whatever is found."""
    return {
        "id": claim.id,
        "source": claim.source,
        "quote": claim.quote,
        "statement": claim.statement,
        "read_as": claim.read_as,
        "status": claim.status or None,
        "repaired": claim.repaired or None,
        "amendment": claim.amendment if claim.repaired else None,
        "explanation": claim.explanation or None,
        "proved_by": list(claim.proved_by),
        "proof": claim.proof or None,
        "identities": [f"{item.says}: {item.left} = {item.right}" for item in claim.identities],
        "why_not": claim.why_not or None,
    }


def _rank(cost: Cost) -> int:
    return COSTS.index(cost)


def _taken(part: Json) -> str:
    return "; ".join(filter(None, (part["reading"], part["answers"])))


def _worst(failures: Iterable[Mapping[str, int]]) -> str | None:
    costs = {cost for failure in failures for cost in failure}
    return next((cost for cost in COSTS if cost in costs), None)


def _part(part: Part, tally: Tally) -> Json:
    return {
        "name": part.name,
        "amended": part.amended,
        "reading": part.reading,
        "answers": part.answers,
        "relation": part.relation,
        "verdict": "refuted" if tally.failures else "holds",
        "family": part.family.shapes,
        "instances": tally.instances,
        "sampled": tally.sampled,
        "undecided": tally.undecided,
        "shapes": dict(sorted(tally.shapes.items())),
        "failures": dict(sorted(tally.failures.items())),
        "degenerate": dict(sorted(tally.degenerate.items())),
        "counterexamples": [failure_json(part, failure) for failure in tally.shown()],
        "seconds": round(tally.seconds),
    }


def failure_json(part: Part, failure: Failure) -> Json:
    """Return a counterexample: the policy, two databases, and the two numbers.

    `exact` is what is proven: at least that much where the claim is too small, at most where it is
    too large; `bounds` has both where they differ.
    """
    instance, value = failure.instance, failure.value
    policy, above = instance.policy, value.lower > failure.claimed
    result: Json = {
        "part": part.name,
        "policy": None if policy is None else to_mapping(policy),
        "policy_file": None if policy is None else to_toml(policy),
        "query": instance.query.text if _asks(part, instance) else None,
        "reading": part.reading,
        "answers": part.answers,
        "claimed": json_number(failure.claimed),
        "relation": part.relation,
        "exact": json_number(value.lower if above else _upper(value)),
        "cost": failure.cost,
        "checked": failure.checked,
        "degenerate": failure.degenerate or None,
        "shape": instance.shape,
    }
    if value.upper != value.lower:
        upper = None if value.upper is None else json_number(value.upper)
        result["bounds"] = [json_number(value.lower), upper]
    if instance.query.rows:
        result["rows"] = [[json_number(item) for item in row] for row in instance.query.rows]
    if instance.parameters:
        result["parameters"] = {name: _text(item) for name, item in instance.parameters.items()}
    if value.witness is not None and policy is not None:
        result["witness"] = value.witness.to_json(policy.domain)
    return result


def _asks(part: Part, instance: Instance) -> bool:
    """Whether the instance's query matters: it does not where databases are merely counted."""
    return instance.policy is not None and not isinstance(part.measure, (Counted, Shown))


def _upper(value: Value) -> Exact:
    assert value.upper is not None  # a value that is too small to be right is bounded
    return value.upper


def _text(value: Parameter) -> int | str:
    return value if isinstance(value, str) else json_number(value)


# --- reading back --------------------------------------------------------------------------------


def instance_from(example: Json) -> Instance:
    """Return the instance of a recorded counterexample."""
    policy = None if example["policy"] is None else policy_from(example["policy"])
    rows = tuple(tuple(exact(item) for item in row) for row in example.get("rows", ()))
    given: Mapping[str, int | str] = example.get("parameters", {})
    return Instance(
        shape=example["shape"],
        policy=policy,
        query=Asked(example["query"] or "histogram", rows),
        parameters={name: _parameter(value) for name, value in given.items()},
    )


def _parameter(value: int | str) -> Parameter:
    if isinstance(value, str) and _FRACTION.fullmatch(value):
        return plain(Fraction(value))
    return value


def counterexamples(claim: Claim, place: int) -> list[Json]:
    """Return the recorded counterexamples of a claim's part, if the record has that part."""
    parts = recorded().get(claim.id, {}).get("parts", [])
    part = claim.parts[place]
    for item in parts:
        if (item["name"], item["reading"], item["answers"]) == _name(part):
            return cast("list[Json]", item["counterexamples"])
    return []


def _name(part: Part) -> tuple[str, str | None, str | None]:
    return part.name, part.reading, part.answers


def changes(finding: Finding) -> list[str]:
    """Return in words what is otherwise than recorded: the verdict, or what a part comes to."""
    claim = finding.claim
    known = recorded().get(claim.id)
    if known is None:
        return ["it is not on record"]
    result = [f"sympy does not prove that {words}" for words in finding.unproved]
    if known["verdict"] != finding.verdict:
        result.append(f"the verdict was {known['verdict']} and is {finding.verdict}")
    before = {(item["name"], item["reading"], item["answers"]): item for item in known["parts"]}
    for part in claim.parts:
        item = before.get(_name(part))
        costs = sorted(finding.failed(part))
        if item is None:
            result.append(f"the part {part.name!r} is not on record")
        elif sorted(item["failures"]) != costs:
            result.append(
                f"{part.name}{f' ({part.reading})' if part.reading else ''}: trusting it cost "
                f"{', '.join(sorted(item['failures'])) or 'nothing'} and costs "
                f"{', '.join(costs) or 'nothing'}{_differing(finding, part, item)}"
            )
    return result


def _differing(finding: Finding, part: Part, item: Json) -> str:
    """Return in words the first instance that the record judges otherwise, if one is known."""
    tally = finding.tallies[finding.claim.parts.index(part)]
    fresh = [failure for failure in tally.shown() if failure.cost not in item["failures"]]
    gone = [one for one in item["counterexamples"] if one["cost"] not in tally.failures]
    shown = [failure_json(part, failure) for failure in fresh[:1]] or gone[:1]
    if not shown:
        return ""
    (one,) = shown
    words = "fails" if fresh else "failed, and does so no more"
    given = "".join(f"\n  # {name} = {text}" for name, text in one.get("parameters", {}).items())
    policy = "".join(f"\n  {line}" for line in (one["policy_file"] or "").rstrip().splitlines())
    asked = f", query {one['query']}" if one["query"] else ""
    numbers = f"claimed {one['relation']} {one['claimed']}, exact {one['exact']}"
    return f"; the first instance that {words}: {numbers}{asked}{given}{policy}"


# --- a tally, so that a run can go on ------------------------------------------------------------


def tally_json(part: Part, tally: Tally) -> Json:
    """Return a tally for the state file."""
    return {
        "done": tally.done,
        "instances": tally.instances,
        "sampled": tally.sampled,
        "undecided": tally.undecided,
        "shapes": dict(tally.shapes),
        "failures": dict(tally.failures),
        "degenerate": dict(tally.degenerate),
        "kept": [failure_json(part, failure) for failure in tally.shown()],
        "seconds": tally.seconds,
        "finished": tally.finished,
    }


def tally_from(part: Part, item: Json) -> Tally:
    """Return the tally of a state file, the failing instances measured anew."""
    from blowproof.verifier.claims.run import put

    tally = Tally(
        done=item["done"],
        instances=item["instances"],
        sampled=item["sampled"],
        undecided=item["undecided"],
        shapes=Counter(item["shapes"]),
        failures=Counter(item["failures"]),
        degenerate=Counter(item["degenerate"]),
        seconds=item["seconds"],
        finished=item["finished"],
    )
    for example in item["kept"]:
        found = put(part, instance_from(example), None)
        if isinstance(found, Failure):
            tally.remember(replace(found, checked=example["checked"]))
    return tally
