"""Certificates of the tests are written anew only where they no longer say what is true today."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from standing import read, why_renewed

FOLDER = Path(__file__).parents[2] / "certificates"
NAME = "cycles-one-marginal"
HELD: dict[str, Any] = json.loads((FOLDER / "valid" / f"{NAME}.json").read_text())
CLAIM = {key: value for key, value in HELD.items() if key not in ("witness", "proof", "tools")}


def test_a_file_of_the_same_claim_stands_whatever_pair_is_found_now() -> None:
    other = {**CLAIM, "witness": {"before": [], "after": [], "unchanged": []}, "implied": {}}
    assert why_renewed(read(FOLDER / "valid" / f"{NAME}.json"), other, "cycles") == ""


@pytest.mark.parametrize(
    ("held", "claim", "kind", "why"),
    [
        (None, CLAIM, "cycles", "there was none"),
        (HELD, {**CLAIM, "value": HELD["value"] + 1}, "cycles", "something else: value"),
        (HELD, {**CLAIM, "at_least": 0}, "cycles", "something else: at_least null"),
        (HELD, CLAIM, "irreducible", "of the kind cycles"),
        ({**HELD, "witness": None}, CLAIM, "cycles", "refuses it: .*needs a witness"),
        ({**HELD, "proof": {}}, CLAIM, "", "unreadable"),
    ],
)
def test_another_claim_or_a_proof_that_is_none_is_written_anew(
    held: dict[str, Any] | None, claim: dict[str, Any], kind: str, why: str
) -> None:
    assert re.search(why, why_renewed(held, claim, kind))


def test_an_attack_stands_while_it_is_refused() -> None:
    attack = {**HELD, "witness": None}
    assert why_renewed(attack, CLAIM, accepted=False) == ""
    assert why_renewed(HELD, CLAIM, accepted=False) == "the kernel accepts it"


def test_what_is_no_certificate_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("S = 4")
    assert read(tmp_path / "none.json") is None
    assert read(tmp_path / "missing.json") is None
