"""Whatever one feeds it, the command line ends with one of its exit codes, and no traceback."""

import io
import json
import os
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blowproof.cli.asking import ask
from blowproof.cli.asking.options import ENGINES, READINGS, SCOPES
from blowproof.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [path.read_bytes() for path in sorted((ROOT / "examples").glob("*.toml"))]
LINES = sorted({line for text in TEXTS for line in text.splitlines() if line})
PIECES = [
    b"-1",
    b"0",
    b"1e9",
    b"nan",
    b'"1/0"',
    b"99999999999999999999",
    b"''",
    b"\xff",
    b"\x00",
    b"[",
    b"=",
]


@st.composite
def policies(draw):
    """The bytes of a policy file: an example with a few mistakes, or anything at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=200))
    lines = draw(st.sampled_from(TEXTS)).splitlines()
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 3)):
            case 0:
                lines[place] = b""
            case 1:
                lines.insert(place, draw(st.sampled_from(LINES)))
            case 2:
                lines[place] = lines[place][::-1]
            case _:
                at = draw(st.integers(0, len(lines[place])))
                end = draw(st.integers(at, min(at + 4, len(lines[place]))))
                lines[place] = (
                    lines[place][:at] + draw(st.sampled_from(PIECES)) + lines[place][end:]
                )
    return b"\n".join(lines)


ODD = st.one_of(
    st.text(max_size=8), st.sampled_from(["", "-1", "0", "1/0", "9" * 50, "--json", "nan"])
)
QUERIES = st.sampled_from(
    [
        *(
            "histogram",
            "partition",
            "marginal(region)",
            "marginal(region,size)",
            "cumulative(band)",
        ),
        *("range(size,1,2)", "ranges(size)", "sum(passed)", "count(passes)", "count(workers)"),
        *("matrix(survey.csv)", "cluster-sums(survey.csv)", "weighted-sum(passed,survey.csv)"),
        *("range(size,", "sum()", "histogram()", "matrix(/)", "matrix(.)", 'count("")'),
    ]
)


def option(name, values):
    return st.one_of(values, ODD).map(lambda value: [name, value])


OPTIONS = st.lists(
    st.one_of(
        st.just(["--json"]),
        option("--reading", st.sampled_from(READINGS)),
        option("--answers", st.sampled_from(SCOPES)),
        option("--engine", st.sampled_from(ENGINES)),
        option("--query", QUERIES),
        option("--limit", st.sampled_from(["0", "3"])),
        option("--claimed", st.sampled_from(["2", "7/2"])),
        option("--planned-scale", st.sampled_from(["0", "1.5"])),
        option("--epsilon", st.sampled_from(["1", "1/3"])),
        option("--seed", st.just("7")),
        option("--format", st.sampled_from(["text", "json", "sarif", "lp", "dimacs"])),
        option("--mechanism", st.sampled_from(["plan.toml", "policy.toml", "nowhere.toml"])),
    ),
    max_size=3,
)
COMMANDS = st.sampled_from(
    ["audit", "audit", "sensitivity", "neighbours", "compare", "schema", "completion"]
)


FILES = {"schema": [], "completion": ["bash"], "compare": ["policy.toml", "policy.toml"]}


def outcome(arguments):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("fuzz")
    for data in (ROOT / "examples").glob("*.csv"):
        (place / data.name).write_bytes(data.read_bytes())
    plan = '[[release]]\nquery = "histogram"\nscale = 4\n'
    (place / "plan.toml").write_text(plan, encoding="utf-8")
    return place


@pytest.fixture(scope="module", autouse=True)
def _impatient():
    patch = pytest.MonkeyPatch()
    patch.setattr(ask, "GRACE", 0.1)
    yield
    patch.undo()


@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(command=COMMANDS, content=policies(), options=OPTIONS)
def test_no_input_gives_a_traceback_or_a_strange_exit_code(folder, command, content, options):
    (folder / "policy.toml").write_bytes(content)
    files = FILES.get(command, ["policy.toml"])
    words = [word for pair in options for word in pair]
    limit = [] if command in ("schema", "completion") else ["--time-limit", "0.2"]
    with chdir(folder):
        code, out, err = outcome([command, *files, *words, *limit])
    assert code in (0, 1, 2, 3)
    assert "Traceback" not in out + err
    assert "bug in blowproof" not in err, os.linesep + err
    assert (code == 2) == err.startswith("error: ")
    if code == 2 and out:  # for pipelines, what is wrong with the policy is a finding as well
        assert json.loads(out)["runs"][0]["invocations"][0]["exitCode"] == 2


@settings(max_examples=100)
@given(st.lists(st.text(max_size=12), max_size=4))
def test_no_words_give_a_traceback(words):
    code, out, err = outcome(words)
    assert code in (0, 2)
    assert "bug in blowproof" not in err and "Traceback" not in out + err
