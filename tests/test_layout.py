"""The shape of the source tree: who may import whom, what is packaged, what may be written."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = "blowproof"
LAYERS = ("models", "verifier", "mechanisms", "cli", "api")  # each may import from those before it
KERNEL = f"{PROJECT}.verifier.kernel"


def module_name(path: Path) -> str:
    """The import name of a file below one of the package folders; `api` is `blowproof` itself."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    inside = parts[1:] if parts[0] == "api" else parts
    return ".".join((PROJECT, *(part for part in inside if part != "__init__")))


def package_of(layer: str) -> str:
    return PROJECT if layer == "api" else f"{PROJECT}.{layer}"


SOURCES = {
    module_name(path): path
    for layer in LAYERS
    for path in sorted((ROOT / layer).rglob("*.py"))
    if "__pycache__" not in path.parts
}
FOLDERS = {name: path.parent.relative_to(ROOT).as_posix() for name, path in SOURCES.items()}
ROOMS = {
    room: [name for name, folder in FOLDERS.items() if folder == room]
    for room in sorted(set(FOLDERS.values()))
}
"""The modules of each folder: one test asks all of them, and names those that fail."""
PACKAGES = sorted(name for name, path in SOURCES.items() if path.name == "__init__.py")


def absolute(name: str, level: int, module: str, is_package: bool) -> str:
    """The whole name of what a module imports with so many dots in front."""
    if not level:
        return name
    parents = module.split(".")
    return ".".join([*parents[: len(parents) - level + is_package], *filter(None, [name])])


def imported_names(code: str, module: str, *, is_package: bool) -> Iterator[str]:
    """Every absolute name that the code imports, at any depth.

    `from a import b` gives both `a` and `a.b`, for b may be a module.
    """
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                base = absolute(node.module or "", node.level, module, is_package)
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                bare = name.lstrip(".")
                yield absolute(bare, len(name) - len(bare), module, is_package)


@cache
def imports_of(module: str) -> list[str]:
    path = SOURCES[module]
    code = path.read_text(encoding="utf-8")
    return list(imported_names(code, module, is_package=path.name == "__init__.py"))


def is_below(name: str, parent: str) -> bool:
    return name == parent or name.startswith(f"{parent}.")


def test_imports_are_found_at_every_depth() -> None:
    code = (
        "import os.path\n"
        "from . import b\n"
        "def f():\n"
        "    from ..cli.main import g\n"
        "    importlib.import_module('blowproof.cli')\n"
        "    importlib.import_module('.c', __package__)\n"
    )
    found = list(imported_names(code, "blowproof.models.a", is_package=False))
    assert set(found) == {
        *("os.path", "blowproof.models", "blowproof.models.b"),
        *("blowproof.cli.main", "blowproof.cli.main.g", "blowproof.cli", "blowproof.models.c"),
    }
    inside = imported_names("from . import b", "blowproof.models", is_package=True)
    assert list(inside) == ["blowproof.models", "blowproof.models.b"]


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room: str) -> None:
    layer = LAYERS.index(room.split("/", maxsplit=1)[0])
    allowed = [package_of(earlier) for earlier in LAYERS[: layer + 1]]
    # A bare `models` would be a second copy of blowproof.models.
    forbidden = (PROJECT, *LAYERS)
    wrong = [
        (module, name)
        for module in ROOMS[room]
        for name in imports_of(module)
        if any(is_below(name, bad) for bad in forbidden)
        and not any(is_below(name, good) for good in allowed)
    ]
    assert not wrong, f"{room} must not import these: {wrong}"


def test_the_kernel_imports_only_the_standard_library() -> None:
    modules = [module for module in SOURCES if is_below(module, KERNEL)]
    foreign = [
        (module, name)
        for module in modules
        for name in imports_of(module)
        if name.split(".")[0] not in sys.stdlib_module_names and not is_below(name, KERNEL)
    ]
    assert modules and not foreign


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for path in SOURCES.values()}
    lacking = [
        str(folder / "__init__.py") for folder in folders if module_name(folder) not in SOURCES
    ]
    assert not lacking


def test_packages_are_typed() -> None:
    assert [name for name in PACKAGES if not SOURCES[name].with_name("py.typed").is_file()] == []


def test_packages_are_all_declared() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        declared = tomllib.load(file)["tool"]["setuptools"]
    assert sorted(declared["packages"]) == sorted([*PACKAGES, f"{PROJECT}.examples"])
    folders = {package_of(layer): layer for layer in LAYERS}
    assert declared["package-dir"] == {**folders, f"{PROJECT}.examples": "examples"}


def test_every_folder_is_watched_for_new_files() -> None:
    """By uv, and by make, which renews the links of the editable install."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        keys = tomllib.load(file)["tool"]["uv"]["cache-keys"]
    watched = [{"file": "pyproject.toml"}, *({"file": f"{f}/**/*.py"} for f in sorted(LAYERS))]
    assert keys == watched
    assert f"PACKAGES := {' '.join(sorted(LAYERS))}\n" in (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.parametrize("room", ROOMS)
def test_modules_are_installed(room: str) -> None:
    for module in ROOMS[room]:
        spec = find_spec(module)
        assert spec is not None and spec.origin is not None, f"{module}: run `make install`"
        assert Path(spec.origin).read_bytes() == SOURCES[module].read_bytes(), module


@pytest.mark.parametrize("room", ROOMS)
def test_all_names_exist_once(room: str) -> None:
    for module in ROOMS[room]:
        if module.endswith(".__main__"):
            continue
        loaded = import_module(module)
        names = getattr(loaded, "__all__", [])
        assert len(names) == len(set(names)), module
        assert [name for name in names if not hasattr(loaded, name)] == [], module


# A slash, one of these words, a slash; not as the tail of a longer path or of a web address.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|root|home|Users)/")
TEXT = {".cfg", ".csv", ".ipynb", ".json", ".md", ".py", ".sh", ".tex", ".toml", ".txt", ".yml"}
GENERATED = {"build", "dist", "__pycache__"}


def written_files() -> Iterator[Path]:
    """The text files that people write, generated and hidden ones left out (but for .ci)."""
    for top in sorted(ROOT.iterdir()):
        hidden = top.name.startswith(".") and top.name not in {".ci", ".gitignore"}
        if hidden or top.name in GENERATED or top.suffix == ".egg-info":
            continue
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            text = path.suffix in TEXT or not path.suffix
            if text and path.is_file() and GENERATED.isdisjoint(path.relative_to(ROOT).parts):
                yield path


def test_no_file_names_a_path_of_some_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in written_files()
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not found


def test_the_image_is_made_of_what_an_install_needs() -> None:
    """What .dockerignore lets through is what pyproject.toml names, and no more."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    let_through = {line[1:] for line in lines if line.startswith("!")}
    needed = {project["project"]["readme"], *project["project"]["license-files"]}
    needed |= set(project["tool"]["setuptools"]["package-dir"].values())
    assert let_through == needed | {"pyproject.toml", "constraints.txt"}
    image = (ROOT / "Dockerfile").read_text("utf-8")
    extras = re.findall(r"/src\[([\w,]+)\]", image)[0].split(",")
    assert set(extras) <= set(project["project"]["optional-dependencies"])
    assert re.findall(r'ENTRYPOINT \["(\w+)"\]', image) == list(project["project"]["scripts"])
