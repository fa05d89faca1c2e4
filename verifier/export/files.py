"""The engines' models as files: DIMACS and QDIMACS (labelled records), LP and MPS (histograms).

A model asks: are there two databases in I_Q with a secret change (in readings 3 and 4: any)
between them, and, where asked for, with ||f(D1) - f(D2)||_1 at least N? That is the master model of
the engines "sat" and "ilp" before their first cut. **Minimality is not in it**: that no D3 refutes
the pair is a statement about all databases, and one file of this kind asks for one to exist. So
without a solution no neighbours change f (by N), and a solution is a pair of databases that may or
may not be minimal: the most that f changes over all solutions bounds S(f, P) from above.

Two ways lead from there to S itself. A *minimal* model has the engine's cuts as well, those that a
search for more than S has made until nothing was left: each rules out pairs that some D3 refutes,
and no neighbour pair, so the most that f changes over the solutions is S. And QDIMACS has a
quantifier for all D3: there the definition stands as it is (`quantified`).
"""

from __future__ import annotations

from blowproof.models import BoundQuery, Exact, Policy, QueryError, parse_query, setting
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.export.asked import FORMATS, Asked, Encoded, Format
from blowproof.verifier.export.formulas import formula
from blowproof.verifier.export.programs import program
from blowproof.verifier.export.quantified import quantified

__all__ = ["FORMATS", "Encoded", "Format", "encode"]

WRITERS = {"dimacs": formula, "lp": program, "mps": program, "qdimacs": quantified}


def encode(  # noqa: PLR0913 # keyword-only options
    policy: Policy,
    query: BoundQuery | str = "histogram",
    *,
    format: Format,  # the contract's name for it
    reading: Reading = "published",
    answers: Answers | None = None,
    at_least: Exact | None = None,
    records: int | None = None,
    minimal: bool = False,
    time_limit: float | None = None,
) -> Encoded:
    """Return "is there a pair of databases, and one that changes f by `at_least`?" as a model.

    `records`, where the policy does not say: exactly n for DIMACS; for LP and MPS the most that D1
    holds (scope "given") or that change (scope "any"). `minimal`: with the cuts that leave S, or
    those that are found within the time limit.
    """
    prepared = prepare(setting(policy, answers), reading)
    bound = parse_query(query, policy) if isinstance(query, str) else query
    if at_least is not None and at_least < 0:
        raise QueryError("a change is 0 or more\n  try: a positive --at-least")
    asked = Asked(
        prepared, bound, reading, at_least, records, format, minimal=minimal, seconds=time_limit
    )
    return WRITERS[format](asked)
