"""The kinds of queries, one file each."""

from __future__ import annotations

from blowproof.models.queries.cluster_sizes import ClusterSizes
from blowproof.models.queries.cluster_sums import ClusterSums
from blowproof.models.queries.count import CountQuery
from blowproof.models.queries.cumulative import Cumulative
from blowproof.models.queries.histogram import Histogram
from blowproof.models.queries.marginal import MarginalQuery
from blowproof.models.queries.matrix import MatrixQuery
from blowproof.models.queries.partition import PartitionHistogram
from blowproof.models.queries.ranges import Ranges
from blowproof.models.queries.sums import SumQuery
from blowproof.models.queries.weighted_sum import WeightedSum

__all__ = [
    "ClusterSizes",
    "ClusterSums",
    "CountQuery",
    "Cumulative",
    "Histogram",
    "MarginalQuery",
    "MatrixQuery",
    "PartitionHistogram",
    "Ranges",
    "SumQuery",
    "WeightedSum",
]
