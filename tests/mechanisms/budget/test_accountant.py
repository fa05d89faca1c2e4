"""The budget: what adds up and what does not, and a ledger that survives races and crashes."""

import os
import sqlite3
import subprocess
import sys
import textwrap
import time
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blowproof.mechanisms.base.errors import LedgerError, OverspentError, RefusedError
from blowproof.mechanisms.budget import ledger as ledgers
from blowproof.mechanisms.budget.accountant import Accountant
from blowproof.mechanisms.budget.accounts import Charge, total_epsilon
from blowproof.mechanisms.parts.parallel import critical_pairs, independence
from blowproof.mechanisms.parts.records import Part, Records
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Request, release
from blowproof.models import (
    AttributeChange,
    Between,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Impossible,
    Integers,
    Known,
    Labels,
    Literal,
    Marginal,
    PartitionBy,
    Policy,
    QueryError,
    setting,
)
from blowproof.models.data.dataset import Dataset
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.neighbours.check import check_pair

ONE = Fraction(1)
DOMAIN = Domain(sex=Labels(["F", "M"]), age=Integers(0, 3))
PLAIN = Policy(domain=DOMAIN)


PEOPLE = "sex,age\nF,1\nM,2\n"


def account_of(folder: Path, policy: Policy = PLAIN, **rest: Any) -> Accountant:
    """The account of a small file, in a ledger beside it."""
    data = folder / "d.csv"
    if not data.exists():
        data.write_text(PEOPLE)
    return Accountant(policy, data, **{"ledger": folder / "l.sqlite", **rest})


def charge(epsilon: object, records: str | None = None) -> Charge:
    held = None if records is None else Records.read(records)
    return Charge(epsilon=Fraction(str(epsilon)), mechanism="laplace", query="q", records=held)


def request(epsilon: object, policy: Policy = PLAIN, records: str | None = None, **rest) -> Request:
    held = None if records is None else Records.read(records)
    rest = {"accept_wide_bounds": True, **rest}  # the data are a few records
    return Request(policy=policy, epsilon=Fraction(str(epsilon)), records=held, **rest)


# --- adding up -------------------------------------------------------------------------------

SETS = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3)), min_size=1, max_size=3)


@given(st.lists(st.tuples(st.integers(1, 5), st.none() | SETS), max_size=6))
def test_the_cost_is_the_most_that_one_record_is_part_of(items):
    charges = [
        Charge(
            epsilon=Fraction(epsilon, 7),
            mechanism="",
            query="",
            records=None if held is None else Records.of([(a, a + b) for a, b in held]),
        )
        for epsilon, held in items
    ]
    each = [
        sum(c.cost for c in charges if c.records is None or record in c.records)
        for record in range(1, 15)
    ]
    assert total_epsilon(charges) == max(each)


def test_records_are_read_and_written():
    assert Records.read("7, 1-3,4,9-9").ranges == ((1, 4), (7, 7), (9, 9))
    assert Records.read(Records.read("5-7,1").text) == Records.read("1,5-7")
    assert Records.read("1-3").meets(Records.read("3-9")) and 2 in Records.read("1-3")
    for text in ("", "0-3", "3-1", "a", "1-2-3", "1,,2", "-1"):
        with pytest.raises(QueryError):
            Records.read(text)


def test_releases_add_up_and_the_budget_is_kept_exactly(tmp_path):
    account = account_of(tmp_path, budget=ONE)
    for _ in range(3):
        account.spend(request("1/3"), "laplace")
    assert account.spent == 1
    with pytest.raises(OverspentError, match="is spent"):
        account.spend(request("1/1000000"), "laplace")
    assert account.spent == 1
    again = account_of(tmp_path)
    assert again.budget == 1 and again.spent == 1


def test_a_release_that_exceeds_the_budget_says_what_is_left(tmp_path):
    account = account_of(tmp_path, budget=ONE)
    assert account.spend(request("2/5"), "laplace") == ("budget: 2/5 of 1 spent, 3/5 left",)
    with pytest.raises(OverspentError, match="at most 3/5"):
        account.spend(request("61/100"), "laplace")
    account.spend(request("3/5"), "laplace")


