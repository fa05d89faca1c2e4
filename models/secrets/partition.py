"""Values of one cell are a secret."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.toml_values import (
    array,
    each,
    within,
)
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.region_reading import regions
from blowproof.models.domain.regions import Area, Region
from blowproof.models.secrets.axes import Axis
from blowproof.models.secrets.cells import CellGraph, check_partition
from blowproof.models.secrets.full import Full
from blowproof.models.secrets.offsets import ByGraph
from blowproof.models.secrets.spelling import cell_spec, toml
from blowproof.models.secrets.written import (
    SecretsSpec,
    Shown,
    ShowRegion,
    inside,
    listed_words,
    read_names,
    written_names,
)

__all__ = ["Partition", "PartitionBy", "PartitionCells"]


class Partition(SecretsSpec):
    """Values of one cell are a secret: cells by attributes, or listed."""

    kind = "partition"
    keys = ("by", "cells")

    @classmethod
    def read(cls, items: Mapping[str, object]) -> Partition:
        """Return it, cells being given in exactly one way."""
        if len(items) != 1:
            reason = "both by and cells" if items else "neither by nor cells"
            hint = 'write by = ["sex"], or cells = [{ age = { max = 17 } }, { age = { min = 18 } }]'
            raise PolicyError(f"the partition has {reason}", hint=hint)
        if "by" in items:
            return PartitionBy(read_names(items, "by"))
        with within("cells"):
            cells = each(array(items["cells"], of="regions"), regions)
        return PartitionCells(cells)


@dataclass(frozen=True, init=False, repr=False)
class PartitionBy(Partition):
    """Values that agree on these attributes are a secret.

    >>> PartitionBy(["sex", "ward"])
    {kind = 'partition', by = ['sex', 'ward']}
    """

    attributes: tuple[str, ...]

    def __init__(self, attributes: Iterable[str]) -> None:
        object.__setattr__(self, "attributes", written_names(attributes, "by", 'use kind = "full"'))

    def bind(self, domain: Domain) -> ByGraph:
        """Return the graph on the domain."""
        by = inside("by", lambda: domain.axes(self.attributes))
        axes = tuple(
            Axis(attribute.size, 2 if place in by else 1)
            for place, (_, attribute) in enumerate(domain.attributes)
        )
        return ByGraph(domain, axes, "max", 1, by)

    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table."""
        return {"kind": self.kind, "by": list(self.attributes)}

    def where_one_value(self, domain: Domain, axes: Collection[int]) -> SecretsSpec:
        """Return full secrets where all that the cells are by is among the axes."""
        return Full() if set(domain.axes(self.attributes)) <= set(axes) else self

    def words(self, shown: Shown) -> str:
        """Return what nobody may find out."""
        return f"everything about a record but its {listed_words(self.attributes, shown)}"


Cell = Region | Mapping[str, object]


@dataclass(frozen=True, init=False, repr=False)
class PartitionCells(Partition):
    """Values in the same cell are a secret; the cells are disjoint and cover the domain.

    >>> PartitionCells([{"age": {"max": 17}}, {"age": {"min": 18}}])
    {kind = 'partition', cells = [{age = {max = 17}}, {age = {min = 18}}]}
    """

    cells: tuple[tuple[Region, ...], ...]

    def __init__(self, cells: Iterable[Cell | Sequence[Cell]]) -> None:
        if isinstance(cells, (str, Mapping, Region)):
            raise PolicyError("the cells are not a list", key="cells", hint="write [{...}, ...]")
        read = tuple(_cell(cell, f"cells[{place}]") for place, cell in enumerate(cells))
        if not read:
            raise PolicyError("there are no cells", key="cells", hint="the cells cover the domain")
        object.__setattr__(self, "cells", read)

    def bind(self, domain: Domain) -> CellGraph:
        """Return the graph on the domain, refusing cells that overlap or miss a value."""
        areas = []
        for place, cell in enumerate(self.cells):
            area = inside(f"cells[{place}]", partial(domain.area, cell))
            areas.append(Area(area.disjoint()))
        labels = tuple(toml(cell_spec(cell)) for cell in self.cells)
        check_partition(domain, areas, labels)
        return CellGraph(domain, tuple(areas), labels)

    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table."""
        return {"kind": self.kind, "cells": [cell_spec(cell) for cell in self.cells]}

    def normal(self, domain: Domain, region: ShowRegion) -> dict[str, object]:
        """Return the table with regions given by what they contain."""
        cells = [
            region(cell[0]) if len(cell) == 1 else [region(item) for item in cell]
            for cell in self.cells
        ]
        return {"kind": self.kind, "cells": cells}

    def words(self, shown: Shown) -> str:
        """Return what nobody may find out."""
        return f"everything about a record but which of {len(self.cells)} cells it lies in"


def _cell(cell: object, key: str) -> tuple[Region, ...]:
    if isinstance(cell, str) or not isinstance(cell, Sequence):
        return (_region(cell, key),)
    if not cell:
        raise PolicyError("the cell is empty", key=key, hint="leave it out")
    return tuple(_region(region, f"{key}[{place}]") for place, region in enumerate(cell))


def _region(region: object, key: str) -> Region:
    if isinstance(region, Region):
        return region
    if not isinstance(region, Mapping):
        raise PolicyError(f"{region!r} is not a region", key=key, hint="{ age = { max = 17 } }")
    return inside(key, lambda: Region(region))
