"""blowfish-2014: numbered statements that assert nothing by themselves, listed all the same."""

from __future__ import annotations

from blowproof.verifier.claims.stating.claim import Claim

__all__ = ["CLAIMS"]

DEFINITION = "a definition: it asserts nothing"

_ROWS = (
    (
        "definition-2.1",
        "Section 2",
        "Differential privacy: neighbours differ in one record.",
        DEFINITION,
    ),
    (
        "definition-2.2",
        "Section 2",
        "Global sensitivity is the largest change of f between neighbours.",
        DEFINITION,
    ),
    (
        "definition-2.3",
        "Section 2",
        "The Laplace mechanism adds noise of scale S(f) / epsilon.",
        f"{DEFINITION} (see theorem-5.1)",
    ),
    (
        "definition-2.4",
        "Section 2",
        "The error of a mechanism is the sum of its mean squared errors.",
        f"{DEFINITION} (see section-2-laplace-error)",
    ),
    (
        "equation-1",
        "Section 2, Definition 2.1",
        "Pr[M(D1) in S] <= exp(epsilon) Pr[M(D2) in S].",
        DEFINITION,
    ),
    (
        "equation-2",
        "Section 2, Definition 2.2",
        "S(f) = max |f(D1) - f(D2)|_1 over neighbours.",
        DEFINITION,
    ),
    (
        "equation-3",
        "Section 2, Definition 2.4",
        "E_M(D) = sum_i E (f_i - noisy f_i)^2.",
        DEFINITION,
    ),
    ("definition-3.1", "Section 3.3", "A policy is a triple (T, G, I_Q).", DEFINITION),
    (
        "definition-4.2",
        "Section 4",
        "(epsilon, P)-Blowfish privacy: as differential privacy, over N(P).",
        DEFINITION,
    ),
    (
        "equation-8",
        "Section 4, Definition 4.2",
        "Pr[M(D1) in S] <= exp(epsilon) Pr[M(D2) in S] over N(P).",
        DEFINITION,
    ),
    ("definition-5.1", "Section 5", "S(f, P) = max |f(D1) - f(D2)|_1 over N(P).", DEFINITION),
    (
        "definition-6.1",
        "Section 6",
        "k-means clustering minimises the squared distances to the means.",
        DEFINITION,
    ),
    (
        "equation-10",
        "Section 6, Definition 6.1",
        "The objective: sum of |t_j - mu_i|^2 over the clusters.",
        DEFINITION,
    ),
    (
        "definition-7.1",
        "Section 7",
        "The cumulative histogram s_i counts the records up to x_i.",
        f"{DEFINITION} (see section-7-global)",
    ),
    ("equation-11", "Section 7, Definition 7.1", "s_i = c(x_1) + ... + c(x_i).", DEFINITION),
    (
        "definition-7.2",
        "Section 7.1",
        "A range query counts the records in [x_i, x_j].",
        f"{DEFINITION} (see theorem-7.1)",
    ),
    (
        "equation-16",
        "Section 8.1",
        "A count constraint is a conjunction of counts with their answers.",
        f"{DEFINITION} (see section-8.1-answers)",
    ),
    (
        "definition-8.3",
        "Section 8.1.1",
        "The policy graph, alpha and xi.",
        f"{DEFINITION} (see example-8.2, theorem-8.2)",
    ),
    (
        "definition-8.4",
        "Section 8.2.1",
        "A marginal is the group-by count over some attributes.",
        f"{DEFINITION} (see theorem-8.4)",
    ),
    (
        "equation-18",
        "Appendix B",
        "M1 is (epsilon_1, P)-private.",
        "an assumption of the proof of theorem-4.1",
    ),
    (
        "equation-20",
        "Appendix B",
        "The probabilities of M1 and M2 multiply, and so do the factors.",
        "the proof of theorem-4.1, which has a row",
    ),
    (
        "equation-21",
        "Appendix C",
        "The parts' probabilities multiply, and one factor differs from 1.",
        "the proof of theorem-4.2, which has a row",
    ),
)

CLAIMS = tuple(
    Claim(
        id=f"blowfish-2014/{name}",
        source=source,
        quote=name.replace("-", " "),
        statement=statement,
        read_as="As what it introduces or assumes; it asserts nothing of its own.",
        why_not=why_not,
    )
    for name, source, statement, why_not in _ROWS
)
