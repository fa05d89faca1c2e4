"""The one door for input: what a user names is read bounded, and nothing of it makes us hang.

No test looks at a clock: processes have a generous limit only so that a hang becomes a failure.
"""

import ast
import io
import json
import os
import random
import socket
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from itertools import combinations, product
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.models import PolicyError
from blowproof.models.base import door
from blowproof.models.base.door import FileError, read_bytes, read_document
from blowproof.models.base.errors import DataError, nearest
from blowproof.models.domain import overlap
from blowproof.models.domain.overlap import sharing
from blowproof.models.domain.regions import Area, Box, Positions
from blowproof.models.files.reading import parse_policy, read_policy
from blowproof.models.files.tables import read_table, read_weights

ROOT = Path(__file__).resolve().parents[3]
CENSUS = str(ROOT / "examples" / "census.toml")
POLICY = '[domain]\nsex = ["F", "M"]\n'
HANG = 300  # seconds: no measure, only a guard


def said(*words):
    """The exit code, stdout and stderr of a command line run in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([str(word) for word in words])
    assert "Traceback" not in err.getvalue() and "bug" not in err.getvalue()
    return code, out.getvalue(), err.getvalue()


def command(*words, **options):
    """The same in a process of its own, which a hang cannot take the tests along with."""
    return subprocess.run(
        [sys.executable, "-m", "blowproof.cli", *map(str, words)],
        capture_output=True, text=True, timeout=HANG, check=False, **options,
    )  # fmt: skip


# --- no other door -------------------------------------------------------------------------------

READERS = {"read_text", "read_bytes", "open", "fdopen", "mmap", "fromfile", "loadtxt"}
OWN = {  # files that no user names, or that are written
    "models/base/door.py": "the door",
    "models/data/tabular.py": "duckdb.connect, and what open_file gave",
    "models/files/policy_schema.py": "part of the package",
    "models/base/temporary.py": "what the system says about processes",
    "mechanisms/release/publish.py": "writes",
    "models/data/snapshot.py": "writes a file that it makes itself",
    "mechanisms/budget/places.py": "makes the ledger",
    "verifier/claims/record.py": "part of the package, and what a maintainer records",
    "verifier/claims/state.py": "the program's own notes of an interrupted run",
    "verifier/claims/stating/printed.py": "part of the package",
    "cli/report/page.py": "part of the package",
    "cli/beginning/demo.py": "part of the package",
    "cli/serving/app.py": "part of the package",
    "cli/serving/serve.py": "opens a browser",
    "cli/asking/memory.py": "what the system says about this process",
    "cli/asking/piped.py": "a file that it has made itself",
    "cli/main.py": "streams that were closed",
    "cli/commands/claims.py": "part of the package, and pages that are written",
    "cli/text/files.py": "writes",
    "verifier/claims/passed.py": "part of the package",
    "verifier/claims/stating/measured.py": "part of the package",
    "verifier/claims/version.py": "part of the package",
    "verifier/proofs/lengths/kept.py": "part of the package",
    "verifier/claims/written.py": "what a maintainer records",
    "cli/text/output.py": "streams that were closed",
}


def opened(path):
    """The lines of a source file on which something is opened or read by a path."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        owner = ""
        if isinstance(node.func, ast.Attribute):
            name, owner = node.func.attr, ast.unparse(node.func.value)
        if owner.startswith(("session", "Session", "self", "encoding")) and name == "open":
            continue  # a method of ours
        if name in READERS and not (name == "read_bytes" and not owner):
            yield node.lineno


def test_no_other_place_opens_what_a_user_names():
    others = {}
    for layer in ("models", "verifier", "mechanisms", "cli", "api"):
        for path in sorted((ROOT / layer).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name.startswith("verifier/kernel/") or name in OWN:
                continue  # the kernel stands alone, and has a door of its own
            lines = list(opened(path))
            if lines:
                others[name] = lines
    assert others == {}, "read it with blowproof.models.base.door"


def test_the_search_for_other_doors_finds_them(tmp_path):
    path = tmp_path / "m.py"
    path.write_text("open('a')\nPath('b').read_text()\nread_bytes('c', most=1)\nos.open('d', 0)\n")
    assert sorted(opened(path)) == [1, 2, 4]


# --- what is no file -----------------------------------------------------------------------------

DOORS = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from blowproof.cli.main import run
found = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(words)
    found.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(found))