def test_nothing_is_drawn_beyond_the_budget(tmp_path, monkeypatch):
    path = tmp_path / "d.csv"
    path.write_text(PEOPLE)
    account = account_of(tmp_path, budget=ONE)

    def never(*arguments):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr("blowproof.mechanisms.release.gate.raw_discrete_laplace", never)
    with Dataset(path, DOMAIN) as data, pytest.raises(OverspentError):
        release(plan("laplace", request(2)), data, budget=account)
    assert account.spent == 0


def test_disjoint_parts_compose_in_parallel(tmp_path):
    """Theorem 4.2: with nothing but n known, parts cost the largest of their epsilons."""
    account = account_of(tmp_path, budget=ONE)
    for records in ("1-5", "6-10", "11,12"):
        account.spend(request("3/4", records=records), "laplace")
    assert account.spent == Fraction(3, 4)
    account.spend(request("1/4"), "laplace")
    with pytest.raises(OverspentError):
        account.spend(request("1/100", records="12-20"), "laplace")
    account.spend(request("3/4", records="13-20"), "laplace")
    assert account.spent == 1


def test_parts_are_refused_where_facts_tie_records_together(tmp_path):
    policy = Policy(domain=DOMAIN, known=(Count({"sex": "F"}),))
    account = account_of(tmp_path, policy, budget=ONE)
    with pytest.raises(RefusedError, match=r"known\[0\]"):
        account.spend(request("1/2", policy, records="1-5"), "laplace")
    assert account.spent == 0
    path = tmp_path / "d.csv"
    path.write_text(PEOPLE)
    with Dataset(path, DOMAIN) as data, pytest.raises(RefusedError):
        release(plan("laplace", request(1, policy, records="1")), data)


