"""exact-cuboids-draft, Lemma 5.1: how much a graph can change when degrees are known."""

from __future__ import annotations

from blowproof.models import Exact
from blowproof.models.policy.readings import Reading
from blowproof.models.queries.kinds import Histogram
from blowproof.verifier.closed_forms.cuboids.known_cells import Cuboids, known_cells, worst_block
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating import counterexamples as wrong
from blowproof.verifier.closed_forms.stating.degree_policy import (
    Degrees,
    read_directed,
    read_undirected,
)
from blowproof.verifier.closed_forms.stating.form import Case, form

__all__ = ["FORMS"]

DRAFT = "exact-cuboids-draft"
READING: tuple[Reading, ...] = ("add-remove",)


def _undirected(case: Case) -> str | None:
    found = read_undirected(case)
    return found if isinstance(found, str) else None


def _directed(case: Case) -> str | None:
    found = read_directed(case)
    return found if isinstance(found, str) else None


_GRAPH = (need.query_is(Histogram), need.equality_facts, need.no_impossible, need.no_size)


@form(
    f"{DRAFT}/lemma-5.1-undirected",
    "A graph on v nodes, degrees of n nodes known: S = min(n + 1, v).",
    source=f"{DRAFT}, Lemma 5.1 (i)",
    readings=READING,
    checks=(*_GRAPH, _undirected),
    wrong=wrong.LEMMA_5_1_UNDIRECTED,
)
def lemma_5_1_undirected(case: Case) -> Exact:
    """Fails in both directions: closed walks may use a node, and an edge, twice."""
    found = read_undirected(case)
    assert isinstance(found, Degrees)
    return min(found.known + 1, found.nodes)


@form(
    f"{DRAFT}/lemma-5.1-undirected-repaired",
    "A multigraph on v nodes, n degrees known: S = 2 n - 1 if 2 <= n < v; 2 v - 4 if n = v >= 4; "
    "0 if n = v <= 3; n = 1 < v: 2, or 0 if v = 2; n = 0: 1.",
    source=f"{DRAFT}, Lemma 5.1 (i), repaired",
    readings=READING,
    checks=(*_GRAPH, _undirected),
    repaired=True,
)
def lemma_5_1_undirected_repaired(case: Case) -> Exact:
    """*Statement.* As above, for multigraphs without loops, reading add-remove, scope "any".

    *Proof.* Write + and - for added and removed edges. The degree of a known node stays iff it
    meets as many + as -; pair them up. If n = v, an irreducible change is one closed walk with
    alternating signs. If n < v, make all other nodes one node f, at which nothing is asked: an
    irreducible change is such a closed walk, or a walk from f to f with f only at its ends, for a
    part between two visits of f has no effect. No edge is used with both signs (these two uses
    would be a part), unless the change is nothing, or two parallel edges to f.

    (a) No known node is visited three times. Else, between the first and second visit the walk
    takes an odd number of steps, for after an even number the signs would close up and leave a part
    without effect; likewise between the second and third; so between the first and third the number
    is even: a part without effect.

    (b) Take a node v visited twice, with as few steps as possible in between: an odd number, and an
    odd cycle v = c_0, c_1, ..., c_m, v since nothing repeats inside; m >= 2 for there are no loops.
    Then c_1 and c_m are visited once. Let c_1 come again at the end of t more steps after the
    second v. From c_1 to c_1 the number of steps, m + t, is odd as in (a), and m is even, so t is
    odd. The step v c_1 together with those t steps, backwards, is a closed walk of 1 + t steps; its
    signs alternate, at v and at c_1 too (the t steps begin with the opposite sign of the last step
    into v, which is that of v c_1 since the cycle is odd; and end with that sign as t is odd). So
    it is a part without effect. If c_1 comes t steps before the first v instead, t is even
    likewise, and those t steps followed by the m steps from the second v back to c_1 are such a
    part. By symmetry c_m is visited once, too.

    (c) n < v, a walk from f to f: if no known node is visited twice it has at most n + 1 steps. If
    some is, two are visited once by (b): at most 2 (n - 2) + 2 visits, so 2 n - 1 steps, which is
    at least n + 1 for n >= 2. Both closed walks and this bound are met: for n = 2 by f a b f; for n
    >= 3 by a path from f through n - 2 nodes, a triangle at its last one, and the path back. A
    closed walk that avoids f is bounded by (d), which is less.

    (d) n = v: a closed walk that visits no node twice is an even cycle, of at most v edges. Else
    cut it at a node visited twice: two closed walks of odd length, each with a smallest odd cycle
    as in (b), inside of which two nodes are visited once: four in all, so at most 2 (v - 4) + 4 = 2
    v - 4 steps. Met by the square (v = 4), and by two triangles joined by a path of v - 5 edges,
    used twice. For v <= 3 there is no such walk.

    (e) n = 1: an edge to f is added and another one removed, if there are two; n = 0: one edge.
    QED.
    """
    found = read_undirected(case)
    assert isinstance(found, Degrees)
    known, others = found.known, found.nodes - found.known
    if others == 0:
        return 2 * found.nodes - 4 if found.nodes >= 4 else 0
    if known >= 2:
        return 2 * known - 1
    return 1 if known == 0 else 2 * (others > 1)


@form(
    f"{DRAFT}/lemma-5.1-directed",
    "A directed graph on v nodes, n1 in-degrees and n2 out-degrees known: "
    "S = min(2 min(n1, n2) + 1, 2 v).",
    source=f"{DRAFT}, Lemma 5.1 (ii)",
    readings=READING,
    checks=(*_GRAPH, _directed),
    wrong=wrong.LEMMA_5_1_DIRECTED,
)
def lemma_5_1_directed(case: Case) -> Exact:
    """Fails where n1 and n2 differ by much, or are next to v."""
    found = read_directed(case)
    assert isinstance(found, Degrees)
    return min(2 * min(found.known, found.known_in) + 1, 2 * found.nodes)


@form(
    f"{DRAFT}/lemma-5.1-directed-repaired",
    "A directed multigraph (loops allowed) with known in- and out-degrees: partial knowledge of "
    "two cuboids, see lemma-4.3-repaired.",
    source=f"{DRAFT}, Lemma 5.1 (ii), repaired",
    readings=READING,
    checks=(*_GRAPH, _directed),
    repaired=True,
)
def lemma_5_1_directed_repaired(case: Case) -> Exact:
    """An edge is a value (source, target); out-degrees are cells of the one-way cuboid of sources,
    in-degrees of that of targets, and no attribute is left over: the repaired Lemma 4.3 with p = n2
    and q = n1 known cells, u = v - n2 and w = v - n1 unknown ones, and M = 1. For n1, n2 < v that
    is 2 n + 1 if n1 = n2 = n, else 2 min(n1, n2) + 2 (but 1 for none, and what is said there for
    1).
    """
    found = known_cells(case)
    assert isinstance(found, Cuboids)
    return worst_block(found)


FORMS = (
    lemma_5_1_undirected,
    lemma_5_1_undirected_repaired,
    lemma_5_1_directed,
    lemma_5_1_directed_repaired,
)