"""


@pytest.fixture
def odd(tmp_path):
    """Things that are no files, by name, each with what is said of it."""
    os.mkfifo(tmp_path / "fifo.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket.csv"))
    words = {
        "fifo.csv": "pipe", "folder.csv": "folder", "zero.csv": "device", "socket.csv": "socket",
        "loop.csv": "too many levels of symbolic links", "none.csv": "no such file",
    }  # fmt: skip
    return {str(tmp_path / name): text for name, text in words.items()}


def test_devices_pipes_sockets_folders_and_loops_are_refused_at_every_door(odd, tmp_path):
    policy = tmp_path / "p.toml"
    policy.write_text("[domain]\nage = { min = 0, max = 3 }\n")
    plan = tmp_path / "m.toml"
    plan.write_text('[[release]]\nquery = "histogram"\nscale = 4\n')
    asked: list[list[str]] = []
    wanted: list[str] = []
    for path, text in odd.items():
        published = tmp_path / f"{Path(path).stem}-published.toml"
        published.write_text(
            f'{policy.read_text()}[[known]]\nmarginal = ["age"]\nanswers_file = "{path}"\n'
        )
        counted = tmp_path / f"{Path(path).stem}-counted.toml"
        counted.write_text(
            f'{policy.read_text()}[database]\ndata = "{path}"\n[[known]]\nmarginal = ["age"]\n'
        )
        asked += [
            ["sensitivity", path], ["audit", path, "--mechanism", path], ["compare", CENSUS, path],
            ["certify", path, "--policy", CENSUS, "--epsilon", "1"],
            ["certify", str(plan), "--policy", path, "--epsilon", "1"],
            *(["sensitivity", str(policy), "--query", f"{query}{path})"]
              for query in ("matrix(", "cluster-sums(", "weighted-sum(age,")),
            ["sensitivity", str(published)], ["sensitivity", str(counted)], ["check", path],
            ["audit", str(policy), "--mechanism", path],
        ]  # fmt: skip
        wanted += [text] * (len(asked) - len(wanted))
    done = subprocess.run(
        [sys.executable, "-c", DOORS, json.dumps(asked)],
        capture_output=True, text=True, timeout=HANG, check=True,
    )  # fmt: skip
    for words, text, (code, out, err) in zip(asked, wanted, json.loads(done.stdout), strict=True):
        assert (code, out) == (2, ""), (words, out, err)
        assert text in err and len(err.splitlines()) <= 2, (words, err)
        assert "Traceback" not in err and "bug" not in err, (words, err)


@pytest.mark.parametrize("path", ["/dev/stdin", "-", "/dev/fd/0"])
def test_a_policy_may_be_piped_into_standard_input(path):
    done = command("sensitivity", path, input=Path(CENSUS).read_text())
    assert (done.returncode, done.stderr) == (0, "") and "S = 4" in done.stdout


def test_standard_input_that_never_ends_is_refused_at_the_limit():
    with Path("/dev/zero").open("rb") as zero:
        done = command("sensitivity", "-", stdin=zero)
    assert done.returncode == 2 and "goes on after 16,000,000 bytes" in done.stderr


def test_a_file_that_is_too_large_says_the_limit_why_and_what_to_try(tmp_path):
    path = tmp_path / "p.toml"
    with path.open("wb") as file:
        file.truncate(10**12)  # sparse: it takes no room
    code, _, err = said("sensitivity", path)
    assert code == 2 and "1,000,000,000,000 bytes" in err
    assert "up to 16,000,000" in err and "memory" in err and "try: " in err
    with pytest.raises(FileError, match="up to 64,000,000"):
        read_weights(path)
    path.rename(tmp_path / "d.csv")
    with pytest.raises(DataError, match="up to 64,000,000,000"):
        read_table(tmp_path / "d.csv", parse_policy(POLICY).domain, (0,))


def test_a_file_that_grows_while_it_is_read_ends_at_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "grows"
    path.write_bytes(b"x" * 10)
    real = door.open_file

    def grown(name, *, most):
        file = real(name, most=most)
        path.write_bytes(b"x" * 1000)
        return file

    monkeypatch.setattr(door, "open_file", grown)
    with pytest.raises(FileError, match="goes on after 100 bytes"):
        read_bytes(path, most=100)


def test_a_device_that_takes_the_place_of_a_file_is_refused_after_opening(tmp_path, monkeypatch):
    path = tmp_path / "swapped"
    path.write_text("")
    real = Path.stat
    monkeypatch.setattr(Path, "stat", lambda self, **how: real(Path(CENSUS)))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(FileError, match="this is a pipe"):
        read_bytes(path, most=1000)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no /proc here")
def test_files_below_proc_are_read_up_to_the_limit():
    assert read_bytes("/proc/self/comm", most=100)
    with pytest.raises(FileError, match="goes on after 10 bytes"):
        read_bytes("/proc/self/maps", most=10)
    with pytest.raises(PolicyError):
        read_document("/proc/self/mem")


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00", b"\xff\xfe[\x00", b"\xef\xbb\xbf", b"a = '\xe9'", b"a\r\nb\rc", b"[domain",
     b"\x1b]0;x\x07 = 1"],
)  # fmt: skip
def test_bytes_that_are_no_policy_are_one_clear_sentence(tmp_path, content):
    path = tmp_path / "p.toml"
    path.write_bytes(content)
    code, out, err = said("sensitivity", path)
    assert (code, out) == (2, "") and err.startswith("error: ")
    assert len(err.splitlines()) <= 2 and "\x1b" not in err


def test_a_name_with_a_nul_is_no_file_name(tmp_path):
    code, _, err = said("sensitivity", CENSUS, "--query", "matrix(a\0b)")
    assert code == 2 and "no file name" in err
    with pytest.raises(PolicyError, match="no file name"):
        read_policy("a\0b")


def test_outputs_may_lie_on_a_loop_of_links_without_a_traceback(odd):
    loop = next(path for path in odd if Path(path).stem == "loop")
    code, _, err = said("encode", CENSUS, "--format", "lp", "--output", loop)
    assert code == 2 and "symbolic links" in err


# --- texts that take too long --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".".join(["a"] * 50_000) + " = 1", "line 1: a key has more than 16 parts"),
        (POLICY + "[" + ".".join(['"a"'] * 50_000) + "]", "line 3: a key has more than 16 parts"),
        ("x = { " + ".".join(["a"] * 50_000) + " = 1 }", "a key has more than 16 parts"),
        ("a = " + "[" * 100_000, "line 1: the arrays are nested too deeply"),
        ("\na = " + "{ b = " * 100_000, "line 2: the arrays are nested too deeply"),
        (f"[domain]\nage = {{ min = 0, max = 1{'0' * 10**6} }}", "line 2: .*too many digits"),
        (f"[domain]\nage = {{ min = 0, max = 0x1{'0' * 10**6} }}", "line 2: .*too many digits"),
        ("a = " + '"' + '\\"' * 200_000, "string has no end"),
        ("a = 1 " + "1" * 900 + " " + "1 " * 100_000, "follows a complete value"),
    ],
)
def test_texts_that_took_tomllib_too_long(text, message):
    with pytest.raises(PolicyError, match=message):
        parse_policy(text)


def test_what_is_inside_of_strings_and_comments_counts_for_nothing():
    label = "." * 100 + "[" * 100 + "x" * 2000
    labels = f"['1{label}', " + f'"""2{label}""", ' + f"'''\n\"3{label}''']"
    policy = parse_policy(f'# {label}\n[domain]\n"{label}" = {labels}\n')
    assert policy.domain.names == (label,) and policy.domain.size == 3


def test_twenty_thousand_attributes_are_refused_with_the_limit():
    text = "[domain]\n" + "".join(f'a{place} = ["x", "y"]\n' for place in range(20_000))
    with pytest.raises(PolicyError, match="20000 attributes, and 500 are the most"):
        parse_policy(text)
    fewer = "[domain]\n" + "".join(f'a{place} = ["x", "y"]\n' for place in range(500))
    assert parse_policy(fewer).domain.size == 2**500


def test_a_domain_whose_size_cannot_be_printed_is_refused():
    wide = "9" * 1000
    text = "[domain]\n" + "".join(f"a{i} = {{ min = 0, max = {wide} }}\n" for i in range(9))
    with pytest.raises(PolicyError, match="far too many values"):
        parse_policy(text)


def test_a_long_name_is_compared_with_no_other():
    assert nearest("a" * 10**6, ["a" * 10**6 + "b", "b"]) == f"names: {'a' * 40}..., b"


# --- partitions: no look at every pair -----------------------------------------------------------


@pytest.fixture
def looks(monkeypatch):
    """How many boxes were looked at: in groups, and in pairs."""
    count = [0]
    groups, pairwise = overlap._groups, overlap._pairwise

    def counted_groups(boxes, group, axis):
        count[0] += len(group)
        return groups(boxes, group, axis)

    def counted_pairs(boxes, group):
        count[0] += len(group) ** 2
        return pairwise(boxes, group)

    monkeypatch.setattr(overlap, "_groups", counted_groups)
    monkeypatch.setattr(overlap, "_pairwise", counted_pairs)
    return count


SHAPES = {
    "line": ([(i, i + 1)] for i in range(10_000)),
    "grid": ([(i, i + 1), (j, j + 1)] for i in range(100) for j in range(100)),
    "cube": ([(i, i + 1) for i in row] for row in product(range(2), repeat=13)),
    "bricks": (
        [(2 * j + i % 2, 2 * j + 2 + i % 2), (i, i + 1)] for i in range(100) for j in range(100)
    ),
    "steps": ([(i, i + 5000), (i, i + 1)] for i in range(10_000)),
}


@cache
def cells(shape):
    """Ten thousand boxes, made when a test asks for them."""
    return tuple(Box.of(Positions.span(*side) for side in row) for row in SHAPES[shape])


@pytest.mark.parametrize("shape", SHAPES)
def test_ten_thousand_cells_are_not_compared_pair_by_pair(shape, looks):
    boxes = cells(shape)
    assert sharing(boxes) is None
    assert looks[0] < 40 * len(boxes)
    assert sharing([*boxes, boxes[17]]) == (17, len(boxes))


def test_sharing_is_what_a_look_at_every_pair_says():
    draw = random.Random(14)
    found = set()
    for _ in range(600):
        axes, size = draw.randint(1, 4), draw.choice([3, 6, 12])
        boxes = []
        for _ in range(draw.randint(1, 40)):
            sides = [draw.sample(range(size), draw.choice([0, 1, 1, 2, 3])) for _ in range(axes)]
            boxes.append(Box.of(map(Positions.of, sides)))
        if draw.random() < 0.6:
            kept: list[Box] = []
            for box in boxes:
                if not any(box & other for other in kept):
                    kept.append(box)
            boxes = kept
        pair, every = sharing(boxes), [(a, b) for a, b in combinations(boxes, 2) if a & b]
        found.add(bool(every))
        assert (pair is not None) == bool(every)
        assert pair is None or (pair[0] < pair[1] and boxes[pair[0]] & boxes[pair[1]])
    assert found == {True, False}


def test_positions_are_what_sets_say():
    draw = random.Random(14)
    for _ in range(2000):
        size = draw.randint(1, 14)
        a, b = (set(draw.sample(range(size), draw.randint(0, size))) for _ in range(2))
        x, y = Positions.of(a), Positions.of(b)
        assert x & y == Positions.of(a & b) and x - y == Positions.of(a - b)
        assert [place in x for place in range(-1, size + 1)] == [
            place in a for place in range(-1, size + 1)
        ]


def test_ten_thousand_cells_that_miss_a_value_or_share_one_say_which():
    def policy(ages):
        listed = ", ".join(f"{{ age = {age} }}" for age in ages)
        head = "[domain]\nage = { min = 0, max = 9999 }\n[secrets]\nkind = 'partition'\n"
        return f"{head}cells = [{listed}]\n"

    assert parse_policy(policy(range(10_000))).graph.components().count == 10_000
    with pytest.raises(PolicyError, match=r"\{age = 7777\} lies in no cell"):
        parse_policy(policy(age for age in range(10_000) if age != 7777))
    with pytest.raises(PolicyError, match=r"\{age = 7777\} lies in two cells: cells\[7777\]"):
        parse_policy(policy([*range(10_000), 7777]))


def test_a_union_of_ten_thousand_regions_that_do_not_overlap(looks):
    area = Area(cells("grid"))
    assert area.size == 10_000 and looks[0] < 400_000


def test_ten_thousand_cells_are_answered_from_the_command_line(tmp_path):
    path = tmp_path / "cells.toml"
    listed = ", ".join(f"{{ age = {age} }}" for age in range(10_000))
    path.write_text(
        "[domain]\nage = { min = 0, max = 9999 }\n"
        f"[secrets]\nkind = 'partition'\ncells = [{listed}]\n"
    )
    with chdir(tmp_path):
        code, out, err = said("sensitivity", path, "--json")
    assert (code, err, json.loads(out)["upper"]) == (0, "", 0)
    read_policy(path)
