"""Questions that a theorem decides from above and the kernel accepts, by the kind of certificate.

The table of theorems on the site is made from these (`our_theorems`), and `test_docs` asks each of
them: what stands in the table was seen.
"""

from typing import NamedTuple

from blowproof.models import Policy, Reading
from blowproof.models.files.reading import parse_policy
from corpus import CORPUS

__all__ = ["SEEN", "Seen"]

LINE = "[domain]\na = { min = 0, max = 5 }\n"
TWO = '[domain]\na = ["1", "2"]\nb = ["1", "2", "3"]\n'
OTHERS = '[secrets]\nkind = "partition"\nby = ["b"]\n'
GROUPS = '[secrets]\nkind = "partition"\nby = ["a"]\n'
NEAR = '[secrets]\nkind = "distance"\nmetric = "l1"\nthreshold = 1\n'
A, B = ('[[known]]\nmarginal = ["a"]\n', '[[known]]\nmarginal = ["b"]\n')
ONE, FEW = '[[known]]\ncount = { b = "1" }\n', "[[known]]\ncount = { a = { max = 2 } }\n"
TALLY = """
[domain]
state = { min = 1, max = 4 }
sex = ["F", "M"]
job = ["yes", "no"]
[[query]]
name = "women"
count = { sex = "F", job = "yes" }
[[known]]
marginal = ["state"]
[[known]]
count = { sex = "F" }
"""
CASES = {case.name: case for case in CORPUS}


class Seen(NamedTuple):
    """A question, the theorem that decides it from above, and the kind of its certificate."""

    theorem: str
    kind: str
    policy: Policy
    query: str = "histogram"
    reading: Reading = "published"


def _of_corpus(theorem: str, kind: str, name: str) -> Seen:
    case = CASES[name]
    return Seen(theorem, kind, case.policy, case.query, case.reading)


SEEN = (
    Seen("alone", "determined", parse_policy(LINE + GROUPS + A)),
    Seen("alone", "secret-arc", parse_policy(TWO + OTHERS + ONE), "marginal(b)"),
    Seen("alone", "single", parse_policy(LINE + GROUPS + A), "cumulative(a)", "secret-moves"),
    Seen("beside", "cells", parse_policy(TWO + A + ONE)),
    Seen("beside", "beside", parse_policy(TWO + GROUPS + ONE + A), reading="secret-moves"),
    Seen("ceiling", "cycles", parse_policy(TWO + NEAR + ONE + A), reading="secret-moves"),
    _of_corpus("ceiling", "four-cells", "two-margins-markov"),
    _of_corpus("ceiling", "limits", "exam-queue-pufferfish"),
    Seen("cycles", "cells", parse_policy(TWO + ONE), "marginal(b)"),
    Seen("cycles", "cycles", parse_policy(TWO + B)),
    Seen("cycles", "secret-arc", parse_policy(TWO + GROUPS + B), reading="pufferfish"),
    Seen("beside", "one-sided", parse_policy(TALLY), "count(women)"),
    _of_corpus("edges", "determined", "one-value"),
    _of_corpus("edges", "secret-arc", "partition-histogram"),
    _of_corpus("edges", "single", "no-facts"),
    Seen("exchanges", "exchanges", parse_policy(LINE), reading="add-remove"),
    Seen("no secrets", "determined", parse_policy(LINE + GROUPS + A), reading="pufferfish"),
    Seen("rank", "determined", parse_policy(LINE + A), "marginal(a)", "secret-moves"),
)  # fmt: skip
