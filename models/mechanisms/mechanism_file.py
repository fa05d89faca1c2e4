"""Mechanism files (TOML): reading with lines and suggestions, and writing back.

The grammar is the contract's; besides, a release's query may be `tree = { ... }` or `prefixes =
{ ... }`, discrete noise may have a `grid`, `[[selection]]` is a choice made from noisy costs,
`[attackers]` says whom `odds` judges it against, and `postprocessing` lists what is done to the
answers.
What only a policy can tell (is there such an attribute, how many outputs has a query) is checked
when the mechanism is bound to one; `located` then adds the file and the line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from blowproof.models.attackers.attackers_reading import (
    ATTACKER_KEYS,
    attackers,
    attackers_table,
)
from blowproof.models.base.door import is_standard_input, read_document, stem
from blowproof.models.base.errors import PolicyError
from blowproof.models.base.toml_values import array, check_keys, each, table, text, within
from blowproof.models.files.toml_lines import key_lines, parse_toml
from blowproof.models.files.toml_text import write_tables
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.models.mechanisms.mechanism_reading import (
    CHANNEL_KEYS,
    RELEASE_KEYS,
    channel,
    releases,
    selections,
)
from blowproof.models.mechanisms.mechanism_writing import (
    channel_table,
    release_table,
    selection_table,
)

__all__ = [
    "located",
    "mechanism_from",
    "parse_mechanism",
    "read_mechanism",
    "read_with_text",
    "to_mapping",
    "to_mechanism_toml",
]

TOP_KEYS = ("name", "release", "selection", "channel", "postprocessing", "attackers")
ELSEWHERE = {
    **{key: f"{key} belongs in a [[release]] table" for key in RELEASE_KEYS},
    **{key: f"{key} belongs under [channel]" for key in CHANNEL_KEYS},
    **{key: f"{key} belongs under [attackers]" for key in ATTACKER_KEYS},
    "epsilon": "epsilon is an option of the command: --epsilon",
    "policy": "the policy is an option of the command: --policy",
    "releases": "write [[release]]",
    "domain": "this is a policy; a mechanism has [[release]] or [channel]",
}

Result = TypeVar("Result")


def read_mechanism(path: str | Path) -> Mechanism:
    """Return the mechanism in a TOML file; its name defaults to the file's stem."""
    return read_with_text(path)[0]


def read_with_text(path: str | Path) -> tuple[Mechanism, str]:
    """Return the mechanism in a TOML file, and the text, from which `located` takes lines."""
    content = read_document(path)
    return parse_mechanism(content, name=stem(path), file=str(path)), content


def parse_mechanism(content: str, *, name: str = "mechanism", file: str | None = None) -> Mechanism:
    """Return the mechanism written in a TOML text.

    >>> text = '[[release]]\\nquery = "histogram"\\nscale = "7/2"'
    >>> parse_mechanism(text).releases[0].scale
    Fraction(7, 2)
    >>> parse_mechanism('[[release]]\\nquery = "histogram"\\nscale = 0.5')
    Traceback (most recent call last):
    ...
    blowproof.models.base.errors.PolicyError: line 3: release[0].scale: 0.5 is a float, and floats \
are not exact
      try: write the fraction as a string: "1/2"
    """
    try:
        tables = parse_toml(content)
    except PolicyError as error:
        raise error.at(file=file, line=error.line) from None
    read = located(lambda: mechanism_from(tables, name=name), content, file=file, everything=True)
    if file is None or is_standard_input(file):
        return read
    return replace(read, folder=Path(file).parent)


def located(
    step: Callable[[], Result], content: str, *, file: str | None = None, everything: bool = False
) -> Result:
    """Return the step's result; an error about a key of the mechanism gets its file and line.

    `everything`: every error of the step is about the mechanism; else its key has to say so.
    """
    try:
        return step()
    except PolicyError as error:
        top = error.key.partition(".")[0].partition("[")[0]
        if error.file is None and error.line is None and (everything or top in TOP_KEYS):
            error.at(file=file, line=key_lines(content).line(error.key))
        raise


def mechanism_from(mapping: Mapping[str, object], *, name: str = "mechanism") -> Mechanism:
    """Return the mechanism in tables that are already parsed."""
    top = table(mapping, need="a table with the key release or channel")
    check_keys(top, TOP_KEYS, elsewhere=ELSEWHERE)
    if "name" in top:
        with within("name"):
            name = text(top["name"])
    chosen = "release" in top or "selection" in top
    if chosen == ("channel" in top):
        both = "has both releases and a channel" if chosen else "releases nothing"
        hint = "write [[release]] tables, [[selection]] tables, or one [channel]"
        raise PolicyError(f"the mechanism {both}", key="channel" * chosen, hint=hint)
    return Mechanism(
        name=name,
        releases=releases(top["release"]) if "release" in top else (),
        selections=selections(top.get("selection", [])),
        channel=channel(top["channel"]) if "channel" in top else None,
        postprocessing=_steps(top.get("postprocessing", [])),
        attackers=attackers(top["attackers"]) if "attackers" in top else None,
    )


def _steps(value: object) -> tuple[str, ...]:
    with within("postprocessing"):
        return tuple(each(array(value, of="names", hint='write ["isotonic"]'), text))


def to_mapping(mechanism: Mechanism) -> dict[str, object]:
    """Return the mechanism as tables: what `mechanism_from` reads back to an equal mechanism."""
    result: dict[str, object] = {"name": mechanism.name}
    if mechanism.postprocessing:
        result["postprocessing"] = list(mechanism.postprocessing)
    if mechanism.channel is not None:
        result["channel"] = channel_table(mechanism.channel)
    if mechanism.releases:
        result["release"] = [release_table(release) for release in mechanism.releases]
    if mechanism.selections:
        result["selection"] = [selection_table(item) for item in mechanism.selections]
    if mechanism.attackers is not None:
        result["attackers"] = attackers_table(mechanism.attackers)
    return result


def to_mechanism_toml(mechanism: Mechanism) -> str:
    """Return the mechanism as TOML; reading it back gives an equal mechanism.

    >>> from fractions import Fraction
    >>> from blowproof.models.mechanisms.mechanism import Prefixes, Release
    >>> release = Release(query=Prefixes(attribute="age", every=10), scale=Fraction(7, 2))
    >>> print(to_mechanism_toml(Mechanism(name="m", releases=(release,))), end="")
    name = "m"
    <BLANKLINE>
    [[release]]
    prefixes = { attribute = "age", every = 10 }
    scale = "7/2"
    """
    return write_tables(to_mapping(mechanism))
