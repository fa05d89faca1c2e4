"""Files counted by DuckDB against the same records counted in Python, and what is refused."""

import csv
import gzip
import tempfile
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models.base.errors import BudgetError, DataError
from blowproof.models.data.dataset import Dataset
from blowproof.models.domain.attributes import Integers, Labels, Steps
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Between, Box, Positions, Region
from blowproof.models.files.reading import read_policy
from blowproof.models.files.tables import read_centroids, read_matrix, read_table, read_weights
from blowproof.models.policy.readings import Reading
from blowproof.verifier.ask import certified

HALVES = Steps(35, 42, "1/2")


def written(folder: Path, text: str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def stored(folder: Path, **columns: pa.Array) -> Path:
    pq.write_table(pa.table(columns), folder / "people.parquet")
    return folder / "people.parquet"


def places(path: Path, domain: Domain) -> list[tuple[int, ...]]:
    with Dataset(path, domain) as data:
        return data.records(1000)


def refusal(path: Path, domain: Domain) -> str:
    with pytest.raises(DataError) as caught, Dataset(path, domain) as data:
        _ = data.size
    return str(caught.value).removeprefix(f"{path}: ")


# Round trips -------------------------------------------------------------------------------------

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"]), min_size=1
)
LABELS = st.lists(
    st.one_of(st.sampled_from(["01", "NA", "null", "true", " x", 'q"', "a,b", "é\n", "-"]), TEXTS),
    min_size=1,
    max_size=5,
    unique=True,
).map(Labels)
NUMBERS = st.one_of(
    st.builds(
        lambda low, more: Integers(low, low + more),
        st.integers(-(10**20), 10**20),
        st.integers(0, 300),
    ),
    st.builds(
        lambda low, more: Integers(low, low + more), st.integers(-50, 50), st.integers(0, 10**25)
    ),
    st.builds(
        lambda low, step, more: Steps(low, low + more * step, step),
        st.fractions(-9, 9, max_denominator=8),
        st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(3, 4), Fraction(1, 3)]),
        st.integers(0, 40),
    ),
)


def spell(value: object, style: int) -> str:
    """One of the ways to write a value."""
    if isinstance(value, str):
        return value
    number = Fraction(str(value))
    if 1000 % number.denominator == 0 and style:
        whole, part = divmod(abs(number.numerator) * 1000 // number.denominator, 1000)
        sign = "-" if number < 0 else ["", "+", "0"][style % 3]
        text = f"{sign}{whole}.{part:03}"
        return text if style % 2 else text.rstrip("0").removesuffix(".")
    return str(number)


@st.composite
def files(draw: st.DrawFn) -> tuple[Domain, list[tuple[int, ...]], int]:
    kinds = draw(st.lists(st.one_of(LABELS, NUMBERS), min_size=1, max_size=3))
    domain = Domain({f'the "{place}" one, {place}': kind for place, kind in enumerate(kinds)})
    near = [
        st.one_of(st.integers(0, min(3, kind.size - 1)), st.just(kind.size - 1)) for kind in kinds
    ]
    return domain, draw(st.lists(st.tuples(*near), max_size=12)), draw(st.integers(0, 5))


@settings(max_examples=40)
@given(files(), st.booleans(), st.data())
def test_counts_match_counting_in_python(
    file: tuple[Domain, list[tuple[int, ...]], int], parquet: bool, data: st.DataObject
) -> None:
    domain, points, style = file
    rows = [[spell(value, style) for value in domain.decode(point)] for point in points]
    order = data.draw(st.permutations(range(len(domain))))
    areas = [Area((data.draw(boxes(domain)), data.draw(boxes(domain)))) for _ in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        names = [domain.names[axis] for axis in order]
        columns = [[row[axis] for row in rows] for axis in order]
        if parquet:
            arrays = {
                name: pa.array(c, pa.string()) for name, c in zip(names, columns, strict=True)
            }
            path = stored(Path(folder), **arrays, extra=pa.array([1.5] * len(rows), pa.float64()))
        else:
            path = Path(folder) / "people.csv"
            with path.open("w", encoding="utf-8", newline="") as out:
                ends = data.draw(st.sampled_from(["\n", "\r\n"]))
                writer = csv.writer(out, lineterminator=ends)
                writer.writerows(
                    [[*names, "extra"], *zip(*columns, ["x"] * len(rows), strict=True)]
                )
        with Dataset(path, domain) as dataset:
            assert dataset.size == len(points)
            assert dataset.records(100) == points
            assert dataset.histogram() == Counter(points)
            assert dataset.counts(areas) == [sum(p in area for p in points) for area in areas]
            axes = data.draw(st.permutations(range(len(domain))))[: data.draw(st.integers(0, 2))]
            parts = Counter(tuple(point[axis] for axis in axes) for point in points)
            assert dataset.sparse_marginal(tuple(axes)) == parts
            sizes = [domain.attribute(axis).size for axis in axes]
            if max(sizes, default=1) < 500:
                cells = product(*map(range, sizes))
                assert dataset.marginal(tuple(axes)) == [parts[cell] for cell in cells]


@st.composite
def boxes(draw: st.DrawFn, domain: Domain) -> Box:
    sides = []
    for _, attribute in domain.attributes:
        top = attribute.size
        ends = st.integers(0, min(top, 6))
        runs = draw(st.lists(st.tuples(ends, st.one_of(ends, st.just(top))), max_size=2))
        sides.append(draw(st.sampled_from([Positions.span(0, top), Positions.joined(runs)])))
    return Box.of(sides)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_rows_keep_their_order_in_a_large_file(tmp_path: Path, ends: str) -> None:
    """Many blocks, several threads, quoted line ends: record i is row i. (Some need one thread.)"""
    notes = ["plain", "two\nlines", 'a "quote", and\r\nmore']
    domain = Domain(note=Labels(notes), key=Integers(0, 10**6))
    path = tmp_path / "large.csv"
    filler = "x" * 600
    with path.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator=ends)
        writer.writerow(["note", "filler", "key"])
        for key in range(80_000):
            writer.writerow([notes[key % 3], filler, f"{key}.0" if key % 7 == 0 else key])
    with Dataset(path, domain) as data:
        assert data.records() == [(key % 3, key) for key in range(80_000)]


def test_regions_of_the_domain_are_counted(tmp_path: Path) -> None:
    domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 115))
    path = written(tmp_path, "age,sex\n17,F\n18,F\n65,M\n90,F\n")
    with Dataset(path, domain) as data:
        assert data.count(domain.area(Region(age=Between(18, 65)))) == 2
        assert data.count(domain.area([Region(sex="F"), Region(age=Between(min=65))])) == 4
        assert data.counts([]) == []
        assert data.count(Area(())) == 0
        assert data.marginal(()) == [4]


