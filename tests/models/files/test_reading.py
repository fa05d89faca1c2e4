"""Policies are read as written: every form of the grammar, files, names, and places of errors."""

from fractions import Fraction
from pathlib import Path

import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Full,
    Impossible,
    Integers,
    Labels,
    Literal,
    Marginal,
    NamedCount,
    PartitionBy,
    PartitionCells,
    Policy,
    PolicyError,
    Region,
    Steps,
    Sum,
)
from blowproof.models.files.reading import parse_policy, policy_from, read_policy

VALID = Path(__file__).parents[2] / "policies" / "valid"
SEX = Labels(["F", "M"])


def valid(name: str) -> Policy:
    return read_policy(VALID / f"{name}.toml")


def test_the_contract_s_example() -> None:
    assert valid("age-and-ward") == Policy(
        name="age-and-ward",
        domain=Domain(
            sex=SEX,
            ward=Labels(["a", "b", "c"], ordered=True),
            age=Integers(0, 115),
            temp=Steps(35, 42, "1/2"),
        ),
        secrets=Full(),
        database=Database(size=40, answers="given"),
        known=(
            Marginal(["sex", "ward"], answers=[6, 7, 7, 12, 8, 0]),
            Count({"age": Between(18, 65), "sex": "F", "ward": ["a", "b"]}, answer=12),
            Count([{"age": {"max": 9}}, {"age": {"min": 90}}], at_least=3),
            Sum([(1, {"sex": "F"}), (-1, {"sex": "M"})], equals=0),
            Impossible({"sex": "M", "ward": "c"}),
            Clause([Literal(1, {"sex": "F"}), Literal(2, {"ward": "a"}, inside=False)]),
        ),
    )


def test_defaults() -> None:
    policy = valid("only-a-domain")
    assert policy == Policy(name="only-a-domain", domain=Domain(sex=SEX))
    assert policy.scope == "any"
    assert policy.folder == VALID
    assert valid("sum-under-any").secrets == Full()  # an empty [secrets]


def test_domains() -> None:
    assert valid("distance-linf").domain == Domain(
        grade=Labels(["poor", "fair", "good"], ordered=True), temp=Steps(Fraction(71, 2), 42, "1/2")
    )
    assert valid("distance-l1").domain["y"] == Steps("-1/3", 1, "1/3")
    assert valid("attribute-changes").domain["c"] == Labels([0, 1, 2])
    assert valid("partition-by-attributes").domain.names == ("ward", "age")


def test_names_and_labels_of_every_spelling() -> None:
    policy = valid("odd-spelling")
    assert policy.name == "several\nlines"
    assert policy.domain == Domain(
        {
            'sex "at birth"': Labels(["F\t", "M\\", "", "\u00e9"]),
            "gr\u00f6\u00dfe": Integers(-10, 10),
            "a.b": Integers(1, 2),
        }
    )
    assert policy.known == (
        Count({'sex "at birth"': "F\t"}, answer=2),
        Marginal(["gr\u00f6\u00dfe"]),
    )


def test_secrets() -> None:
    assert valid("attribute-changes").secrets == AttributeChange(changes=2)
    assert valid("partition-by-attributes").secrets == PartitionBy(["ward"])
    assert valid("distance-l1").secrets == Distance(metric="l1", threshold="4/3")
    assert valid("distance-l2-strict").secrets == Distance(
        metric="l2", threshold=7, strict=True, attributes=["x", "y"]
    )
    assert valid("distance-linf").secrets == Distance(metric="linf", threshold=1)
    assert valid("partition-cells").secrets == PartitionCells(
        [
            Region(age={"max": 17}),
            [Region(sex="F", age={"min": 60}), Region(age={"min": 65}, sex="M")],
            [
                Region(sex="F", age={"min": 18, "max": 59}),
                Region(sex="M", age={"min": 18, "max": 64}),
            ],
        ]
    )
    assert valid("edges").secrets == Edges(
        [
            ({"sex": "F", "dose": 0}, {"sex": "F", "dose": "1/4"}),
            ({"dose": "3/4", "sex": "F"}, {"sex": "M", "dose": "2/4"}),
        ]
    )
    assert valid("edges").graph.is_edge((0, 3), (1, 2))
    table = {"domain": {"sex": ["F", "M"]}, "secrets": {"kind": "attribute"}}
    assert policy_from(table).secrets == AttributeChange(changes=1)


def test_facts() -> None:
    assert valid("bounds").known == (
        Count({}, at_least=0, at_most=10),
        Sum(
            [(2, {"age": {"min": 5}}), (-1, [{"age": 0}, {"age": [2, 4]}])],
            at_least=-4,
        ),
        Sum([(-1, {"age": 9})], at_least=-2, at_most=0),
        Clause([Literal(4, [{"age": 1}, {"age": {"min": 7, "max": 8}}], inside=False)]),
    )
    assert valid("sum-under-any").known[1] == Impossible(
        [{"sex": "M", "ward": "c"}, {"sex": "F", "ward": ["a", "b"]}]
    )
    assert valid("answers-ignored").scope == "any"


