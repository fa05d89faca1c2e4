"""Noisy answers with the noise that they have: as they were drawn, and as files keep them.

A file of answers (or the `.meta.json` beside it) has `measured`: the releases as a mechanism file
writes them, each with the numbers that were drawn. They were published with the answers, so that
everything that a later estimate needs is in the files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import Vector
from blowproof.mechanisms.combining.operators import (
    Intervals,
    Linear,
    Mixed,
    cell_bins,
    operator_of,
    stepped,
)
from blowproof.mechanisms.expecting.k_norm_error import k_norm_error
from blowproof.mechanisms.expecting.polytope_error import polytope_error
from blowproof.mechanisms.kinds.transformed import Flows
from blowproof.mechanisms.parts.records import Records
from blowproof.mechanisms.release.publish import BESIDE
from blowproof.mechanisms.structures.forests import Forest
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.models import BlowproofError, DataError, Domain, Policy, exact
from blowproof.models.base.door import NUMBERS_BYTES, FileError, read_bytes
from blowproof.models.files.writing import digest
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.mechanisms.mechanism_reading import releases
from blowproof.models.mechanisms.trees_and_prefixes import bind_query
from blowproof.verifier.certify.noise.gaussian_steps import GAUSSIAN_STEPS
from blowproof.verifier.certify.noise.k_norm import K_NORM
from blowproof.verifier.certify.noise.steps import STEPS_NOISE

__all__ = ["Answers", "Measurement", "measured_in", "read_answers", "require_policy"]

Floats = NDArray[np.float64]
SURELY = 6
"""Noisy numbers that two releases never share by chance."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy values of a linear query, and the variance of each; `totals` of it are exact."""

    query: Linear
    values: Floats
    variances: Floats
    totals: tuple[Linear, Floats] | None = None
    release: Release | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the values have no noise at all."""
        return not self.variances.any()


@dataclass(frozen=True)
class Answers:
    """What a file says about one release."""

    path: str
    policy_digest: str
    epsilon: Fraction | None
    rho: Fraction | None
    size: int | None
    account: int | None
    measured: Sequence[tuple[Release, Sequence[Fraction]]]
    notes: Sequence[str] = ()
    records: Records | None = None
    ledger: str | None = None

    def is_same(self, other: Answers) -> bool:
        """Whether both are one release: the same numbers were drawn, by the same account's notes.

        A few numbers without an account may be drawn twice alike.
        """
        many = sum(len(values) for release, values in self.measured if any(release.widths))
        known = self.account is not None or many >= SURELY
        return known and replace(self, path=other.path) == other


def _release(table: Mapping[str, Any], policy: Policy) -> Release:
    if "flows" not in table:
        return releases([table])[0]
    rest = {key: value for key, value in table.items() if key != "flows"}
    plain = releases([{"query": "histogram", **rest}])[0]
    flows = table["flows"]
    vertex, parent = (np.array(flows[key], dtype=np.int64) for key in ("vertex", "parent"))
    if len(vertex) != policy.domain.size or vertex.min() < 0 or vertex.max() >= len(parent):
        raise ValueError("flows of another domain")
    query = Flows(policy.domain, vertex, Forest(parent), edges=bool(flows["edges"]),
                  roots=bool(flows["roots"]))  # fmt: skip
    return Release(query=query, noise=plain.noise, scale=plain.scale, variance=plain.variance,
                   grid=plain.grid)  # fmt: skip


def read_answers(path: str, policy: Policy) -> Answers:
    """Return what stands in a file of answers, or beside it; refuse what is none of ours."""
    beside = Path(path + BESIDE)
    place = path if path.endswith(".json") or not beside.exists() else str(beside)
    try:
        found = json.loads(read_bytes(place, most=NUMBERS_BYTES).decode("utf-8"))
        if found["schema"] != "blowproof/answers/1":
            raise KeyError("schema")
        measured = found.get("measured")
        if measured is None and found.get("mechanism") == "estimate":
            raise DataError(
                f"{path}: this is an estimate, which measured nothing itself"
                "\n  try: the files of the releases that it was made from"
            )
        if measured is None:
            raise DataError(
                f"{path}: it does not say what was measured (too much of it, or of a kind that has "
                "no text)\n  try: leave it out"
            )
        items = [
            (_release(item["release"], policy),
             [Fraction(exact(value, key="values")) for value in item["values"]])
            for item in measured
        ]  # fmt: skip
        epsilon = found.get("epsilon")
        rho = found.get("rho")
        return Answers(
            path=path,
            policy_digest=str(found["policy_digest"]),
            epsilon=None if epsilon is None else Fraction(exact(epsilon, key="epsilon")),
            rho=None if rho is None else Fraction(exact(rho, key="rho")),
            size=None if found.get("size") is None else int(found["size"]),
            account=None if found.get("account") is None else int(found["account"]),
            measured=items,
            notes=tuple(map(str, found.get("notes", ()))),
            records=None if found.get("records") is None else Records.read(found["records"]),
            ledger=None if found.get("ledger") is None else str(found["ledger"]),
        )
    except FileError as error:
        raise DataError(f"{place}: cannot be read ({error.reason})") from None
    except DataError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, BlowproofError):
        raise DataError(
            f"{path}: this is no file of answers that says what was measured"
            "\n  try: a file of blowproof release --output, with its .meta.json beside it"
        ) from None


def require_policy(answers: Answers, policy: Policy) -> None:
    """Refuse answers that were released under another policy."""
    if answers.policy_digest != digest(policy):
        raise DataError(
            f"{answers.path}: it was released under another policy, or an earlier version of this"
            "\n  try: the policy that it was released under"
        )


def measured_in(release: Release, values: Vector | Sequence[Fraction], policy: Policy
                ) -> Measurement:  # fmt: skip
    """Return the noisy values of a release with their variances."""
    bound = bind_query(release.query, policy)
    query = operator_of(bound, policy.domain)
    numbers = np.array([float(value) for value in values])
    if len(numbers) != query.height:
        raise DataError(f"{len(numbers)} values for the {query.height} answers of {bound.name}")
    if release.facets:
        return _in_shape(release, query, numbers)
    if release.noise == K_NORM:
        return _shaped(release, query, numbers)
    if release.noise in (STEPS_NOISE, GAUSSIAN_STEPS):
        return _on_steps(release, numbers, policy.domain)
    wide = [
        float(width) if release.width == "variance"
        else float(release.grid) ** 2 * variance(width / release.grid)
        for width in release.widths
    ]  # fmt: skip
    if len(wide) == 1:
        variances = np.full(len(numbers), wide[0])
    else:
        variances = np.repeat(wide, _runs(release, len(wide), policy, len(numbers)))
    return Measurement(query, numbers, variances, release=release)


def _runs(release: Release, levels: int, policy: Policy, many: int) -> list[int]:
    """Return how many outputs have each width: one, or a level of a tree."""
    from blowproof.mechanisms.answers.trees import tree_levels
    from blowproof.models.mechanisms.mechanism import Tree

    if isinstance(release.query, Tree):
        size = policy.domain.attribute(policy.domain.axis(release.query.attribute)).size
        return [len(level.low) for level in tree_levels(release.query, size)]
    if levels != many:
        raise DataError(f"{levels} widths for {many} values")
    return [1] * many


def _on_steps(release: Release, numbers: Floats, domain: Domain) -> Measurement:
    """Noise on steps: a noise of its own for each; totals along all of them are exact."""
    axes = domain.axes(release.along)
    query = stepped(axes, domain)
    others = tuple(axis for axis in range(len(domain)) if axis not in axes)
    bins, many = cell_bins(others, domain)
    places = np.arange(many, dtype=np.int64)
    sums = Intervals(bins, places, places + 1, many)
    width = release.widths[0]
    each = float(width) if release.width == "variance" else variance(width)
    values = query.forward(numbers)
    totals = sums, sums.forward(numbers)
    return Measurement(query, values, np.full(len(values), each), totals, release)


def _in_shape(release: Release, query: Linear, numbers: Floats) -> Measurement:
    """Noise on a polytope: sums of the outputs with noise of their own, of variance 1 each.

    Those are along the axes of the covariance; what the noise leaves fixed is exact.
    """
    grid = float(release.grid)
    found = polytope_error(release.facets, release.fixed, release.scales[0] / release.grid)
    values, axes = np.linalg.eigh(found.covariance * grid**2)
    many = len(numbers) - len(release.fixed)
    own = (axes[:, -many:] / np.sqrt(values[-many:])).T
    totals = None
    if release.fixed:
        rows = np.array(release.fixed, dtype=np.float64)
        totals = Mixed(query, rows), rows @ numbers
    return Measurement(Mixed(query, own), own @ numbers, np.ones(many), totals, release)


def _shaped(release: Release, query: Linear, numbers: Floats) -> Measurement:
    """K-norm noise: equal variances; in groups it adds up to 0, so the groups' sums are exact.

    Within a group of m the noise has the covariance s^2 (m I - J) / (m - 1), where s^2 is that of
    one output: for sums that are known it is as good as independent noise of m s^2 / (m - 1).
    """
    width = release.groups
    count = len(numbers) // width
    each = k_norm_error(width, count, release.scales[0] / release.grid)[0]
    spread = (float(release.grid) * each) ** 2
    totals = None
    if width > 1:
        spread *= width / (width - 1)
        assert isinstance(query, Intervals)
        starts = np.arange(count, dtype=np.int64) * width
        sums = Intervals(query.bins, starts, starts + width, query.many)
        totals = sums, numbers.reshape(count, width).sum(axis=1)
    return Measurement(query, numbers, np.full(len(numbers), spread), totals, release)
