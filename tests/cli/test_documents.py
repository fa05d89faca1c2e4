"""Each document of `--json` has the keys and types that docs/reference/documents.md promises."""

import json
import re
from pathlib import Path

import pytest

from blowproof.cli.main import cli, run

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "documents.md"
EXAMPLES = ROOT / "examples"

WIDE = "[domain]\n" + "".join(f'{name} = ["1", "2", "3", "4", "5"]\n' for name in "abc")
FILES = {
    "census.toml": (EXAMPLES / "census.toml").read_text("utf-8"),
    "census.csv": (EXAMPLES / "census.csv").read_text("utf-8"),
    "mechanism.toml": '[[release]]\nquery = "histogram"\nscale = "4"\n',
    "gauss.toml": '[[release]]\nquery = "histogram"\nnoise = "discrete-gaussian"\nvariance = "9"\n',
    "step.toml": 'postprocessing = ["ours"]\n[[release]]\nquery = "histogram"\nscale = "4"\n',
    "one.toml": '[domain]\nsmokes = ["no", "yes"]\n',
    "channel.toml": '[channel]\nof = "record"\ninputs = ["no", "yes"]\noutputs = ["a", "b"]\n'
    'rows = [["3/4", "1/4"], ["1/4", "3/4"]]\n',
    "wide.toml": WIDE + "".join(f'[[known]]\nmarginal = ["{name}"]\n' for name in "abc"),
    "grid.toml": 'policies = ["census.toml"]\n[questions]\nqueries = ["histogram"]\n',
}
GAUSS = ["certify", "gauss.toml", "--policy", "census.toml"]
RELEASE = ["release", "census.toml", "census.csv", "--mechanism", "laplace", "--budget", "1"]
COMMANDS = (
    (["sensitivity", "census.toml", "--certificate", "proof.json"], 0),
    (["sensitivity", "wide.toml", "--time-limit", "0.2"], 3),
    (["audit", "census.toml", "--planned-scale", "2", "--html", "report.html"], 1),
    (["audit", "census.toml", "--norm", "l2-squared", "--time-limit", "5"], 0),
    (["neighbours", str(EXAMPLES / "exam_queue.toml"), "--limit", "2"], 0),
    (["sparse", "census.toml"], 0),
    (["sparse", str(EXAMPLES / "hospital.toml")], 1),
    (["closed-forms", "census.toml"], 0),
    (["compare", "census.toml", str(EXAMPLES / "census_by_tenure.toml")], 1),
    (["encode", "census.toml", "--format", "lp"], 0),
    (["claims", "blowfish-2014/lemma-6.1"], 0),
    (["certify", "mechanism.toml", "--policy", "census.toml", "--epsilon", "1"], 0),
    (["certify", "step.toml", "--policy", "census.toml", "--epsilon", "1"], 1),
    ([*GAUSS, "--rho", "1/4"], 0),
    ([*GAUSS, "--rho", "1/8"], 1),
    ([*GAUSS, "--epsilon", "1", "--delta", "1/1000"], 1),
    (["certify", "channel.toml", "--policy", "one.toml", "--epsilon", "1"], 1),
    (["odds", "mechanism.toml", "--policy", "census.toml", "--epsilon", "1", "--composition"], 0),
    (["check", "proof.json", "--embedded"], 0),
    (["check", "proof.json", "--policy", "census.toml", "--query", "histogram"], 0),
    (["check", "report.html"], 0),
    (["check", "census.csv"], 2),
    (["explain", "one.toml", "--run"], 0),
    (["plan", "one.toml", "--query", "histogram", "--epsilon", "1"], 0),
    ([*RELEASE, "--epsilon", "1/2", "--output", "noisy.csv"], 0),
    ([*RELEASE, "--epsilon", "1", "--output", "again.csv"], 1),
    (["estimate", "census.toml", "noisy.csv", "--query", "marginal(size)"], 0),
    (["ledger"], 0),
    (["sweep", "grid.toml", "--jobs", "1"], 0),
    (["init", "census.csv", "--output", "first.toml"], 0),
)


