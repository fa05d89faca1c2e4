"""The two usual parts of claims: about S of an instance, and about plain numbers."""

from __future__ import annotations

from blowproof.models import Exact
from blowproof.models.policy.readings import Reading
from blowproof.verifier.claims.stating.claim import Cost, Family, Formula, Instance, Part, Relation
from blowproof.verifier.claims.stating.measures import Counted, Sensitivity

__all__ = ["counted", "of_sensitivity"]


def counted(  # noqa: PLR0913 # keyword-only options
    name: str,
    where: Family,
    claimed: Formula,
    count: Formula,
    relation: Relation = "=",
    *,
    small: Cost = "nothing",
    large: Cost = "nothing",
    reading: Reading | None = None,
    amended: bool = False,
) -> Part:
    """Return a part that holds a number worked out from the definitions against the claimed one.

    Unless told otherwise it costs nothing if the claim is wrong.
    """

    def number(instance: Instance) -> Exact:
        value = count(instance)
        assert value is not None
        return value

    return Part(
        name=name,
        family=where,
        claimed=claimed,
        measure=Counted(number),
        relation=relation,
        small=small,
        large=large,
        reading=reading,
        amended=amended,
    )


def of_sensitivity(
    name: str,
    where: Family,
    claimed: Formula,
    relation: Relation = "=",
    *,
    reading: Reading = "published",
    amended: bool = False,
) -> Part:
    """Return a part about S of the instance in one reading, over all feasible answers."""
    return Part(
        name=name,
        family=where,
        claimed=claimed,
        measure=Sensitivity(reading),
        relation=relation,
        reading=reading,
        answers="any",
        amended=amended,
    )