# Spellings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["36.5", "36.50", "73/2", "+36.5", " 36.5", "036.5", "3.65e1"])
def test_a_fraction_is_read_however_it_is_spelled(tmp_path: Path, spelling: str) -> None:
    path = written(tmp_path, f"temp\n{spelling}\n36\n36.0\n")
    assert places(path, Domain(temp=HALVES)) == [(3,), (2,), (2,)]


@pytest.mark.parametrize(
    ("attribute", "found", "reason"),
    [
        (HALVES, "36.55", "731/20 is off the grid"),
        (HALVES, "36.500000000000000000000000000000000001", "is off the grid"),
        (HALVES, "1_0", "not an exact number"),
        (HALVES, "nan", "not an exact number"),
        (HALVES, "36,5", "not an exact number"),
        (HALVES, "1/0", "not an exact number"),
        (Integers(0, 9), "1.5", "is not an integer"),
        (Integers(0, 99), "0x10", "not an exact number"),
        (Integers(0, 9), "10", "10 is outside the domain"),
        (Integers(0, 9), "-1", "-1 is outside the domain"),
        (Integers(0, 9), "9" * 50, "is outside the domain"),
        (Integers(0, 9), "9" * 5000, "not an exact number"),
        (Integers(0, 9), "true", "not an exact number"),
        (Labels(["F", "M"]), "f", "not a label"),
        (Labels(["F", "M"]), " F", "remove the blanks"),
        (Labels(["1", "2"]), "01", "not a label"),
        (Labels([1, 2]), "1.0", "not a label"),
        (Labels(["é"]), "e\u0301", "not a label"),  # nothing is normalised
    ],
)
def test_a_value_outside_is_refused_with_its_row(
    tmp_path: Path, attribute: Integers | Labels | Steps, found: str, reason: str
) -> None:
    domain = Domain(x=attribute)
    good = str(attribute.value(0))
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([["x"], [good], [found], [good], [found]])
    message = refusal(tmp_path / "people.csv", domain)
    assert message.startswith(f"row 2: x = {found!r}: ")
    assert reason in message
    assert " rows" not in message


