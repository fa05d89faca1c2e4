"""blowfish-2014, section 4.1: composition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Domain, Exact, Integers, Labels, Marginal, Policy
from blowproof.verifier.claims.blowfish.section_4 import FREE
from blowproof.verifier.claims.stating import channels
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.listings import most_changed
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CHANNELS", "CLAIMS", "channel_of", "first_ratio", "ratio_of"]


def _seeds(count: int) -> Iterator[Instance]:
    for values, edges in ((2, [(0, 1)]), (3, [(0, 1), (1, 2)]), (3, [(0, 1)])):
        for size in (1, 2):
            for known in ((), ((0,),)):
                policy = some.letters(values, edges, known)
                for seed in range(count):
                    given = {"n": size, "seed": seed}
                    shape = f"{values} values, {len(known)} counts, n = {size}"
                    yield Instance(shape=shape, policy=policy, parameters=given, sampled=True)


CHANNELS = family(
    "channels with 3 outputs and random exact probabilities, on paths of 2 or 3 values with and "
    "without a known count, n = 1, 2",
    lambda: _seeds(2),
    lambda: _seeds(20),
)


def channel_of(instance: Instance, name: str) -> channels.Channel:
    """Return a channel drawn for an instance."""
    key = f"{instance.whole('seed')} {name}"
    return channels.draw(instance.the_policy, instance.whole("n"), 3, key)


def ratio_of(instance: Instance, channel: channels.Channel) -> Fraction:
    """Return exp of a channel's loss under the instance's policy."""
    return channels.ratio(instance.the_policy, instance.whole("n"), channel)


def _second(instance: Instance) -> list[channels.Channel]:
    return [channel_of(instance, f"second {output}") for output in range(3)]


def _product(instance: Instance) -> Exact:
    second = max(ratio_of(instance, channel) for channel in _second(instance))
    return ratio_of(instance, channel_of(instance, "first")) * second


def _joint(instance: Instance) -> Exact:
    return ratio_of(instance, channels.joint(channel_of(instance, "first"), _second(instance)))


THEOREM_4_1 = Claim(
    id="blowfish-2014/theorem-4.1",
    source="Section 4.1, Theorem 4.1",
    quote="independent sources of randomness",
    statement="Sequential composition: M1 being (epsilon_1, P)- and M2, which may look at its "
    "output, (epsilon_2, P)-private, both together are (epsilon_1 + epsilon_2, P)-private.",
    read_as="Two random channels on small policies, the second looking at the first's output.",
    parts=(
        replace(
            counted("exp(epsilon) of both, against the product", CHANNELS, _product, _joint),
            relation="<=",
            small="privacy",
        ),
    ),
    proof="Pr[(r1, r2)] = Pr[M1 = r1] Pr[M2(., r1) = r2], and the two factors change by at most "
    "exp(epsilon_1) and exp(epsilon_2) between neighbours, under any policy.",
)


def first_ratio(instance: Instance) -> Exact:
    """Return exp of the loss of the first channel."""
    return ratio_of(instance, channel_of(instance, "first"))


def _second_ratio(instance: Instance) -> Exact:
    return max(ratio_of(instance, channel) for channel in _second(instance))


EQUATION_19 = Claim(
    id="blowfish-2014/equation-19",
    source="Appendix B, Equation 19",
    quote="every result",
    statement="Pr[M2(D_a, r1) = r2] < exp(epsilon_1) Pr[M2(D_b, r1) = r2].",
    read_as="Literally strict, and with epsilon_1 for the second mechanism.",
    parts=(
        replace(
            counted("exp of M2's loss, against M1's", CHANNELS, first_ratio, _second_ratio),
            relation="<=",
        ),
        replace(
            counted("exp of M2's loss, against M2's", CHANNELS, _second_ratio, _second_ratio),
            relation="<=",
            amended=True,
        ),
    ),
    repaired="exp(epsilon_2) in place of exp(epsilon_1), and <= in place of <.",
    amendment="misprint",
    explanation="M2 is (epsilon_2, P)-private; nothing relates its loss to epsilon_1. Equation 20 "
    "goes on with exp(epsilon_2), so that the proof is right.",
)


THEOREM_4_2 = Claim(
    id="blowfish-2014/theorem-4.2",
    source="Section 4.1, Theorem 4.2",
    quote="where the cardinality of the input",
    statement="Parallel composition without constraints: private mechanisms on disjoint sets of "
    "records, of losses epsilon_i, are together (max epsilon_i, P)-private.",
    read_as="Random channels on the parts of 2 to 4 records, no facts.",
    parts=(
        replace(
            counted(
                "records in which neighbours differ: at most one part sees a change",
                FREE,
                lambda item: None if item.the_policy.known else 1,
                lambda item: most_changed(item.the_policy, "published", item.whole("n"))[0],
            ),
            relation="<=",
            small="privacy",
        ),
    ),
    proof="Neighbours differ in one record, so all parts but one see the same records, and the "
    "probabilities of independent parts multiply.",
)


def _gender(most: int) -> Iterator[Instance]:
    for others in range(1, most + 1):
        for size in (2, 3):
            domain = Domain(gender=Labels(["F", "M"]), age=Integers(1, others))
            policy = Policy(domain=domain, known=(Marginal(["gender"]),))
            shape = f"2 genders x {others} values"
            yield Instance(shape=shape, policy=policy, parameters={"n": size})


GENDER = Claim(
    id="blowfish-2014/section-4.1-gender",
    source="Section 4.1",
    quote="differ in two tuples",
    statement="If the numbers of males and females are known, under full secrets, some neighbours "
    "differ in two records, which may lie in different parts.",
    read_as="Some neighbours differ in two records, which a split of the ids can part.",
    parts=(
        replace(
            counted(
                "records in which neighbours differ",
                family(
                    "gender and an attribute of 1 to 3 values, n = 2, 3",
                    lambda: _gender(2),
                    lambda: _gender(3),
                ),
                lambda item: 2 if item.the_policy.known else None,
                lambda item: most_changed(item.the_policy, "published", item.whole("n"))[0],
            ),
            relation=">=",
        ),
    ),
    proof="A male becomes female and a female male; neither change alone keeps the counts.",
)


CLAIMS = (THEOREM_4_1, EQUATION_19, THEOREM_4_2, GENDER)