def test_a_part_of_the_records_is_what_is_counted(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("sex,age\n" + "\n".join(f"{'FM'[k % 2]},{k % 4}" for k in range(10)) + "\n")
    with Dataset(path, DOMAIN) as data:
        part = Part(data, Records.read("2-4,9"))
        assert part.size == 4 and part.records() == [(1, 1), (0, 2), (1, 3), (0, 0)]
        made = plan("laplace", request(10**6, records="2-4,9", query="marginal(sex)"))
        found = release(made, data)
        assert list(found.answers) == [2, 2] and found.to_json()["records"] == "2-4,9"
        with pytest.raises(QueryError, match="no record 11"):
            release(plan("laplace", request(1, records="2-11")), data)


# --- when parts are independent --------------------------------------------------------------

SECRETS: list[Any] = [
    PartitionBy(["sex"]),
    AttributeChange(changes=1),
    Distance(threshold=1, attributes=["age"]),
    Edges([({"sex": "F", "age": 0}, {"sex": "F", "age": 1})]),
]
TINY = Domain(sex=Labels(["F", "M"]), age=Integers(0, 1))
TINY_FACTS: list[tuple[Known, ...]] = [
    (),
    (Count({"sex": "F"}),),
    (Count({"age": 1}),),
    (Marginal(["sex"]), Impossible({"sex": "M", "age": 1})),
    (Impossible({"sex": "F", "age": 0}),),
]


def touched_records(policy, reading):
    """For every neighbour pair of three records, the set of records that change."""
    found = setting(policy)
    sizes = [3] if policy.scope == "given" else [2, 3]
    for pair in brute_neighbours(found, reading, sizes=sizes):
        yield set(pair.records or ())


@pytest.mark.parametrize("reading", ["published", "secret-moves"])
@pytest.mark.parametrize("secrets", SECRETS[:3])
@pytest.mark.parametrize("known", TINY_FACTS)
def test_independence_without_clauses_is_that_of_single_records(reading, secrets, known):
    """By listing all neighbours: independent iff no pair changes two records."""
    policy = Policy(domain=TINY, secrets=secrets, known=known)
    found = independence(policy, reading)
    several = any(len(records) > 1 for records in touched_records(policy, reading))
    assert bool(found) != several
    assert bool(found.critical) == several


@pytest.mark.parametrize("reading", ["published", "secret-moves"])
@pytest.mark.parametrize("secrets", [None, *SECRETS[:2]])
@pytest.mark.parametrize("tied", [(1, 2), (1, 3), (2, 3)])
def test_independence_with_clauses_never_claims_too_much(reading, secrets, tied):
    first, second = tied
    clauses = (Clause([Literal(first, {"age": 0}), Literal(second, {"sex": "M"})]),)
    rest = {} if secrets is None else {"secrets": secrets}
    policy = Policy(domain=TINY, known=clauses, database=Database(size=3), **rest)
    touched = list(touched_records(policy, reading))
    for parts in (["1", "2-3"], ["1-2", "3"], ["1", "2", "3"], ["1"]):
        held = [Records.read(text) for text in parts]
        if independence(policy, reading, None, held):
            for records, part in product(touched, held):
                inside = {record for record in records if record + 1 in part}
                assert not inside or inside == records
    assert independence(policy, reading, None, [Records.read("1-3")])


@pytest.mark.parametrize("reading", ["published", "secret-moves"])
@pytest.mark.parametrize("secrets", SECRETS[:3])
@pytest.mark.parametrize("least, most", [(1, None), (None, 1), (1, 2)])
def test_independence_with_bounds_never_claims_too_much(reading, secrets, least, most):
    bound = Count({"sex": "F"}, at_least=least, at_most=most)
    policy = Policy(domain=TINY, secrets=secrets, known=(bound,), database=Database(size=3))
    several = any(len(records) > 1 for records in touched_records(policy, reading))
    assert not (several and independence(policy, reading))
    assert independence(policy, reading) or secrets != PartitionBy(["sex"])


def test_the_paper_s_example_of_parallel_composition():
    """Section 4.1: counts of two sides that no secret crosses have no critical pairs."""
    sides = (Count({"sex": "F"}), Count({"sex": "M"}))
    policy = Policy(domain=DOMAIN, secrets=PartitionBy(["sex"]), known=sides)
    assert independence(policy, "published") and not critical_pairs(setting(policy))
    full = Policy(domain=DOMAIN, known=sides)
    critical = critical_pairs(setting(full))
    assert [item.fact for item in critical] == ["known[0]", "known[1]"]
    for item in critical:
        assert item.before[0] != item.after[0]


def test_theorem_4_3_to_the_letter_fails_for_counts_with_clauses():
    """A clause about records 1 and 2 and a count without critical pairs: a minimal neighbour pair
    changes record 3, in the other part. So such parts are not taken for independent.

    Record 1 moves secretly, which breaks the clause; record 2 mends it by a plain move, which
    changes the count; record 3 makes up for the count by a plain move.
    """
    domain = Domain(v=Integers(0, 3))
    secrets = Edges([({"v": 0}, {"v": 1})])
    known: tuple[Known, ...] = (
        Count({"v": Between(0, 2)}, answer=2),
        Clause([Literal(1, {"v": 0}), Literal(2, {"v": 3})]),
    )
    policy = Policy(domain=domain, secrets=secrets, known=known, database=Database(size=3))
    assert not critical_pairs(setting(policy))
    pair = Pair.labelled([(0,), (2,), (3,)], [(1,), (3,), (2,)], keep=True)
    assert check_pair(setting(policy), "published", pair)
    parts = [Records.read("1-2"), Records.read("3")]
    assert not independence(policy, "published", None, parts)
    assert independence(policy, "secret-moves", None, parts)


@pytest.mark.parametrize("reading", ["add-remove", "markov"])
def test_readings_without_labels_have_no_parts(reading):
    assert not independence(PLAIN, reading)


# --- the ledger ------------------------------------------------------------------------------


def test_a_budget_is_kept_for_one_guarantee(tmp_path):
    account_of(tmp_path, budget=ONE).spend(request("1/4"), "laplace")
    with pytest.raises(LedgerError, match="another policy"):
        account_of(tmp_path, Policy(domain=DOMAIN, known=(Count({"sex": "F"}),)))
    with pytest.raises(LedgerError, match="reading"):
        account_of(tmp_path, reading="secret-moves")
    with pytest.raises(LedgerError, match="its budget is 1, not 2"):
        account_of(tmp_path, budget=Fraction(2))
    renamed = Policy(domain=DOMAIN, name="another name")
    assert account_of(tmp_path, renamed, budget=ONE).spent == Fraction(1, 4)


def test_a_further_guarantee_is_opened_when_told_so(tmp_path):
    """Epsilons of two policies do not add up, and the same people pay for both."""
    known = Policy(domain=DOMAIN, known=(Count({"sex": "F"}),))
    account_of(tmp_path, budget=ONE).spend(request(1), "laplace")
    for rest in ({"budget": ONE}, {"budget": ONE, "people": "new"}, {"new_guarantee": True}):
        with pytest.raises(LedgerError, match="try: "):
            account_of(tmp_path, known, **rest)
    second = account_of(tmp_path, known, budget=ONE, new_guarantee=True)
    assert second.spend(request("1/2", known), "laplace") == (
        "budget: 1/2 of 1 spent, 1/2 left (of 2 guarantees to these people, this one alone)",
    )
    assert account_of(tmp_path, known).spent == Fraction(1, 2) and account_of(tmp_path).spent == 1


def test_counted_numbers_are_part_of_the_guarantee(tmp_path):
    """Under `given`, the numbers that the data give are what an observer is taken to know."""
    policy = Policy(
        domain=DOMAIN,
        known=(Count({"sex": "F"}),),
        database=Database(data="d.csv", answers="given"),
        folder=tmp_path,
    )
    account_of(tmp_path, policy, budget=ONE).spend(request("1/4", policy), "laplace")
    (tmp_path / "d.csv").write_text(PEOPLE + "F,3\n")
    with pytest.raises(LedgerError, match="earlier version"):
        account_of(tmp_path, policy, people=1)


def test_there_must_be_an_account_or_a_budget(tmp_path):
    with pytest.raises(LedgerError, match="there is no budget"):
        account_of(tmp_path)
    assert not (tmp_path / "l.sqlite").exists()


def test_nothing_is_written_before_the_first_charge(tmp_path):
    assert account_of(tmp_path, budget=ONE).budget == 1
    assert not (tmp_path / "l.sqlite").exists()


@pytest.mark.parametrize("damage", ["text", "cut", "other", "epsilon", "version", "folder"])
def test_a_damaged_ledger_is_an_error_and_nothing_is_spent(tmp_path, damage):
    place = tmp_path / "l.sqlite"
    account = account_of(tmp_path, budget=ONE)
    account.spend(request("1/4"), "laplace")
    if damage == "text":
        place.write_text("this is no database, but it is long enough to be taken for one" * 20)
    elif damage == "cut":
        place.write_bytes(place.read_bytes()[:5000])
    elif damage == "folder":
        place.unlink()
        place.mkdir()
    else:
        with sqlite3.connect(place) as connection:
            connection.execute(
                {
                    "other": "DROP TABLE log",
                    "epsilon": """UPDATE log SET entry = replace(entry, '"1/4"', '"-1/2"')""",
                    "version": "UPDATE log SET entry = replace(entry, ':2', ':99')",
                }[damage]
            )
        connection.close()
    with pytest.raises(LedgerError):
        account.spend(request("1/4"), "laplace")


def test_a_read_only_ledger_is_an_error(tmp_path, monkeypatch):
    account = account_of(tmp_path, budget=ONE)
    account.spend(request("1/4"), "laplace")
    connect = sqlite3.connect

    def read_only(path, **options):
        return connect(f"file:{path}?mode=ro", uri=True, **options)

    monkeypatch.setattr(ledgers.sqlite3, "connect", read_only)
    with pytest.raises(LedgerError, match="readonly"):
        account.spend(request("1/4"), "laplace")


def test_a_locked_ledger_is_an_error_after_a_while(tmp_path, monkeypatch):
    place = tmp_path / "l.sqlite"
    account = account_of(tmp_path, budget=ONE)
    account.spend(request("1/4"), "laplace")
    monkeypatch.setattr(ledgers, "LOCK_SECONDS", 0.2)
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="another process"):
        account.spend(request("1/4"), "laplace")
    other.execute("ROLLBACK")
    other.close()
    account.spend(request("1/4"), "laplace")