def test_labels_that_look_like_something_else_stay_text(tmp_path: Path) -> None:
    labels = ["01", "02", "NA", "null", "true", "1e5", "2020-01-01", " x", "nan", "x,y", "日本"]
    path = tmp_path / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([["x", "y"], *([label, "01"] for label in labels)])
    domain = Domain(y=Labels(["1", "01"]), x=Labels(labels))
    assert places(path, domain) == [(1, place) for place in range(len(labels))]
    integers = written(tmp_path, "x\n2\n1\n", "integers.csv")
    assert places(integers, Domain(x=Labels([1, 2]))) == [(1,), (0,)]


@pytest.mark.parametrize("value", [10**17 + 1, 2**63 - 1, 2**64, 10**30 + 1, 10**37 + 1])
@pytest.mark.parametrize("low", [0, -(10**37)])
def test_large_integers_lose_nothing(tmp_path: Path, value: int, low: int) -> None:
    path = written(tmp_path, f"x\n{value}\n{value}.0\n")
    assert places(path, Domain(x=Integers(low, 10**37 + 9))) == [(value - low,)] * 2
    assert "outside" in refusal(path, Domain(x=Integers(0, value - 1)))


def test_an_attribute_beyond_every_sql_integer_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, f"x\n{10**60}\n")
    assert places(path, Domain(x=Integers(10**60, 10**60 + 5))) == [(0,)]
    with (
        pytest.raises(BudgetError, match="files are read up to"),
        Dataset(path, Domain(x=Integers(0, 10**60))) as data,
    ):
        _ = data.size


# Parquet types -----------------------------------------------------------------------------------


def test_doubles_are_judged_by_what_they_are(tmp_path: Path) -> None:
    halves = stored(tmp_path, x=pa.array([36.5, 36.0, 42.0], pa.float64()))
    assert places(halves, Domain(x=HALVES)) == [(3,), (2,), (14,)]
    tenths = stored(tmp_path, x=pa.array([0.5, 0.1], pa.float64()))
    message = refusal(tenths, Domain(x=Steps(0, 1, "1/10")))
    assert message == (
        "row 2: x = '0.1': the double 3602879701896397/36028797018963968, not 1/10; off the grid\n"
        "  try: store the column 'x' as text or DECIMAL: doubles round fractions"
    )
    large = stored(tmp_path, x=pa.array([2.0**53 + 2, 1e17, 2.0**70], pa.float64()))
    assert places(large, Domain(x=Integers(0, 10**30))) == [(2**53 + 2,), (10**17,), (2**70,)]
    for bad in (float("nan"), float("inf"), 1.5, -1.0):
        assert "row 1" in refusal(stored(tmp_path, x=pa.array([bad])), Domain(x=Integers(0, 9)))
    single = stored(tmp_path, x=pa.array([0.5, 0.1], pa.float32()))
    assert "13421773/134217728" in refusal(single, Domain(x=Steps(0, 1, "1/10")))


def test_decimals_and_integers_of_every_width(tmp_path: Path) -> None:
    tenths = Domain(x=Steps(0, 1, "1/10"))
    for kind in (pa.decimal128(3, 1), pa.decimal128(38, 20), pa.decimal128(9, 2)):
        path = stored(tmp_path, x=pa.array([Decimal("0.1"), Decimal("1")], kind))
        assert places(path, tenths) == [(1,), (10,)]
    bad = stored(tmp_path, x=pa.array([Decimal("0.11")], pa.decimal128(9, 2)))
    assert "11/100 is off the grid" in refusal(bad, tenths)
    for kind in (pa.int8(), pa.int16(), pa.int64(), pa.uint8(), pa.uint64()):
        path = stored(tmp_path, x=pa.array([3, 5], kind))
        assert places(path, Domain(x=Integers(3, 9))) == [(0,), (2,)]
        assert places(path, Domain(x=Steps("5/3", 5, "1/3"))) == [(4,), (10,)]
        assert places(path, Domain(x=Labels(["5", "3"]))) == [(1,), (0,)]
    huge = stored(tmp_path, x=pa.array([2**64 - 1, 7], pa.uint64()))
    assert places(huge, Domain(x=Integers(7, 2**64))) == [(2**64 - 8,), (0,)]
    assert "row 1" in refusal(huge, Domain(x=Integers(0, 9)))


