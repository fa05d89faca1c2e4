"""pufferfish-2012: the statements about Pufferfish's own semantics, which are listed for now."""

from __future__ import annotations

from blowproof.verifier.claims.stating.claim import Claim

__all__ = ["CLAIMS"]

SEMANTICS = "planned: it is about attackers' odds over sets of distributions, not about neighbours."


def _planned(name: str, source: str, statement: str, why: str = SEMANTICS) -> Claim:
    return Claim(id=f"pufferfish-2012/{name}", source=source, statement=statement, why_not=why)


CLAIMS = (
    _planned(
        "theorem-3.1",
        "Section 3.2, Theorem 3.1",
        "With all distributions over databases, Pufferfish is: any two databases give every output "
        "with probabilities within exp(epsilon).",
    ),
    _planned(
        "theorem-5.1",
        "Section 5, Theorem 5.1",
        "Pufferfish satisfies transformation invariance and convexity (Axioms 5.1 and 5.2).",
    ),
    _planned(
        "theorem-6.1",
        "Section 6, Theorem 6.1",
        "Differential privacy is Pufferfish with records that are independent of each other.",
    ),
    _planned(
        "theorem-6.2",
        "Section 6, Theorem 6.2",
        "With any distribution in which records are not independent, it is not.",
    ),
    _planned(
        "lemma-7.1",
        "Section 7, Lemma 7.1",
        "A sum with noise of density epsilon / (8 k) exp(-epsilon |x| / (4 k)) protects incomes to "
        "within k.",
    ),
    _planned(
        "theorem-7.1",
        "Section 7, Theorem 7.1",
        "Modified ZLW privacy is an instance of Pufferfish.",
    ),
    _planned(
        "theorem-8.1",
        "Section 8, Theorem 8.1",
        "A distribution is a universally composable evolution scenario iff each secret of a pair "
        "determines the database under it.",
    ),
    _planned(
        "theorem-9.1",
        "Section 9.2, Theorem 9.1",
        "Pufferfish with a deterministic constraint Q implies induced neighbours privacy for Q.",
    ),
    _planned(
        "equation-18",
        "Section 9.2, Equation 18",
        "In the exam queue Pufferfish needs any two possible databases to give every output with "
        "probabilities within exp(epsilon).",
    ),
    _planned(
        "theorem-9.2",
        "Section 9.3, Theorem 9.2",
        "For univariate histograms induced neighbours privacy is enough for Pufferfish.",
    ),
    _planned(
        "section-9.3-composition",
        "Section 9.3, after Theorem 9.2",
        "For univariate histograms Pufferfish composes with itself linearly.",
    ),
)
