"""Attacks on the ledger, at random: kill -9 around charges, and everything that may befall a file.

python benchmarks/ledger_attacks.py [--seed 7] [--rounds 4] [--changes 300]

`killed`: four processes spend one budget of 1 in charges of 1/50 and note each one where they would
draw; some are killed at any moment, and others started. Held: what was drawn was charged, exactly
50 charges were taken, and the chain is whole.
`changed`: a ledger of a few charges has rows altered, swapped, removed or inserted, hashes computed
anew, bytes changed or cut off, or gives place to nothing, to an older copy or to another ledger.
Held: it is refused, or it says what was written (a byte that means nothing), or that and more.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from random import Random

from blowproof.mechanisms.base.errors import LedgerError
from blowproof.mechanisms.budget.accountant import Accountant
from blowproof.mechanisms.budget.accounts import Book
from blowproof.mechanisms.budget.ledger import Ledger
from blowproof.mechanisms.release.request import Request
from blowproof.models import Domain, Integers, Labels, Policy

POLICY = Policy(domain=Domain(sex=Labels(["F", "M"]), age=Integers(0, 3)))
SHARE = Fraction(1, 50)
MOST_PROCESSES = 12


def account_of(folder: Path) -> Accountant:
    """Return the account of the small file in a folder."""
    return Accountant(POLICY, folder / "d.csv", ledger=folder / "l.sqlite", budget=Fraction(1))


def spend(folder: Path, epsilon: Fraction = SHARE) -> None:
    """Charge one release."""
    account_of(folder).spend(Request(policy=POLICY, epsilon=epsilon), "laplace")


def worker(folder: Path, name: str) -> None:
    """Spend until nothing is left, and note every charge that would have been followed by noise."""
    from blowproof.mechanisms.base.errors import OverspentError
    from blowproof.mechanisms.budget import ledger

    ledger.LOCK_SECONDS = 3600.0
    (folder / f"ready{name}").touch()
    with (folder / f"drawn{name}").open("a", buffering=1) as drawn:
        while True:
            try:
                spend(folder)
            except OverspentError:
                return
            drawn.write("drawn\n")


def killed(random: Random, folder: Path) -> tuple[int, int, int]:
    """Return how many were killed, what was charged, and what was drawn."""
    running: list[tuple[subprocess.Popen[bytes], int]] = []

    def start() -> None:
        words = [sys.executable, __file__, "--worker", str(folder), str(len(running))]
        running.append((subprocess.Popen(words), len(running)))

    for _ in range(4):
        start()
    kills = 0
    while any(process.poll() is None for process, _ in running):
        time.sleep(random.uniform(0, 0.4))
        ready = [
            process
            for process, name in running
            if process.poll() is None and (folder / f"ready{name}").exists()
        ]
        if ready and len(running) < MOST_PROCESSES:
            random.choice(ready).kill()
            kills += 1
            start()
    drawn = sum(len(path.read_text().split()) for path in folder.glob("drawn*"))
    (account,) = Book(Ledger(folder / "l.sqlite").entries()).accounts
    return kills, len(account.guarantees[0].charges), drawn


def rows_changed(random: Random, place: Path) -> None:
    """Alter, swap, remove or insert rows; sometimes compute the hashes anew."""
    with closing(sqlite3.connect(place)) as connection, connection:
        rows = list(connection.execute("SELECT entry, hash FROM log ORDER BY number"))
        at, other = random.randrange(len(rows)), random.randrange(len(rows))
        how = random.choice(["alter", "swap", "remove", "insert", "cut"])
        if how == "alter":
            rows[at] = (rows[at][0].replace("1/50", "1/5000"), rows[at][1])
        elif how == "swap":
            rows[at], rows[other] = rows[other], rows[at]
        elif how == "remove":
            del rows[at]
        elif how == "insert":
            rows.insert(at, rows[other])
        else:
            del rows[at:]
        if random.random() < 0.5:
            before, anew = "", []
            for entry, _ in rows:
                before = sha256(f"{before}\n{entry}".encode()).hexdigest()
                anew.append((entry, before))
            rows = anew
        connection.execute("DELETE FROM log")
        numbered = [(number, *row) for number, row in enumerate(rows, 1)]
        connection.executemany("INSERT INTO log VALUES (?, ?, ?)", numbered)


def bytes_changed(random: Random, place: Path) -> None:
    """Change a few bytes anywhere."""
    found = bytearray(place.read_bytes())
    for _ in range(random.randint(1, 8)):
        found[random.randrange(len(found))] = random.randrange(256)
    place.write_bytes(found)


def cut_off(random: Random, place: Path) -> None:
    """Keep some of the file."""
    os.truncate(place, random.randrange(place.stat().st_size))


def removed(random: Random, place: Path) -> None:
    """Remove the file."""
    place.unlink()


def put_back(random: Random, place: Path) -> None:
    """Put an older copy in its place."""
    shutil.copy(place.with_name("older.sqlite"), place)


CHANGES: tuple[Callable[[Random, Path], None], ...] = (
    *(rows_changed, rows_changed, bytes_changed, bytes_changed, cut_off, removed, put_back),
)


def changed(random: Random, folder: Path) -> tuple[str, str]:
    """Return what was done to a ledger, and what came of it."""
    place = folder / "l.sqlite"
    for charge in range(4):
        if charge == random.randrange(4):
            break
        spend(folder)
    spend(folder)
    shutil.copy(place, place.with_name("older.sqlite"))
    spend(folder)
    written = Ledger(place).entries()
    change = random.choice(CHANGES)
    change(random, place)
    try:
        found = Ledger(place).entries()
    except LedgerError:
        return change.__name__, "refused"
    if found == written:
        return change.__name__, "as written"
    # Whoever adds rows with their hashes does what the program does: that is not found out.
    added = len(found) > len(written) and found[: len(written)] == written
    return change.__name__, "rows added" if added else "BELIEVED"


def main() -> None:
    """Run both campaigns and print what came of them."""
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--rounds", type=int, default=4)
    options.add_argument("--changes", type=int, default=300)
    options.add_argument("--worker", nargs=2)
    asked = options.parse_args()
    if asked.worker:
        worker(Path(asked.worker[0]), asked.worker[1])
        return
    seen, wrong = Counter[tuple[str, str]](), 0
    with tempfile.TemporaryDirectory() as top:
        os.environ["BLOWPROOF_STATE"] = top
        print("| round | killed | charged | drawn |\n| --- | --- | --- | --- |")
        for number in range(asked.rounds + asked.changes):
            random, folder = Random(f"{asked.seed} {number}"), Path(top, str(number))
            folder.mkdir()
            (folder / "d.csv").write_text("sex,age\nF,1\nM,2\n")
            if number < asked.rounds:
                kills, charged, drawn = killed(random, folder)
                wrong += charged != 1 / SHARE or drawn > charged
                print(f"| {number + 1} | {kills} | {charged} | {drawn} |", flush=True)
            else:
                seen[changed(random, folder)] += 1
    print("\n| change | came of it | times |\n| --- | --- | --- |")
    for (change, came), times in sorted(seen.items()):
        print(f"| {change} | {came} | {times} |")
        wrong += times if came == "BELIEVED" else 0
    print(f"\nseed {asked.seed}: {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