def test_labels_are_compared_by_the_text_of_any_type(tmp_path: Path) -> None:
    import datetime

    path = stored(
        tmp_path,
        flag=pa.array([True, False]),
        day=pa.array([datetime.date(2020, 1, 2), datetime.date(2021, 1, 1)]),
        kind=pa.array(["b", "a"]).dictionary_encode(),
        raw=pa.array([b"b", "é".encode()], pa.binary()),
    )
    domain = Domain(
        raw=Labels(["é", "b"]),
        kind=Labels(["a", "b"]),
        day=Labels(["2020-01-02", "2021-01-01"]),
        flag=Labels(["false", "true"]),
    )
    assert places(path, domain) == [(1, 1, 0, 1), (0, 0, 1, 0)]


# Files -------------------------------------------------------------------------------------------

SEX = Domain(sex=Labels(["F", "M"]))
EMPTY = 'row 2: sex is empty\n  try: the label "" stands for empty cells'


def test_formats(tmp_path: Path) -> None:
    assert places(written(tmp_path, "a\tsex\n1,2\tF\n", "people.tsv"), SEX) == [(0,)]
    assert places(written(tmp_path, "\ufeffsex\r\nM\r\n"), SEX) == [(1,)]
    assert places(written(tmp_path, "sex,x\nM,1"), SEX) == [(1,)]
    assert places(written(tmp_path, "sex,x\rM,1\rF,2\r"), SEX) == [(1,), (0,)]
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress(b"sex\nM\nF\n"))
    assert places(packed, SEX) == [(1,), (0,)]
    table = pa.table({"sex": ["M"]})
    pq.write_table(table, tmp_path / "people.PQ")
    assert places(tmp_path / "people.PQ", SEX) == [(1,)]


@pytest.mark.parametrize("text", ["sex\n", "sex", "sex,age\r\n"])
def test_no_rows_is_a_database_too(tmp_path: Path, text: str) -> None:
    with Dataset(written(tmp_path, text), SEX) as data:
        assert (data.size, data.histogram(), data.marginal((0,)), data.records(1)) == (
            0,
            {},
            [0, 0],
            [],
        )
        assert data.counts([SEX.area(Region(sex="F"))]) == [0]
    with Dataset(stored(tmp_path, sex=pa.array([], pa.string())), SEX) as data:
        assert data.size == 0


@pytest.mark.parametrize(
    "name", ["a[1].csv", "*.csv", "who?.csv", "it's.csv", "s3:x.csv", "k=v/a.csv"]
)
def test_a_path_is_taken_literally(tmp_path: Path, name: str) -> None:
    written(tmp_path, "sex\nF\nF\n", "a1.csv")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    assert places(written(tmp_path, "sex\nM\n", name), SEX) == [(1,)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Sex\nF\n", "there is no column 'sex'\n  try: did you mean 'Sex'? (columns: Sex)"),
        ("a|sex\nF|1\n", "there is no column 'sex'\n  try: separate columns by ','; found 'a|sex'"),
        ("sex,sex\nF,M\n", "2 columns are named 'sex'"),
        ("", "the first line is empty; it must hold the names of the columns"),
        ("\nsex\nF\n", "the first line is empty; it must hold the names of the columns"),
        ("sex,x\nF,1\n,2\nX,3\n", EMPTY),
        ("sex\nF\n\nM\n", EMPTY),
        ("sex,x\nF\n", "line 2: 1 fields, but the header names 2 columns"),
        ("sex,x\nF,1,2\n", "line 2: 3 fields, but the header names 2 columns"),
        ('sex,x\nF,"1\n', "line 2: a quote is not closed, or text follows it"),
        ("sex,x\nF,1\r\nM,2\n", "line ends are mixed, or quotes do not match"),
        ('sex,"x\ny"\r\nF,1\r\n', "the line of column names is broken (unexpected end of data)"),
    ],
)
def test_broken_csv_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(written(tmp_path, text), SEX) == message


def test_columns_of_parquet_have_their_own_names(tmp_path: Path) -> None:
    """The engine calls "A" beside "a" "A_1": the wrong column was read where that is one too."""
    columns = {"a": [1], "A": [2], "A_1": [{"u": 3}], "a_1": [4]}
    path = stored(tmp_path, **{name: pa.array(values) for name, values in columns.items()})
    for name, value in (("a", 1), ("A", 2), ("a_1", 4)):
        assert places(path, Domain(**{name: Integers(0, 5)})) == [(value,)]
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(twice, path)
    assert refusal(path, Domain(a=Integers(0, 5))) == "2 columns are named 'a'"
    assert refusal(path, Domain(a_1=Integers(0, 5))).startswith("there is no column 'a_1'")


