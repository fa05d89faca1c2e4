"""The usual parts of claims: about S of an instance, with a certificate or not, and numbers."""

from __future__ import annotations

from dataclasses import replace

from blowproof.models import Exact
from blowproof.models.policy.readings import Reading
from blowproof.verifier.claims.stating.claim import (
    Claim,
    Cost,
    Family,
    Formula,
    Instance,
    Part,
    Relation,
)
from blowproof.verifier.claims.stating.measures import Counted, Proven, Sensitivity

__all__ = ["counted", "of_sensitivity", "with_kernel"]


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


def with_kernel(claim: Claim) -> Claim:
    """Return a claim with its repair (or itself, if it has none) proved on the quick instances.

    Each part about S is put to them once more, with a certificate that the kernel has to accept.
    """
    copies = [
        replace(
            part,
            name=f"{part.name}, by certificates",
            family=_quick(part.family),
            measure=Proven(part.measure.reading, part.measure.answers),
            kernel=True,
        )
        for part in claim.parts
        if part.amended == bool(claim.repaired) and isinstance(part.measure, Sensitivity)
    ]
    return replace(claim, parts=(*claim.parts, *copies))


def _quick(where: Family) -> Family:
    return Family(f"the quick instances of: {where.shapes}", lambda level: where.instances("quick"))
