"""exact-cuboids-draft, section 3.4: the three notions of neighbours, compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from blowproof.models import Exact, Impossible, Marginal, Point, Policy
from blowproof.verifier.claims.cuboids.section_3_neighbours import changed, cuboid_tables
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.listings import pairs
from blowproof.verifier.claims.stating.measures import Counted, Sensitivity
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]


def _minimal_only(instance: Instance) -> Exact:
    """Return how many Markov neighbours are no positive induced neighbours."""
    policy = instance.the_policy
    return len(set(pairs(policy, "markov", 2)) - set(pairs(policy, "add-remove", 2)))


def _reducible(instance: Instance) -> Exact:
    """Return how many Markov neighbours without a balanced proper part are not positive ones."""
    policy = instance.the_policy
    missing = set(pairs(policy, "markov", 2)) - set(pairs(policy, "add-remove", 2))
    return sum(not _has_part(policy, one, two) for one, two in missing)


def _has_part(policy: Policy, one: tuple[Point, ...], two: tuple[Point, ...]) -> bool:
    removed, added = changed(one, two)
    axes = [
        [policy.domain.axis(name) for name in fact.attributes]
        for fact in policy.known
        if isinstance(fact, Marginal)
    ]

    def effect(points: tuple[Point, ...]) -> Counter[object]:
        return Counter((i, *(x[at] for at in some_axes)) for x in points for i, some_axes in enumerate(axes))  # noqa: E501 # fmt: skip

    everything = len(removed) + len(added)
    for out in (s for k in range(len(removed) + 1) for s in combinations(removed, k)):
        for into in (s for k in range(len(added) + 1) for s in combinations(added, k)):
            if 0 < len(out) + len(into) < everything and effect(out) == effect(into):
                return True
    return False


def _zeros(most: int) -> Iterator[Instance]:
    """Yield tables with one or two cuboids known and one impossible cell."""
    for item in cuboid_tables(most, (2,), (1, 2), each=3):
        policy = item.the_policy
        for x in policy.domain.points():
            zero = Impossible({"a": x[0] + 1, "b": x[1] + 1})
            facts = (*policy.known, zero)
            yield Instance(
                shape=f"{item.shape}, 1 zero", policy=Policy(domain=policy.domain, known=facts)
            )


def _without_zeros(policy: Policy) -> Policy:
    known = tuple(fact for fact in policy.known if not isinstance(fact, Impossible))
    return Policy(domain=policy.domain, known=known)


def _positive_but_not_worst(instance: Instance) -> Exact:
    """Return how many positive neighbours that avoid the zeros are no worst-case neighbours."""
    policy = instance.the_policy
    positive = {
        (one, two)
        for one, two in pairs(_without_zeros(policy), "add-remove", 2)
        if all(policy.possible(x) for x in (*one, *two))
    }
    return len(positive ^ set(pairs(policy, "add-remove", 2)))


def _positive_s(instance: Instance) -> Exact:
    found = Sensitivity("add-remove")
    plain_instance = Instance(shape="", policy=_without_zeros(instance.the_policy))
    return found(plain_instance, None).lower


CHAIN = family(
    "tables of 1 to 3 attributes with up to 6 values, one or two cuboids known",
    lambda: cuboid_tables(4, (1, 2), (1, 2)),
    lambda: cuboid_tables(6, (1, 2, 3), (1, 2)),
)
ZEROS = family(
    "tables of 2 attributes with up to 9 values, one or two cuboids known, one impossible value",
    lambda: _zeros(4),
    lambda: _zeros(9),
)


def _add_remove_s(instance: Instance) -> Exact | None:
    if not instance.the_policy.known:
        return None
    return Sensitivity("add-remove")(instance, None).lower


def _largest_minimal(instance: Instance) -> Exact:
    """Return the largest change of the histogram by a Markov neighbour without a balanced part."""
    policy = instance.the_policy
    changes = [0]
    for one, two in pairs(policy, "markov", 2):
        removed, added = changed(one, two)
        if len(removed) + len(added) > changes[-1] and not _has_part(policy, one, two):
            changes.append(len(removed) + len(added))
    return changes[-1]


SECTION_3_4 = Claim(
    id="exact-cuboids-draft/section-3.4",
    source="Section 3.4",
    quote="is a subset of the positive",
    statement="Markov neighbours are positive induced neighbours, and those are worst-case "
    "induced neighbours; so the three give more and more privacy, with more and more noise.",
    read_as="All three minimal, as section 3 says; worst case over what may be impossible; the "
    "draft defines two of them nowhere.",
    parts=(
        counted(
            "minimal Markov neighbours of up to 2 records that are no positive ones",
            CHAIN,
            lambda item: 0,
            _reducible,
            small="privacy",
            reading="markov",
        ),
        Part(
            name="the largest change by minimal Markov neighbours is at most S(positive)",
            family=CHAIN,
            claimed=_add_remove_s,
            measure=Counted(_largest_minimal),
            relation="<=",
            reading="markov",
            answers="any",
        ),
        counted(
            "with one impossible value: pairs that avoid it and are neighbours in one sense only",
            ZEROS,
            lambda item: 0,
            _positive_but_not_worst,
            reading="add-remove",
        ),
        Part(
            name="S with one impossible value is at most S(positive)",
            family=ZEROS,
            claimed=_positive_s,
            measure=Sensitivity("add-remove"),
            relation="<=",
            reading="add-remove",
            answers="any",
        ),
    ),
    proof="Of a minimal change no proper part keeps the known counts, which is what makes a "
    "positive neighbour. The worst case is worst over what the adversary may take for impossible, "
    "nothing at all included, so positive neighbours are among its neighbours; and as parts of "
    "moves that avoid a value avoid it too, an impossible value adds none: as read, the last two "
    "notions are one, and the third step costs nothing.",
)

DEFINITION_3_1 = Claim(
    id="exact-cuboids-draft/definition-3.1",
    source="Section 3.1, Definition 3.1",
    quote="considered Markov Bases neighbors",
    statement="Markov neighbours, as defined (at most four cells, each by one), are minimally "
    "different tables, so that noise for the positive induced neighbours is enough for them.",
    read_as="The definition alone, which does not ask for minimal difference as section 3 does.",
    parts=(
        counted(
            "Markov neighbours of up to 2 records that are no positive ones",
            CHAIN,
            lambda item: 0,
            _minimal_only,
            small="privacy",
            reading="markov",
        ),
        Part(
            name="S(markov) <= S(positive)",
            family=CHAIN,
            claimed=_add_remove_s,
            measure=Sensitivity("markov"),
            relation="<=",
            reading="markov",
            answers="any",
        ),
        counted(
            "Markov neighbours with no balanced proper part that are no positive ones",
            CHAIN,
            lambda item: 0,
            _reducible,
            reading="markov",
            amended=True,
        ),
    ),
    repaired="A Markov neighbour of whose change no proper part keeps the known counts is a "
    "positive induced neighbour.",
    explanation="Definition 3.1 asks for few cells and not for minimality: with the first "
    "attribute's counts known, two records may change their second attribute at once, which is "
    "two positive neighbours in a row. The histogram then changes by 4, twice what positive "
    "neighbours allow.",
    proof="Parts of a change that keep the known counts lead to possible tables.",
)


CLAIMS = (SECTION_3_4, DEFINITION_3_1)