def test_decimals_that_the_engine_rounds_are_refused(tmp_path: Path) -> None:
    most = Decimal("0.50000000000000000000000000000000000000")
    near = Decimal("0.500000000000000000000000000000000000000000001")
    path = stored(tmp_path, x=pa.array([most]), y=pa.array([near], pa.decimal256(46, 45)))
    halves = Steps(0, 1, "1/2")
    assert places(path, Domain(x=halves)) == [(1,)]
    assert refusal(path, Domain(y=halves)) == (
        "the column 'y' holds decimals of 46 digits; up to 38 digits are read without rounding"
        "\n  try: store it as text"
    )


def test_unreadable_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    written(tmp_path, "sex\nF\n", "people.csv")
    assert refusal(tmp_path / "poeple.csv", SEX).startswith(
        "no such file\n  try: did you mean 'people"
    )
    assert refusal(tmp_path / "no" / "x.csv", SEX) == (
        "no such file\n  try: check the path and its folder"
    )
    assert refusal(written(tmp_path, "", "x.xlsx"), SEX) == (
        "the name ends in '.xlsx'; allowed are .csv, .csv.gz, .tsv, .parquet, .pq\n"
        "  try: save it as .csv"
    )
    (tmp_path / "folder.csv").mkdir()
    assert refusal(tmp_path / "folder.csv", SEX) == (
        "this is a folder, not a file\n  try: name a file in it"
    )
    (tmp_path / "latin.csv").write_bytes("sex,x\né,1\n".encode("latin-1"))
    assert refusal(tmp_path / "latin.csv", SEX).startswith("line 2: this is not UTF-8 text\n")
    (tmp_path / "header.csv").write_bytes("sex,é\nF,1\n".encode("latin-1"))
    assert refusal(tmp_path / "header.csv", SEX).startswith("line 1: this is not UTF-8 text\n")
    assert "cannot be read" in refusal(written(tmp_path, "sex\nF\n", "plain.csv.gz"), SEX)
    for text in ("sex\nF\n" * 99, ""):
        path = written(tmp_path, text, "text.parquet")
        assert refusal(path, SEX) == "this is not a Parquet file"


def test_budgets(tmp_path: Path) -> None:
    domain = Domain(a=Integers(0, 10**4), b=Integers(0, 10**4))
    with Dataset(written(tmp_path, "a,b\n1,2\n3,4\n"), domain) as data:
        with pytest.raises(BudgetError, match="the marginal has 100020001 cells"):
            data.marginal((0, 1))
        with pytest.raises(BudgetError, match="more than 1 different cells"):
            data.histogram(limit=1)
        with pytest.raises(BudgetError, match="more than 1 records"):
            data.records(1)


def test_the_temporary_folder_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    path = written(tmp_path, "sex\nF\n")
    with Dataset(path, SEX) as data:
        assert data.size == 1
        assert list(temporary.iterdir())
    refusal(written(tmp_path, "", "bad.csv"), SEX)
    assert not list(temporary.iterdir())


# Published tables and small files ----------------------------------------------------------------

CELLS = Domain(sex=Labels(["F", "M"]), age=Integers(3, 5))


def test_a_published_table_in_any_order(tmp_path: Path) -> None:
    rows = "count,age,sex,note\n6,5,M,\n1,3,F,\n2,4,F,\n3,5,F,\n4,3,M,\n5.0,4,M,\n"
    path = written(tmp_path, rows, "t.csv")
    assert read_table(path, CELLS, (0, 1)) == [1, 2, 3, 4, 5, 6]
    assert read_table(path, CELLS, (1, 0)) == [1, 4, 2, 5, 3, 6]
    assert read_table(written(tmp_path, "count\n7\n", "n.csv"), CELLS, ()) == [7]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex,Count\nF,1\nM,2\n", "there is no column 'count'\n  try: did you mean 'Count'?"),
        ("sex,count\nF,1\n", "{sex = 'M'} is missing (1 of 2 cells are)\n  try: write every cell"),
        ("sex,count\nF,1\nM,1\nF,2\n", "rows 1 and 3: {sex = 'F'} stands twice"),
        ("sex,age,count\nF,3,1\nF,4,1\n", "stands twice\n  try: name the attribute 'age' in the"),
        ("sex,count\nF,-1\nM,2\n", "row 1: count = '-1': -1 is outside the domain"),
        ("sex,count\nF,1.5\nM,2\n", "row 1: count = '1.5': "),
        ("sex,count\nF,1\nM,\n", "row 2: count is empty"),
        ("sex,count\nF,1\nX,2\n", "row 2: sex = 'X': not a label"),
    ],
)
def test_a_published_table_that_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read_table(written(tmp_path, text, "t.csv"), CELLS, (0,))
    assert message in str(caught.value)


