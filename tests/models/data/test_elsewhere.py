"""Tables of databases: the same counts as from a file, wherever they lie, and clear refusals."""

import csv
import sqlite3
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from importlib import import_module

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    Area,
    Clause,
    Count,
    Database,
    DataError,
    Domain,
    Integers,
    Labels,
    Literal,
    Marginal,
    Policy,
    PolicyError,
    Region,
    Steps,
    setting,
)
from blowproof.models.data import elsewhere
from blowproof.models.data.dataset import Dataset
from blowproof.models.data.elsewhere import Elsewhere
from blowproof.models.data.table_at import TableAt
from blowproof.models.policy.setting import counted_once
from servers import needs_postgres, needs_spark, postgres

DOMAIN = Domain(
    sex=Labels(["F", "M", "f"]),
    age=Integers(-2, 9),
    temp=Steps(35, 37, "1/2"),
    big=Integers(0, 2**61),
)
TYPES = {"id": "INTEGER PRIMARY KEY", "sex": "VARCHAR(9)", "age": "INTEGER", "temp": "DECIMAL(4,1)"}
Row = tuple[str, int, Decimal, int]
rows = st.lists(
    st.tuples(
        st.sampled_from(["F", "M", "f"]),
        st.integers(-2, 9),
        st.sampled_from([Decimal(35), Decimal("35.5"), Decimal("37.0")]),
        st.sampled_from([0, 7, 2**53 + 1, 2**61]),
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def server():
    with postgres() as found:
        yield found


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    yield f"spark://local?spark.sql.warehouse.dir={folder}&spark.driver.host=127.0.0.1"
    import_module("pyspark.sql").SparkSession.builder.getOrCreate().stop()


class Place:
    """A kind of database, and how a table gets into it."""

    def __init__(self, kind, folder, request):
        self.kind, self.folder = kind, folder
        self.server = request.getfixturevalue("server") if kind == "postgres" else None
        self.spark = request.getfixturevalue("spark") if kind == "spark" else ""

    def execute(self, *statements):
        if self.server is not None:
            self.server.execute(*statements)
        elif self.kind == "sqlite":
            with closing(sqlite3.connect(self.folder / "d.db")) as people, people:
                for statement in statements:
                    people.execute(statement)
        else:
            with duckdb.connect(str(self.folder / "d.duckdb")) as connection:
                for statement in statements:
                    connection.execute(statement)

    def written(self, found, types=None, key=True):
        """Write rows as the table `people`, and return its address."""
        types = types or TYPES | {"big": "BIGINT"}
        lines = [(at, *row) for at, row in enumerate(found, 1)]
        columns = ", ".join(
            f"{name} {kind if key else kind.removesuffix(' PRIMARY KEY')}"
            for name, kind in types.items()
        )
        self.execute("DROP TABLE IF EXISTS people", f"CREATE TABLE people ({columns})")
        values = [", ".join(map(_literal, line)) for line in lines]
        if values:
            self.execute(f"INSERT INTO people VALUES {', '.join(f'({v})' for v in values)}")
        if self.kind == "spark":
            path = self.folder / "people.parquet"
            with duckdb.connect(str(self.folder / "d.duckdb")) as connection:
                connection.execute(f"COPY people TO '{path}' (FORMAT parquet)")
            return TableAt(self.spark, f"parquet.{path}", "id" if key else None)
        return self.at()

    def at(self, table="people", key=None):
        urls = {"sqlite": "sqlite://d.db", "duckdb": "d.duckdb"}
        return TableAt(self.server.url if self.server else urls[self.kind], table, key)

    def open(self, found, domain=DOMAIN, **options):
        return Elsewhere(self.written(found, **options), domain, self.folder)


def _literal(value):
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


KINDS = [
    "duckdb",
    "sqlite",
    pytest.param("postgres", marks=needs_postgres),
    pytest.param("spark", marks=needs_spark),
]


@pytest.fixture(params=KINDS)
def place(request, tmp_path):
    return Place(request.param, tmp_path, request)


ONE = [("F", 3, Decimal("35.5"), 2**53 + 1), ("f", -2, Decimal(37), 7), ("F", 3, Decimal(35), 0)]


def said(data):
    """What data hold, as far as anybody asks."""
    area = DOMAIN.area(Region(sex=["F", "f"], temp=["71/2", 37]))
    other = Area((*DOMAIN.area(Region(age=3)).boxes, *DOMAIN.area(Region(big=7)).boxes))
    return (
        data.size,
        data.counts([area, other, DOMAIN.area(Region()), Area(())]),
        data.marginal((1, 0)),
        data.histogram(),
        data.records(),
    )


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(found=rows, most=st.sampled_from([elsewhere.MOST_CELLS, 0]))
def test_a_table_counts_as_the_same_rows_in_a_file_do(place, found, most):
    """With MOST_CELLS = 0 conditions are sent to the database in the place of cells."""
    file = place.folder / "d.csv"
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([DOMAIN.names, *found])
    with (
        pytest.MonkeyPatch.context() as patch,
        Dataset(file, DOMAIN) as told,
        place.open(found) as data,
    ):
        patch.setattr(elsewhere, "MOST_CELLS", most)
        assert said(data) == said(told)


def test_integers_of_many_values_are_compared_with_the_ends(place, monkeypatch):
    monkeypatch.setattr(elsewhere, "MOST_VALUES", 2)
    domain = Domain(age=Integers(-2, 9), big=Integers(0, 2**61))
    with place.open([*ONE, ("M", 0, Decimal(35), 2**61)], domain) as data:
        areas = [
            domain.area(Region(age=[-2, 0], big=[7, 2**61])),
            domain.area(Region(big=2**53 + 1)),
        ]
        assert data.counts(areas) == [2, 1]
    low = Domain(age=Integers(-1, 9))
    with (
        place.open([*ONE, ("M", 0, 35, 1), ("M", 1, 35, 1)], low) as data,
        pytest.raises(DataError, match=r"the row with id = 2: age = -2: not within -1\.\.9"),
    ):
        _ = data.size


@pytest.mark.parametrize("column", DOMAIN.names)
def test_nothing_in_a_cell_is_refused_with_its_row(place, column):
    at = DOMAIN.names.index(column)
    odd = tuple(None if k == at else item for k, item in enumerate(ONE[0]))
    with (
        place.open([*ONE, odd]) as data,
        pytest.raises(DataError, match=f"the row with id = 4: {column} is empty"),
    ):
        _ = data.size


def test_a_value_outside_the_domain_is_named_with_its_row(place):
    with (
        place.open([*ONE, ("X", 3, Decimal(35), 0)]) as data,
        pytest.raises(
            DataError, match=r"table .*people.*the row with id = 4: sex = 'X': not a label\n  try: "
        ),
    ):
        _ = data.size
    with (
        place.open([*ONE, ("F", 3, Decimal("35.2"), 0)]) as data,
        pytest.raises(DataError, match=r"the row with id = 4: temp = '35\.2'"),
    ):
        data.histogram()


def test_a_row_without_a_key_asks_for_one(place):
    with (
        place.open([*ONE, ("X", 3, Decimal(35), 0)], key=False) as data,
        pytest.raises(DataError, match="sex = 'X': not a label"),
    ):
        _ = data.size
    with place.open(ONE, key=False) as data, pytest.raises(DataError, match=r"key = \"id\""):
        data.records()


def test_a_column_that_is_not_there_has_near_names(place):
    domain = Domain(sexx=Labels(["F", "M", "f"]))
    with (
        place.open(ONE, domain) as data,
        pytest.raises(DataError, match="there is no column 'sexx'\n  try: did you mean 'sex'"),
    ):
        _ = data.size


def test_a_table_that_is_not_there_has_near_names(place):
    if place.kind == "spark":
        pytest.skip("a Parquet file of Spark has no names beside it")
    place.written(ONE)
    with (
        Elsewhere(place.at("peeple"), DOMAIN, place.folder) as data,
        pytest.raises(DataError, match="there is no table 'peeple'\n  try: did you mean 'people'"),
    ):
        _ = data.size


def test_a_type_that_the_domain_does_not_have_is_refused(place):
    types = {"id": "INTEGER PRIMARY KEY", "age": "TIMESTAMP"}
    found = [("2020-01-01 00:00:00",)]
    with (
        place.open(found, Domain(age=Integers(0, 9)), types=types) as data,
        pytest.raises(DataError, match=r"column 'age' is of type timestamp.*and the policy wants"),
    ):
        _ = data.size


def test_dates_and_truth_values_are_labels(place):
    domain = Domain(born=Labels(["2020-01-01", "2021-01-01"]), adult=Labels(["false", "true"]))
    types = {"id": "INTEGER PRIMARY KEY", "born": "DATE", "adult": "BOOLEAN"}
    with place.open([("2020-01-01", True), ("2021-01-01", False)], domain, types=types) as data:
        assert data.records() == [(0, 1), (1, 0)]


def test_doubles_are_judged_as_they_are(place):
    domain = Domain(t=Steps(0, 1, "1/10"))
    types = {"id": "INTEGER PRIMARY KEY", "t": "DOUBLE PRECISION"}
    with place.open([(0.5,), (1.0,)], domain, types=types) as data:
        assert data.records() == [(5,), (10,)]
    with (
        place.open([(0.1,)], domain, types=types) as data,
        pytest.raises(DataError, match="store the column 't' as text or DECIMAL"),
    ):
        _ = data.size


@pytest.mark.parametrize(
    "kind", ["duckdb", "sqlite", pytest.param("postgres", marks=needs_postgres)]
)
def test_columns_that_take_different_texts_for_equal_do_not(kind, tmp_path, request):
    """'f' is not 'F', whatever the column's collation says."""
    place = Place(kind, tmp_path, request)
    loose = {"duckdb": "COLLATE NOCASE", "sqlite": "COLLATE NOCASE", "postgres": "COLLATE loose"}
    if kind == "postgres":
        place.execute(
            "CREATE COLLATION IF NOT EXISTS loose"
            " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    types = {"id": "INTEGER PRIMARY KEY", "sex": f"VARCHAR(9) {loose[kind]}"}
    domain = Domain(sex=Labels(["F", "M", "f"]))
    with place.open([("F",), ("f",), ("f",)], domain, types=types) as data:
        if kind == "postgres":
            with pytest.raises(DataError, match="'sex' has a collation that takes different texts"):
                _ = data.size
        else:
            assert data.marginal((0,)) == [1, 0, 2]


def policy_of(data, folder):
    known = (
        Marginal(["sex"]),
        Count({"age": 3}),
        Count({"age": -2}, at_least=1),
        Clause([Literal(1, {"sex": "F"}), Literal(2, {"sex": "M"})]),
    )
    return Policy(domain=DOMAIN, known=known, database=Database(data=data), folder=folder)


def test_a_policy_takes_its_numbers_from_a_table(place):
    found = setting(policy_of(place.written(ONE), place.folder))
    assert found.size == 3
    assert [fact.answer for fact in found.equalities] == [2, 0, 1, 2]


def test_numbers_that_were_counted_need_the_data_no_more(place):
    policy = counted_once(policy_of(place.written(ONE), place.folder))
    told = setting(policy)
    place.execute("DROP TABLE people")
    if place.kind == "spark":
        (place.folder / "people.parquet").unlink()
    assert setting(policy).equalities == told.equalities
    other = replace(policy, known=(Count({"age": 9}),))
    with pytest.raises(DataError):  # numbers of other facts are not guessed
        setting(other)


@needs_postgres
def test_a_server_that_goes_away_in_the_middle(tmp_path, server, request):
    place = Place("postgres", tmp_path, request)
    with place.open(ONE) as data:
        assert data.size == 3
        server.stop()
        try:
            with pytest.raises(DataError, match=r"the database says: .*\n  try: "):
                data.histogram()
        finally:
            server.start()


@needs_postgres
def test_a_server_that_is_not_there(tmp_path):
    at = TableAt(f"postgres://ann@/people?host={tmp_path}", "people")
    with pytest.raises(DataError, match=r"the database says: .*\n  try: check host, port"):
        Elsewhere(at, DOMAIN)


def test_all_numbers_are_of_one_moment(tmp_path, request):
    """A row that comes while a table is counted is in none of the numbers."""
    place = Place("sqlite", tmp_path, request)
    place.execute("PRAGMA journal_mode = WAL")
    with place.open(ONE) as data:
        assert data.size == 3
        place.execute("INSERT INTO people VALUES (9, 'M', 0, 35, 0)")
        assert sum(data.histogram().values()) == 3


SECRETS = [
    "postgres://ann:s3cret@db.example/people",
    "postgres://db.example/people?user=ann&password=s3cret",
    "postgresql://ann:s3/c@ret@db.example/people",
    "duckdb://people.duckdb?motherduck_token=s3cret",
]


@pytest.mark.parametrize("url", SECRETS)
def test_a_password_in_an_address_is_refused_and_masked(url):
    with pytest.raises(PolicyError, match=r"there is a password in .*\*\*\*") as caught:
        TableAt(url, "people")
    assert "s3" not in str(caught.value) and "ret" not in str(caught.value).partition("\n")[0]
    with pytest.raises(PolicyError, match="is an address, not a file") as caught:
        Database(data=url)
    assert "s3" not in str(caught.value)


def test_an_address_where_a_file_belongs_is_masked():
    """A path made of it lost a slash, and the password was shown."""
    with pytest.raises(DataError, match="this is an address") as caught:
        Dataset("postgres://ann:s3cret@db.example/people", DOMAIN)
    assert "s3cret" not in str(caught.value)


@needs_postgres
def test_an_address_from_the_environment_is_never_shown(tmp_path, monkeypatch):
    at = TableAt("env:PEOPLE", "people")
    with pytest.raises(DataError, match="the environment has no variable PEOPLE"):
        Elsewhere(at, DOMAIN)
    monkeypatch.setenv("PEOPLE", f"postgres://ann:s3cret@/people?host={tmp_path}")
    with pytest.raises(DataError, match="env:PEOPLE, table people: the database says") as caught:
        Elsewhere(at, DOMAIN)
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(at)


@pytest.mark.parametrize("url", ["mysql://db/people", "people.csv", "ftp://x/y"])
def test_other_addresses_are_refused(url):
    with pytest.raises(PolicyError, match=r"url: .*\n  try: "):
        TableAt(url, "people")


def test_a_database_file_that_is_not_there(tmp_path):
    for url in ("sqlite://people.db", "people.duckdb"):
        with pytest.raises(DataError, match="no such file"):
            Elsewhere(TableAt(url, "people"), DOMAIN, tmp_path)
        assert not list(tmp_path.iterdir())
