"""exact-cuboids-draft, Theorem 4.5: what becomes of several outputs under induced neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from random import Random

from blowproof.models import Between, Count, Exact, Policy
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.channels import Channel, distribution, joint
from blowproof.verifier.claims.stating.claim import Asked, Claim, Formula, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.listings import pairs
from blowproof.verifier.claims.stating.measures import Sensitivity
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS", "induced_ratio", "tables_channel"]

MOST = 2
"""How many records a table of a channel has at most."""


def tables_channel(policy: Policy, outputs: int, name: object) -> Channel:
    """Return a random channel on all tables with up to `MOST` records, as sorted lists."""
    rng = Random(f"{some.SEED} {name}")
    values = sorted(policy.domain.points())
    tables = (
        table for many in range(MOST + 1) for table in combinations_with_replacement(values, many)
    )
    return Channel({table: distribution(rng, outputs) for table in tables})


def induced_ratio(policy: Policy, channel: Channel) -> Fraction:
    """Return exp(epsilon): the largest ratio of two probabilities over induced neighbours."""
    worst = Fraction(1)
    for one, two in pairs(policy, "add-remove", MOST):
        for a, b in zip(channel.rows[one], channel.rows[two], strict=True):
            worst = max(worst, a / b, b / a)
    return worst


def _drawn(most: int, seeds: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        values = range(1, size + 1)
        regions = [region for many in values for region in combinations(values, many)]
        for many in (0, 1, 2):
            for chosen in combinations(regions, many):
                facts = tuple(Count({"a": list(region)}) for region in chosen)
                policy = Policy(domain=some.table(size), known=facts)
                for seed in range(seeds):
                    yield Instance(
                        shape=f"{size} values, {many} counts",
                        policy=policy,
                        parameters={"channels": seed},
                        sampled=True,
                    )


CHANNELS = family(
    "up to 3 values with up to 2 known counts of any sets of values, up to 2 records, random "
    "channels with 2 outputs",
    lambda: _drawn(2, 2),
    lambda: _drawn(3, 5),
)


def _first(instance: Instance) -> Channel:
    return tables_channel(instance.the_policy, 2, ("first", instance.whole("channels")))


def _seconds(instance: Instance) -> list[Channel]:
    seed = instance.whole("channels")
    return [tables_channel(instance.the_policy, 2, ("second", i, seed)) for i in range(2)]


def _sum_of_losses(instance: Instance) -> Exact:
    """Return exp(epsilon_1 + epsilon_2), epsilon_2 for the worst second channel."""
    policy = instance.the_policy
    second = max(induced_ratio(policy, channel) for channel in _seconds(instance))
    return plain(induced_ratio(policy, _first(instance)) * second)


def _joint_loss(instance: Instance) -> Exact:
    return plain(induced_ratio(instance.the_policy, joint(_first(instance), _seconds(instance))))


def _step(instance: Instance) -> list[tuple[Fraction, ...]]:
    rng = Random(f"{some.SEED} step {instance.whole('channels')}")
    return [distribution(rng, 3) for _ in range(2)]


def _afterwards(instance: Instance) -> Exact:
    found = _first(instance)
    plain_loss = found.then(_step(instance))
    both = joint(found, [_constant(instance, row) for row in _step(instance)])
    policy = instance.the_policy
    return plain(max(induced_ratio(policy, plain_loss), induced_ratio(policy, both)))


def _constant(instance: Instance, row: tuple[Fraction, ...]) -> Channel:
    return Channel(dict.fromkeys(_first(instance).rows, row))


COMPOSITION = Claim(
    id="exact-cuboids-draft/theorem-4.5-composition",
    source="Section 4.2, Theorem 4.5 (1) and (2)",
    quote="Transition and composition",
    statement="Under induced neighbours, two outputs (the second may use the first) cost "
    "epsilon_1 + epsilon_2; what is computed from an output alone costs nothing more.",
    read_as="Items 1 and 2, random channels on small tables.",
    parts=(
        counted(
            "(1) exp(loss) of both outputs",
            CHANNELS,
            _sum_of_losses,
            _joint_loss,
            "<=",
            small="privacy",
            reading="add-remove",
        ),
        counted(
            "(2) exp(loss) of an output and of what a random step makes of it",
            CHANNELS,
            lambda item: plain(induced_ratio(item.the_policy, _first(item))),
            _afterwards,
            "<=",
            small="privacy",
            reading="add-remove",
        ),
    ),
    proof="For each pair of neighbours the probabilities of both outputs multiply, and each "
    "factor changes by at most exp(epsilon_i). A step that does not see the table has the same "
    "factors on both sides. Neither says anything about which pairs are neighbours.",
)

# --- (3): disjoint tables ------------------------------------------------------------------------


def _halves(most: int) -> Iterator[Instance]:
    """Yield lines cut in two, with up to two known counts of ranges, the histogram asked for."""
    for size in range(2, most + 1):
        ranges = some.ranges_of(size)
        for many in (0, 1, 2):
            for chosen in combinations(ranges, many):
                facts = tuple(Count({"a": Between(low, high)}) for low, high in chosen)
                for cut in range(1, size):
                    yield Instance(
                        shape=f"{size} values, {many} ranges",
                        policy=Policy(domain=some.table(size), known=facts),
                        query=Asked(),
                        parameters={"cut": cut},
                    )


HALVES = family(
    "2 to 5 values in a line, cut in two, up to two known ranges",
    lambda: _halves(3),
    lambda: _halves(5),
)


def _parts(instance: Instance) -> tuple[Instance, Instance] | None:
    """Return the two questions: the counts below the cut, and those above it."""
    domain, cut = instance.the_policy.domain, instance.whole("cut")
    if not 1 <= cut < domain.size:
        return None
    rows = [tuple(int(i == j) for i in range(domain.size)) for j in range(domain.size)]
    low = replace(instance, query=Asked("matrix", tuple(rows[:cut])))
    return low, replace(instance, query=Asked("matrix", tuple(rows[cut:])))


def _worse_half(instance: Instance) -> Exact | None:
    """Return the loss of the worse half, at noise of scale 1."""
    halves = _parts(instance)
    if halves is None:
        return None
    return max(Sensitivity("add-remove")(half, None).lower for half in halves)


def _apart(instance: Instance) -> Exact | None:
    """The worse half's loss, where each known count is about one half only."""
    cut = instance.whole("cut")
    for fact in instance.the_policy.known:
        assert isinstance(fact, Count)
        [(_, condition)] = fact.where[0].conditions
        assert isinstance(condition, Between)
        low, high = condition.min, condition.max
        assert isinstance(low, int)
        assert isinstance(high, int)
        if low <= cut < high:
            return None
    return _worse_half(instance)