def test_labels_missing_from_a_policy_are_listed_from_the_data(tmp_path: Path) -> None:
    path = written(tmp_path, "sex\nF\nX\nM\nunknown\nX\n f\n")
    assert refusal(path, SEX) == (
        "row 2: sex = 'X': not a label\n"
        "  try: add to the policy's labels, or mend in the data, what they hold: "
        "' f', 'X', 'unknown'"
    )
    many = written(tmp_path, "sex\nF\n" + "".join(f"{k:03}\n" for k in range(40)) + "x" * 99)
    assert refusal(many, SEX).endswith("'010', '011', ...")


def test_the_empty_label_stands_for_empty_cells(tmp_path: Path) -> None:
    path = written(tmp_path, 'sex,x\nF,1\n,2\n"",3\nM,4\n')
    with Dataset(path, Domain(sex=Labels(["F", "", "M"]))) as data:
        assert data.marginal((0,)) == [1, 2, 1]


def test_a_table_of_an_attribute_named_count(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="an attribute is named 'count'"):
        read_table(written(tmp_path, "count\n1\n"), Domain(count=Integers(0, 1)), (0,))


def test_small_files(tmp_path: Path) -> None:
    weights = written(tmp_path, "# by record\n1\n\n-1/2 # second\n0.25\n1e2\n", "w.txt")
    assert read_weights(weights) == (1, Fraction(-1, 2), Fraction(1, 4), 100)
    assert all(type(weight) is int for weight in read_weights(weights)[::3])
    matrix = written(tmp_path, "1, 0 ,2\n0\t1  1/3\n", "m.txt")
    assert read_matrix(matrix, 3) == ((1, 0, 2), (0, 1, Fraction(1, 3)))
    assert read_centroids(written(tmp_path, "0.1 2\n", "c.txt"), 2) == ((Fraction(1, 10), 2),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n\n1\n", ":3: found 1 number, but the matrix has 2 columns, one per value"),
        ("1,,\n", ":1: found 3 numbers, but the matrix has 2 columns"),
        ("1,\n", ":1: nothing between two commas is not a number"),
        ("1 x\n", ":1: 'x' is not a number\n  try: an integer, p/q or a decimal"),
        ("1 inf\n", ":1: 'inf' is not a number"),
        ("1 1/0\n", ":1: '1/0' is not a number"),
        ("# nothing\n", ": there is no row in this file"),
    ],
)
def test_a_small_file_that_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text, "m.txt")
    with pytest.raises(DataError) as caught:
        read_matrix(path, 2)
    assert message in str(caught.value)


def test_a_small_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_weights(tmp_path / "none.txt")
    (tmp_path / "latin.txt").write_bytes(b"1\n\xe9\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_centroids(tmp_path / "latin.txt", 1)
    with pytest.raises(
        DataError, match="found 2 numbers, but the weights are written one per line"
    ):
        read_weights(written(tmp_path, "1 2\n", "w.txt"))


# Readings ----------------------------------------------------------------------------------------

COUNTED = """
[domain]
a = ["u", "v", "w"]
[database]
answers = "given"
data = "people.csv"
{size}
[[known]]
count = {{ a = "u" }}
"""


@pytest.mark.parametrize(
    ("reading", "free", "sized"), [("markov", 2, 2), ("add-remove", 1, 2), ("published", 2, 2)]
)
def test_the_size_of_the_data_is_no_fact_where_records_come_and_go(
    tmp_path: Path, reading: Reading, free: int, sized: int
) -> None:
    """Readings 3 and 4 know n where it is written; else one record more or less is a neighbour."""
    written(tmp_path, "a\nu\nv\nv\n")
    for size, expected in (("", free), ("size = 3", sized)):
        path = written(tmp_path, COUNTED.format(size=size), "policy.toml")
        answer, proof = certified(read_policy(path), reading=reading)
        assert (answer.lower, answer.upper) == (expected, expected)
        assert (answer.status, proof.reason) == ("proved", "")