def test_named_counts() -> None:
    policy = valid("partition-by-attributes")
    assert policy.queries == (
        NamedCount("adults", {"age": {"min": 18}}),
        NamedCount("young and old", [{"age": {"max": 17}}, {"age": {"min": 65}}]),
    )
    assert policy.query_area("adults").size == 2 * 98


def test_published_tables_are_read_beside_the_policy() -> None:
    fact = valid("answers-file").known[0]
    assert fact == Marginal(["ward", "sex"], answers=[3, 2, 0, 5], answers_file="wards.csv")
    with pytest.raises(PolicyError, match="no such file") as caught:
        parse_policy((VALID / "answers-file.toml").read_text(), folder=VALID.parent)
    assert caught.value.key == "known[0].answers_file"
    assert caught.value.line == 7


def test_a_table_that_does_not_fit_is_an_error_of_the_policy(tmp_path: Path) -> None:
    (tmp_path / "wards.csv").write_text("sex,ward,count\nF,a,3\nF,c,1\n")
    with pytest.raises(PolicyError, match=r"wards\.csv") as caught:
        parse_policy((VALID / "answers-file.toml").read_text(), folder=tmp_path)
    assert caught.value.key == "known[0].answers_file"


def test_data_files_are_named_not_read() -> None:
    policy = valid("from-data")
    assert policy.database == Database(data="people.csv")
    assert policy.scope == "given"


def test_a_missing_file_names_its_nearest_neighbour() -> None:
    with pytest.raises(PolicyError, match="no such file") as caught:
        read_policy(VALID / "age-and-wards.toml")
    assert "did you mean 'age-and-ward.toml'?" in str(caught.value)
    with pytest.raises(PolicyError, match="cannot be read"):
        read_policy(VALID)


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes('\ufeff[domain]\r\nsex = ["F", "M"]\r\n'.encode())
    assert read_policy(path) == Policy(name="windows", domain=Domain(sex=SEX))
    path.write_bytes('\ufeff[domain]\r\nsex = ["F", "M"]\r\nage = 3\r\n'.encode())
    with pytest.raises(PolicyError) as caught:
        read_policy(path)
    assert str(caught.value).startswith(f"{path}:3: domain.age: found an integer")


def test_errors_name_the_line_even_without_a_file() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy('[domain]\nsex = ["F",\n  "F"]')
    hint = "  try: leave one of them out"
    assert str(caught.value) == f"line 3: domain.sex[1]: the label 'F' appears twice\n{hint}"
    with pytest.raises(PolicyError) as caught:
        policy_from({"domain": {"sex": ["F", "F"]}})
    assert str(caught.value) == f"domain.sex[1]: the label 'F' appears twice\n{hint}"


WRONG = {
    "size": ([4], "an array"),
    "answers": (True, "a boolean"),
    "data": (None, "nothing (null)"),
}


@pytest.mark.parametrize("key", WRONG)
def test_json_nothing_is_not_a_missing_key(key: str) -> None:
    value, name = WRONG[key]
    with pytest.raises(PolicyError, match="found") as caught:
        policy_from({"domain": {"sex": ["F", "M"]}, "database": {key: value}})
    assert caught.value.key == f"database.{key}"
    assert caught.value.reason.startswith(f"found {name}, need ")


@pytest.mark.parametrize("top", [[], "domain", None, {1: 2}])
def test_what_is_no_table_is_refused(top: object) -> None:
    with pytest.raises(PolicyError):
        policy_from(top)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("people.csv", b"sex,age\nF,3\n", "a data file, not a policy\n  try: blowproof init"),
        ("people.parquet", b"PAR1\xff\xfe", "a data file, not a policy\n  try: blowproof init"),
        ("report.html", b"<!doctype html>", "a page, not a policy\n  try: blowproof check"),
        ("proof.json", b'{"schema": 1}', "JSON, not a policy in TOML\n  try: blowproof check"),
        ("plan.toml", b'[[release]]\nquery = "sum(a)"\n', "this is a mechanism: blowproof certify"),
        ("grid.toml", b'policies = ["a.toml"]\n', "this is a grid: blowproof sweep"),
    ],
)
def test_another_kind_of_file_is_told_what_it_is_for(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PolicyError) as refused:
        read_policy(tmp_path / name)
    assert said in str(refused.value) and name in str(refused.value)


def test_a_policy_may_have_any_name(tmp_path):
    (tmp_path / "policy.json").write_text('[domain]\nsex = ["F", "M"]\n', "utf-8")
    assert read_policy(tmp_path / "policy.json").domain.size == 2
