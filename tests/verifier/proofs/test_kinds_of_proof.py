"""A kind of proof has a file in the kernel, a section in FORMAT.md, and a writer of its name."""

import re
from pathlib import Path

from blowproof.verifier.kernel.check import KINDS

VERIFIER = Path(__file__).resolve().parents[3] / "verifier"
KERNEL, WRITERS = VERIFIER / "kernel", VERIFIER / "proofs"
SERVES = {
    "irreducible_parts": "irreducible",
    "lengths.plane": "lengths.beside",
    "lengths.squares": "lengths.beside",
    "lengths.labels": "lengths.beside",
}
"""Files beside that of a kind, and the kind that they serve."""
WITHOUT_CHOICE = {
    "exchanges",
    "secret_arc",
    "determined",
    "single_move",
    "cycles",
    "every_database",
    "four_cells",
}
"""Kinds that hold nothing but their name: one file writes them."""
FRAME = {
    "__init__",
    "claim",
    "implied",
    "write",
    "without_choice",
    "lengths.__init__",
    "lengths.kept",
    "lengths.refused",
}


def names(folder):
    found = {path.stem for path in folder.glob("*.py")}
    found |= {f"lengths.{path.stem}" for path in folder.glob("lengths/*.py")}
    return found - FRAME - SERVES.keys()


def file_of(folder, name):
    return folder / f"{name.replace('.', '/')}.py"


def test_every_kind_has_its_file_in_the_kernel():
    assert names(KERNEL / "proofs") == set(KINDS.values())
    for kind, file in KINDS.items():
        assert file.removesuffix("_move").removeprefix("lengths.") == kind.replace("-", "_")


def test_every_kind_has_a_writer_of_the_same_name():
    assert names(WRITERS) == set(KINDS.values()) - WITHOUT_CHOICE
    for kind, file in KINDS.items():
        beside = [name for name, served in SERVES.items() if served == file]
        writer = "without_choice" if file in WITHOUT_CHOICE else file
        texts = [file_of(WRITERS, name).read_text() for name in (writer, *beside)
                 if file_of(WRITERS, name).exists()]  # fmt: skip
        assert any(f'"kind": "{kind}"' in text for text in texts), kind


def test_every_kind_is_refuted_by_one_function():
    for file in KINDS.values():
        assert re.search(r"^def refute\(", file_of(KERNEL / "proofs", file).read_text(), re.M)


def test_every_kind_has_its_section_in_the_format():
    text = (KERNEL / "FORMAT.md").read_text(encoding="utf-8")
    sections = re.findall(r"^##+ Kind `([a-z-]+)`", text, re.M)
    assert sorted(sections) == sorted(KINDS)


def test_the_format_says_how_long_each_file_of_the_kernel_is():
    text = (KERNEL / "FORMAT.md").read_text(encoding="utf-8")
    named = set()
    rows = []
    for line, told in re.findall(r"^\| (`[^|]*) \| (\d+) \|", text, re.M):
        files = re.findall(r"`([^`]+)`", line)
        rows.append(sum(len((KERNEL / file).read_text().splitlines()) for file in files))
        assert abs(int(told) - rows[-1]) <= rows[-1] // 10, (line, rows[-1])
        named |= set(files)
    said = r"first eight rows are the core, some ([\d,]+) lines of ([\d,]+)"
    ((core, whole),) = re.findall(said, text)
    for told, long in ((core, sum(rows[:8])), (whole, sum(rows))):
        assert abs(int(told.replace(",", "")) - long) < 500, (told, long)
    every = {str(path.relative_to(KERNEL)) for path in KERNEL.rglob("*.py")}
    assert {name for name in every - named if "/__init__" not in name} == set()
