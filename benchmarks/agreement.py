"""Do the independent routes agree? A seeded run over generated policies.

python benchmarks/agreement.py [--policies 3000] [--seed 1] [--limit 10] [--norms l1 linf ...]
python benchmarks/agreement.py --beside [--policies 1000] [--values 12] [--records 6]

Every policy is asked its S(f, P) for a drawn query (or two, with weights) in a drawn norm, in one
reading after the other, by brute force, SAT, ILP, the search over irreducible multisets and
Normaliz's Hilbert bases, where these apply; under "given" the complete neighbour sets are compared
too. Prints a table with a column for each engine (exact answers) and, where the search is exact,
how often SAT or ILP say the same; then every disagreement. Exits 1 if there is one. Limits are of
counted work, so that a busy machine says the same.

`--beside`: instead, is an engine alone ever exact where `auto` is not, or three times as fast?
Seconds are those of the processor. What `auto` answers within FLOOR is quick, and no engine is
asked about it; what it does not is asked of `auto` again, which is warm then, and of every engine.
Exits 1 if one is better.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "shared"))

from blowproof.models import READINGS, BlowproofError, Policy, Reading
from blowproof.models.base.clock import Budget
from blowproof.models.norms import NORMS
from blowproof.verifier.ask import Engine, neighbours, sensitivity
from blowproof.verifier.asked.answer import Answer
from strategies import policies, question_texts

ENGINES: tuple[Engine, ...] = ("brute", "ilp", "sat", "search", "hilbert", "auto")


SOLVERS: tuple[Engine, ...] = ("sat", "ilp")

FLOOR = 0.5
"""Seconds of processor time that nobody waits for."""
TIMES = 3
"""How many times the time of the best engine `auto` may take."""


class Tally:
    """What was asked, what came out exact, what disagreed."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.policies = self.questions = self.sets = self.pairs = 0
        self.asked: Counter[str] = Counter()
        self.exact: Counter[tuple[str, str]] = Counter()
        self.same: Counter[tuple[str, str]] = Counter()
        self.uncovered: list[str] = []
        self.disagreements: list[str] = []

    def policy(self, policy: Policy, query: str, norm: str) -> None:
        """Ask everything about one policy."""
        self.policies += 1
        for reading in READINGS:
            self.question(policy, query, norm, reading)
            if policy.scope == "given" and policy.domain.size <= 4:
                self.neighbours(policy, reading)
        if self.policies % 50 == 0:
            print(f"  {self.policies} policies, {self.questions} questions", file=sys.stderr)

    def question(self, policy: Policy, query: str, norm: str, reading: Reading) -> None:
        """Compare the engines on one question."""
        self.questions += 1
        self.asked[norm] += 1
        found: dict[Engine, Answer] = {}
        for engine in ENGINES:
            answer = self.ask(policy, query, norm, reading, engine)
            if answer is not None:
                found[engine] = answer
                self.exact[norm, engine] += answer.status == "exact"
        self.solvers(found, norm, f"{reading}, {query}, {norm}: {policy!r}")
        lower = max((answer.lower for answer in found.values()), default=0)
        uppers = [answer.upper for answer in found.values() if answer.upper is not None]
        if uppers and min(uppers) < lower:
            told = {engine: (str(a.lower), str(a.upper)) for engine, a in found.items()}
            self.disagreements.append(f"{reading}, {query}, {norm}: {told}\n    {policy!r}")

    def solvers(self, found: dict[Engine, Answer], norm: str, asked: str) -> None:
        """Count where SAT, or ILP, or one of them, says what the search says."""
        searched = found.get("search")
        if searched is None or searched.status != "exact":
            return
        said = [
            engine
            for engine in SOLVERS
            if engine in found and found[engine].lower == found[engine].upper == searched.lower
        ]
        self.same[norm, "search"] += 1
        self.same.update((norm, engine) for engine in said)
        self.same[norm, "one of them"] += bool(said)
        if not said:
            told = {engine: f"{one.lower}..{one.upper}" for engine, one in found.items()}
            self.uncovered.append(f"{told} {asked}")

    def table(self) -> str:
        """Return a Markdown table: a column for each engine, then what SAT and ILP say."""
        columns = [*ENGINES, "search exact", "SAT the same", "ILP the same", "one of them"]
        lines = [f"| norm | asked | {' | '.join(columns)} |", f"|{' --- |' * (len(columns) + 2)}"]
        for norm, asked in self.asked.items():
            cells = [self.exact[norm, engine] for engine in ENGINES]
            cells += [self.same[norm, key] for key in ("search", *SOLVERS, "one of them")]
            lines.append(f"| {norm} | {asked} | {' | '.join(map(str, cells))} |")
        return "\n".join(lines)

    def ask(
        self, policy: Policy, query: str, norm: str, reading: Reading, engine: Engine
    ) -> Answer | None:
        """Return an engine's answer, or None where it does not apply."""
        try:
            with Budget():
                return sensitivity(
                    policy,
                    query,
                    norm=norm,
                    reading=reading,
                    engine=engine,
                    time_limit=self.limit,
                    max_size=2 if policy.domain.size > 4 else 3,
                )
        except BlowproofError:
            return None

    def neighbours(self, policy: Policy, reading: Reading) -> None:
        """Compare complete neighbour sets."""
        try:
            listed = set(neighbours(policy, reading=reading, engine="brute"))
            found = set(neighbours(policy, reading=reading))
        except BlowproofError:
            return
        self.sets += 1
        self.pairs += len(listed)
        if listed != found:
            self.disagreements.append(f"{reading}: neighbour sets differ\n    {policy!r}")