def _disjoint(name: str, claimed: Formula, amended: bool) -> Part:
    return Part(
        name=name,
        family=HALVES,
        claimed=claimed,
        measure=Sensitivity("add-remove"),
        relation="<=",
        reading="add-remove",
        answers="any",
        amended=amended,
    )


DISJOINT = Claim(
    id="exact-cuboids-draft/theorem-4.5-disjoint",
    source="Section 4.2, Theorem 4.5 (3)",
    quote="For any two tables",
    statement="Outputs about two disjoint parts T1 and T2 of the table cost epsilon_1 together, "
    "subject to the same background knowledge.",
    read_as="Item 3: both parts subject to one Q of the whole table.",
    parts=(
        _disjoint("loss of both histograms with noise of scale 1", _worse_half, False),
        _disjoint("the same, each known count being about one part", _apart, True),
    ),
    repaired="If each known count counts values of one part only; otherwise the outputs cost up "
    "to epsilon_1 + epsilon_2, by (1).",
    explanation="Without background knowledge one record is in one part, and only that part's "
    "output changes. A known count that spans both ties them together: if the total of two values "
    "is known, a record leaves one part and another one enters the other, and both outputs "
    "change. With noise of scale 1 on each of the two counts, each output by itself loses 1 and "
    "both lose 2. It is the correlation that section 3 of the draft warns of.",
    proof="If each count is about one part, the moves in either part keep all counts by "
    "themselves; so the moves of induced neighbours are all in one part.",
)


CLAIMS = (COMPOSITION, DISJOINT)
