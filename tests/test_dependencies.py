"""What is declared is what is imported, and what is installed is what was pinned."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = DECLARED["project"]
FOLDERS = [ROOT / name for name in DECLARED["tool"]["setuptools"]["package-dir"].values()]


def named(requirement: str) -> str:
    """The normalised name of a requirement: python-sat of "python_sat>=1.8"."""
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def declared(extra: str | None = None) -> set[str]:
    every = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    return set(map(named, every))


@cache  # all modules are parsed for it
def imported(folder: Path) -> set[str]:
    """The names of the libraries that the folder's modules import, at any depth."""
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                found.add(node.module)
    tops = {name.partition(".")[0] for name in found}
    return {name for name in tops if name not in sys.stdlib_module_names and name != "blowproof"}


def test_what_is_imported_is_what_is_declared() -> None:
    """Neither a library too many nor one too few: `peers` and `fast` are used where present."""
    homes = packages_distributions()
    used = {named(homes[name][0]) for folder in FOLDERS for name in imported(folder)}
    assert used - declared("peers") - declared("fast") == declared()


@pytest.mark.parametrize("library", ["opendp", "jsonschema", "pyarrow"])
def test_what_only_tests_use_is_left_to_them(library: str) -> None:
    assert library not in {name for folder in FOLDERS for name in imported(folder)}
    assert library in declared("dev") and library not in declared()


def pins(file: str) -> dict[str, str]:
    """The versions that a file of requirements pins, by normalised name."""
    found = re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / file).read_text("utf-8"), re.M)
    return {named(name): version for name, version in found}


def test_everything_declared_is_pinned() -> None:
    """All but pyspark, which is no wheel: it comes with an extra of Ibis, where there is Java."""
    extras = [declared(extra) for extra in PROJECT["optional-dependencies"]]
    assert declared().union(*extras) <= set(pins("constraints.txt"))


def test_every_pin_has_its_hashes_and_no_place() -> None:
    """A hash names a file wherever it comes from; `make requirements` renews the file."""
    text = (ROOT / "requirements-ci.txt").read_text("utf-8")
    assert pins("requirements-ci.txt") == pins("constraints.txt"), "run `make requirements`"
    entries = re.sub(r"\\\n", "", "\n".join(text.splitlines()[2:]) + "\n").splitlines()
    assert entries.pop(0) == "--only-binary :all:"
    form = re.compile(r"[\w.-]+==[\w.]+(?:\s+--hash=sha256:[0-9a-f]{64})+")
    assert [entry for entry in entries if not form.fullmatch(entry)] == []


def test_no_script_hides_a_library() -> None:
    """Python looks beside a script first: `benchmarks/coverage.py` was what numba then imported."""
    others = {"coverage", *sys.stdlib_module_names, *packages_distributions()}  # numba looks for it
    names = {
        path.stem for folder in ("benchmarks", "tests/shared") for path in (ROOT / folder).iterdir()
    }
    assert names & others <= {"tests", "__pycache__"}
