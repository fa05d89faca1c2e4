"""Any two values are a secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from blowproof.models.domain.domain import Domain
from blowproof.models.secrets.axes import Axis
from blowproof.models.secrets.offsets import OffsetGraph
from blowproof.models.secrets.written import (
    SecretsSpec,
    Shown,
)

__all__ = ["Full"]


@dataclass(frozen=True, repr=False)
class Full(SecretsSpec):
    """Any two values are a secret.

    >>> from blowproof.models.domain.attributes import Integers
    >>> Full().bind(Domain(age=Integers(0, 10**12))).distance((0,), (7,))
    1
    """

    kind = "full"
    keys = ()

    def bind(self, domain: Domain) -> OffsetGraph:
        """Return the complete graph on the domain."""
        axes = tuple(Axis(attribute.size, 1) for _, attribute in domain.attributes)
        return OffsetGraph(domain, axes, "max", 1)

    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table."""
        return {"kind": self.kind}

    @classmethod
    def read(cls, items: Mapping[str, object]) -> Full:
        """Return it; it has no options."""
        return cls()

    def words(self, shown: Shown) -> str:
        """Return what nobody may find out."""
        return "everything: nobody may tell any value of a record from any other"
