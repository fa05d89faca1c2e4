"""OpenDP contexts: what their guarantee really is, beside the library itself."""

import json
from fractions import Fraction
from typing import Any

import opendp.prelude as dp
import pytest

from blowproof.cli.main import run
from blowproof.models import Full, Marginal, PolicyError
from blowproof.models.files.opendp_context import opendp_context, read_opendp
from blowproof.verifier.ask import sensitivity

dp.enable_features("contrib")


def table(rows, columns, **more):
    """A table with both margins exact, in the library's own words."""
    return {
        "columns": {
            "row": [f"r{i}" for i in range(rows)],
            "col": [f"c{i}" for i in range(columns)],
        },
        "margins": [
            {"by": ["row"], "invariant": "lengths"},
            {"by": ["col"], "invariant": "lengths"},
        ],
        "privacy_unit": {"contributions": 1},
        "privacy_loss": {"epsilon": 1.0},
        **more,
    }


def test_objects_of_the_library_are_read():
    found = opendp_context(
        table(
            2,
            3,
            margins=[
                dp.polars.Margin(by=["row"], invariant="lengths"),
                dp.polars.Margin(by=["col"], invariant="lengths", max_length=1000),
                dp.polars.Margin(by=[], max_length=10**6),
            ],
            privacy_unit=dp.unit_of(changes=1),
            privacy_loss=dp.loss_of(rho=0.5),
        )
    )
    assert found.policy.known == (Marginal(["row"]), Marginal(["col"]))
    assert found.policy.secrets == Full()
    assert (found.unit, found.times, found.measure, found.claimed) == (
        "changes", 1, "rho", Fraction(1, 2)
    )  # fmt: skip
    assert len(found.notes) == 2 and all("not used" in note for note in found.notes)


@pytest.mark.parametrize(("unit", "epsilon"), [("contributions", 1.0), ("changes", 2.0)])
def test_what_the_library_counts_is_what_we_say_it_does(unit, epsilon):
    """Its own privacy map of Laplace noise of scale 1, for one contribution or change."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    noise = dp.m.make_laplace(*space, scale=1.0)
    counted = opendp_context(table(2, 2, privacy_unit={unit: 1})).counted["l1"]
    assert noise.map(counted) == pytest.approx(epsilon)


@pytest.mark.parametrize(
    ("rows", "columns", "replaced", "exchanged"),
    [(2, 2, 4, 4), (2, 3, 8, 4), (2, 4, 16, 4), (3, 3, 22, 6)],
)
def test_tables_with_both_margins_exact(rows, columns, replaced, exchanged):
    """The library claims 1 for one contribution and 2 for a change, whatever the shape."""
    found = opendp_context(table(rows, columns))
    for reading, expected in (("published", replaced), ("add-remove", exchanged)):
        answer: Any = sensitivity(found.policy, reading=reading, time_limit=60)  # type: ignore[arg-type]
        assert answer.lower == answer.upper == expected
        assert found.really(Fraction(answer.lower), "l1") == expected


def test_the_command(tmp_path, capsys):
    path = tmp_path / "context.json"
    path.write_text(json.dumps(table(2, 2)), encoding="utf-8")
    assert run(["audit", "--from", "opendp", str(path)]) == 1
    out, _ = capsys.readouterr()
    assert "the context claims epsilon = 1 for 1 contribution" in out
    assert "histogram, reading published: really epsilon = 4" in out
    assert "r0, c0" in out
    assert run(["audit", "--from", "opendp", str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "blowproof/opendp/1"
    assert [item["lower"] for item in found["held"]] == ["4", "4"]
    assert found["held"][0]["witness"]["before"]


def test_rho_is_compared_in_squares(tmp_path, capsys):
    path = tmp_path / "context.json"
    rho = table(2, 2, privacy_loss={"rho": 0.5}, privacy_unit={"changes": 1})
    path.write_text(json.dumps(rho), encoding="utf-8")
    assert run(["audit", "--from", "opendp", str(path), "--json"]) == 1
    (first, _) = json.loads(capsys.readouterr().out)["held"]
    assert (first["measure"], first["claimed"], first["lower"]) == ("rho", "1/2", "1")


def test_without_invariants_the_claim_holds(tmp_path, capsys):
    path = tmp_path / "context.json"
    plain = table(2, 2, margins=[], privacy_unit={"changes": 1})
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert run(["audit", "--from", "opendp", str(path), "--json"]) == 0
    held = json.loads(capsys.readouterr().out)["held"]
    assert [item["upper"] for item in held] == ["1", "1/2"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"margins": [{"by": ["row"], "invariant": "keys"}]}, "which groups of row hold records"),
        (
            {"margins": [{"by": ["row"], "invariant": "sums"}]},
            "invariant: 'sums' is not an invariant",
        ),
        ({"margins": [{"by": ["row"], "public_info": "lengths"}]}, "margins[0].public_info"),
        ({"margins": [{"by": [3], "invariant": "lengths"}]}, "margins[0].by[0]"),
        ({"margins": [{"by": ["town"], "invariant": "lengths"}]}, "town"),
        ({"privacy_unit": {"contributions": 0}}, "privacy_unit.contributions: 0 is below 1"),
        ({"privacy_unit": {"hamming": 1}}, "privacy_unit.hamming"),
        ({"privacy_loss": {"epsilon": 1.0, "delta": 1e-6}}, "privacy_loss: one loss is compared"),
        ({"privacy_loss": {"epsilon": float("inf")}}, "not a finite number"),
        ({"privacy_loss": {"epsilon": -1}}, "-1 is not above 0"),
        ({"queries": []}, "queries: unknown key"),
    ],
)
def test_what_a_policy_cannot_say_is_named(more, message):
    with pytest.raises(PolicyError) as error:
        opendp_context(table(2, 2, **more))
    assert message in str(error.value)


def test_objects_that_are_not_compared_are_named():
    with pytest.raises(PolicyError, match="a loss in"):
        opendp_context(table(2, 2, privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-6)))


def test_a_file_that_is_no_context(tmp_path):
    path = tmp_path / "context.json"
    path.write_text("[1", encoding="utf-8")
    with pytest.raises(PolicyError, match="this is no JSON"):
        read_opendp(path)
