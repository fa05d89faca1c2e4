"""What does each strategy of the plan gain? The plan as it is, and without each in turn.

python benchmarks/ablation.py [--sample drawn|small|middle|realistic] [--policies 3000] [--seed 1]
                              [--limit 6] [--minutes 30] [--always brute] [--spoke]
                              [--only NAME ...] [--keep FOLDER] [--share K/N]

`drawn`: the policies of the tests, a drawn query and reading of each; `small`, `middle`: those of
`plan.py`; `realistic`: the questions of `realistic.py`. A question is asked again only without the
strategies that did something on it: what was not begun changes nothing, since the plan's order does
not depend on the time. Time is counted work (models/base/clock), so that the table is the same on a
busy machine. `--spoke`: only without those that moved an end of the bounds, which asks far less: an
answer can be no worse without others, and the column of the work then says little.
`--always brute`: else the smallest policies are all listed at once. `--only NAME`: only without
these, one at a time.

Prints, for each strategy, on how many questions it ran; without it: how many exact answers are lost
(and how many there are only then), how many lower and upper bounds are worse, by how much they are
wider in all, and how many seconds of work more it takes. `--keep` writes, for each strategy, the
quickest question that is not answered as well without it: a test for it can begin from that.
`--share K/N`: each N-th question from the K-th on, so that N processes share them; rows add up.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "shared"))

from plan import SHAPES, drawn
from realistic import questions
from realistic_made import make

from blowproof.models import READINGS, BlowproofError, Policy, Reading
from blowproof.models.base.clock import Budget
from blowproof.models.files.reading import read_policy
from blowproof.models.files.writing import to_toml
from blowproof.verifier import plan
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.portfolio.registry import ENGINES, LAST, THEOREMS
from strategies import policies, query_texts

ASK = plan.Run._run
"""What runs a strategy; the names of those that ran are kept in `ran`."""

ran: set[str] = set()


def watched(run: plan.Run, step: plan.Step, *rest: object) -> object:
    """Run a strategy, and remember its name."""
    ran.add(step.strategy.name)
    return ASK(run, step, *rest)  # type: ignore[arg-type]


KEEP = plan.Run._keep
"""What writes on the board; the names of those that moved an end there are kept in `spoke`."""

spoke: set[str] = set()


def heard(run: plan.Run, step: plan.Step, *rest: object) -> None:
    """Write on the board, and remember who moved an end."""
    before = run.board.ends()
    KEEP(run, step, *rest)  # type: ignore[arg-type]
    if run.board.ends() != before:
        spoke.add(step.strategy.name)


def without(*names: str) -> None:
    """Leave strategies out of the plan."""
    plan.ENGINES = tuple(item for item in ENGINES if item.name not in names)  # type: ignore[misc]
    plan.THEOREMS = tuple(item for item in THEOREMS if item.name not in names)  # type: ignore[misc]
    refused = type(LAST)(LAST.name, LAST.kind, LAST.does, LAST.run, lambda _: "left out")
    plan.LAST = refused if LAST.name in names else LAST  # type: ignore[misc]


@dataclass(frozen=True)
class Question:
    """One question of a sample."""

    policy: Policy
    query: str
    reading: Reading


@dataclass
class Row:
    """What the plan is without one strategy, compared with the whole."""

    ran: int = 0
    lost: int = 0
    gained: int = 0
    lower: int = 0
    upper: int = 0
    wider: Fraction = field(default_factory=Fraction)
    work: float = 0.0
    needed: tuple[tuple[bool, float], Question, str] | None = None

    def keep(self, question: Question, whole: Answer, work: float, part: Answer | None) -> None:
        """Keep the quickest question that is worse, one that loses an exact answer before all."""
        exact = whole.status != "bounds"
        same = part is not None and (part.lower, part.upper) == (whole.lower, whole.upper)
        rank = (not exact, work)
        if same or (self.needed is not None and rank >= self.needed[0]):
            return
        told = "nothing" if part is None else f"{part.lower}..{part.upper}"
        self.needed = rank, question, f"{whole.lower}..{whole.upper} in {work:.2f} s, then {told}"

    def compare(self, whole: Answer, whole_work: float, part: Answer | None, work: float) -> None:
        """Count one question."""
        self.ran += 1
        self.work += work - whole_work
        exact = whole.status != "bounds"
        if part is None:
            self.lost += exact
            self.lower += 1
            self.upper += 1
            return
        self.lost += exact and part.status == "bounds"
        self.gained += not exact and part.status != "bounds"
        self.lower += part.lower < whole.lower
        self.upper += whole.upper is not None and (part.upper is None or part.upper > whole.upper)
        if part.upper is not None and whole.upper is not None:
            self.wider += Fraction((part.upper - part.lower) - (whole.upper - whole.lower))


def asked(question: Question, limit: float) -> tuple[Answer | None, float]:
    """Ask one question, with a limit in work alone; return the answer and the work."""
    with Budget() as budget:
        try:
            found = sensitivity(
                question.policy, question.query, reading=question.reading, time_limit=limit
            )
        except BlowproofError:
            found = None
    return found, budget.used


def from_tests(count: int, number: int) -> Iterator[Question]:
    """Yield the policies of the tests."""
    found: list[Question] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        policy = data.draw(policies(max_values=8, max_records=6))
        query = data.draw(st.sampled_from(["histogram", *query_texts(policy)]))
        found.append(Question(policy, query, data.draw(st.sampled_from(READINGS))))

    run()
    yield from found


def drawn_questions(sample: str, count: int, number: int) -> Iterator[Question]:
    """Yield so many questions of a random sample, by its seed."""
    if sample == "drawn":
        yield from from_tests(count, number)
        return
    rng = random.Random(number)
    for _ in range(count):
        yield Question(drawn(rng, sample), "histogram", "published")


def from_offices(number: int) -> Iterator[Question]:
    """Yield the realistic questions, in a random order by its seed: a part of them is a sample."""
    found = [
        (path, question)
        for path in make(Path(tempfile.gettempdir()) / "blowproof-realistic")
        for question in questions(path)
    ]
    random.Random(number).shuffle(found)
    for path, question in found:
        yield Question(read_policy(path), question.query, question.reading)  # type: ignore[arg-type]


def sample(options: argparse.Namespace) -> Iterator[Question]:
    """Yield the questions of a sample."""
    if options.sample == "realistic":
        yield from from_offices(options.seed)
    else:
        yield from drawn_questions(options.sample, options.policies, options.seed)


def rounded(width: Fraction) -> str:
    """Return a width in few digits, however long it is."""
    digits = len(str(abs(int(width))))
    return f"{float(width):g}" if digits < 9 else f"{'-' if width < 0 else ''}10^{digits - 1}"


def write(path: Path, row: Row) -> None:
    """Write the question that was kept for a strategy."""
    if row.needed is not None:
        _, question, told = row.needed
        asked_for = f"# --query '{question.query}' --reading {question.reading}: {told}\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(asked_for + to_toml(question.policy))


def wanted() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", choices=["drawn", "realistic", *SHAPES], default="drawn")
    parser.add_argument("--policies", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=6)
    parser.add_argument("--always", action="append", default=[], help="leave out in any case")
    parser.add_argument("--spoke", action="store_true", help="leave out what moved an end only")
    parser.add_argument("--only", action="append", help="only without this one, of all that ran")
    parser.add_argument("--minutes", type=float, default=30, help="begin no question after that")
    parser.add_argument("--share", default="1/1", help="only each N-th question, from the K-th on")
    parser.add_argument("--keep", type=Path, help="folder for a question that needs each strategy")
    return parser.parse_args()


def main() -> None:
    """Ask, and print a table."""
    options = wanted()
    plan.Run._run = watched  # type: ignore[method-assign, assignment]
    plan.Run._keep = heard  # type: ignore[method-assign, assignment]
    names = [item.name for item in (*THEOREMS, *ENGINES, LAST)]
    rows = {name: Row() for name in names}
    count = exact = open_ = refused = 0
    total, end = 0.0, time.monotonic() + 60 * options.minutes
    first, every = map(int, options.share.split("/"))
    for question in islice(sample(options), first - 1, None, every):
        if time.monotonic() > end:
            break
        without(*options.always)
        ran.clear()
        spoke.clear()
        whole, work = asked(question, options.limit)
        count += 1
        if whole is None:
            refused += 1
            continue
        exact += whole.status != "bounds"
        open_ += whole.status == "bounds"
        total += work
        for name in sorted((spoke if options.spoke else ran) & set(options.only or rows)):
            without(name, *options.always)
            part, spent = asked(question, options.limit)
            rows[name].compare(whole, work, part, spent)
            rows[name].keep(question, whole, work, part)
            if options.keep:
                write(options.keep / f"{name.replace(' ', '_')}.toml", rows[name])
        if count % 50 == 0:
            print(f"  {count} questions", file=sys.stderr, flush=True)
    left_out = f", without {', '.join(options.always)}" if options.always else ""
    print(
        f"{count} questions, sample {options.sample}, seed {options.seed}, limit "
        f"{options.limit:g} s of work{left_out}: {exact} exact, {open_} bounds, "
        f"{refused} refused, {total:.1f} s of work\n"
    )
    print("| without | ran | exact lost | gained | lower worse | upper worse | wider | work |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, row in rows.items():
        print(
            f"| {name} | {row.ran} | {row.lost} | {row.gained} | {row.lower} | {row.upper} "
            f"| {rounded(row.wider)} | {row.work:+.1f} |"
        )


if __name__ == "__main__":
    main()
