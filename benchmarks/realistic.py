"""Policies as offices write them, and the questions that they ask: how many are answered, and how.

python benchmarks/realistic.py [--limit 60] [--only NAME ...] [--jobs 1] [--folder FOLDER]

The policies are those of `benchmarks/realistic` and of `realistic_made.py`. A line of a policy's
header asks a question of it:

    #? QUERY | READING ... | = VALUE | why

The last two may be missing. `= 102` is the truth, `>= 12` and `<= 54` bound it; an answer whose
bounds exclude it is a failure (exit 1), as are two answers that contradict each other. Each
question is a run of `blowproof sensitivity --json` in a process of its own, so that memory and CPU
are its own and a crash costs one row. Rows are kept in FOLDER/rows-LIMIT.jsonl as they come: a run
that was interrupted goes on where it was (`--again` begins anew). `--table FILE` writes the page
besides. `--peers` asks brute force and Normaliz the same, for PEER_SECONDS each: what one would run
without the plan. Every exact question is asked again for its certificate (it is `proved` where
`blowproof check`, in a process of its own, accepts what was written), but with `--no-proofs`. So
are bounds: of these both are proved where a kind of proof is found without a search.

The page of the repository, on a quiet machine of two cores (some 25 minutes; stop it and start it
again without `--again`, and it goes on):

    python benchmarks/realistic.py --limit 20 --peers --jobs 2 --again \\
        --table benchmarks/realistic.md
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from realistic_made import make

MARK = "#?"
COMMAND = [sys.executable, "-m", "blowproof.cli", "sensitivity", "--json"]
CHECK = [sys.executable, "-m", "blowproof.cli", "check"]
LATE = 10.0
"""A process that takes so many times its limit, and a minute, is ended: the limit is broken."""

PEERS = {"brute": "brute force", "hilbert": "Normaliz"}
PEER_SECONDS = 5.0
PROOFS = "proofs"
"""What stands for an engine in the name of the file of rows that were asked for a certificate."""
RUNNING: set[int] = set()
"""The processes that answer, each the first of its group: ended where the benchmark is."""

COARSER = ("marginal", "count", "partition", "range(", "cluster-sizes")
"""Queries that are parts of the histogram: they change by no more than it does."""


@dataclass(frozen=True)
class Asked:
    """One question: what a header line asks of a policy, and what is known of the answer."""

    policy: str
    query: str
    reading: str
    relation: str = ""
    value: Fraction | None = None
    why: str = ""

    @property
    def key(self) -> str:
        """What names the question among all others."""
        return f"{self.policy} {self.query} {self.reading}"

    def excludes(self, lower: Fraction, upper: Fraction | None) -> bool:
        """Whether bounds contradict what is known."""
        if self.value is None:
            return False
        too_low = upper is not None and upper < self.value and self.relation != "<="
        return too_low or (lower > self.value and self.relation != ">=")


@dataclass
class Row:
    """One answer: bounds, how they came to be, and what they cost."""

    key: str
    exit: int
    lower: str = ""
    upper: str = ""
    status: str = ""
    cpu: float = 0.0
    wall: float = 0.0
    megabytes: int = 0
    decided: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: str = ""
    proof: str = ""
    """The kind of proof that the check accepted."""
    check: float = 0.0
    """CPU seconds of the check."""

    def bounds(self) -> tuple[Fraction, Fraction | None]:
        """Return lower and upper; an unanswered question is 0 and unbounded."""
        return Fraction(self.lower or 0), Fraction(self.upper) if self.upper else None

    def ratio(self) -> float | None:
        """Return upper / lower: 1 where they meet, None where the answer bounds nothing."""
        lower, upper = self.bounds()
        if upper is None or (lower == 0 and upper > 0):
            return None
        # a quotient of whole numbers beyond 10^308 is no float
        return 1.0 if upper == lower else float(min(upper / lower, Fraction(10**300)))


def questions(policy: Path) -> list[Asked]:
    """Return what the header of a policy asks, refusing a line that is not understood."""
    found = []
    for line in policy.read_text(encoding="utf-8").splitlines():
        if line.startswith(MARK):
            query, readings, truth, why = (*map(str.strip, line[2:].split("|")), "", "")[:4]
            relation, _, value = truth.partition(" ")
            if truth and (relation not in ("=", ">=", "<=") or not why):
                raise ValueError(f"{policy.name}: {line}")
            known = Fraction(value) if truth else None
            for reading in readings.split():
                found.append(Asked(policy.stem, query, reading, relation, known, why))
    return found


# asking -----------------------------------------------------------------------------------------


def ask(asked: Asked, folder: Path, limit: float, engine: str = "auto") -> Row:
    """Run one question in a process of its own; say what it told and what it cost."""
    command = [*COMMAND, f"{asked.policy}.toml", "--query", asked.query]
    command += ["--reading", asked.reading, "--time-limit", f"{limit:g}"]
    if engine == PROOFS:
        return _prove(asked, command, folder, limit)
    return _run([*command, "--engine", engine], asked.key, folder, limit)


def _prove(asked: Asked, command: Sequence[str], folder: Path, limit: float) -> Row:
    """Ask for a certificate, and have it checked."""
    with tempfile.TemporaryDirectory() as kept:
        file = Path(kept) / "certificate.json"
        row = _run([*command, "--certificate", str(file)], asked.key, folder, limit)
        if file.exists():
            told = _run([*CHECK, str(file), "--json"], asked.key, folder, limit)
            row.check, row.exit = told.cpu, told.exit
            row.proof = told.proof if told.exit == 0 else ""
    return row


def _run(command: Sequence[str], key: str, folder: Path, limit: float) -> Row:
    """Run a command in a process of its own; say what it told and what it cost."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, cwd=folder, stdout=out, stderr=err, start_new_session=True
        )
        late = threading.Timer(60 + LATE * limit, os.killpg, (process.pid, signal.SIGKILL))
        late.start()
        RUNNING.add(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        RUNNING.discard(process.pid)
        late.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        told, said = out.read().decode(), err.read().decode(errors="replace")
    row = Row(key, process.returncode)
    row.cpu = round(usage.ru_utime + usage.ru_stime, 2)
    row.wall = round(time.monotonic() - started, 2)
    row.megabytes = usage.ru_maxrss // 1024
    _read(row, told, said)
    return row


def _read(row: Row, told: str, said: str) -> None:
    """Fill in what the process wrote. What it cannot have meant is an error of the row."""
    row.error = " ".join(said.split())[-600:]
    try:
        answer: dict[str, Any] = json.loads(told)
        if "verdict" in answer:  # of a check
            row.proof = answer["kind"]
            return
        row.lower, row.status = str(answer["lower"]), answer["status"]
        row.upper = "" if answer["upper"] is None else str(answer["upper"])
        row.decided = [f"{item['bound']}: {item['name']}" for item in answer["decided_by"]]
        row.notes = answer["notes"]
    except (ValueError, KeyError):
        row.status = "killed" if row.exit < 0 else "none"


def ask_all(
    every: Sequence[Asked], folder: Path, limit: float, jobs: int, engine: str = "auto"
) -> dict[str, Row]:
    """Ask what is not in the file of rows yet; return all rows."""
    path = rows_file(folder, limit, engine)
    rows = read_rows(path)
    path.write_text("".join(_line(row) for row in rows.values()), encoding="utf-8")
    left = [asked for asked in every if asked.key not in rows]
    lock = threading.Lock()

    def one(asked: Asked) -> None:
        row = ask(asked, folder, limit, engine)
        with lock, path.open("a", encoding="utf-8") as file:
            if stopped.is_set():  # the process was ended, and told nothing
                return
            file.write(_line(row))
            rows[asked.key] = row
            print(f"{row.wall:7.1f} s  {row.lower}..{row.upper}  {row.key}", file=sys.stderr)

    stopped = threading.Event()
    pool = ThreadPoolExecutor(jobs)
    try:
        list(pool.map(one, left))
    except BaseException:
        stopped.set()
        for process in list(RUNNING):
            os.killpg(process, signal.SIGKILL)
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return rows


def rows_file(folder: Path, limit: float, engine: str) -> Path:
    """Return where the rows of an engine are kept."""
    return folder / f"rows-{limit:g}{'' if engine == 'auto' else f'-{engine}'}.jsonl"


def read_rows(path: Path) -> dict[str, Row]:
    """Return the rows of an earlier run; a last line that was cut short is asked again."""
    rows = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            row = Row(**json.loads(line))
        except (ValueError, TypeError):
            continue
        rows[row.key] = row
    return rows


def _line(row: Row) -> str:
    return json.dumps(asdict(row)) + "\n"


# judging ----------------------------------------------------------------------------------------


def failures(every: Iterable[Asked], rows: dict[str, Row]) -> list[str]:
    """Return what cannot be so: bounds that exclude a truth or one another, wrong exit codes."""
    told = []
    asked_rows = [(asked, rows[asked.key]) for asked in every if asked.key in rows]
    histograms = {
        (a.policy, a.reading): row.bounds()[1] for a, row in asked_rows if a.query == "histogram"
    }
    for asked, row in asked_rows:
        lower, upper = row.bounds()
        if asked.excludes(lower, upper):
            shown = f"{asked.relation} {asked.value} ({asked.why})"
            told.append(f"{asked.key}: {row.lower}..{row.upper} excludes {shown}")
        above = histograms.get((asked.policy, asked.reading))
        if asked.query.startswith(COARSER) and above is not None and lower > above:
            told.append(f"{asked.key}: {row.lower} and more, and the histogram at most {above}")
        expected = {"exact": 0, "proved": 0, "bounds": 3}.get(row.status)
        if row.exit != expected:
            told.append(f"{asked.key}: exit {row.exit}, status {row.status}: {row.error[:200]}")
    return told


def did_not_travel(every: Iterable[Asked], rows: dict[str, Row]) -> list[str]:
    """Return where one answer of a policy says more about another one than that one does."""
    told = []
    fine = {(a.policy, a.reading): rows[a.key] for a in every if a.query == "histogram"}
    for asked in every:
        row, whole = rows[asked.key], fine.get((asked.policy, asked.reading))
        if whole is None or not asked.query.startswith(COARSER):
            continue
        (lower, upper), (most_lower, most) = row.bounds(), whole.bounds()
        if most is not None and (upper is None or upper > most):
            told.append(f"{asked.key}: at most {shown(row.upper)}; the histogram {most}")
        if lower > most_lower:
            told.append(f"{asked.key}: at least {lower}; the histogram {most_lower}")
    return told


def summary(every: Sequence[Asked], rows: dict[str, Row]) -> str:
    """Return the line that counts how good the answers are."""
    ratios = [rows[asked.key].ratio() for asked in every]
    steps = ((1.0, "exact"), (1.5, "within 1.5"), (10.0, "within 10"))
    counts, below = [], 0
    for most, word in steps:
        so_far = sum(ratio is not None and ratio <= most for ratio in ratios)
        counts.append(f"{so_far - below} {word}")
        below = so_far
    cpu = sum(rows[asked.key].cpu for asked in every)
    return (
        f"{len(ratios)} questions about {len({asked.policy for asked in every})} policies: "
        f"{', '.join(counts)}, {len(ratios) - below} worse; {cpu:,.0f} s of CPU"
    )


# showing ----------------------------------------------------------------------------------------

HEADS = "policy|query|reading|lower|upper|truth|ratio|status|CPU s|wall s|MB|decided by|proof|peers"
Peers = dict[str, dict[str, Row]]
"""What each engine alone says, by its name: the rows by their keys."""


def shown(number: str) -> str:
    """Return a number for the table: the next power of ten where it has more than nine digits.

    >>> shown("6286"), shown("3000000000000"), shown("")
    ('6286', '10^13', '-')
    """
    whole, _, _ = number.partition("/")
    return (number or "-") if len(whole) <= 9 else f"10^{len(whole)}"


def beside(key: str, peers: Peers) -> str:
    """Return which peers answer a question, and in what time."""
    told = [(PEERS[engine], rows[key]) for engine, rows in peers.items() if key in rows]
    return "; ".join(f"{name} {row.cpu:.1f} s" for name, row in told if row.status == "exact")


def proved(key: str, proofs: dict[str, Row]) -> str:
    """Return the kind of proof that was accepted for a question, and how long that took."""
    row = proofs.get(key)
    if row is None:
        return ""
    return f"{row.proof} {row.check:.1f} s" if row.proof else "none"


def contradicted(rows: dict[str, Row], peers: Peers) -> list[str]:
    """Return where a peer says what our bounds exclude."""
    told = []
    for engine, found in peers.items():
        for key, row in found.items():
            lower, upper = rows[key].bounds()
            low, high = row.bounds()
            if (upper is not None and low > upper) or (high is not None and high < lower):
                told.append(f"{key}: {engine} says {row.lower}..{row.upper}")
    return told


def refused(rows: dict[str, Row], proofs: dict[str, Row]) -> list[str]:
    """Return which certificates were refused, or are about another value than the answer."""
    told = []
    for key, row in proofs.items():
        if row.status in ("none", "killed") or (row.status == "proved" and not row.proof):
            told.append(f"{key}: certificate, exit {row.exit}, {row.status}: {row.error[:200]}")
        elif row.status != "bounds" and row.lower != rows[key].lower:
            told.append(f"{key}: {row.lower} with a certificate, {rows[key].lower} without")
    return told


def table(
    every: Iterable[Asked], rows: dict[str, Row], peers: Peers, proofs: dict[str, Row]
) -> list[str]:
    """Return the lines of a Markdown table, one question a line.

    An exact answer is `proved` where a certificate of it was accepted, and so are bounds.
    """
    lines = [f"| {' | '.join(HEADS.split('|'))} |", f"|{' --- |' * (HEADS.count('|') + 1)}"]
    for asked in every:
        row, ratio = rows[asked.key], rows[asked.key].ratio()
        cells = [asked.policy, asked.query, asked.reading, shown(row.lower)]
        cells += [shown(row.upper), "" if asked.value is None else _truth(asked)]
        told = proved(asked.key, proofs)
        status = row.status
        if told not in ("", "none"):
            status = "proved" if proofs[asked.key].status == "proved" else "bounds, proved"
        cells += ["-" if ratio is None else f"{ratio:.3g}", status]
        cells += [f"{row.cpu:.1f}", f"{row.wall:.0f}", str(row.megabytes)]
        cells += ["; ".join(row.decided), told, beside(asked.key, peers)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _truth(asked: Asked) -> str:
    relation = asked.relation if asked.relation != "=" else ""
    return f"{relation} {asked.value}".strip()


def report(
    every: Sequence[Asked],
    rows: dict[str, Row],
    limit: float,
    peers: Peers,
    proofs: dict[str, Row],
) -> tuple[str, int]:
    """Return the whole page, and how many failures it tells of."""
    wrong = [*failures(every, rows), *contradicted(rows, peers), *refused(rows, proofs)]
    missed = did_not_travel(every, rows)
    head = (
        f"Written by `benchmarks/realistic.py --limit {limit:g}`; {os.cpu_count()} cores, shared."
    )
    parts = ["# Realistic policies", "", head, "", f"{summary(every, rows)}.", ""]
    for engine, found in peers.items():
        exact = sum(row.status == "exact" for row in found.values())
        parts += [f"{PEERS[engine]}, {PEER_SECONDS:g} s each: {exact} exact.", ""]
    if proofs:
        told = []
        for what, code, status in (("exact answers", 0, "proved"), ("bounds", 3, "bounds")):
            some = [row for key, row in proofs.items() if rows[key].exit == code]
            certain = [row for row in some if row.proof and row.status in ("proved", status)]
            told.append(f"{len(certain)} of {len(some)} {what}")
        cpu = sum(row.check for row in proofs.values())
        parts += [f"Proved: {', '.join(told)} (checks: {cpu:,.0f} s).", ""]
    parts += table(every, rows, peers, proofs)
    for title, told in (("Failures", wrong), ("Bounds that did not travel", missed)):
        parts += ["", f"{title}: {len(told) or 'none'}", *([""] if told else [])]
        parts += [f"* {line}" for line in told]
    return "\n".join(parts) + "\n", len(wrong)


def _all_rows(
    every: Sequence[Asked], options: argparse.Namespace
) -> tuple[dict[str, Row], Peers, dict[str, Row]]:
    """Ask the plan, then what else was wanted: peers, and certificates of what is exact."""

    def asked(some: Sequence[Asked], limit: float, engine: str) -> dict[str, Row]:
        found = ask_all(some, options.folder, limit, options.jobs, engine)
        return {one.key: found[one.key] for one in some}

    rows = asked(every, options.limit, "auto")
    some = [one for one in every if not options.no_proofs and rows[one.key].upper]
    proofs = asked(some, options.limit, PROOFS) if some else {}
    peers = {engine: asked(every, PEER_SECONDS, engine) for engine in PEERS if options.peers}
    return rows, peers, proofs


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, show, and return 1 where something cannot be so."""
    parser = argparse.ArgumentParser(description="Realistic policies, asked one by one.")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each question")
    parser.add_argument("--only", action="append", default=[], help="a policy (part of its name)")
    parser.add_argument("--jobs", type=int, default=1, help="questions at a time")
    parser.add_argument("--folder", type=Path,
                        default=Path(tempfile.gettempdir()) / "blowproof-realistic")  # fmt: skip
    parser.add_argument("--again", action="store_true", help="forget what an earlier run found")
    parser.add_argument("--peers", action="store_true", help="ask brute force and Normaliz as well")
    parser.add_argument("--table", type=Path, help="write the page to this file as well")
    parser.add_argument("--no-proofs", action="store_true", help="ask for no certificates")
    options = parser.parse_args(arguments)
    policies = make(options.folder)
    chosen = [p for p in policies if not options.only or any(o in p.stem for o in options.only)]
    every = [asked for policy in chosen for asked in questions(policy)]
    if options.again:
        for engine, limit in {"auto": options.limit, PROOFS: options.limit,
                              **dict.fromkeys(PEERS, PEER_SECONDS)}.items():  # fmt: skip
            rows_file(options.folder, limit, engine).unlink(missing_ok=True)
    try:
        rows, peers, proofs = _all_rows(every, options)
    except KeyboardInterrupt:
        print("interrupted; the same command without --again goes on from here", file=sys.stderr)
        return 130
    page, wrong = report(every, rows, options.limit, peers, proofs)
    print(page, end="")
    if options.table is not None:
        options.table.write_text(page, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
