"""Data-dependent histograms: a private partition into buckets, noisy buckets, uniform expansion.

Data-dependent-blowfish, sections 4 and 5. A share of epsilon chooses buckets of like counts
(`partitions`), the rest releases the bucket counts, and every value gets an equal part of its
bucket. Bucket counts get Laplace noise of their own sensitivity ("dawa", the baseline), or noise on
the flows along a spanning forest of G', which is G with each bucket's values merged into one vertex
("-transformed"). Neighbours of G are neighbours of G' or have equal bucket counts (Lemma 4.1), so
noise for the stretch of G' is private, whatever buckets were chosen.

*How intervals are chosen.* By the exponential mechanism, drawn exactly over all partitions into
buckets of 1, 2, 4, ... values (`noise.interval_choice`), which loses the same as noise on every
bucket's cost; and by the sum of |count - median|, which a record changes by half as much as that
about the mean. At epsilon 0.1 the RMSE on medcost is 3 and on nettrace 4, in place of 4 and 10 by
drawing with means. `partition=noisy` is the cheapest partition by noisy costs about the mean, as
the paper has it, and the one for more values than are drawn.

*On grids*, of any attributes with an order, "dawa" draws a partition into blocks within blocks,
each of which is cut in halves or not (`structures.halvings`, `noise.block_choice`), by the same
costs; `partition=blocks` does it on a line. On the tweets of 256 x 256 cells at epsilon 0.1 its
RMSE is 11, that of Laplace noise 28.

*How much a bucket costs.* Besides the noise on its count, about 1 / epsilon, every bucket has noise
on its cost, and the cheapest partition collects the most negative of it: luck, which favours many
small buckets. So a bucket costs `caution` scales of that noise more, which is public and so free.
It pays most where counts drown in noise: the default is 2 - log10(n epsilon / |T|), from 0 to 3 (to
2 where partitions are drawn: there are more partitions into many small buckets than into few), a
rule found by trying the seven histograms of the paper. Of blocks it is 3/4 less a quarter of the
same logarithm, from 0 to 1, found on the tweets and on smooth and scattered grids.

*No numbers below 0.* Counts of buckets become the nearest ones that are none, and add up to n where
that is public: less noise where many buckets are nearly empty, and numbers near 0 are too large on
the average (`numbers=real` leaves them). Every query is answered from the counts that the buckets
say.

Both steps compose; for a rho the counts of buckets have Gaussian noise. The partition is private
for its share for neighbours that differ in one record, so policies with known facts are refused,
for there neighbours differ in several.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from math import log10

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.noisy_table import answered_from
from blowproof.mechanisms.answers.true_answers import require_answerable
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.estimates.positive import nearest_above_zero
from blowproof.mechanisms.kinds.transformed import (
    Flows,
    drawn_flows,
    flow_releases,
    free,
    graph_edges,
    plan_flows,
    require_few_values,
)
from blowproof.mechanisms.noise.block_choice import MOST_BLOCKS
from blowproof.mechanisms.release.calibrate import require_floats
from blowproof.mechanisms.release.release import Draw, Plan, Request
from blowproof.mechanisms.structures.forests import Forest
from blowproof.mechanisms.structures.halvings import Halvings
from blowproof.mechanisms.structures.matchings import MOST_MATCHED
from blowproof.mechanisms.structures.partitions import LONGEST, scale_of
from blowproof.models import BudgetError, QueryError, exact, show
from blowproof.models.mechanisms.mechanism import BLOCKS, DRAWN, Release, Selection
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.certify.measures.orders import pure_of

__all__ = ["Dawa", "DawaTransformed", "MatchingTransformed"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
HALF = Fraction(1, 2)
PARTITIONS = ("drawn", "noisy", "blocks")
MOST_DRAWN, MOST_CHOSEN = 20_000, 1 << 17
"""Values whose partition is drawn where nobody asks for another, and at all (`interval_choice`)."""
NUMBERS = ("positive", "real")
MOST_CAUTION = 1000
CAUTIONS = {
    BLOCKS: (Fraction(3, 4), Fraction(1, 4), Fraction(1)),
    DRAWN: (Fraction(2), Fraction(1), Fraction(2)),
    "": (Fraction(2), Fraction(1), Fraction(3)),
}
"""By candidates: a - b log10(n epsilon / |T|), and the most."""
WIDEST_SCALE = 2**44
"""Of the noise on a pair's cost: the matching ends at 2**56, which is 4000 scales away."""


