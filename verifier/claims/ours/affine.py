"""Our closed forms for full secrets and few signatures, and the conjecture for more."""

from __future__ import annotations

from blowproof.verifier.claims.stating.affine_families import AFFINE, SINGLE, blocks, exactly
from blowproof.verifier.claims.stating.claim import Claim
from blowproof.verifier.claims.stating.parts import of_sensitivity

__all__ = ["CLAIMS"]

WHERE = "verifier/closed_forms/ours"

FEW = Claim(
    id="ours/affine-few",
    source="verifier/closed_forms/ours/one_dependency",
    statement="Full secrets, N classes whose signatures have affine rank r: S(histogram) has a "
    "closed form for N = r + 1 (no dependency) and N = r + 2 (one).",
    read_as="Any answers, equality counts; the value is that of the closed form of that name.",
    status="theorem",
    parts=(of_sensitivity("N = r + 1 or r + 2: the value", AFFINE, exactly),),
    proof="Without a dependency, irreducible multisets are simple cycles on the classes; with "
    "one, they are its two sides, joined at most once.",
    proof_in=f"{WHERE}/one_dependency",
)

BOUNDS = Claim(
    id="ours/affine-bounds",
    source="verifier/closed_forms/ours/more_dependencies",
    statement="For N = r + 3 (two dependencies) blocks bound S(histogram) from below and above.",
    read_as="Any answers, equality counts; the bounds are those of the closed forms of that name.",
    status="theorem",
    parts=(
        of_sensitivity("the lower bound", AFFINE, blocks("below"), ">="),
        of_sensitivity("the upper bound", AFFINE, blocks("above"), "<="),
    ),
    proof="A block of each dependency is irreducible, and whatever is irreducible is covered by "
    "blocks.",
    proof_in=f"{WHERE}/more_dependencies",
)

SINGLE_VALUES = Claim(
    id="ours/two-dependencies",
    source="verifier/theorems/lengths/two_dependencies",
    statement="Full secrets, N = r + 3 signatures of one value each: S(histogram) is what the "
    "heaviest circuit changes.",
    read_as="Any answers, equality counts; the value is that of the closed form "
    "blowproof/two-affine-dependencies.",
    status="theorem",
    parts=(of_sensitivity("N = r + 3, single values: the value", SINGLE, blocks("single")),),
    proof="Cuts of an irreducible's boundary bound a form on the plane of dependencies, which is "
    "a mean of forms of frames; so no norm of the boundary exceeds that of the heaviest frame.",
    proof_in="verifier/theorems/lengths/two_dependencies",
)

CONJECTURE = Claim(
    id="ours/affine-conjecture",
    source="verifier/closed_forms/ours/more_dependencies",
    statement="For N = r + 3, S(histogram) = max(2 B, W), B the largest block and W the longest "
    "circuit.",
    read_as="Any answers, equality counts; an equality, which no answer uses as a bound.",
    status="conjecture",
    parts=(of_sensitivity("the conjectured value", AFFINE, blocks("conjecture")),),
)

CLAIMS = (FEW, BOUNDS, SINGLE_VALUES, CONJECTURE)
