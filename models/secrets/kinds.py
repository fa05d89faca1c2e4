"""All kinds of secrets, by the `kind` that a policy file names."""

from __future__ import annotations

from collections.abc import Mapping

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.toml_values import check_keys, choice, table, within
from blowproof.models.secrets.attribute import AttributeChange
from blowproof.models.secrets.distance import Distance
from blowproof.models.secrets.edges import Edges
from blowproof.models.secrets.full import Full
from blowproof.models.secrets.partition import Partition
from blowproof.models.secrets.written import SecretsSpec

__all__ = ["KINDS", "read_secrets", "register"]

KINDS: dict[str, type[SecretsSpec]] = {
    kind.kind: kind for kind in (Full, AttributeChange, Partition, Distance, Edges)
}


def register(kind: type[SecretsSpec]) -> None:
    """Make a kind of secrets known to policy files and to their schema."""
    KINDS[kind.kind] = kind


def read_secrets(value: object) -> SecretsSpec:
    """Return the secret graph's description; without a kind, an empty table means full."""
    items = table(value, hint='write [secrets], then kind = "full"')
    if "kind" not in items:
        return _without_kind(items)
    with within("kind"):
        kind = choice(items.pop("kind"), KINDS, what="kind")
    elsewhere = {
        key: f'{key} goes with kind = "{name}"'
        for name, other in KINDS.items()
        for key in other.keys
        if name != kind
    }
    check_keys(items, KINDS[kind].keys, elsewhere=elsewhere, owner=f'kind = "{kind}"')
    return KINDS[kind].read(items)


def _without_kind(items: Mapping[str, object]) -> SecretsSpec:
    check_keys(items, ("kind", *(key for kind in KINDS.values() for key in kind.keys)))
    if items:
        key = next(iter(items))
        kind = next(name for name, kind in KINDS.items() if key in kind.keys)
        raise PolicyError(f"{key!r} is given without a kind", hint=f'add kind = "{kind}"')
    return Full()
