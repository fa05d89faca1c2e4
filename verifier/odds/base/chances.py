"""How likely a mechanism gives an output on a database, exactly, up to a factor that cancels.

Additive Laplace noise (discrete or not): given other outputs, an odds ratio is a function of one
output w of the form (A z^2 + B) / (C z^2 + D), z = e^(w / b), between two neighbouring values that
the true answer may have, so monotone there, and constant beyond all of them. So the largest ratio,
whatever the beliefs, is met where each output is a value that its true answer may have: finitely
many outputs are enough (`outputs`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from blowproof.models import (
    BudgetError,
    Exact,
    Point,
    Policy,
    PolicyError,
    QueryError,
    setting,
    show,
)
from blowproof.models.base.numbers import magnitude
from blowproof.models.mechanisms.mechanism import Channel, Mechanism
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.certify.channels.exponential_sums import Formal, Quotient
from blowproof.verifier.certify.channels.expressions import parse_expression
from blowproof.verifier.certify.channels.inputs import DatabaseRows, record_rows
from blowproof.verifier.certify.channels.ratios import Probabilities
from blowproof.verifier.certify.noise.additive import bind
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.odds.base.answer import Factor

__all__ = ["Additive", "Chances", "RecordChannel", "chances_of"]

Database = Sequence[Point]
Output = Hashable
Key = tuple[int, Hashable]
"""The number of a release, and one of its outputs."""
MOST_OUTPUTS = whole_limit(__name__, "MOST_OUTPUTS")
ZERO = Quotient.of(0)
ONE = Quotient.of(1)
NOISES = ("laplace", "discrete-laplace")


def chances_of(mechanism: Mechanism, policy: Policy, epsilon: Fraction) -> Chances:
    """Return the probabilities of a mechanism's outputs; PolicyError if they have no such form."""
    if mechanism.selections:
        raise PolicyError(
            "a choice made from noisy costs has no exact odds here",
            key="selection",
            hint="certify bounds what it loses over neighbours",
        )
    if mechanism.channel is None:
        for place, release in enumerate(mechanism.releases):
            if release.noise not in NOISES:
                raise PolicyError(
                    f"odds are for Laplace noise, and this is {release.noise}",
                    key=f"release[{place}].noise",
                    hint="no odds ratio bounds other noise",
                )
        return Additive(bind(mechanism, policy, "published"), policy)
    probabilities = Probabilities(mechanism.channel, epsilon)  # refuses what is no channel
    channel = mechanism.channel
    if channel.of == "record":
        return RecordChannel(channel, probabilities, policy)
    return DatabaseChannel(channel, probabilities, policy)


class Chances:
    """The probabilities of outputs, as formal expressions in eps."""

    def outputs(self, databases: Sequence[Database]) -> Iterator[Output]:
        """Yield outputs of which one has the largest ratio, over beliefs on these databases."""
        raise NotImplementedError

    def chance(self, database: Database, output: Output) -> Quotient:
        """Return how likely an output is on a database, up to a factor that is the same for all."""
        raise NotImplementedError

    def to_json(self, output: Output) -> Any:
        """Return an output as JSON has it."""
        raise NotImplementedError


