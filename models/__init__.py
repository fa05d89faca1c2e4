"""What a policy is, exactly, and how it is written down: nothing here computes a sensitivity.

Everything is a frozen object of `int` and `Fraction`, and what is wrong is refused where it comes
in. The names that others use are imported below: `from blowproof.models import Policy`. New facts,
secrets, queries or file formats go into their room; a name that people need is added to the list
below.

Rooms in reading order: base, domain, secrets, facts, data, policy, norms, queries, stacks,
files, attackers, mechanisms; and programs, the solver-neutral models with one file for each solver.
"""

from __future__ import annotations

from blowproof.models.base.errors import (
    BlowproofError,
    BudgetError,
    ContradictionError,
    DataError,
    InternalError,
    PolicyError,
    QueryError,
    UndeterminedError,
)
from blowproof.models.base.numbers import Exact, exact, show
from blowproof.models.domain.attributes import Attribute, Integers, Labels, Steps, Value
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Between, Box, Point, Positions, Region
from blowproof.models.facts.facts import (
    Clause,
    Count,
    Impossible,
    Known,
    Literal,
    Marginal,
    Sum,
)
from blowproof.models.facts.on_positions import LinearFact
from blowproof.models.policy.policy import Answers, Database, NamedCount, Policy
from blowproof.models.policy.readings import READINGS, Reading
from blowproof.models.policy.setting import Setting, setting
from blowproof.models.queries.kinds import parse_query
from blowproof.models.queries.query import BoundQuery, Move
from blowproof.models.secrets import (
    AttributeChange,
    Distance,
    Edges,
    Full,
    PartitionBy,
    PartitionCells,
    SecretGraph,
)

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
