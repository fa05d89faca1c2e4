"""README's table of norms, readings and engines is what the engines do.

`python tests/verifier/test_norm_table.py` prints the table.
"""

from pathlib import Path

from blowproof.models import (
    READINGS,
    BudgetError,
    Count,
    Database,
    Domain,
    Integers,
    Labels,
    Policy,
    QueryError,
)
from blowproof.models.norms import NORMS
from blowproof.verifier.ask import Engine, sensitivity

README = Path(__file__).resolve().parents[2] / "README.md"
ENGINES: tuple[Engine, ...] = ("brute", "search", "ilp", "sat", "hilbert")
DOMAIN = Domain(sex=Labels(["F", "M"]), age=Integers(0, 1))
ANY = Policy(domain=DOMAIN, known=(Count({"sex": "F"}),))
GIVEN = Policy(
    domain=DOMAIN,
    known=(Count({"sex": "F"}, answer=1),),
    database=Database(size=2, answers="given"),
)


def answered(engine: Engine, norm: str) -> str:
    """The readings that an engine answers by itself in a norm, by number."""
    found = []
    for number, reading in enumerate(READINGS, start=1):
        for policy in (ANY, GIVEN):
            try:
                answer = sensitivity(
                    policy, norm=norm, reading=reading, engine=engine, max_size=2, time_limit=60
                )
            except (BudgetError, QueryError):
                continue
            if answer.status != "bounds" or policy is GIVEN:
                assert answer.status == "exact"
                found.append(str(number))
                break
    return " ".join(found)


def lines() -> list[str]:
    """The table, one line for each norm."""
    head = ["norm", *ENGINES]
    rows = [[f"`{norm}`", *(answered(engine, norm) for engine in ENGINES)] for norm in NORMS]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def test_the_table_of_norms_readings_and_engines() -> None:
    table = "\n".join(lines())
    assert f"\n{table}\n" in README.read_text("utf-8"), f"README should say:\n{table}"


if __name__ == "__main__":
    print("\n".join(lines()))