class Bucketed(Plan):
    """What the three have in common; `share` is the part of epsilon that the partition gets."""

    postprocessing = ("uniform expansion", "no number below 0", "sums of noisy cells")
    settings: tuple[str, ...] = ("share", "caution", "numbers")
    merges = True
    share = HALF
    caution: Fraction | None = None
    drawn = False
    """Whether the partition is drawn by its costs, and not the cheapest by noisy ones."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        if request.bound.per_record:
            raise QueryError(f"{request.bound.name} weighs records\n  try: --mechanism laplace")
        for query in (request.bound, "histogram"):
            require_answerable(query, request.policy)
        if not is_labelled(request.reading) or not free(request.policy):
            raise RefusedError(
                f"{self.name} chooses its buckets privately only where neighbours differ in one "
                "record: under a policy without known facts, reading published or secret-moves\n"
                "  try: --mechanism laplace"
            )
        if "share" in request.options:
            self.share = Fraction(exact(request.options["share"], key="share"))
        if not 0 < self.share < 1:
            raise QueryError(f"the partition's share is between 0 and 1, not {self.share}")
        require_floats(self.rest.epsilon, self.name)
        require_few_values(request.policy)
        self.size = request.policy.domain.size
        if "caution" in request.options:
            self.caution = Fraction(exact(request.options["caution"], key="caution"))
            if abs(self.caution) > MOST_CAUTION:
                raise QueryError(f"the caution is {MOST_CAUTION} at most, not {show(self.caution)}")
        self.numbers = request.options.get("numbers", NUMBERS[0])
        if self.numbers not in NUMBERS:
            raise QueryError(f"there are no numbers {self.numbers!r}\n  try: positive, or real")
        self.selection = self.choice()
        self.edges = self.secret_edges()
        self.opening = (self.selection,)

    @abstractmethod
    def choice(self) -> Selection:
        """Return how the partition is chosen, as data."""

    def buckets(self, chosen: Ints) -> Ints:
        """Return each value's bucket, from what was chosen."""
        return chosen

    def penalty(self, records: int | None) -> Fraction:
        """Return what a bucket costs: for the noise on its count, and for luck."""
        caution = self._usual_caution(records) if self.caution is None else self.caution
        return 1 / self.rest.epsilon + caution * self.selection.scale

    def _usual_caution(self, records: int | None) -> Fraction:
        least, slope, most = CAUTIONS.get(self.selection.candidates, CAUTIONS[""])
        share = self.request.epsilon * (records or 0) / self.size
        if share <= 0:
            return most
        # the logarithms of whole numbers, which may be beyond floats
        size = Fraction(round(10 * (log10(share.numerator) - log10(share.denominator))), 10)
        return min(max(least - slope * size, Fraction(0)), most)

    def secret_edges(self) -> tuple[Ints, Ints] | None:
        """Return the edges of G, listed (or refused) before anything is charged."""
        policy = self.request.policy
        return None if policy.graph.complete else graph_edges(policy)

    @property
    def first(self) -> Fraction:
        """The part of epsilon for the partition, or what its part of rho is worth.

        All chances are within a factor of e^epsilon of each other, however they move: such a choice
        loses epsilon^2 / 8 in rho (`certify.measures.measured`). One by noisy costs, epsilon^2 / 2.
        """
        if self.request.rho is None:
            return self.share * self.request.epsilon
        return (2 if self.drawn else 1) * pure_of(self.share * self.request.rho)

    @property
    def rest(self) -> Request:
        """What the counts of the buckets have, as a request for them."""
        rho, left = self.request.rho, 1 - self.share
        return Request(
            policy=self.request.policy,
            epsilon=left * self.request.epsilon if rho is None else Fraction(0),
            rho=None if rho is None else left * rho,
            reading=self.request.reading,
            answers=self.request.answers,
            deadline=self.request.deadline,
        )

    def releases(self, vertex: Ints) -> tuple[tuple[Release, ...], Forest | None]:
        """Return what is released of these buckets: their flows, or (no forest) their counts."""
        forest, stretch = plan_flows(self.rest, vertex, self.edges)
        return flow_releases(self, self.rest, vertex, forest, stretch), forest

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the answers on the counts that the buckets say."""
        key = self.name, self.request.epsilon, self.selection, self.caution, self.numbers
        table = draw.once(key, lambda: self._spread(draw))
        return answered_from(table, self.request.bound, self.request.policy)

    def draws_as(self, other: Plan) -> bool:
        """Whether the other plan has the same buckets; then they are drawn once for both."""
        return (
            isinstance(other, Bucketed)
            and (self.name, self.selection, self.caution, self.numbers, self.request.epsilon)
            == (other.name, other.selection, other.caution, other.numbers, other.request.epsilon)
        )  # fmt: skip

    def _spread(self, draw: Draw) -> Floats:
        """Choose the buckets, count them with noise, and spread each count evenly."""
        penalty = self.penalty(draw.public_size(self.request))
        vertex = self.buckets(draw.choose(self.selection, penalty=penalty))
        releases, forest = self.releases(vertex)
        if forest is None:
            noisy = draw(releases[0]).units.astype(np.float64)
        else:
            noisy = forest.counts(drawn_flows(draw, releases, forest)).astype(np.float64)
        if self.numbers == NUMBERS[0]:
            noisy = _positive(noisy, draw.public_size(self.request))
        return np.asarray((noisy / np.bincount(vertex))[vertex])


def _positive(noisy: Floats, size: int | None) -> Floats:
    """Return the nearest counts without any below 0 that add up to n, where n is public."""
    sums = None if size is None else np.array([float(size)])
    return nearest_above_zero(noisy, np.zeros(len(noisy), dtype=np.int64), sums)


class DawaTransformed(Bucketed):
    """Buckets of consecutive values (the first step of DAWA), then noise on the flows of G'."""

    name = "dawa-transformed"
    settings = (*Bucketed.settings, "partition")

    def choice(self) -> Selection:
        """Buckets of 1, 2, 4, ... values; one record changes a deviation by less than 2."""
        if len(self.request.policy.domain) != 1:
            raise QueryError(f"{self.name} puts the values of one attribute into intervals")
        usual = PARTITIONS[0 if self.size <= MOST_DRAWN else 1]
        partition = self.request.options.get("partition", usual)
        if partition not in PARTITIONS[:2]:
            raise QueryError(f"{self.name} has no partition {partition!r}\n  try: drawn, or noisy")
        if partition == PARTITIONS[0] and self.size > MOST_CHOSEN:
            raise BudgetError(
                f"{self.size:,} values; partitions of {MOST_CHOSEN:,} at the most are drawn"
                "\n  try: --set partition=noisy"
            )
        self.drawn = partition == PARTITIONS[0]
        # drawn: one record that moves changes all costs by 2 at the most
        scale = 4 / self.first if self.drawn else scale_of(2, self.first)
        candidates = DRAWN if self.drawn else "intervals"
        return Selection(query="histogram", candidates=candidates, scale=scale, longest=LONGEST)

    def buckets(self, chosen: Ints) -> Ints:
        """Return the intervals, whose ends were chosen."""
        return np.repeat(np.arange(len(chosen)), np.diff(chosen, prepend=0))


