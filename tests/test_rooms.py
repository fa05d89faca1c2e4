"""The rooms: who may import from whom, how large they are, and what is written about them.

A room is a folder with modules. `python tests/test_rooms.py` writes the reading order in
CONTRIBUTING.md anew, from the docstrings of the rooms.
"""

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_MODULES = 15
ROOMS = (
    "models/base",
    "models/domain",
    "models/secrets",
    "models/facts",
    "models/data",
    "models/policy",
    "models/files",
    "models/programs",
    "models/norms",
    "models/queries",
    "models/stacks",
    "models/attackers",
    "models/mechanisms",
    "models",
    "verifier/limits",
    "verifier/databases",
    "verifier/exact",
    "verifier/kernel",
    "verifier/asked",
    "verifier/kernel/proofs",
    "verifier/kernel/proofs/lengths",
    "verifier/kernel/odds",
    "verifier/neighbours",
    "verifier/moves",
    "verifier/engines/policy_graph",
    "verifier/engines/irreducibles/arrays",
    "verifier/engines/irreducibles",
    "verifier/engines/farmed",
    "verifier/engines/graver",
    "verifier/engines/histograms",
    "verifier/engines/labelled",
    "verifier/engines/search",
    "verifier/engines/one_move",
    "verifier/reductions",
    "verifier/theorems/values",
    "verifier/theorems/lengths",
    "verifier/theorems",
    "verifier/theorems/families",
    "verifier/engines",
    "verifier/witnesses",
    "verifier/witnesses/frames",
    "verifier/portfolio",
    "verifier/export",
    "verifier/proofs/cases",
    "verifier/proofs/lengths",
    "verifier/proofs",
    "verifier",
    "verifier/certify/base",
    "verifier/certify/channels",
    "verifier/certify/noise",
    "verifier/certify/selections",
    "verifier/certify/measures",
    "verifier/certify",
    "verifier/odds/base",
    "verifier/odds/families",
    "verifier/odds",
    "verifier/certify/printed",
    "verifier/closed_forms/stating",
    "verifier/closed_forms/blowfish",
    "verifier/closed_forms/cuboids",
    "verifier/closed_forms/ours",
    "verifier/closed_forms",
    "verifier/claims/stating",
    "verifier/claims/blowfish/section_8",
    "verifier/claims/blowfish",
    "verifier/claims/blowfish/trees",
    "verifier/claims/cuboids",
    "verifier/claims/designing",
    "verifier/claims/pufferfish",
    "verifier/claims/data_dependent",
    "verifier/claims/ours",
    "verifier/claims",
    "mechanisms/base",
    "mechanisms/noise",
    "mechanisms/parts",
    "mechanisms/answers",
    "mechanisms/structures",
    "mechanisms/estimates",
    "mechanisms/release",
    "mechanisms/budget",
    "mechanisms/kinds",
    "mechanisms/expecting",
    "mechanisms/combining",
    "mechanisms/planning",
    "mechanisms",
    "cli/text",
    "cli/asking",
    "cli/audit",
    "cli/audit/shown",
    "cli/report",
    "cli/sweeping",
    "cli/releasing",
    "cli/commands",
    "cli/beginning",
    "cli/serving/vendored",
    "cli/serving",
    "cli",
)
"""Each room imports from those before it, never from those after it, not even inside a function."""
BY_NAME = {("mechanisms/release/gate.py", "mechanisms/kinds")}
"""The exceptions: what a module looks up by name when it is asked. To become fewer, not more."""


def modules_of(room: str) -> set[str]:
    """The modules that lie in a room itself, not in a room of its own below it."""
    return {path.stem for path in (ROOT / room).glob("*.py")} - {"__init__", "__main__"}


@cache
def docstring(room: str) -> str:
    return ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text("utf-8"))) or ""


def reading_order(room: str) -> list[str]:
    """The modules of a room in the order in which its docstring names them first."""
    modules = modules_of(room)
    named = (word for word in re.findall(r"`(\w+)`", docstring(room)) if word in modules)
    return list(dict.fromkeys(named))


def imports_and_classes(code: str) -> tuple[list[ast.ImportFrom], list[str]]:
    """The imports from modules, and the names of classes, at any depth."""
    found = list(ast.walk(ast.parse(code)))
    imports = [node for node in found if isinstance(node, ast.ImportFrom)]
    return imports, [node.name for node in found if isinstance(node, ast.ClassDef)]


@cache
def held(path: Path) -> tuple[list[ast.ImportFrom], list[str]]:
    """Those of a file, which is parsed once for all that is asked of it."""
    return imports_and_classes(path.read_text("utf-8"))


def rooms_named(imports: list[ast.ImportFrom], room: str) -> Iterator[str]:
    """The rooms from which a module of this room imports."""
    for node in imports:
        parts = (node.module or "").split(".") if node.module else []
        if node.level:
            home = room.split("/")
            base = "/".join([*home[: len(home) - node.level + 1], *parts])
        elif parts[:1] == ["blowproof"]:
            base = "/".join(parts[1:])
        else:
            continue
        for alias in node.names:
            below = f"{base}/{alias.name}"
            if below in ROOMS:
                yield below
            else:
                yield base if base in ROOMS else base.rpartition("/")[0]


