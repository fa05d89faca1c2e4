"""An entry of the public registry of deployments, as data: what it says, and what it cannot say.

An entry is a YAML file of free text: a unit of privacy, parameters, and in words whose data they
are and which quantities are not protected. A policy needs exact ones: which values a record can
have, what of them is secret, which counts are public. An entry has no place for these, so nothing
is guessed from its prose: a policy stands beside it, or in a block of TOML within the entry's
`additional_information`, where `written` puts it.

The registry's form has changed over time; sections and keys are found by all names they have had.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from blowproof.models.base.door import read_document
from blowproof.models.base.errors import PolicyError
from blowproof.models.base.toml_values import table, within
from blowproof.models.files.reading import parse_policy
from blowproof.models.policy.policy import Policy

__all__ = ["BLOCK", "VARIANTS", "RegistryEntry", "parse_entry", "policy_of", "read_entry"]

BLOCK = "```toml"
"""How the policy begins in `additional_information`."""

VARIANTS: dict[str, tuple[str, ...]] = {
    "Pure DP": ("epsilon",),
    "Approximate DP": ("epsilon", "delta"),
    "Zero-concentrated DP": ("rho",),
}
"""The registry's names of guarantees that are judged here, and their parameters."""

SECTIONS = {
    "variant": ("dp_variant", "dp_flavor"),
    "loss": ("privacy_loss",),
    "model": ("deployment_model", "model"),
    "about": ("basic", "product"),
    "more": ("implementation", "resources"),
}
DEEP = 32
_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d{1,3})?|\.\d+([eE][+-]?\d{1,3})?")


@dataclass(frozen=True)
class RegistryEntry:
    """What an entry says that bears on a policy; texts are as they are written, "" if absent.

    `units`: how many units of privacy neighbours differ in. `policy` and `mechanism`: the blocks of
    TOML, where the entry has them.
    """

    name: str
    variant: Literal["Pure DP", "Approximate DP", "Zero-concentrated DP"]
    parameters: Mapping[str, Fraction]
    unit: str
    unit_details: str
    data_domain: str
    unprotected: str
    units: int = 1
    policy: str | None = None
    mechanism: str | None = None

    @property
    def measure(self) -> Literal["epsilon", "rho"]:
        """What the guarantee is measured in."""
        return "rho" if "rho" in self.parameters else "epsilon"

    @property
    def claimed(self) -> Fraction:
        """The epsilon, or the rho, that is claimed."""
        return self.parameters[self.measure]

    @property
    def missing(self) -> tuple[str, ...]:
        """Return what a policy needs and the entry has no place for, in words."""
        found = [
            "the attributes of a record and the values that each can have ([domain])",
            "which values nobody may tell apart ([secrets]); the entry's unit of privacy is: "
            f"{self.unit or 'not given'}",
        ]
        if self.unprotected:
            found.append("each of the unprotected quantities as a count ([[known]])")
        else:
            found.append("whether any quantity is unprotected ([[known]]): the entry does not say")
        return tuple(found)

    def draft(self) -> str:
        """Return a policy file with what the entry says as comments, and holes to fill in."""
        lines = [f"# From the registry's entry: {_one_line(self.name)}", ""]
        lines += _comment("Whose data", self.data_domain or "the entry does not say")
        lines += ["[domain]   # missing: every attribute of a record, with its values", ""]
        lines += _comment("Unit of privacy", self.unit or "the entry does not say")
        lines += _comment("In detail", self.unit_details)
        lines += ['[secrets]\nkind = "full"   # or attribute, partition, distance, edges', ""]
        lines += _comment("Not protected", self.unprotected or "the entry does not say")
        lines += ["# [[known]]   # missing: one for each of them", '# marginal = ["..."]', ""]
        return "\n".join(lines)


def read_entry(path: str | Path) -> RegistryEntry:
    """Return the entry in a YAML file."""
    content = read_document(path)
    try:
        return parse_entry(content)
    except PolicyError as error:
        raise error.at(file=str(path), line=error.line) from None


def parse_entry(content: str) -> RegistryEntry:
    """Return what an entry says; what a policy cannot be judged by is refused by name.

    >>> entry = parse_entry('''
    ... deployment:
    ...   dp_flavor: {name: Zero-concentrated DP, unprotected_quantities: state totals}
    ...   privacy_loss: {privacy_unit: person, privacy_parameters: {rho: 2.63}}
    ... ''')
    >>> entry.measure, entry.claimed, entry.unprotected
    ('rho', Fraction(263, 100), 'state totals')
    """
    top = table(_load(content), need="a mapping with the key deployment")
    if "deployment" not in top:
        raise PolicyError(
            "this is no entry of the registry: there is no deployment in it",
            hint="a file of its folder deployments",
        )
    with within("deployment"):
        body = table(top["deployment"], need="a mapping of sections")
        found = {name: _section(body, names) for name, names in SECTIONS.items()}
        _refuse_local(_text(found["model"], "model_name", "model_type"))
        variant = _variant(_text(found["variant"], "variant_name", "name"))
        loss = found["loss"]
        blocks = _blocks(_text(found["more"], "additional_information", "sources"))
        return RegistryEntry(
            name=_text(found["about"], "name") or _text(body, "name", "short_name") or "entry",
            variant=variant,
            parameters=_parameters(loss, VARIANTS[variant]),
            unit=_text(loss, "privacy_unit"),
            unit_details=_text(loss, "privacy_unit_details", "privacy_unit_description"),
            data_domain=_text(found["variant"], "data_domain"),
            unprotected=_text(found["variant"], "unprotected_quantities"),
            units=_units(_text(loss, "number_of_privacy_units")),
            policy=blocks[0] if blocks else None,
            mechanism=blocks[1] if len(blocks) > 1 else None,
        )


