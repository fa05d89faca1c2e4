"""Live OpenDP Contexts: their releases of two tables of ours, and what their promise really is."""

from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any

import opendp.prelude as dp
import polars
import pytest

import blowproof
from blowproof.models import Marginal, PolicyError
from blowproof.models.files.opendp_context import opendp_context
from blowproof.models.files.opendp_live import context_tables

dp.enable_features("contrib")

EXACT = (
    dp.polars.Margin(by=["row"], invariant="lengths"),
    dp.polars.Margin(by=["col"], invariant="lengths"),
)

UNITS = {"contributions": dp.unit_of(contributions=1), "changes": dp.unit_of(changes=1)}


def labels(rows: int, columns: int) -> dict[str, object]:
    return {"row": [f"r{i}" for i in range(rows)], "col": [f"c{i}" for i in range(columns)]}


def live(records: Iterable[tuple[str, ...]], margins: Iterable[Any] = EXACT, **more: Any) -> Any:
    """A Context of the library for a table of these records."""
    frame = polars.DataFrame(list(records), schema=["row", "col"], orient="row").lazy()
    given = {
        "privacy_unit": dp.unit_of(contributions=1),
        "privacy_loss": dp.loss_of(epsilon=1.0),
        "split_evenly_over": 1,
        **more,
    }
    return dp.Context.compositor(data=frame, margins=list(margins), **given)


def whole(rows: int, columns: int) -> list[tuple[str, ...]]:
    named = labels(rows, columns)
    return list(product(named["row"], named["col"]))  # type: ignore[call-overload]


@pytest.mark.parametrize("unit", ["contributions", "changes"])
@pytest.mark.parametrize(
    ("rows", "columns", "replaced", "exchanged"), [(2, 2, 4, 4), (2, 3, 8, 4), (2, 4, 16, 4)]
)
def test_tables_with_both_margins_exact(
    rows: int, columns: int, replaced: int, exchanged: int, unit: str
) -> None:
    """The library promises the same whatever the shape; a fact of its own margins costs more.

    A table of 3 x 3 is in `test_opendp_context`.
    """
    context = live(whole(rows, columns), privacy_unit=UNITS[unit])
    found = blowproof.audit_opendp(context, labels(rows, columns), time_limit=120)
    really = {reading: (low, high) for _, reading, _, low, high in found.held}
    for reading, size in (("published", replaced), ("add-remove", exchanged)):
        epsilon = Fraction(size, 1 if unit == "contributions" else 2)
        assert really[reading] == (epsilon, epsilon)
    assert found.enough is False
    assert f"the context claims epsilon = 1 for 1 {unit[:-1]}" in str(found)


def released(context: Any) -> tuple[dict[tuple[str, str], int], Fraction]:
    """What the library prints of a table, with the keys public, and the scale that it drew from."""
    query = context.query().group_by("row", "col").agg(dp.len())
    told = query.release().collect()
    (scale,) = query.summarize()["scale"].to_list()
    return {(row, col): n for row, col, n in told.rows()}, Fraction(scale)


@pytest.mark.filterwarnings("ignore:The default value is currently signed")
def test_the_pair_costs_what_is_said_by_the_scale_that_the_library_draws_from() -> None:
    """Its noise of scale 1 on both databases of our pair: |f(D1) - f(D2)| / scale is the loss."""
    keys = dp.polars.Margin(by=["row", "col"], invariant="keys")
    found = blowproof.audit_opendp(live(whole(2, 3)), labels(2, 3))
    document = found.to_json()["held"][0]
    before, after = document["witness"]["before"], document["witness"]["after"]
    stays = whole(2, 3)
    counts, scales = [], set()
    for moved in (before, after):
        records = [*stays, *map(tuple, moved)]
        noisy, scale = released(live(records, (*EXACT, keys)))
        assert set(noisy) == set(stays)
        counts.append({cell: records.count(cell) for cell in stays})
        scales.add(scale)
    for axis in (0, 1):  # the invariants hold of both
        sums = [
            sorted((cell[axis], sum(n for other, n in each.items() if other[axis] == cell[axis]))
                   for cell in stays)
            for each in counts
        ]  # fmt: skip
        assert sums[0] == sums[1]
    (scale,) = scales
    loss = sum(abs(counts[0][cell] - counts[1][cell]) for cell in stays) / scale
    assert loss == Fraction(document["lower"]) == 8


def test_what_a_context_keeps_is_read() -> None:
    context = live(
        whole(2, 2),
        (*EXACT, dp.polars.Margin(by=[], max_length=10**6)),
        privacy_unit=dp.unit_of(changes=1),
        privacy_loss=dp.loss_of(rho=0.5),
        split_evenly_over=2,
    )
    found = opendp_context(context_tables(context, labels(2, 2)))
    assert {fact.attributes for fact in found.policy.known if isinstance(fact, Marginal)} == {
        ("row",), ("col",)
    }  # fmt: skip
    assert (found.unit, found.times, found.measure) == ("changes", 1, "rho")
    assert found.claimed == Fraction(1, 2)
    assert any("not used" in note for note in found.notes)


def test_without_invariants_the_promise_holds() -> None:
    found = blowproof.audit_opendp(
        live(whole(2, 2), (), privacy_unit=dp.unit_of(changes=1)), labels(2, 2)
    )
    assert found.enough is True
    assert [high for *_, high in found.held] == [1, Fraction(1, 2)]


def test_columns_that_nothing_is_about_are_left_out() -> None:
    """Their values change no count of the others."""
    one = blowproof.audit_opendp(live(whole(2, 3), EXACT[:1]), labels(2, 3), "marginal(row)")
    assert {high for *_, high in one.held} == {0}
    rows = {"row": labels(2, 3)["row"]}
    assert blowproof.audit_opendp(live(whole(2, 3), EXACT[:1]), rows).held[0][-1] == 0


@pytest.mark.parametrize(
    ("margins", "columns", "more", "message"),
    [
        (EXACT, {"row": ["r0", "r1"]}, {}, "a margin of the context is by 'col'"),
        (EXACT, {"town": ["a"]}, {}, "the context's frame has no column 'town'"),
        (
            [dp.polars.Margin(by=["row"], invariant="keys")],
            labels(2, 2),
            {},
            "which groups of row hold records",
        ),
        (
            [dp.polars.Margin(by=[polars.col("row").str.len_chars()], invariant="lengths")],
            labels(2, 2),
            {},
            "a margin is by columns",
        ),
        (EXACT, labels(2, 2), {"privacy_loss": dp.loss_of(epsilon=1.0, delta=1e-6)}, "a loss in"),
    ],
)
def test_what_a_policy_cannot_say_is_named(
    margins: list[Any], columns: dict[str, object], more: dict[str, Any], message: str
) -> None:
    with pytest.raises(PolicyError, match=message):
        blowproof.audit_opendp(live(whole(2, 2), margins, **more), columns)


def test_what_is_no_context_is_named() -> None:
    with pytest.raises(PolicyError, match="dict is no OpenDP Context"):
        blowproof.audit_opendp({}, {})
    numbers = dp.Context.compositor(
        data=[1, 2, 3],
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        domain=dp.vector_domain(dp.atom_domain(T=int)),
    )
    with pytest.raises(PolicyError, match="only frames have margins"):
        blowproof.audit_opendp(numbers, {})
