"""What the columns of a data file could be, and that a policy with them reads the file."""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blowproof.models import DataError, Domain, Integers, Labels, Steps
from blowproof.models.data.dataset import Dataset
from blowproof.models.data.inferred import infer, readable

PEOPLE = """id,name,sex,region,age,income,born,visit,plz,temp,smokes,none
1,Ann,F,north,34,31000,1990-03-01,05.01.2024,01234,36.5,yes,
2,Bob,M,south,,42000,1985-02-11,09.01.2024,04321,37.0,,
3,Eve,f,"so,uth",41,38500,1979-12-31,01.02.2024,01234,36.0,no,
4,Ian,M,north,29,27000,1995-07-07,15.01.2024,09999,38.5,yes,
5,Zoe,F,n/a,55,51000,1968-01-02,01.02.2024,01234,36.5,,
6,Kim,,north,3,120,2020-06-06,06.01.2024,04321,39.0,no,
"""


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def test_each_kind_of_column_is_found(people):
    rows, columns = infer(people)
    found = {item.name: item for item in columns}
    assert rows == 6 and list(found) == PEOPLE.splitlines()[0].split(",")
    kinds = {name: item.attribute for name, item in found.items()}
    assert kinds["sex"] == Labels(["F", "f", "M", ""]) and found["sex"].alike == (("F", "f"),)
    assert kinds["region"] == Labels(["n/a", "north", "so,uth", "south"])
    assert found["region"].alone == 3 and found["age"].empty == 1
    # A number that may be missing: labels in order, and "" for what is empty.
    assert kinds["age"] == Labels(["", *map(str, range(61))], ordered=True)
    assert kinds["income"] == Integers(0, 60000)  # not 120 and 51000, which are somebody's
    assert kinds["temp"] == Steps(36, 39, Fraction(1, 2))
    assert kinds["plz"] == Labels(["01234", "04321", "09999"], ordered=True)  # no numbers
    assert kinds["smokes"] == Labels(["no", "yes", ""])
    visit = kinds["visit"]
    assert isinstance(visit, Labels) and visit.ordered and visit.size == 28
    assert visit.labels[:2] == ("05.01.2024", "06.01.2024")  # every day, as the file spells it
    left_out = {name: item.words for name, item in found.items() if item.attribute is None}
    assert set(left_out) == {"name", "born", "none"}
    assert "52 years" in left_out["born"] and "every cell is empty" in left_out["none"]


def test_a_domain_of_what_was_found_reads_the_file(people):
    _, columns = infer(people)
    used = {item.name: item.attribute for item in columns if item.attribute is not None}
    with Dataset(people, Domain(**used)) as data:
        assert data.size == 6
    assert readable(people, columns) == columns


def test_numbers_of_persons_are_left_out(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("ID,x\n" + "".join(f"{k},{k % 3}\n" for k in range(100, 150)), "utf-8")
    _, (first, second) = infer(path)
    assert first.attribute is None and second.attribute == Integers(0, 2)


def test_steps_that_a_file_of_doubles_cannot_hold_are_left_out(tmp_path):
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"x": [0.1, 0.2, 0.5], "y": [0.5, 1.0, 1.5]}), path)
    _, columns = infer(path)
    tenths, halves = readable(path, columns)
    assert tenths.attribute is None and "the double" in tenths.words
    assert halves.attribute == Steps("1/2", "3/2", "1/2")


def test_numbers_beyond_any_fixed_width_stay_exact(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(f"x\n{2**53 + 1}\n{2**63 + 3}\n{2**53 + 1}\n", "utf-8")
    _, (item,) = infer(path)
    assert item.attribute == Integers(0, 10**19)  # rounded outwards, and exactly
    path.write_text(f"x\n{2**53 + 1}\n{2**53 + 3}\n", "utf-8")
    assert infer(path)[1][0].attribute == Integers(2**53 + 1, 2**53 + 3)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00a\n", b"PK\x03\x04\x00\x00\xff", b""])
def test_a_csv_that_is_no_csv_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(DataError):
        infer(path)


def test_texts_of_single_people_and_decimal_commas_are_left_out(tmp_path):
    """A policy is public: what nearly everybody wrote by himself is nothing that it lists."""
    lines = [f"{k};{'yes' if k % 4 else f'it is {k}'};{k % 7},50" for k in range(100, 300)]
    path = tmp_path / "p.csv"
    path.write_text("\n".join(["customer;comment;price", *lines, ""]), "utf-8")
    _, (customer, comment, price) = infer(path)
    assert customer.words == "a number for each person"  # it rises from row to row
    assert comment.attribute is None and "50 of 51 texts are in one row only" in comment.words
    assert price.attribute is None and "decimal comma" in price.words


def test_halves_that_do_not_begin_at_a_whole_number(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("x\n1.5\n3.5\n2.5\n1.5\n", "utf-8")
    _, (item,) = infer(path)
    assert item.attribute == Steps("3/2", "7/2", 1)
