"""The audit as an entry of the public registry of deployments (YAML), in the registry's own form.

The entry says in words what the policy and its noise are, and carries both as TOML besides: so it
can be audited again (`audit --from registry`). What only the office knows is left empty, and named.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from blowproof.models import Policy, QueryError
from blowproof.models.files.registry_entry import BLOCK
from blowproof.models.files.writing import to_toml
from blowproof.models.mechanisms.mechanism import Mechanism, Noise, Release
from blowproof.models.mechanisms.mechanism_file import to_mechanism_toml
from blowproof.models.policy.in_words import counted, domain_words, known_words, secret_words
from blowproof.models.stacks.stacked import ONE, Part, Stacked

if TYPE_CHECKING:
    from blowproof.cli.audit.audited import Audited
    from blowproof.cli.audit.findings import Finding

__all__ = ["registry_text"]

VARIANTS = {"epsilon": "Pure DP", "rho": "Zero-concentrated DP"}
DIGITS = 12
NOISES: dict[str, Noise] = {"laplace": "laplace", "gaussian": "discrete-gaussian"}


def registry_text(found: Audited) -> str:
    """Return the entry: what is missing as comments on top, then the YAML."""
    if len(found.findings) != 1:
        raise QueryError(
            "an entry has one guarantee, and several queries asked apart have one each\n"
            '  try: ask for them together: --query "histogram + sum(age)"'
        )
    entry = _entry(found)
    empty = list(_empty(entry))
    lines = ["# An entry for the public registry of deployments. Fill in what only you know:",
             *(f"#   {name}" for name in empty), _yaml(entry)]  # fmt: skip
    return "\n".join(lines)


def _entry(found: Audited) -> dict[str, Any]:
    policy, (finding,) = found.policy, found.findings
    plan, pair = finding.plan, finding.verdict.witness
    if finding.scale is None or plan.noise.kind not in NOISES:
        raise QueryError(
            "an entry says how much noise is added, and here that is not known\n"
            "  try: --norm l1 or l2-squared"
            + ("" if finding.verdict.final else ", and a longer --time-limit")
        )
    mechanism = _mechanism(policy, finding, finding.scale)
    least = 1 if pair is None else max(len(pair.before), len(pair.after), 1)
    return {
        "url_slug": re.sub(r"\W+", "_", policy.name).strip("_").lower() or "entry",
        "deployment": {
            "basic": {
                "name": policy.name,
                "data_curators": [{"data_curator_name": "", "data_curator_type": ""}],
                "description": "",
                "intended_use": "",
                "data_product_type": "Summary statistics",
                "data_product_region": "",
                "data_product_sector": "",
                "publication_date": "",
            },
            "dp_variant": {
                "variant_name": VARIANTS[plan.noise.promise],
                "data_domain": f"Databases of records with the attributes {domain_words(policy)}.",
                "unprotected_quantities": _listed(known_words(policy, found.size, limit=10**6)),
            },
            "privacy_loss": {
                "privacy_unit": "one record",
                "privacy_unit_details": (
                    f"Neighbours are those of a Blowfish policy, reading {finding.reading}: "
                    f"protected is {secret_words(policy)}, and both databases satisfy the "
                    "unprotected quantities. In the worst pair at hand "
                    f"{counted(least, 'record')} differ."
                ),
                "privacy_parameters": {plan.noise.promise: _Decimal.above(plan.promised)},
                "privacy_parameters_details": f"{plan.aim}, exactly, for all of these neighbours.",
            },
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "implementation": {
                "mechanisms": f"{finding.query.name}: {_noise(finding)}",
                "additional_information": "\n".join([
                    "The policy, and what is released, as blowproof reads them:", "",
                    f"{BLOCK}\n{to_toml(policy)}```", "",
                    f"{BLOCK}\n{to_mechanism_toml(mechanism)}```", "",
                ]),
            },
            "administrative": {"status": "Draft", "registry_authors": [""], "tier": 3},
        },
    }  # fmt: skip


def _noise(finding: Finding) -> str:
    assert finding.scale is not None
    return finding.plan.noise.words(finding.scale, finding.plan.promised)


def _mechanism(policy: Policy, finding: Finding, needed: Fraction) -> Mechanism:
    """Return the release of the query with noise for S; a weight of w makes its noise 1/w."""
    query, noise = finding.query, NOISES[finding.plan.noise.kind]
    parts = query.parts if isinstance(query, Stacked) else (Part(query, ONE),)
    releases = []
    for part in parts:
        widths = tuple(needed / weight for weight in part.weights)
        width = widths[0] if part.uniform else widths
        name = part.query.name
        if noise == "laplace":
            releases.append(Release(query=name, noise=noise, scale=width))
        else:
            grid = part.query.grid(policy.domain) or Fraction(1)
            releases.append(Release(query=name, noise=noise, variance=width, grid=grid))
    return Mechanism(name=policy.name, releases=tuple(releases))


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _empty(value: object, path: str = "") -> list[str]:
    """Return the keys that hold nothing, each by its whole path."""
    if isinstance(value, dict):
        return [name for key, item in value.items()
                for name in _empty(item, f"{path}.{key}" if path else key)]  # fmt: skip
    if isinstance(value, list):
        return [name for item in value for name in _empty(item, path)]
    return [path] if value == "" else []


class _Decimal(str):
    """A number as YAML writes it."""

    @classmethod
    def above(cls, value: Fraction) -> _Decimal:
        """Return the least decimal of so many digits that is not below the value.

        >>> _Decimal.above(Fraction(1, 3)), _Decimal.above(Fraction(1))
        ('0.333333333334', '1.0')
        """
        whole, rest = divmod(ceil(value * 10**DIGITS), 10**DIGITS)
        return cls(f"{whole}.{str(rest).zfill(DIGITS).rstrip('0') or '0'}")


def _yaml(entry: dict[str, Any]) -> str:
    """Return YAML whose texts of several lines stand as blocks."""
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc] # the library has no types
        pass

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    def decimal(dumper: Any, value: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:float", value)

    Dumper.add_representer(str, text)
    Dumper.add_representer(_Decimal, decimal)
    found: str = yaml.dump(entry, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return found
