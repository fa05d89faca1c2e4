"""What a policy is, and its encodings.

Reading order: errors, numbers, attributes, regions, domain, secrets, facts, policy, setting,
queries, query_text; then classes and diagram (a domain collapsed by regions), data and tables
(counting files), reading and writing (TOML), linear and boolean (solver-neutral models, one file
per solver); mechanism and mechanism_file (what is released, as data), queries_structured and
stacked (what is asked of it), rich_html (policies in notebooks).
"""

from __future__ import annotations

from blowproof.models.attributes import Attribute, Integers, Labels, Steps, Value
from blowproof.models.domain import Domain
from blowproof.models.errors import (
    BlowproofError,
    BudgetError,
    ContradictionError,
    DataError,
    InternalError,
    PolicyError,
    QueryError,
    UndeterminedError,
)
from blowproof.models.facts import (
    Clause,
    Count,
    Impossible,
    Known,
    LinearFact,
    Literal,
    Marginal,
    Sum,
)
from blowproof.models.numbers import Exact, exact, show
from blowproof.models.policy import READINGS, Answers, Database, NamedCount, Policy, Reading
from blowproof.models.queries import BoundQuery, Move
from blowproof.models.query_text import parse_query
from blowproof.models.regions import Area, Between, Box, Point, Positions, Region
from blowproof.models.secrets import (
    AttributeChange,
    Distance,
    Edges,
    Full,
    PartitionBy,
    PartitionCells,
    SecretGraph,
)
from blowproof.models.setting import Setting, setting

__all__ = [
    "READINGS",
    "Answers",
    "Area",
    "Attribute",
    "AttributeChange",
    "Between",
    "BlowproofError",
    "BoundQuery",
    "Box",
    "BudgetError",
    "Clause",
    "ContradictionError",
    "Count",
    "DataError",
    "Database",
    "Distance",
    "Domain",
    "Edges",
    "Exact",
    "Full",
    "Impossible",
    "Integers",
    "InternalError",
    "Known",
    "Labels",
    "LinearFact",
    "Literal",
    "Marginal",
    "Move",
    "NamedCount",
    "PartitionBy",
    "PartitionCells",
    "Point",
    "Policy",
    "PolicyError",
    "Positions",
    "QueryError",
    "Reading",
    "Region",
    "SecretGraph",
    "Setting",
    "Steps",
    "Sum",
    "UndeterminedError",
    "Value",
    "exact",
    "parse_query",
    "setting",
    "show",
]
