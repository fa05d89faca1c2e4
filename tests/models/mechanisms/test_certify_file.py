"""Mechanism files: what is read, what is refused and where, and writing back."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import Count, Domain, Integers, Labels, Policy, PolicyError
from blowproof.models.mechanisms.mechanism import (
    Channel,
    Mechanism,
    Prefixes,
    Release,
    Selection,
    Tree,
)
from blowproof.models.mechanisms.mechanism_file import (
    mechanism_from,
    parse_mechanism,
    read_mechanism,
    to_mapping,
    to_mechanism_toml,
)
from blowproof.models.queries.kinds import Histogram, MatrixQuery
from blowproof.verifier.certify.certify import certify

FOLDER = Path(__file__).parents[2] / "mechanisms"
FILES = sorted(path for path in FOLDER.glob("*.toml") if ".policy." not in path.name)

EVERYTHING = """
name = "all"
postprocessing = ["isotonic", "clipping"]

[[release]]
query = "histogram"
noise = "discrete-laplace"
scale = "8/1"
grid = "1/2"

[[release]]
tree = { attribute = "age", fan_out = 16, block = 100, first = 1, last = 2, blocks = [0, 3] }
scale = ["1/2", 3]

[[release]]
prefixes = { attribute = "age", every = 10, whole = true }
scale = 2

[[selection]]
query = "histogram"
candidates = "intervals"
step = 2
scale = "7/2"