class Dawa(DawaTransformed):
    """Plain DAWA: its intervals, or blocks of a grid, and Laplace noise on their counts."""

    name = "dawa"

    def __init__(self, request: Request) -> None:
        line = len(request.policy.domain) == 1
        self.partition = request.options.get("partition", None if line else PARTITIONS[2])
        super().__init__(request)

    def choice(self) -> Selection:
        """On a grid: blocks, whose deviation one record that joins or leaves changes by 1."""
        if self.partition != PARTITIONS[2]:
            if len(self.request.policy.domain) == 1:
                return super().choice()
            raise QueryError(
                f"a grid has no partition {self.partition!r}\n  try: blocks, or leave it out"
            )
        many = Halvings(self.request.policy.domain).count
        if many > MOST_BLOCKS:
            raise BudgetError(
                f"{many:,} blocks; partitions of {MOST_BLOCKS:,} at the most are drawn"
                "\n  try: --mechanism quadtree, or laplace"
            )
        if (self.caution or 0) < 0:
            raise QueryError("the caution of blocks is not below 0\n  try: --set caution=0")
        self.drawn = True
        return Selection(query="histogram", candidates=BLOCKS, scale=4 / self.first)

    def buckets(self, chosen: Ints) -> Ints:
        """Return the buckets: blocks are numbered already."""
        return chosen if self.partition == PARTITIONS[2] else super().buckets(chosen)

    def secret_edges(self) -> None:
        """Leave them: the counts of the buckets are released, whatever G is."""

    def releases(self, vertex: Ints) -> tuple[tuple[Release, ...], Forest | None]:
        """Return the bucket counts. A record that moves changes two of them, by 1 each."""
        lonely = Forest(np.full(int(vertex.max()) + 1, -1, dtype=np.int64))
        query = Flows(self.request.policy.domain, vertex, lonely, roots=True, name="buckets")
        rest = self.rest
        if rest.rho is not None:
            variance = 1 / rest.rho
            return (Release(query=query, noise="discrete-gaussian", variance=variance),), None
        scale = 2 / rest.epsilon
        return (Release(query=query, noise="discrete-laplace", scale=scale),), None


class MatchingTransformed(Bucketed):
    """Buckets of at most two values, anywhere (a matching), then noise on the flows of G'.

    Caution would put every value into a pair, so there is none by default.
    """

    name = "matching-transformed"
    caution = Fraction(0)

    def choice(self) -> Selection:
        """One record changes the deviation of a pair, |x - y|, by at most 1."""
        scale = scale_of(1, self.first)
        if self.size > MOST_MATCHED:
            raise BudgetError(
                f"{self.size} values have {self.size * (self.size - 1) // 2} pairs; at most "
                f"{MOST_MATCHED} values are matched\n  try: --mechanism dawa-transformed"
            )
        if max(scale, 1 / self.rest.epsilon) > WIDEST_SCALE:
            raise RefusedError(
                "the noise on the costs of pairs would drown them, and be beyond what the matching "
                "counts with\n  try: a larger --epsilon, or --mechanism transformed"
            )
        return Selection(query="histogram", candidates="pairs", scale=scale)
