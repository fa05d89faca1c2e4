"""blowfish-2014, section 4.2: relation to other definitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random

from blowproof.models import Exact, Full, Policy
from blowproof.verifier.claims.blowfish.section_4 import single_moves
from blowproof.verifier.claims.blowfish.section_4_1 import (
    CHANNELS,
    channel_of,
    first_ratio,
    ratio_of,
)
from blowproof.verifier.claims.blowfish.section_8.section_8 import all_equal
from blowproof.verifier.claims.stating import channels
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.listings import databases
from blowproof.verifier.claims.stating.measures import Sensitivity
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]


DIFFERENTIAL = Claim(
    id="blowfish-2014/section-4.2-differential-privacy",
    source="Section 4.2",
    quote="generalization of differential privacy",
    statement="For the complete graph and no constraints, Blowfish privacy is differential "
    "privacy: neighbours differ in one record.",
    read_as="The neighbours of both definitions, listed, are the same pairs.",
    parts=(
        counted(
            "pairs on which the two sides differ",
            family(
                "complete graphs on 1 to 4 values, n = 1 to 3",
                lambda: _complete(3, 2),
                lambda: _complete(4, 3),
            ),
            lambda item: 0 if item.the_policy.graph.complete else None,
            lambda item: single_moves(item, edges=False),
        ),
    ),
    proof="See section-4-no-constraints.",
)


def _complete(size: int, most: int) -> Iterator[Instance]:
    for values in range(1, size + 1):
        for records in range(1, most + 1):
            policy = Policy(domain=some.table(values), secrets=Full())
            yield Instance(shape=f"{values} values", policy=policy, parameters={"n": records})


def _step(instance: Instance) -> list[tuple[Fraction, ...]]:
    rng = Random(f"{some.SEED} step {instance.whole('seed')}")
    return [channels.distribution(rng, 2) for _ in range(3)]


def _transformed(instance: Instance) -> Exact:
    return ratio_of(instance, channel_of(instance, "first").then(_step(instance)))


def _mixed(instance: Instance) -> Exact:
    share = Fraction(1 + instance.whole("seed") % 7, 8)
    first, second = channel_of(instance, "first"), channel_of(instance, "other")
    return ratio_of(instance, channels.mixture(share, first, second))


def _worse(instance: Instance) -> Exact:
    other = ratio_of(instance, channel_of(instance, "other"))
    return max(first_ratio(instance), other)


AXIOMS = Claim(
    id="blowfish-2014/section-4.2-axioms",
    source="Section 4.2, Other Privacy Definitions",
    quote="satisfy both these axioms",
    statement="Blowfish privacy satisfies transformation invariance and convexity.",
    read_as="Random channels, processed further or mixed, lose no more.",
    parts=(
        replace(
            counted("a step after the release", CHANNELS, first_ratio, _transformed),
            relation="<=",
            small="privacy",
        ),
        replace(
            counted("a random choice of two mechanisms", CHANNELS, _worse, _mixed),
            relation="<=",
            small="privacy",
        ),
    ),
    proof="Inequality (8) is linear in the mechanism's probabilities: it survives sums with "
    "non-negative weights, which is what both axioms take.",
)


def _restricted(instance: Instance) -> Exact:
    """Return max |f(D1) - f(D2)| / (records that differ), for f the number of ones."""
    world = databases(instance.the_policy, instance.whole("n"))
    return max(
        Fraction(
            abs(sum(x[0] for x in one) - sum(x[0] for x in two)),
            sum(x != y for x, y in zip(one, two, strict=True)),
        )
        for one in world
        for two in world
        if one != two
    )


EQUAL = family("n = 1 to 6", lambda: all_equal(4), lambda: all_equal(6))


RESTRICTED = Claim(
    id="blowfish-2014/section-4.2-restricted-sensitivity",
    source="Section 4.2",
    quote="the restricted sensitivity of releasing",
    statement="If only 0^n and 1^n are possible, the restricted sensitivity of the number of ones "
    "is 1, although the two databases differ by n.",
    read_as="d is the number of records that differ; I_Q as in the example.",
    parts=(
        counted("restricted sensitivity", EQUAL, lambda item: 1, _restricted),
        Part(
            name="S(number of ones, P) = n",
            family=EQUAL,
            claimed=lambda item: item.whole("n"),
            measure=Sensitivity("published", "given"),
            reading="published",
            answers="given",
        ),
    ),
    proof="The two databases differ in n records and by n ones.",
)


CLAIMS = (DIFFERENTIAL, AXIOMS, RESTRICTED)
