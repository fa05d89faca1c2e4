"""The secret graph: which pairs of values nobody may tell apart.

A kind of secrets is one file, and a line in `kinds`; a kind that knows nothing but its rule is
right at once, and slow (see `written`).

Read `written` (what every kind says of itself), a kind (`full`, `attribute`, `partition`,
`distance`, `edges`), `kinds` (all of them); `graph` (what a bound graph answers), then one file per
way to answer: `axes`, `hops` and `offsets` (full, attribute, partition by attributes, distance),
`cells` (a listed partition), `listed` (listed edges, and graphs of a rule); `spread` is how far
apart the ends of an edge can be, `spelling` how values and records are written.

>>> from blowproof.models.domain.attributes import Integers, Labels
>>> from blowproof.models.domain.domain import Domain
>>> domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 10**12))
>>> graph = Distance(threshold=5, attributes=["age"]).bind(domain)
>>> graph.is_edge((0, 10), (0, 15)), graph.is_edge((0, 10), (1, 10))
(True, False)
>>> graph.distance((0, 0), (0, 10**12))
200000000000
>>> graph.components().count
2
"""

from blowproof.models.secrets.attribute import AttributeChange
from blowproof.models.secrets.cells import CellGraph
from blowproof.models.secrets.distance import Distance
from blowproof.models.secrets.edges import Edges
from blowproof.models.secrets.full import Full
from blowproof.models.secrets.graph import Components, PartitionGraph, SecretGraph
from blowproof.models.secrets.listed import EdgeGraph, RuleGraph
from blowproof.models.secrets.offsets import ByGraph, OffsetGraph
from blowproof.models.secrets.partition import PartitionBy, PartitionCells
from blowproof.models.secrets.written import SecretsSpec

__all__ = [
    "AttributeChange",
    "ByGraph",
    "CellGraph",
    "Components",
    "Distance",
    "EdgeGraph",
    "Edges",
    "Full",
    "OffsetGraph",
    "PartitionBy",
    "PartitionCells",
    "PartitionGraph",
    "RuleGraph",
    "SecretGraph",
    "SecretsSpec",
]
