"""blowfish-2014, Corollary 8.3 and the noise that it leads to."""

from __future__ import annotations

from blowproof.models import Exact
from blowproof.verifier.claims.blowfish.section_8.theorem_8_2 import SPARSE
from blowproof.verifier.claims.stating.affine_families import AFFINE_PARTS
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part, in_readings
from blowproof.verifier.claims.stating.measures import Sensitivity, sensitivities
from blowproof.verifier.claims.stating.parts import with_kernel
from blowproof.verifier.claims.stating.policy_graphs import policy_graph
from blowproof.verifier.claims.stating.printed import Loss, printed_scale

__all__ = ["CLAIMS"]


def _corollary(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    return 2 * max(len(policy.linear_facts), 1) if policy_graph(policy) is not None else None


def _one_more(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    return 2 * (len(policy.linear_facts) + 1) if policy_graph(policy) is not None else None


BY_ONE = "Every changed record a secret move, or G complete: S(h, P) <= 2 (|Q| + 1)."


FEW_SIGNATURES = (
    "Sparse or not, for complete G, N signatures of affine rank r, B of them with two values: "
    "S(h, P) = 2 B for N = r + 1; for N = r + 2, the larger of 2 B and what the primitive "
    "dependency of the signatures says (ours/affine-few; bounds and a conjecture for more: "
    "ours/affine-bounds, ours/affine-conjecture)."
)


WHY_8_3 = (
    "A simple path from v+ to v- through all |Q| queries has |Q| + 1 arcs, one to enter the first "
    "query and one to leave the last, so the corollary drops one record from what Theorem 8.2 "
    "allows: with one range known on a line, a record can leave the range while another one enters "
    "it, and four counts change where the corollary says two. Theorem 8.6 of the same paper says "
    "2 (maxcomp + 1), which is 4 there."
)


COROLLARY_8_3 = Claim(
    id="blowfish-2014/corollary-8.3",
    source="Section 8.1.1, Corollary 8.3",
    quote="immediate corollary about an upper bound",
    statement="If the counts Q are sparse w.r.t. G, then S(h, P) <= 2 max(|Q|, 1).",
    read_as="Both readings of neighbours, every sparse Q.",
    parts=(
        *in_readings(
            Part(
                name="bound",
                family=SPARSE,
                claimed=_corollary,
                measure=Sensitivity("published"),
                relation="<=",
                answers="any",
            ),
            sensitivities(),
        ),
        Part(
            name="bound with |Q| + 1",
            family=SPARSE,
            claimed=_one_more,
            measure=Sensitivity("secret-moves"),
            relation="<=",
            reading="secret-moves",
            answers="any",
            amended=True,
        ),
        *AFFINE_PARTS,
    ),
    repaired=f"{BY_ONE} {FEW_SIGNATURES}",
    explanation=WHY_8_3,
    proof="Make v+ and v- one node: what changes at once is a simple cycle on |Q| + 1 nodes, so "
    "at most |Q| + 1 moves, each of which changes the histogram by at most 2. For few signatures "
    "the proofs are in verifier/closed_forms/ours: one_dependency and more_dependencies.",
)


CALIBRATION = printed_scale("blowfish-2014/corollary-8.3-calibration")


def _sparse_only(instance: Instance) -> Exact | None:
    return 1 if policy_graph(instance.the_policy) is not None else None


COROLLARY_8_3_CALIBRATION = Claim(
    id="blowfish-2014/corollary-8.3-calibration",
    source="Section 8.1.1, after Corollary 8.3",
    quote="suffices (but may not be necessary)",
    statement="Laplace noise of scale 2 max(|Q|, 1) / epsilon makes the histogram (epsilon, "
    "P)-Blowfish private if Q is sparse w.r.t. G.",
    read_as="The exact loss of that noise, by the certifier.",
    parts=tuple(
        Part(
            name="exact privacy loss at epsilon = 1",
            family=SPARSE,
            claimed=_sparse_only,
            measure=Loss(reading, CALIBRATION),
            relation="<=",
            reading=reading,
            answers="any",
        )
        for reading in ("published", "secret-moves")
    ),
    repaired="Scale 2 (|Q| + 1) / epsilon, if every changed record makes a secret move.",
    explanation="The scale is that of Corollary 8.3, which one record more can break: with one "
    "range known on a line the noise has scale 2 / epsilon, the histograms of two neighbours "
    "differ by 4, and the loss is 2 epsilon.",
)


CLAIMS = (with_kernel(COROLLARY_8_3), COROLLARY_8_3_CALIBRATION)