def is_number(value):
    if isinstance(value, str):
        return value == "inf" or re.fullmatch(r"-?[0-9]+(/[0-9]+)?", value) is not None
    return isinstance(value, int) and not isinstance(value, bool)


TYPES = {
    "text": lambda value: isinstance(value, str),
    "count": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "decimal": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "flag": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
    "number": is_number,
}


def promised():
    """The rows of each document's table: the types of each key, and whether it may be missing."""
    found: dict[str, dict[str, tuple[list[str], bool]]] = {}
    schema = None
    for line in PAGE.read_text("utf-8").splitlines():
        named = re.search(r"`(blowproof/[a-z-]+/[0-9]+)`", line)
        if named:
            schema = named[1]
        row = re.fullmatch(r"\| (`.*`) \| ([a-z ]+) \| (.*) \|", line)
        if row and schema:
            for key in re.findall(r"`([^`]*)`", row[1]):
                types = row[2].split(" or ")
                assert key not in found.setdefault(schema, {}), f"{schema}: {key} has two rows"
                found[schema][key] = (types, row[3].startswith("(sometimes)"))
    return found


PROMISED = promised()


def faults(document, schema):
    """Say in which way a document is not what the page promises; the test is that it is nothing."""
    rows = PROMISED[schema]
    inner = {key.rpartition(".")[0] for key in rows}

    def walk(value, path):
        if isinstance(value, list) and f"{path}[]" in inner:
            for item in value:
                yield from walk(item, f"{path}[]")
        if not isinstance(value, dict) or path not in inner:
            return
        start = f"{path}." if path else ""
        known = {key for key in rows if key.startswith(start) and "." not in key[len(start) :]}
        for key in known:
            name, (types, sometimes) = key[len(start) :], rows[key]
            if name not in value:
                if not sometimes:
                    yield f"{key} is missing"
            elif not any(TYPES[kind](value[name]) for kind in types):
                yield f"{key} = {str(value[name])[:60]!r} is not {' or '.join(types)}"
            else:
                yield from walk(value[name], key)
        yield from (
            f"{start}{name} is not on the page" for name in value if start + name not in known
        )

    return sorted(set(walk(document, "")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("documents")
    for name, text in FILES.items():
        (found / name).write_text(text, "utf-8")
    return found


@pytest.mark.parametrize(("command", "code"), COMMANDS, ids=lambda value: str(value)[:60])
def test_the_document_is_as_promised(folder, monkeypatch, capsys, command, code):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BLOWPROOF_LEDGER", str(folder / "ledger.sqlite"))
    assert run([*command, "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert faults(document, document["schema"]) == []


def test_every_command_with_documents_is_asked():
    asked = {command[0] for command, _ in COMMANDS}
    with_json = {
        name
        for name, command in cli.commands.items()
        if any("--json" in item.opts for item in command.params)
    }
    assert with_json == asked | {"schema"}  # its document is the schema of policies


def test_a_document_that_is_not_as_promised_is_found_out():
    """The comparison itself: a key less, one more, one of another type, at any depth."""
    good = {
        **dict.fromkeys(("schema", "policy", "query", "norm", "reading", "answers"), "x"),
        **{"lower": 1, "upper": "7/2", "status": "exact", "engine": "x", "seconds": 0.1},
        **{"decided_by": [], "notes": []},
        "witness": {"before": [], "after": [], "unchanged": []},
    }
    schema = "blowproof/sensitivity/1"
    assert faults(good, schema) == []
    assert faults(good | {"lower": 1.5}, schema) == ["lower = '1.5' is not number"]
    assert faults(good | {"more": 1}, schema) == ["more is not on the page"]
    less = {key: value for key, value in good.items() if key != "upper"}
    assert faults(less, schema) == ["upper is missing"]
    assert faults(good | {"witness": {"before": [], "after": []}}, schema) == [
        "witness.unchanged is missing"
    ]
