"""Is this version ever looser or slower than another? The same questions asked of both.

python benchmarks/versions.py --other OTHER_PYTHON [--policies 3000] [--seed 1] [--limit 2]
                              [--minutes 60] [--sample drawn|small|middle]

OTHER_PYTHON: the interpreter of an environment with another version installed, for example that of
a worktree of an older commit. Questions travel as policy files and answers as the JSON of
`blowproof sensitivity`, which all versions share; each version is one process, so that imports and
compiled code cost nothing. A question is asked of the one, then at once of the other, and seconds
are of processor time. What ends exactly in neither version within the limit is compared by its
bounds. Prints every answer that is looser than the other version's, every contradiction, and what
takes more than three times as long and more than half a second more; exits 1 where there is a
contradiction.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from ablation import Question, drawn_questions
from plan import SHAPES

from blowproof.models.files.writing import to_toml

ASK = """
import contextlib, io, json, sys, time
from blowproof.cli.main import run
for line in sys.stdin:
    out, err, begun = io.StringIO(), io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(json.loads(line))
    spent = time.process_time() - begun
    print(json.dumps([code, out.getvalue(), spent]), file=sys.__stdout__, flush=True)
"""
SLOWER = 3
"""Times as long, at the most."""
AT_LEAST = 0.5
"""Seconds that a question must take longer to be called slower."""


class Version:
    """A process that answers questions with the version of one interpreter."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, "-c", ASK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, path: Path, question: Question, limit: float) -> Said | None:
        """Return what the version says; None where it refuses."""
        assert self._process.stdin is not None and self._process.stdout is not None
        command = ["sensitivity", str(path), "--query", question.query, "--json"]
        command += ["--reading", question.reading, "--time-limit", f"{limit:g}"]
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        code, text, seconds = json.loads(self._process.stdout.readline())
        if code not in (0, 3):
            return None
        found: dict[str, Any] = json.loads(text)
        upper = None if found["upper"] is None else Fraction(str(found["upper"]))
        return Said(Fraction(str(found["lower"])), upper, seconds)


@dataclass(frozen=True)
class Said:
    """Bounds, and the seconds of processor time that they took."""

    lower: Fraction
    upper: Fraction | None
    seconds: float

    @property
    def width(self) -> Fraction | None:
        """How far the bounds are apart (None: no upper bound)."""
        return None if self.upper is None else self.upper - self.lower

    def __str__(self) -> str:
        return f"{self.lower}..{'' if self.upper is None else self.upper} ({self.seconds:.2f} s)"


@dataclass
class Tally:
    """What came of it, question by question."""

    asked: int = 0
    exact: int = 0
    other_exact: int = 0
    refused: int = 0
    seconds: float = 0.0
    other_seconds: float = 0.0
    lines: dict[str, list[str]] = field(
        default_factory=lambda: {"contradicts": [], "looser": [], "tighter": [], "slower": []}
    )

    def count(self, question: Question, this: Said | None, other: Said | None) -> None:
        """Count one question."""
        self.asked += 1
        if this is None or other is None:
            self.refused += 1
            if other is not None:
                self._keep("looser", question, this, other)
            return
        self.exact += this.width == 0
        self.other_exact += other.width == 0
        self.seconds += this.seconds
        self.other_seconds += other.seconds
        if _below(this.upper, other.lower) or _below(other.upper, this.lower):
            self._keep("contradicts", question, this, other)
        if this.lower < other.lower or _below(other.upper, this.upper):
            self._keep("looser", question, this, other)
        elif (this.lower, this.upper) != (other.lower, other.upper):
            self._keep("tighter", question, this, other)
        more = this.seconds - other.seconds
        ended = this.width == 0 or other.width == 0  # else both took what they were given
        if ended and more > AT_LEAST and this.seconds > SLOWER * other.seconds:
            self._keep("slower", question, this, other)

    def _keep(self, what: str, question: Question, this: Said | None, other: Said | None) -> None:
        asked = f"{question.query}, {question.reading}"
        told = f"{this or 'refused'}, was {other or 'refused'}: {asked}"
        self.lines[what].append(f"{told}\n{to_toml(question.policy)}")


def _below(one: Fraction | None, other: Fraction | None) -> bool:
    """Whether the one is less than the other; None is without end."""
    return one is not None and (other is None or one < other)


def sample(options: argparse.Namespace) -> Iterator[Question]:
    """Yield the questions; reading 5 is younger than some versions."""
    for question in drawn_questions(options.sample, options.policies, options.seed):
        if question.reading != "pufferfish":
            yield question


def main() -> None:
    """Ask, and print what is worse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--other", required=True, help="the other version's interpreter")
    parser.add_argument("--sample", choices=["drawn", *SHAPES], default="drawn")
    parser.add_argument("--policies", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=2)
    parser.add_argument("--minutes", type=float, default=60, help="begin no question after that")
    options = parser.parse_args()
    this, other, tally = Version(sys.executable), Version(options.other), Tally()
    end = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.toml"
        for question in sample(options):
            if time.monotonic() > end:
                break
            path.write_text(to_toml(question.policy))
            said = this.ask(path, question, options.limit)
            tally.count(question, said, other.ask(path, question, options.limit))
            if tally.asked % 100 == 0:
                print(f"  {tally.asked} questions", file=sys.stderr, flush=True)
    print(
        f"{tally.asked} questions ({tally.refused} refused by one): exact {tally.exact}, was "
        f"{tally.other_exact}; {tally.seconds:.0f} s, was {tally.other_seconds:.0f} s"
    )
    print(", ".join(f"{what} {len(lines)}" for what, lines in tally.lines.items()), end="\n\n")
    for what in ("contradicts", "looser", "slower"):
        for line in tally.lines[what]:
            print(f"{what}: {line}")
    sys.exit(bool(tally.lines["contradicts"]))


if __name__ == "__main__":
    main()