def test_an_error_while_deciding_writes_nothing(tmp_path, monkeypatch):
    account = account_of(tmp_path, budget=ONE)

    def angry(*arguments):
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(account, "_decide", angry)
        with pytest.raises(RuntimeError):
            account.spend(request(1), "laplace")
    assert account.ledger.entries() == ()
    account.spend(request(1), "laplace")


# --- two processes, and a kill ---------------------------------------------------------------

PRELUDE = """
import sys, time
from fractions import Fraction
from pathlib import Path
from blowproof.mechanisms.budget import ledger
from blowproof.mechanisms.budget.accountant import Accountant
from blowproof.mechanisms.base.errors import OverspentError
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Request, release
from blowproof.models import Domain, Integers, Labels, Policy
from blowproof.models.data.dataset import Dataset

ledger.LOCK_SECONDS = 3600.0  # a loaded machine takes its time
folder = Path(sys.argv[1])
policy = Policy(domain=Domain(sex=Labels(["F", "M"]), age=Integers(0, 3)))
account = Accountant(policy, folder / "d.csv", ledger=folder / "l.sqlite", budget=Fraction(1))
asked = Request(
    policy=policy, epsilon=Fraction(1, 10), query="marginal(sex)", accept_wide_bounds=True
)
made = plan("laplace", asked)
"""
RACE = """
(folder / f"ready{sys.argv[2]}").touch()
while not (folder / "go").exists():
    time.sleep(0.001)
count = 0
for _ in range(12):
    with Dataset(folder / "d.csv", policy.domain) as data:
        try:
            release(made, data, budget=account)
            count += 1
        except OverspentError:
            pass
print(count)
"""
CRASH = """
import blowproof.mechanisms.release.gate as gate

def hang(*arguments):
    (folder / "drawing").touch()
    time.sleep(600)

gate.raw_discrete_laplace = hang
with Dataset(folder / "d.csv", policy.domain) as data:
    release(made, data, budget=account)
"""
STUCK = """
from blowproof.mechanisms.budget.ledger import Log

def hang(*arguments):
    (folder / "drawing").touch()
    time.sleep(600)

def append(log, entry, append=Log.append):
    append(log, entry)
    if entry["kind"] == "charge":
        hang()

Log.append = append
account.spend(made.request, "laplace")
"""


