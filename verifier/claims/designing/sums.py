"""designing-statistical-privacy-2015: sums of attributes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from blowproof.models import (
    AttributeChange,
    Between,
    Distance,
    Domain,
    Exact,
    Full,
    Integers,
    PartitionBy,
    PartitionCells,
    Policy,
)
from blowproof.models.base.numbers import magnitude, plain
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Asked, Claim, Family, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Counted, Sensitivity
from blowproof.verifier.claims.stating.parts import of_sensitivity, with_kernel

__all__ = ["ANSWERING", "CLAIMS", "PAPER", "ends_of"]

PAPER = "designing-statistical-privacy-2015"
ANSWERING = "Blowfish case study, 'Answering queries with Blowfish'"


# --- sums ----------------------------------------------------------------------------------------


def _domains(most: int) -> Iterator[Domain]:
    """Yield products of one or two ranges of integers, with ends of either sign."""
    ranges = [(low, low + size - 1) for size in range(1, most + 1) for low in (-3, -1, 0, 2)]
    for low, high in ranges:
        yield Domain(a=Integers(low, high))
    for one, two in combinations(ranges, 2):
        if (one[1] - one[0] + 1) * (two[1] - two[0] + 1) <= 2 * most:
            yield Domain(a=Integers(*one), b=Integers(*two))


def _sums(most: int, *kinds: str) -> Iterator[Instance]:
    for domain in _domains(most):
        for secrets in _secrets(domain):
            if secrets.kind in kinds:
                yield Instance(
                    shape=f"{some.named(domain)}, {secrets.kind}",
                    policy=Policy(domain=domain, secrets=secrets),
                    query=Asked(f"sum({','.join(domain.names)})"),
                )


def _secrets(domain: Domain) -> Iterator[SecretsSpec]:
    yield Full()
    yield AttributeChange()
    yield PartitionBy(["a"])
    size = domain.attribute(0).size
    if len(domain) == 1 and size > 1 and isinstance(domain.attribute(0), Integers):
        low, high = ends_of(domain)[0]
        for cut in range(low, high):
            yield PartitionCells([{"a": Between(low, cut)}, {"a": Between(cut + 1, high)}])
    for threshold in range(1, 6):
        yield Distance(threshold=threshold)
        yield Distance(threshold=threshold, strict=True)


def ends_of(domain: Domain) -> list[tuple[int, int]]:
    """Return the smallest and the largest value of each attribute."""
    found = []
    for _, attribute in domain.attributes:
        assert isinstance(attribute, Integers)
        found.append((attribute.min, attribute.max))
    return found


def _sums_family(*kinds: str) -> Family:
    return family(
        "sums of all of 1 or 2 integer attributes of up to 5 values each, ends of either sign; "
        f"secrets: {', '.join(kinds)}",
        lambda: _sums(3, *kinds),
        lambda: _sums(5, *kinds),
    )


def _all_summed(instance: Instance) -> bool:
    names = instance.the_policy.domain.names
    return instance.query.text == f"sum({','.join(names)})"


def _global(instance: Instance) -> Exact | None:
    ends = ends_of(instance.the_policy.domain)
    return sum(max(abs(a), abs(b)) for a, b in ends) if _all_summed(instance) else None


GLOBAL = Claim(
    id=f"{PAPER}/sums-global",
    source=ANSWERING,
    quote="The global sensitivity",
    statement="The global sensitivity of q_sum is the sum of max(|a_i|, |b_i|) over the "
    "attributes (100 for ages 0 to 100).",
    read_as="Add or remove one record, ends of either sign.",
    parts=(of_sensitivity("equality", _sums_family("full"), _global, reading="add-remove"),),
    proof="One record is added or removed; each attribute can be at its end of larger size.",
)


def _threshold(instance: Instance) -> Exact | None:
    secrets = instance.the_policy.secrets
    return secrets.threshold if isinstance(secrets, Distance) and _all_summed(instance) else None


def _not_strict(instance: Instance) -> Exact | None:
    """Return theta, if it is a whole number that two values are apart, and edges include it."""
    secrets = instance.the_policy.secrets
    widths = sum(high - low for low, high in ends_of(instance.the_policy.domain))
    assert isinstance(secrets, Distance)
    fits = not secrets.strict and secrets.threshold.denominator == 1
    return _threshold(instance) if fits and secrets.threshold <= widths else None


DISTANCES = _sums_family("distance")
DISTANCE = Claim(
    id=f"{PAPER}/sums-distance",
    source=ANSWERING,
    quote="In the case of the distance",
    statement="Under G^{L1,theta}, q_sum has S = theta.",
    read_as="Strict and not strict distances, since the text has both; the equality, and the "
    "bound.",
    parts=(
        of_sensitivity("equality", DISTANCES, _threshold),
        of_sensitivity("bound", DISTANCES, _threshold, "<="),
        of_sensitivity("equality, theta reached", DISTANCES, _not_strict, amended=True),
    ),
    repaired="If some two values are theta apart and such values are a secret pair, that is, if "
    "the threshold is taken as at most theta.",
    amendment="condition",
    explanation="With secret pairs less than theta apart, as the paper writes them, integers "
    "reach theta - 1 only; and no two values of a narrow domain may be theta apart. The number is "
    "an upper bound in every case, so only accuracy is lost.",
    proof="One record changes along a secret pair, and the sums change by the distance between "
    "its ends.",
)


def _ages() -> Iterator[Instance]:
    cells = [(0, 10), *((low, low + 9) for low in range(11, 100, 10))]
    kinds: dict[str, SecretsSpec] = {
        "distance 5": Distance(threshold=5),
        "partition": PartitionCells([{"age": Between(*cell)} for cell in cells]),
        "full": Full(),
    }
    for name, secrets in kinds.items():
        policy = Policy(domain=Domain(age=Integers(0, 100)), secrets=secrets)
        yield Instance(shape=name, policy=policy, query=Asked("sum(age)"))


def _printed_age(instance: Instance) -> Exact | None:
    return {"distance 5": 5, "partition": 10}.get(instance.shape)


AGES = family("ages 0 to 100 under G^{L1,5} and the partition 0-10, 11-20, ...", _ages)
AGE_EXAMPLE = Claim(
    id=f"{PAPER}/sums-ages",
    source=ANSWERING,
    quote="and further suppose the age",
    statement="For ages 0 to 100, q_sum has global sensitivity 100, S = 5 under G^{L1,5}, and S = "
    "10 under the partition into 0-10, 11-20, ..., 91-100.",
    read_as="The three numbers, each under its own neighbours.",
    parts=(
        of_sensitivity(
            "global",
            AGES,
            lambda item: 100 if item.shape == "full" else None,
            reading="add-remove",
        ),
        of_sensitivity("under the policies", AGES, _printed_age),
    ),
    proof="The widest cell is the first, of 11 ages; the others have width 9.",
)


def _one_change(instance: Instance) -> Exact | None:
    secrets = instance.the_policy.secrets
    if not isinstance(secrets, AttributeChange) or not _all_summed(instance):
        return None
    return max(high - low for low, high in ends_of(instance.the_policy.domain))


ATTRIBUTE = Claim(
    id=f"{PAPER}/sums-attribute",
    source=ANSWERING,
    quote="Finally, with the attribute policy",
    statement="Under G^{attr,1}, q_sum has S = max (a_i - b_i), a_i and b_i the ends of attribute "
    "i.",
    read_as="a_i - b_i as the width of attribute i, since a_i is called the maximum.",
    parts=(of_sensitivity("equality", _sums_family("attribute"), _one_change),),
    proof="One attribute of one record goes from one end to the other.",
)


def _policies_of(domain: Domain) -> Iterator[Instance]:
    """Yield the policies of the case study on a domain under which some pair is no secret."""
    pairs = list(combinations(domain.points(), 2))
    for secrets in _secrets(domain):
        policy = Policy(domain=domain, secrets=secrets)
        if not all(policy.graph.is_edge(x, y) for x, y in pairs):
            query = Asked(f"sum({','.join(domain.names)})")
            yield Instance(shape=secrets.kind, policy=policy, query=query)


def _each_domain(most: int) -> Iterator[Instance]:
    for domain in _domains(most):
        if domain.size > 1:
            yield Instance(shape=some.named(domain), policy=Policy(domain=domain))


def _share_smaller(instance: Instance) -> Exact:
    """Return the share of the policies on a domain whose S is below the global sensitivity."""
    found = list(_policies_of(instance.the_policy.domain))
    published = Sensitivity("published")
    below = [published(item, None).lower < magnitude(_global(item) or 0) for item in found]
    return Fraction(sum(below), len(below))


EACH_DOMAIN = family(
    "every domain of 1 or 2 integer attributes of up to 5 values each, ends of either sign; on "
    "each the attribute, partition and distance policies under which some pair is no secret",
    lambda: _each_domain(3),
    lambda: _each_domain(5),
)


def _one_sign(instance: Instance) -> Exact | None:
    """Return 1/2 where each attribute has values of one sign, as counts, ages and colours have."""
    domain = instance.the_policy.domain
    one_sign = all(low >= 0 or high <= 0 for low, high in ends_of(domain))
    return Fraction(1, 2) if one_sign and next(_policies_of(domain), None) else None


SMALLER = Claim(
    id=f"{PAPER}/sums-smaller",
    source=ANSWERING,
    quote="is usually much smaller",
    statement="Under Blowfish policies S of q_sum is usually smaller than its global sensitivity.",
    read_as="At least half of the policies on each domain of values of one sign, secrets not full.",
    parts=(
        Part(
            name="share of the policies on a domain, values of one sign: at least half",
            family=EACH_DOMAIN,
            claimed=_one_sign,
            measure=Counted(_share_smaller),
            relation=">=",
            large="accuracy",
        ),
    ),
)


def _sum_bound(instance: Instance) -> Exact | None:
    return plain(2 * Fraction(magnitude(_global(instance) or 0))) if _all_summed(instance) else None


EVERY_KIND = _sums_family("full", "attribute", "partition", "distance")
BOUND = Claim(
    id=f"{PAPER}/sums-smaller-rule",
    source=ANSWERING,
    quote="is usually much smaller",
    statement="S of q_sum is at most its global sensitivity (what 'usually' does not say, and "
    "calibrating by the global sensitivity would need).",
    read_as="As a rule without exception, which the sentence does not claim: what calibration "
    "would need.",
    parts=(
        of_sensitivity("at most the global sensitivity", EVERY_KIND, _global, "<="),
        of_sensitivity(
            "at most twice the global sensitivity", EVERY_KIND, _sum_bound, "<=", amended=True
        ),
    ),
    repaired="At most twice the global sensitivity; it is smaller where values have one sign, or "
    "secret pairs are close.",
    explanation="The two are about different neighbours: adding or removing a record changes the "
    "sum by one value, changing a record by the difference of two, which is larger if they have "
    "different signs: 2 against 1 for values -1 to 1 and full secrets. The paper does not say "
    "this of every policy; whoever took it for a rule would release too little noise.",
    proof="Changing a record is removing it and adding another one.",
)


CLAIMS = (GLOBAL, with_kernel(DISTANCE), AGE_EXAMPLE, with_kernel(ATTRIBUTE), SMALLER, BOUND)
