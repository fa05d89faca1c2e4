"""The words of a report: readings, how sure an answer is, and what every term means."""

from __future__ import annotations

__all__ = ["FINAL", "NORMS", "READINGS", "RELATIONS", "RESTS", "STATUS", "TERMS"]

NORMS = {
    "l2-squared": " (squares added up)",
    "linf": " (the largest change)",
    "range": " (the largest change less the smallest)",
}

READINGS = {
    "published": "the definition as published, with the one repair it needs",
    "secret-moves": "every changed record makes a secret move, and no fewer changes are possible",
    "add-remove": "records are added and removed, and no fewer changes are possible",
    "markov": "tables that differ in at most four cells, each by one",
    "pufferfish": "what an attacker who believes in independent records can be left with",
}
STATUS = {
    "proved": "proved: an independent checker accepted a certificate in this run",
    "exact": "exact: the search ended, and the pair below was checked",
    "bounds": "open: the search was stopped, and the noise is set from the upper bound",
}
FINAL = "open: more time will not help, and the noise is set from the upper bound"

RELATIONS = {"<=": "at most", ">=": "at least", "=": ""}
TERMS = [
    ("policy", "what is secret about a record, and what everybody knows about the data"),
    ("neighbours", "two possible databases that nobody may tell apart: they differ in a secret, "
                   "and by as few changes as the known facts allow"),
    ("S", "the sensitivity: how far the released numbers can differ between neighbours, all "
          "changes added up (unless another way of counting is named)"),
    ("epsilon", "what is promised: no release is more than e^epsilon times as likely under one "
                "neighbour as under the other. Laplace noise of scale S / epsilon keeps that"),
    ("rho", "what is promised with Gaussian noise: variance S / (2 rho), S in squares"),
    ("Laplace noise", "a random number, off by its scale on average; drawn in whole steps, "
                      "without rounding"),
    ("plain differential privacy", "the same with nothing known: one record changes alone"),
    ("secret move", "a change of one record between two values that nobody may tell apart"),
    ("plain move", "any other change of one record"),
    ("reading", "one way to define neighbours; the one that decides is marked"),
    *READINGS.items(),
    ("proved, exact, open", "a certificate was checked; the search ended; S is known in bounds"),
    ("certificate", "a proof that S is no larger, which a small program replays"),
    ("sparse, alpha, xi", "one secret move changes at most one count up and one down; the longest "
                          "cycle and the longest path of moves that such facts force"),
    ("RMSE", "the root of the mean squared error of a released number"),
    ("odds", "how much likelier one secret is than another; a release moves them"),
]  # fmt: skip

RESTS = (
    "What “proved” rests on: on the policy as it is written, for no program can tell whether it "
    "names all that is secret and all that is known; on the code of the checker, verifier/kernel, "
    "some 7,000 lines that import nothing but Python's standard library and share nothing with the "
    "solvers; on the Python that runs it; on the comparison of SHA-256 digests, by which policy, "
    "query, files and data are those of the certificate (what was not compared is believed of the "
    "certificate, and blowproof check says so on its first line); and where noise is drawn, on a "
    "source that nobody can predict, the operating system's."
)
"""The same words as in the README."""
