"""What attackers have seen before: noisy numbers, which change what they think of databases.

A number a published with Laplace noise of scale b, where the truth was q(D), makes D likely in
proportion to exp(-|a - q(D)| / b). That is a factor of each database, whatever the belief; facts
that were published are facts of the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from blowproof.models import Exact, Point, Policy, PolicyError
from blowproof.models.attackers.attackers import Seen
from blowproof.models.base.numbers import magnitude
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.certify.channels.exponential_sums import Formal, Quotient
from blowproof.verifier.certify.noise.additive import bind

__all__ = ["Before"]


class Before:
    """The noisy numbers that attackers have seen, bound to a policy."""

    def __init__(self, seen: Sequence[Seen], policy: Policy) -> None:
        self.parts: tuple[Part, ...] = ()
        self.answers = [item.answer for item in seen]
        if not seen:
            return
        self.parts = tuple(_bound(item, policy, place) for place, item in enumerate(seen))
        for place, (item, part) in enumerate(zip(seen, self.parts, strict=True)):
            if part.outputs is None or part.query.per_record:
                raise PolicyError(
                    f"what was published of {item.query} has no form here",
                    key=f"attackers.seen[{place}].query",
                    hint="a query of the contract, such as a count, a histogram or a marginal",
                )
            if part.outputs.count != len(item.answer):
                raise PolicyError(
                    f"{len(item.answer)} numbers for {part.outputs.count} outputs of {item.query}",
                    key=f"attackers.seen[{place}].answer",
                    hint="one for each output, in the order of the query",
                )
        self._known: dict[tuple[Point, ...], Quotient] = {}

    def likelihood(self, database: Sequence[Point]) -> Quotient:
        """Return how likely a database makes what was seen, up to a factor that is the same."""
        key = tuple(sorted(database))
        if key not in self._known:
            power = -sum(map(self._away, self.parts, self.answers, [key] * len(self.parts)))
            term = Formal({(0, Fraction(0), Fraction(power)): Fraction(1)})
            self._known[key] = Quotient(term, Formal.constant(1))
        return self._known[key]

    def _away(self, part: Part, answer: Sequence[Exact], database: Sequence[Point]) -> Fraction:
        """Return the distance of what was seen from the true answers, divided by the scales."""
        assert part.outputs is not None
        truth: dict[int, Exact] = {}
        for point in database:
            for name, value in part.query.row(point).items():
                place = part.outputs.place(name)
                truth[place] = truth.get(place, 0) + value
        total = Fraction(0)
        for place, seen in enumerate(answer):
            scale = part.weights[0 if part.uniform else place]
            total += magnitude(seen - truth.get(place, 0)) / scale
        return total


def _bound(item: Seen, policy: Policy, place: int) -> Part:
    release = Release(query=item.query, noise=item.noise, scale=item.scale)
    try:
        return bind(Mechanism(releases=(release,)), policy, "published")[0]
    except PolicyError as error:
        key = error.key.replace("release[0]", f"attackers.seen[{place}]")
        raise PolicyError(error.reason, key=key, hint=error.hint) from None