def started(folder: Path, code: str, *arguments: str) -> subprocess.Popen[str]:
    if not (folder / "d.csv").exists():
        (folder / "d.csv").write_text(PEOPLE)
    script = folder / "script.py"
    if not script.exists():  # another process may be reading it
        script.write_text(textwrap.dedent(PRELUDE + code))
    return subprocess.Popen(
        [sys.executable, str(script), str(folder), *arguments], stdout=subprocess.PIPE, text=True
    )


def wait_for(processes: list[subprocess.Popen[str]], *paths: Path) -> None:
    """Wait until the processes have written the files, however slow the machine."""
    while not all(path.exists() for path in paths):
        assert all(process.poll() is None for process in processes), "a process ended too early"
        time.sleep(0.01)


@pytest.mark.parametrize("many", [2, 4])
def test_processes_at_once_never_overspend(tmp_path, many):
    processes = [started(tmp_path, RACE, str(k)) for k in range(many)]
    wait_for(processes, *(tmp_path / f"ready{k}" for k in range(many)))
    (tmp_path / "go").touch()
    counts = [int(process.communicate()[0]) for process in processes]
    assert sum(counts) == 10
    assert account_of(tmp_path).spent == 1


@pytest.mark.parametrize("code, spent", [(CRASH, Fraction(1, 10)), (STUCK, Fraction(0))])
def test_a_killed_process_never_releases_more_than_it_wrote(tmp_path, code, spent):
    """Killed between writing and drawing, the price is paid; killed while writing, it is not."""
    process = started(tmp_path, code)
    wait_for([process], tmp_path / "drawing")
    os.kill(process.pid, 9)
    process.communicate()
    account = account_of(tmp_path, budget=ONE)
    assert account.spent == spent
    account.spend(request(ONE - spent), "laplace")
    with pytest.raises(OverspentError):
        account.spend(request("1/10"), "laplace")
