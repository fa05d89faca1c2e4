"""Reading 5, `pufferfish`: what attackers with independent beliefs can be left with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from blowproof.models import Exact, Full, Policy
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Sensitivity

__all__ = ["CLAIMS"]


def _graphs(size: int, counts: int) -> Iterator[Instance]:
    return some.small_graph_policies(size, counts)


SMALL = family(
    "every graph on 1 to 4 values, every set of up to 2 counts",
    lambda: _graphs(3, 1),
    lambda: _graphs(4, 2),
)


def _published(instance: Instance) -> Exact:
    return Sensitivity("published")(instance, None).lower


def _complete(instance: Instance) -> Exact | None:
    freed: Policy = replace(instance.the_policy, secrets=Full())
    return Sensitivity("published")(replace(instance, policy=freed), None).upper


def _if_complete(instance: Instance) -> Exact | None:
    return _published(instance) if instance.the_policy.graph.complete else None


BETWEEN = Claim(
    id="ours/reading-5-between",
    source="design: SEMANTICS, reading 5",
    statement="Under equality counts S(published) <= S(pufferfish) <= S(published, full secrets), "
    "and all three agree for full secrets.",
    read_as="Any answers; pairs that attackers with independent beliefs can be certain of.",
    status="theorem",
    parts=(
        Part(
            name="S(pufferfish) is at least S(published)",
            family=SMALL,
            claimed=_published,
            measure=Sensitivity("pufferfish"),
            relation=">=",
            reading="pufferfish",
            answers="any",
            large="nothing",
        ),
        Part(
            name="it is at most S(published) under full secrets",
            family=SMALL,
            claimed=_complete,
            measure=Sensitivity("pufferfish"),
            relation="<=",
            reading="pufferfish",
            answers="any",
        ),
        Part(
            name="full secrets: they agree",
            family=SMALL,
            claimed=_if_complete,
            measure=Sensitivity("pufferfish"),
            reading="pufferfish",
            answers="any",
        ),
    ),
    proof="Pairs of reading 5 are the irreducible multisets over all moves with a secret one "
    "among them. A published pair is one: a part of effect 0 would be a D3. For full secrets "
    "every move is secret.",
)

ENOUGH = Claim(
    id="ours/published-is-enough-for-attackers",
    source="design: SEMANTICS, reading 5",
    statement="Noise for S(published) bounds what attackers with independent beliefs learn, where "
    "the graph is not complete (as the conjecture of blowfish-2014, section 4.2, would have it).",
    read_as="S(pufferfish) <= S(published), which is necessary for it; any answers.",
    status="finding",
    parts=(
        Part(
            name="S(pufferfish) is at most S(published)",
            family=SMALL,
            claimed=_published,
            measure=Sensitivity("pufferfish"),
            relation="<=",
            reading="pufferfish",
            answers="any",
        ),
        Part(
            name="full secrets",
            family=SMALL,
            claimed=_if_complete,
            measure=Sensitivity("pufferfish"),
            relation="<=",
            reading="pufferfish",
            answers="any",
            amended=True,
        ),
    ),
    repaired="For full secrets; else calibrate by S(pufferfish), which an audit names.",
    explanation="The published definition lets a D3 compensate with moves that are no secrets, "
    "and so excludes pairs that an attacker, who is sure of everybody else, is left with. Values "
    "0 to 3, secrets at distance 1, one record known to hold 1 or 2: S(published) = 2, "
    "S(pufferfish) = 4, and noise for 2 lets the odds move by exp(2 epsilon).",
)

CLAIMS = (BETWEEN, ENOUGH)
