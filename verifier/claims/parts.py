"""Parts of claims that are about plain numbers rather than sensitivities."""

from __future__ import annotations

from blowproof.models import Exact
from blowproof.models.policy import Reading
from blowproof.verifier.claims.claim import Cost, Family, Formula, Instance, Part, Relation
from blowproof.verifier.claims.measures import Counted

__all__ = ["counted"]


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
