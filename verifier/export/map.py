"""What the variables of an exported model mean, in words and as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from blowproof.models import Point, Setting
from blowproof.verifier.asked.answer import json_value
from blowproof.verifier.engines.histograms.master import Master
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["columns", "literals", "printable"]

_CELL = re.compile(r"(first|second)\[(\d+),(\d+)\]")
_RECORD = re.compile(r"(changed|secret)\[(\d+)\]")


def literals(
    setting: Setting, values: Sequence[Point], names: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """What the named variables of the labelled master mean (records are numbered from 1)."""
    result: dict[str, dict[str, Any]] = {}
    for name in names:
        if found := _CELL.fullmatch(name):
            when = "before" if found[1] == "first" else "after"
            record, value = int(found[2]) + 1, json_value(setting.domain, values[int(found[3])])
            means = f"record {record} {when} = {_text(value)}"
            result[name] = {"means": means, "record": record, "when": when, "value": value}
        elif found := _RECORD.fullmatch(name):
            record = int(found[2]) + 1
            kind = "changes" if found[1] == "changed" else "makes a secret move"
            result[name] = {"means": f"record {record} {kind}", "record": record}
        else:
            result[name] = {"means": f"auxiliary, {name}"}
    return result


_FROM = re.compile(r"(.+)_from(\d+)")
_OUTPUT = re.compile(r"(size|rising)(\d+)")


def columns(master: Master) -> dict[str, dict[str, Any]]:
    """What the variables of the histogram master mean."""
    moves = master.moves
    domain = moves.setting.domain
    result: dict[str, dict[str, Any]] = {}
    for point, variable in master.first.items():
        value = json_value(domain, point)
        means = f"how many records hold {_text(value)} in D1"
        result[variable.name] = {"means": means, "when": "before", "value": value}
    for kind, variable in master.counts.items():
        result[variable.name] = _move(moves, kind)
    result[master.secret.name] = {"means": "how many moves are secret (or of any kind, unlabelled)"}
    outputs = list(dict.fromkeys(o for kind in moves.kinds for o in kind.change))
    for variable in master.linear.variables:
        if variable.name not in result:
            means = _auxiliary(variable.name, outputs, moves, result)
            result[variable.name] = {"means": means}
    return result


def _move(moves: Moves, kind: Kind) -> dict[str, Any]:
    domain = moves.setting.domain
    before = None if kind.before is None else json_value(domain, kind.before)
    after = None if kind.after is None else json_value(domain, kind.after)
    if before is None:
        means = f"how many records {_text(after)} are added"
    elif after is None:
        means = f"how many records {_text(before)} are removed"
    else:
        move = "secretly" if kind.secret else "plainly"
        means = f"how many records move {move} from {_text(before)} to {_text(after)}"
    return {"means": means, "before": before, "after": after, "secret": kind.secret}


def _auxiliary(
    name: str, outputs: Sequence[object], moves: Moves, known: Mapping[str, Mapping[str, Any]]
) -> str:
    if found := _OUTPUT.fullmatch(name):
        output = outputs[int(found[2])]
        label = f"output {printable(str(output))}"
        if moves.query.separates and isinstance(output, tuple):
            label = f"the count of {_text(json_value(moves.setting.domain, output))}"
        how = "at most how much changes" if found[1] == "size" else "1 where the model counts up"
        return f"{how}: {label}"
    if (found := _FROM.fullmatch(name)) and found[1] in known:
        return f"1 iff at least {found[2]}: {known[found[1]]['means']}"
    return f"auxiliary, {name}"


def _text(value: Sequence[int | str] | None) -> str:
    return printable(",".join(map(str, value or ())))


def printable(text: str) -> str:
    """A comment stays on its line, in every reader's alphabet."""
    return text.encode("unicode_escape").decode("ascii")