def policy_of(entry: RegistryEntry) -> Policy | None:
    """Return the policy that stands in the entry; None where it has none."""
    return None if entry.policy is None else parse_policy(entry.policy)


def _load(content: str) -> object:
    """Return plain mappings, lists and texts.

    Scalars stay texts, so that no number is a float. References are refused (a few lines of them
    can stand for gigabytes), and so are keys that stand twice.
    """
    import yaml

    class Loader(yaml.BaseLoader):  # type: ignore[misc] # the library has no types
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                raise PolicyError("references (&, *) are not read", hint="write the value out")
            self.depth += 1
            if self.depth > DEEP:
                raise PolicyError(f"this is nested deeper than {DEEP}", hint="see the registry")
            try:
                return super().compose_node(parent, index)
            finally:
                self.depth -= 1

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value]
            for place, key in enumerate(keys):
                if key in keys[:place]:
                    raise PolicyError(f"the key {key!r} stands twice", hint="leave one out")
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(content, Loader)  # a loader of texts alone
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = None if mark is None else mark.line + 1
        raise PolicyError(f"this is no YAML: {error.problem}", hint="see the registry").at(
            file=None, line=line
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise PolicyError(f"this is no YAML: {reason}", hint="see the registry") from None


def _section(body: Mapping[str, object], names: tuple[str, ...]) -> dict[str, object]:
    for name in names:
        if name in body:
            with within(name):
                return table(body[name], need="a mapping")
    return {}


def _text(section: Mapping[str, object], *names: str) -> str:
    """Return a text by one of its names; it may stand in a mapping with its source."""
    for name in names:
        value = section.get(name, "")
        if isinstance(value, Mapping):
            value = value.get("value", "")
        if isinstance(value, list):
            value = "\n".join(str(item) for item in value)
        if value:
            return str(value).strip()
    return ""


def _variant(name: str) -> Literal["Pure DP", "Approximate DP", "Zero-concentrated DP"]:
    known = " or ".join(VARIANTS)
    if not name:
        raise PolicyError("the entry does not say which guarantee it has", hint=known)
    for variant in VARIANTS:
        if name.casefold().replace("-", " ") == variant.casefold().replace("-", " "):
            return variant  # type: ignore[return-value] # a key of VARIANTS
    raise PolicyError(f"a guarantee of the kind {name!r} is not compared", hint=known)


def _refuse_local(model: str) -> None:
    """Refuse deployments in which no database of records is asked."""
    if model.casefold() in {"local", "shuffle"}:
        raise PolicyError(
            f"in the {model.lower()} model each person adds noise alone, and a policy speaks about "
            "a database of records",
            hint="a deployment in the central model",
        )


def _parameters(loss: Mapping[str, object], names: tuple[str, ...]) -> dict[str, Fraction]:
    with within("privacy_loss"):
        if "privacy_parameters" not in loss:
            raise PolicyError("the entry has no privacy_parameters", hint=", ".join(names))
        with within("privacy_parameters"):
            given = table(loss["privacy_parameters"], need="a mapping")
            found = {}
            for name in names:
                if name not in given:
                    raise PolicyError(f"there is no {name}", hint=f"{name}: 1.0")
                with within(name):
                    found[name] = _number(given[name], name)
            return found


def _number(value: object, name: str) -> Fraction:
    """Return a number as it is written, above 0; a delta below 1."""
    if isinstance(value, Mapping):
        value = value.get("value")
    written = value.strip() if isinstance(value, str) else ""
    if len(written) > 60 or not _NUMBER.fullmatch(written):
        raise PolicyError(f"{str(value)[:40]!r} is not a number", hint=f"{name}: 1.0")
    found = Fraction(written)
    if found <= 0 or (name == "delta" and found >= 1):
        raise PolicyError(f"{name} = {written} promises nothing", hint=f"{name}: 1.0e-10")
    return found


def _units(written: str) -> int:
    if not written:
        return 1
    if not re.fullmatch(r"[1-9]\d{0,8}", written):
        raise PolicyError(
            f"{written!r} is not how many units of privacy neighbours differ in",
            key="privacy_loss.number_of_privacy_units",
            hint="number_of_privacy_units: 1",
        )
    return int(written)


def _blocks(text: str) -> list[str]:
    """Return the blocks of TOML in a text."""
    return [block.partition("```")[0] for block in text.split(f"{BLOCK}\n")[1:]]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _comment(title: str, text: str) -> list[str]:
    """Return a text as comments of TOML, whatever stands in it."""
    if not text:
        return []
    lines = ["".join(sign if sign.isprintable() else " " for sign in line)
             for line in text.splitlines()]  # fmt: skip
    return [f"# {title}: {lines[0]}", *(f"#   {line}".rstrip() for line in lines[1:])]