@dataclass
class Beside:
    """`auto` beside its engines, each asked alone where that could be better."""

    limit: float
    policies: int = 0
    exact: int = 0
    quick: int = 0
    seconds: float = 0
    better: list[str] = field(default_factory=list)

    def policy(self, policy: Policy, query: str, norm: str) -> None:
        """Ask one policy in all readings."""
        self.policies += 1
        for reading in READINGS:
            done, took = self.ask(policy, query, norm, reading, "auto")
            self.exact += done
            self.quick += done and took <= FLOOR
            self.seconds += took
            if not done or took > FLOOR:
                self.engines(policy, query, norm, reading)

    def engines(self, policy: Policy, query: str, norm: str, reading: Reading) -> None:
        """Keep which engines are better than `auto`, which is warm by now."""
        done, took = self.ask(policy, query, norm, reading, "auto")
        for engine in ENGINES[:-1]:
            if done and took <= FLOOR:
                return
            alone, seconds = self.ask(policy, query, norm, reading, engine)
            if alone and (not done or took > max(FLOOR, TIMES * seconds)):
                auto = f"auto {took:.2f} s{'' if done else ', not exact'}"
                asked = f"{reading}, {query}, {norm}: {policy!r}"
                self.better.append(f"{engine} {seconds:.2f} s, {auto}: {asked}")
                print(f"  {self.better[-1]}", file=sys.stderr)

    def ask(
        self, policy: Policy, query: str, norm: str, reading: Reading, engine: Engine
    ) -> tuple[bool, float]:
        """Return whether the answer is exact, and the seconds it took on a policy of its own."""
        began = time.process_time()
        try:
            with Budget():
                found = sensitivity(
                    replace(policy),
                    query,
                    norm=norm,
                    reading=reading,
                    engine=engine,
                    time_limit=self.limit,
                )
        except BlowproofError:
            # a query that a reading does not know is refused by everybody
            return engine == "auto", time.process_time() - began
        return found.status == "exact", time.process_time() - began


def drawn(options: argparse.Namespace, ask: Callable[[Policy, str, str], None]) -> None:
    """Draw policies, and ask each of them, until the minutes have passed."""
    end = time.monotonic() + 60 * options.minutes

    @seed(options.seed)
    @settings(
        max_examples=options.policies,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        policy = data.draw(policies(max_values=options.values, max_records=options.records))
        norm = data.draw(st.sampled_from(options.norms))
        query = data.draw(question_texts(policy))
        if time.monotonic() < end:
            ask(policy, query, norm)

    run()


def agreement(options: argparse.Namespace) -> int:
    """Compare the engines; return how often they disagree."""
    tally = Tally(options.limit)
    drawn(options, tally.policy)
    print(f"{tally.policies} policies, {tally.questions} questions, {tally.sets} neighbour sets")
    print(f"with {tally.pairs} pairs; exact answers:\n\n{tally.table()}\n")
    for text in tally.uncovered:
        print(f"  neither SAT nor ILP: {text}")
    for text in tally.disagreements:
        print(f"  {text}")
    print(f"{len(tally.disagreements)} disagreements")
    return len(tally.disagreements)


def beside(options: argparse.Namespace) -> int:
    """Ask the engines alone; return how often one is better than `auto`."""
    found = Beside(options.limit)
    drawn(options, found.policy)
    print(f"{found.policies} policies in {len(READINGS)} readings: {found.exact} answers of auto")
    print(f"are exact, {found.quick} of them within {FLOOR} s; {found.seconds:.0f} s together")
    for text in found.better:
        print(f"  {text}")
    print(f"{len(found.better)} questions on which an engine alone is better than auto")
    return len(found.better)


def main() -> None:
    """Run and print the tally."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policies", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=5)
    parser.add_argument("--minutes", type=float, default=600, help="begin no policy after that")
    parser.add_argument("--norms", nargs="+", default=list(NORMS), choices=list(NORMS))
    parser.add_argument("--beside", action="store_true", help="is an engine alone ever better?")
    parser.add_argument("--values", type=int, default=5, help="the largest domain")
    parser.add_argument("--records", type=int, default=3, help="the largest n")
    options = parser.parse_args()
    sys.exit(bool(beside(options) if options.beside else agreement(options)))


if __name__ == "__main__":
    main()
