"""Values that differ in few attributes are a secret."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import whole
from blowproof.models.base.toml_values import (
    integer,
    within,
)
from blowproof.models.domain.domain import Domain
from blowproof.models.secrets.axes import Axis
from blowproof.models.secrets.offsets import OffsetGraph
from blowproof.models.secrets.written import (
    SecretsSpec,
    Shown,
)

__all__ = ["AttributeChange"]


@dataclass(frozen=True, repr=False, kw_only=True)
class AttributeChange(SecretsSpec):
    """Values that differ in 1..changes attributes are a secret (the paper's G^attr, for 1).

    >>> AttributeChange(changes=2)
    {kind = 'attribute', changes = 2}
    """

    changes: int = 1
    kind = "attribute"
    keys = ("changes",)

    def __post_init__(self) -> None:
        whole(self.changes, key="changes", least=1)

    def bind(self, domain: Domain) -> OffsetGraph:
        """Return the graph on the domain; it must have that many attributes."""
        if self.changes > len(domain):
            raise PolicyError(
                f"{self.changes} changes, but the domain has {len(domain)} attributes",
                key="changes",
                hint=f'use {len(domain)} or less; with {len(domain)} it is kind = "full"',
            )
        axes = tuple(Axis(attribute.size, 1) for _, attribute in domain.attributes)
        return OffsetGraph(domain, axes, "sum", self.changes)

    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table."""
        return {"kind": self.kind, "changes": self.changes}

    @property
    def one_at_a_time(self) -> bool:
        """Whether one attribute changes."""
        return self.changes == 1

    def where_one_value(self, domain: Domain, axes: Collection[int]) -> AttributeChange:
        """Return itself: two values that agree on more are no further apart."""
        return self

    @classmethod
    def read(cls, items: Mapping[str, object]) -> AttributeChange:
        """Return it with its number of changes, 1 if there is none."""
        if "changes" not in items:
            return AttributeChange()
        with within("changes"):
            changes = integer(items["changes"])
        return AttributeChange(changes=changes)

    def words(self, shown: Shown) -> str:
        """Return what nobody may find out."""
        if self.changes == 1:
            return "any one attribute of a record, even from those who know all the others"
        return f"any {self.changes} attributes of a record, even from those who know all the others"
