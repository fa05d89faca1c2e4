"""Writing policies: as tables, as TOML that reads back to an equal policy, and in one normal form.

The normal form is for certificates: its text depends on what the policy means, not on its name, on
the order of keys or on spelling. It is itself a policy in the grammar of the contract, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256

from blowproof.models.base.numbers import show
from blowproof.models.data.table_at import TableAt
from blowproof.models.domain.attributes import Attribute, Integers, Labels, Value
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Between, Positions, Region
from blowproof.models.facts.facts import Clause, Count, Impossible, Known, Marginal, Where
from blowproof.models.files.toml_text import write_tables
from blowproof.models.policy.policy import Policy

__all__ = ["canonical", "digest", "to_mapping", "to_toml"]

Table = dict[str, object]
ShowRegion = Callable[[Region], Table]


def to_mapping(policy: Policy) -> Table:
    """Return the policy as tables: what `reading.policy_from` reads back to an equal policy.

    >>> from blowproof.models import Domain, Labels
    >>> to_mapping(Policy(domain=Domain(sex=Labels(["F", "M"]))))
    {'name': 'policy', 'domain': {'sex': ['F', 'M']}, 'secrets': {'kind': 'full'}}
    """
    database: Table = {
        "size": policy.database.size,
        "answers": policy.database.answers,
        "data": _data(policy.database.data),
    }
    result: Table = {
        "name": policy.name,
        "domain": {name: _attribute(item) for name, item in policy.domain.attributes},
        "secrets": policy.secrets.spec(),
        "database": _present(database),
        "known": [_fact(fact, _as_written) for fact in policy.known],
        "query": [_query(query.name, query.where, _as_written) for query in policy.queries],
    }
    return {key: value for key, value in result.items() if value not in ({}, [])}


def _data(data: str | TableAt | None) -> object:
    return data.spec() if isinstance(data, TableAt) else data


def _present(items: Table) -> Table:
    return {key: value for key, value in items.items() if value is not None}


def _number(value: Value) -> str | int:
    return value if isinstance(value, (str, int)) else _whole(show(value))


def _whole(text: str) -> str | int:
    return text if "/" in text else int(text)


def _attribute(item: Attribute) -> object:
    if isinstance(item, Labels):
        labels = list(item.labels)
        return {"labels": labels, "ordered": True} if item.ordered else labels
    if isinstance(item, Integers):
        return {"min": item.min, "max": item.max}
    return {"min": _number(item.min), "max": _number(item.max), "step": _number(item.step)}


def _as_written(region: Region) -> Table:
    return {name: _condition(condition) for name, condition in region.conditions}


def _condition(condition: Value | tuple[Value, ...] | Between) -> object:
    if isinstance(condition, Between):
        ends = (("min", condition.min), ("max", condition.max))
        return {name: _number(end) for name, end in ends if end is not None}
    if isinstance(condition, tuple):
        return [_number(value) for value in condition]
    return _number(condition)


def _where(regions: Where, region: ShowRegion) -> object:
    return region(regions[0]) if len(regions) == 1 else [region(item) for item in regions]


def _query(name: str, regions: Where, region: ShowRegion) -> Table:
    return {"name": name, "count": _where(regions, region)}


def _fact(fact: Known, region: ShowRegion) -> Table:
    if isinstance(fact, Impossible):
        return {"impossible": _where(fact.where, region)}
    if isinstance(fact, Clause):
        literals = [
            {
                "record": literal.record,
                "in" if literal.inside else "not_in": _where(literal.where, region),
            }
            for literal in fact.literals
        ]
        return {"clause": literals}
    if isinstance(fact, Marginal):
        return _marginal(fact)
    bounds: Table = {"at_least": fact.at_least, "at_most": fact.at_most}
    if isinstance(fact, Count):
        return _present({"count": _where(fact.where, region), "answer": fact.answer, **bounds})
    terms = [{"times": times, "count": _where(part, region)} for times, part in fact.terms]
    return _present({"sum": terms, "equals": fact.equals, **bounds})


def _marginal(fact: Marginal) -> Table:
    answers: Table = {}
    if fact.answers_file is not None:
        answers = {"answers_file": fact.answers_file}
    elif fact.answers is not None:
        answers = {"answers": list(fact.answers)}
    return {"marginal": list(fact.attributes), **answers}


# TOML


def to_toml(policy: Policy) -> str:
    """Return the policy as TOML; reading it back (in the same folder) gives an equal policy.

    >>> from blowproof.models import Domain, Integers
    >>> print(to_toml(Policy(domain=Domain(age=Integers(0, 115)))), end="")
    name = "policy"
    <BLANKLINE>
    [domain]
    age = { min = 0, max = 115 }
    <BLANKLINE>
    [secrets]
    kind = "full"
    """
    return write_tables(to_mapping(policy))


# The normal form


def canonical(policy: Policy) -> str:
    """Return the policy's normal form: JSON text that `reading.policy_from` understands.

    Names are dropped, the scope and the answers are written out, regions are given by what they
    contain, numbers in lowest terms. The order of attributes, of facts and of cells stays: it
    has a meaning. A data file counts by its path, not by its content.

    >>> from blowproof.models import Domain, Integers
    >>> canonical(Policy(domain=Domain(age=Integers(0, 9)), name="a name"))
    '{"database":{"answers":"any"},"domain":{"age":{"max":9,"min":0}},"secrets":{"kind":"full"}}'
    """
    domain = policy.domain

    def region(item: Region) -> Table:
        return _normal_region(item, domain)

    items: Table = {
        "database": _sorted(
            _present(
                {
                    "answers": policy.scope,
                    "data": _data(policy.database.data),
                    "size": policy.database.size,
                }
            )
        ),
        "domain": {name: _sorted(_normal_attribute(item)) for name, item in domain.attributes},
        "known": [_sorted(_normal_fact(fact, region)) for fact in policy.known],
        "query": [_sorted(_query(query.name, query.where, region)) for query in policy.queries],
        "secrets": _sorted(policy.secrets.normal(domain, region)),
    }
    items = {key: value for key, value in items.items() if value != []}
    return json.dumps(items, separators=(",", ":"))


def digest(policy: Policy) -> str:
    """Return the SHA-256 of the normal form, as 64 hexadecimal digits."""
    return sha256(canonical(policy).encode("ascii")).hexdigest()


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _normal_attribute(item: Attribute) -> object:
    if not isinstance(item, Labels) and item.step == 1 and isinstance(item.min, int):
        return {"min": item.min, "max": _number(item.max)}
    return _attribute(item)


def _normal_fact(fact: Known, region: ShowRegion) -> Table:
    if isinstance(fact, Marginal) and fact.answers is not None:
        return {"marginal": list(fact.attributes), "answers": list(fact.answers)}
    return _fact(fact, region)


def _normal_region(item: Region, domain: Domain) -> Table:
    result: Table = {}
    pairs = zip(domain.attributes, domain.box(item).sides, strict=True)
    for (name, attribute), side in pairs:
        if side.size < attribute.size:
            result[name] = _normal_side(attribute, side)
    return result


def _normal_side(attribute: Attribute, side: Positions) -> object:
    if side.size == 1:
        return _number(attribute.value(side.nth(0)))
    if attribute.ordered and len(side.runs) == 1:
        low, high = side.runs[0]
        return {"min": _number(attribute.value(low)), "max": _number(attribute.value(high - 1))}
    return [_number(attribute.value(place)) for place in side]