@dataclass
class Additive(Chances):
    """Releases with Laplace noise; an output is a value for each query output that may differ."""

    parts: Sequence[Part]
    policy: Policy

    def __post_init__(self) -> None:
        for part in self.parts:
            if part.query.per_record:
                raise QueryError(
                    f"{part.query.name} weighs single records, and has no odds here\n"
                    "  try: another query"
                )
        self._known: dict[tuple[Point, ...], dict[Key, Exact]] = {}

    def values(self, database: Database) -> Mapping[Key, Exact]:
        """Return the true answers, without those that are 0."""
        key = tuple(sorted(database))
        found = self._known.get(key)
        if found is None:
            found = defaultdict(int)
            for point in key:
                for number, part in enumerate(self.parts):
                    for name, value in part.query.row(point).items():
                        found[number, name] += value
            self._known[key] = found
        return found

    def outputs(self, databases: Sequence[Database]) -> Iterator[Output]:
        """Yield every combination of true answers of single outputs."""
        rows = [self.values(database) for database in databases]
        keys = dict.fromkeys(key for row in rows for key in row)
        spans = {key: sorted({row.get(key, 0) for row in rows}) for key in keys}
        spans = {key: values for key, values in spans.items() if len(values) > 1}
        count = prod(map(len, spans.values()))
        if count > MOST_OUTPUTS:
            raise BudgetError(
                f"{count} combinations of answers are too many to compare\n"
                "  try: fewer outputs, or attackers of the kind independent"
            )
        for chosen in product(*spans.values()):
            yield tuple(zip(spans, chosen, strict=True))

    def at(self, first: Database, second: Database) -> Output:
        """Return the output that is the first database's answer, where the second's is another."""
        one, two = self.values(first), self.values(second)
        keys = dict.fromkeys([*one, *two])
        return tuple((key, one.get(key, 0)) for key in keys if one.get(key, 0) != two.get(key, 0))

    def loss(self, first: Database, second: Database) -> Factor:
        """Return the largest ratio of the chances on two databases: it is met by `at`."""
        total = Fraction(0)
        one, two = self.values(first), self.values(second)
        for key in dict.fromkeys([*one, *two]):
            away = magnitude(one.get(key, 0) - two.get(key, 0))
            scale = self.parts[key[0]].weight(key[1]) if away else Fraction(1)
            if away and not scale:
                return Factor.infinite()
            total += away / scale
        return Factor.exp(total)

    def chance(self, database: Database, output: Output) -> Quotient:
        """Return e to the minus weighted distance of the output; 0 where there is no noise."""
        assert isinstance(output, tuple)
        row, power = self.values(database), Fraction(0)
        for key, value in output:
            number, name = key
            scale, away = self.parts[number].weight(name), magnitude(value - row.get(key, 0))
            if away and not scale:
                return ZERO
            power -= Fraction(away) / scale if away else 0
        return Quotient(Formal({(0, Fraction(0), power): Fraction(1)}), Formal.constant(1))

    def to_json(self, output: Output) -> Any:
        """Return the outputs that may differ, by name."""
        assert isinstance(output, tuple)
        domain = self.policy.domain
        return [
            {
                "release": number + 1,
                "output": self.parts[number].query.output_name(name, domain),
                "value": show(value),
            }
            for (number, name), value in output
        ]


class DatabaseChannel(Chances):
    """A finite channel on whole databases; an output is its place."""

    def __init__(self, channel: Channel, probabilities: Probabilities, policy: Policy) -> None:
        self.channel, self.rows = channel, DatabaseRows(channel, policy.domain)
        self.entries = [[parse_expression(text) for text in row] for row in channel.rows]

    def outputs(self, databases: Sequence[Database]) -> Iterator[Output]:
        """Yield every output."""
        yield from range(len(self.channel.outputs))

    def chance(self, database: Database, output: Output) -> Quotient:
        """Return the entry of the channel."""
        assert isinstance(output, int)
        return self.entries[self.rows.row(tuple(database))][output]

    def to_json(self, output: Output) -> Any:
        """Return the output's name."""
        assert isinstance(output, int)
        return self.channel.outputs[output]


class RecordChannel(Chances):
    """Every record through a channel by itself; an output is a place for each record."""

    def __init__(self, channel: Channel, probabilities: Probabilities, policy: Policy) -> None:
        self.channel = channel
        self.rows = record_rows(channel, setting(policy))
        self.entries = [[parse_expression(text) for text in row] for row in channel.rows]
        self.epsilon = probabilities.epsilon

    def possible(self, point: Point) -> int:
        """Return an output that a value may give."""
        row = self.entries[self.rows[point]]
        return next(k for k, entry in enumerate(row) if entry.top.at(self.epsilon).terms)

    def outputs(self, databases: Sequence[Database]) -> Iterator[Output]:
        """Yield every combination of outputs."""
        size = max(map(len, databases), default=0)
        if len(self.channel.outputs) ** size > MOST_OUTPUTS:
            raise BudgetError(
                f"{len(self.channel.outputs)} outputs for each of {size} records are too many to "
                "combine\n  try: fewer records, or attackers of the kind independent"
            )
        yield from product(range(len(self.channel.outputs)), repeat=size)

    def chance(self, database: Database, output: Output) -> Quotient:
        """Return the product of the records' entries."""
        assert isinstance(output, tuple)
        found = ONE
        for point, place in zip(database, output, strict=True):
            found = found * self.entries[self.rows[point]][place]
        return found

    def to_json(self, output: Output) -> Any:
        """Return the records' outputs by name, in order."""
        assert isinstance(output, tuple)
        return [self.channel.outputs[place] for place in output]