def test_imports_between_rooms_are_found() -> None:
    code = (
        "from blowproof.models import Policy\n"
        "from blowproof.models.base.errors import PolicyError\n"
        "def f():\n    from blowproof.verifier import kernel\n"
        "    from .world import World\n    from ..document import want\n"
        "    import json\n"
    )
    assert set(rooms_named(imports_and_classes(code)[0], "verifier/kernel/proofs")) == {
        *("models", "models/base", "verifier/kernel", "verifier/kernel/proofs"),
    }


def test_all_rooms_are_listed_once() -> None:
    tops = sorted({room.split("/")[0] for room in ROOMS})
    found = {p.parent.relative_to(ROOT).as_posix() for t in tops for p in (ROOT / t).rglob("*.py")}
    assert sorted(ROOMS) == sorted(found - {"__pycache__"}), "a new room needs its place in ROOMS"


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_from_those_before_them(room: str) -> None:
    allowed = set(ROOMS[: ROOMS.index(room) + 1])
    wrong = {}
    for path in sorted((ROOT / room).glob("*.py")):
        by_name = {to for file, to in BY_NAME if file == f"{room}/{path.name}"}
        later = set(rooms_named(held(path)[0], room)) - allowed - by_name - {""}
        if later:
            wrong[path.name] = later
    assert not wrong, f"{room} must not import from rooms that come after it: {wrong}"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_not_too_large(room: str) -> None:
    assert len(modules_of(room)) <= MOST_MODULES


def test_tests_have_rooms_as_well() -> None:
    found = Counter(path.parent for path in (ROOT / "tests").rglob("*.py"))
    assert {room: many for room, many in found.items() if many > MOST_MODULES} == {}


def test_the_files_that_take_longest_are_there(pytestconfig: pytest.Config) -> None:
    plugins = pytestconfig.pluginmanager.get_plugins()
    (names,) = [plugin.LONG_FILES for plugin in plugins if hasattr(plugin, "LONG_FILES")]
    found = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    assert set(names) <= found and len(set(names)) == len(names)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_lives_in_it(room: str) -> None:
    text = docstring(room)
    first, rest = text.split("\n", 1)
    assert first.endswith((".", "?"))
    assert len(rest.split()) >= 10, "say what may be touched, and in which order to read"
    lacking = modules_of(room) - set(reading_order(room))
    assert not lacking, f"name them in {room}/__init__.py"


def page() -> str:
    """The reading order of all rooms, from their docstrings."""
    lines: list[str | None] = []
    top = ""
    for room in ROOMS:
        if room.split("/")[0] != top:
            top = room.split("/")[0]
            lines += ["" if lines else None, f"### {top}", ""]
        first = docstring(room).split("\n", 1)[0]
        order = ", ".join(reading_order(room))
        text = f"- `{room}/`: {first}" + (f" *{order}*" if order else "")
        lines += textwrap.wrap(text, 110, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(line for line in lines if line is not None)


BLOCK = re.compile(r"(<!-- rooms: [^\n]*-->\n).*?(<!-- end of rooms -->)", re.DOTALL)


def test_the_reading_order_is_that_of_the_docstrings() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert f"\n{page()}\n" in text, "run `python tests/test_rooms.py`"


ONE_MEANING = {
    "Board": "verifier/portfolio/bounds.py",
    "Bounds": "verifier/portfolio/bounds.py",
    "Budget": "models/base/clock.py",
    "Clock": None,
    "Placing": None,
    "Plain": None,
    "Problem": "verifier/portfolio/problem.py",
    "Question": "verifier/asked/question.py",
    "Reason": "verifier/portfolio/bounds.py",
    "Search": None,
}
"""Words that once had many meanings, and the one class that is called so (None: none is)."""
ELSEWHERE = ("verifier/kernel/", "mechanisms/release/release.py")
"""The kernel stands alone; a release's budget is of epsilon, not of work."""


def test_one_word_has_one_meaning() -> None:
    found: dict[str, list[str]] = {word: [] for word in ONE_MEANING}
    for room in ROOMS:
        for path in sorted((ROOT / room).glob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            for defined in () if name.startswith(ELSEWHERE) else held(path)[1]:
                found.get(defined.lstrip("_"), []).append(name)
    assert found == {word: [where] if where else [] for word, where in ONE_MEANING.items()}


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_what_a_page_names_is_there(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    tops = {path.name for path in ROOT.iterdir() if path.is_dir()}
    paths = [
        path for path in re.findall(r"`([\w./-]+/[\w./-]*)`", text) if path.split("/")[0] in tops
    ]
    assert len(paths) > 4
    assert [path for path in paths if not (ROOT / path).exists()] == []


if __name__ == "__main__":
    contributing = ROOT / "CONTRIBUTING.md"
    old = contributing.read_text("utf-8")
    new = BLOCK.sub(lambda match: f"{match[1]}\n{page()}\n\n{match[2]}", old)
    contributing.write_text(new, "utf-8")