[[selection]]
query = "histogram"
candidates = "pairs"
scale = [0, "7/6"]
noise = "laplace"
penalty = "3/2"
longest = 2
"""


def test_everything_that_can_be_written():
    found = parse_mechanism(EVERYTHING)
    tree = Tree(attribute="age", fan_out=16, block=100, first=1, last=2, blocks=(0, 3))
    assert found == Mechanism(
        name="all",
        postprocessing=("isotonic", "clipping"),
        releases=(
            Release(
                query="histogram",
                noise="discrete-laplace",
                scale=Fraction(8),
                grid=Fraction(1, 2),
            ),
            Release(query=tree, scale=(Fraction(1, 2), Fraction(3))),
            Release(query=Prefixes(attribute="age", every=10, whole=True), scale=Fraction(2)),
        ),
        selections=(
            Selection(
                query="histogram", candidates="intervals", step=Fraction(2), scale=Fraction(7, 2)
            ),
            Selection(
                query="histogram",
                candidates="pairs",
                narrower=(Fraction(0),),
                scale=Fraction(7, 6),
                noise="laplace",
                penalty=Fraction(3, 2),
                longest=2,
            ),
        ),
    )
    assert parse_mechanism(to_mechanism_toml(found)) == found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_are_written_back(path):
    found = read_mechanism(path)
    assert parse_mechanism(to_mechanism_toml(found), name="another") == found
    assert mechanism_from(to_mapping(found)) == found


def test_the_name_defaults_to_the_stem():
    assert read_mechanism(FOLDER / "silent.toml").name == "silent"


def test_integers_are_probabilities_and_outputs():
    rows = "[channel]\nof='record'\ninputs=[0,1]\noutputs=[0,1]\nrows=[[1,0],['1/2','1/2']]"
    assert parse_mechanism(rows).channel == Channel(
        of="record", inputs=(0, 1), outputs=("0", "1"), rows=(("1", "0"), ("1/2", "1/2"))
    )


RELEASE = '[[release]]\nquery = "histogram"\nscale = 2\n'
TREE = "[[release]]\nscale = 1\ntree = "
PREFIXES = "[[release]]\nscale = 1\nprefixes = "
CHANNEL = '[channel]\nof = "record"\ninputs = ["a"]\noutputs = ["x"]\nrows = [["1"]]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the mechanism releases nothing\n  try: write [[release]] tables"),
        (RELEASE + CHANNEL, "line 4: channel: the mechanism has both releases and a channel"),
        ("release = []", "line 1: release: the mechanism releases nothing"),
        ("release = 1", "line 1: release: found an integer, need an array of tables"),
        ("[release]\nquery = 'x'", "line 1: release: found a table, need an array of tables"),
        (
            RELEASE + "nose = 1",
            "line 4: release[0].nose: unknown key 'nose'\n  try: did you mean 'noise'?",
        ),
        ("epsilon = 1", "line 1: epsilon: unknown key 'epsilon'\n  try: epsilon is an option"),
        ("scale = 1", "line 1: scale: unknown key 'scale'\n  try: scale belongs in a [[release]]"),
        ("[domain]\nx = ['a']", "line 1: domain: unknown key 'domain'\n  try: this is a policy"),
        ("[[release]]\nscale = 1", "line 1: release[0]: the release has no query"),
        ("[[release]]\nquery = 'x'", "line 1: release[0]: the release has no scale"),
        (RELEASE + "tree = {}", "release[0]: the release has both query and tree"),
        (RELEASE.replace("2", "-1"), "line 3: release[0].scale: the scale -1 is negative"),
        (
            RELEASE.replace("2", "0.5"),
            "release[0].scale: 0.5 is a float, and floats are not exact\n  try: write the fraction",
        ),
        (RELEASE.replace("2", "[]"), "release[0].scale: the list of scales is empty"),
        (RELEASE.replace("2", "[1, '1/0']"), "release[0].scale[1]: '1/0' divides by zero"),
        (RELEASE.replace("2", "true"), "release[0].scale: found a boolean"),
        (
            RELEASE.replace('"histogram"', "3"),
            "release[0].query: found an integer",
        ),
        (RELEASE + "noise = 'gauss'", "line 4: release[0].noise: 'gauss' is not a noise"),
        (RELEASE + "grid = 2", "release[0].grid: Laplace noise has no grid"),
        (
            RELEASE + "noise = 'discrete-laplace'\ngrid = 0",
            "release[0].grid: a grid is positive: 0",
        ),
        (
            TREE + "{ attribute = 'x' }",
            "line 3: release[0].tree: the tree has no fan_out",
        ),
        (
            TREE + "{ fan_out = 2 }",
            "release[0].tree: no attribute is named",
        ),
        (
            TREE + "{ attribute = 'x', fan_out = 1 }",
            "release[0].tree.fan_out: 1 is below 2",
        ),
        (
            TREE + "{ attribute = 'x', fan_out = 2, first = 2, last = 1 }",
            "tree.last: the last level is above the first",
        ),
        (
            TREE + "{ attribute = 'x', fan_out = 2, blocks = [3, 1] }",
            "tree.blocks: found [3, 1]",
        ),
        (
            TREE + "{ attribute = 'x', fan_out = 2, blocks = [1] }",
            "tree.blocks: found [1]",
        ),
        (
            PREFIXES + "{ attribute = 'x', every = 0 }",
            "prefixes.every: 0 is below 1",
        ),
        (
            PREFIXES + "{ attribute = 'x', whole = 1 }",
            "prefixes.whole: found an integer",
        ),
        (
            "postprocessing = 'x'\n" + RELEASE,
            "postprocessing: found a string, need an array of names",
        ),
        (
            CHANNEL.replace("record", "person"),
            "line 2: channel.of: 'person' is not a kind of input",
        ),
        (
            CHANNEL.replace('"x"', '"x", "x"').replace('"1"', '"1", "0"'),
            "channel.outputs: two outputs have the same name",
        ),
        (CHANNEL.replace('[["1"]]', "[]"), "line 5: channel.rows: 0 rows for 1 inputs"),
        (CHANNEL.replace('["1"]', '["1", "0"]'), "channel.rows[0]: 2 probabilities for 1 outputs"),
        (CHANNEL.replace('"1"', "0.5"), "channel.rows[0][0]: 0.5 is a float"),
        (CHANNEL.replace('"1"', "true"), "channel.rows[0][0]: found a boolean, need a probability"),
        (CHANNEL.replace('["a"]', "[]"), "channel.inputs: there are no inputs"),
        (
            CHANNEL.replace("outputs", "output"),
            "line 4: channel.output: unknown key 'output'\n  try: did you mean 'outputs'?",
        ),
        ("[channel]\nof = 'record'", "line 1: channel: the channel has no inputs"),
        ("name = 1\n" + RELEASE, "line 1: name: found an integer, need a string"),
        ("[[release]\nquery", "line 1"),
        (
            RELEASE + "[[selection]]\nquery = 'histogram'",
            "selection[0]: the selection has no candidates",
        ),
    ],
)
def test_what_is_refused_and_where(text, message):
    with pytest.raises(PolicyError) as caught:
        parse_mechanism(text)
    assert message in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "ordered.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(PolicyError, match="0xff is not UTF-8"):
        read_mechanism(tmp_path / "ordered.toml")
    with pytest.raises(PolicyError, match=r"no such file\n  try: did you mean 'ordered.toml'"):
        read_mechanism(tmp_path / "orderd.toml")
    with pytest.raises(PolicyError, match="cannot be read"):
        read_mechanism(tmp_path)


def test_what_a_program_made_has_no_text():
    domain = Domain(x=Integers(0, 1))
    matrix = Release(query=MatrixQuery(domain, ({0: 1}, {})), scale=Fraction(1))
    with pytest.raises(PolicyError, match="has no text"):
        to_mechanism_toml(Mechanism(releases=(matrix,)))
    histogram = Mechanism(releases=(Release(query=Histogram(), scale=Fraction(1)),))
    assert parse_mechanism(to_mechanism_toml(histogram)).releases[0].query == "histogram"


def test_choices_are_added_to_the_releases():
    mechanism = parse_mechanism(
        RELEASE + "[[selection]]\nquery='histogram'\ncandidates='pairs'\nscale=8\n"
    )
    free = Policy(domain=Domain(x=Labels("abcd")))
    found = certify(mechanism, free, Fraction(3, 2))
    assert (found.verdict, found.lower, found.upper) == ("proved", 1, Fraction(3, 2))
    assert certify(mechanism, free, Fraction(1)).verdict == "undecided"
    known = Policy(domain=free.domain, known=(Count({"x": ["a", "b"]}),))
    found = certify(mechanism, known, Fraction(5))  # two records move: S = 4, which counts twice
    assert (found.verdict, found.lower, found.upper) == ("proved", 2, 3)
    assert certify(mechanism, known, Fraction(5, 2)).verdict == "undecided"


# --- fuzz ----------------------------------------------------------------------------------------

LINES = sorted({line for path in FILES for line in path.read_text().splitlines() if line})
PIECES = ["-1", "0", "1e9", "nan", '"1/0"', "9" * 50, "''", "\x00", "[", "=", "[]", "{}", "é"]


@st.composite
def broken(draw):
    lines = draw(st.sampled_from([path.read_text() for path in FILES])).splitlines()
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 2)):
            case 0:
                lines[place] = draw(st.sampled_from(LINES))
            case 1:
                lines.insert(place, draw(st.sampled_from(LINES)))
            case _:
                at = draw(st.integers(0, len(lines[place])))
                piece = draw(st.sampled_from(PIECES))
                lines[place] = lines[place][:at] + piece + lines[place][at + len(piece) :]
    return "\n".join(lines)


@settings(max_examples=200)
@given(st.one_of(broken(), st.text(max_size=40)))
def test_no_text_breaks_the_reader(text):
    try:
        found = parse_mechanism(text)
    except PolicyError as error:
        assert error.line is not None
        return
    assert parse_mechanism(to_mechanism_toml(found)) == found
