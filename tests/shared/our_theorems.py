"""The tables of our own theorems, put into docs/theorems.md when the site is built.

The statements, their status and their proofs are those of the ledger, of the plan's registry, of
the rooms of theorems and of the closed forms, as they are on the day: nothing is written down
twice. mkdocs calls `on_page_markdown` and `on_post_build` (mkdocs.yml, `hooks`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from pkgutil import iter_modules

from blowproof.cli.report.ledger_pages import pages
from blowproof.verifier import theorems
from blowproof.verifier.claims.ledger import all_claims
from blowproof.verifier.claims.record import recorded
from blowproof.verifier.claims.stating.claim import Claim
from blowproof.verifier.closed_forms import FORMS
from blowproof.verifier.portfolio.registry import THEOREMS
from certified import SEEN

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "theorems",
    *(f"theorems.{room.name}" for room in iter_modules(theorems.__path__) if room.ispkg),
    "reductions",
)
"""Rooms of the verifier whose modules are theorems, each with its proof in its docstring."""
FORM_STATUS = {"repaired": "proved", "conjecture": "conjectured"}
STATUS = {"theorem": "proved", "conjecture": "conjectured", "finding": "looked into"}
MARK = "<!-- our theorems -->"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = (heads, ["---"] * len(heads), *rows)
    bar = "\\|"
    return "".join(f"| {' | '.join(cell.replace('|', bar) for cell in line)} |\n" for line in lines)


def first(text: str | None) -> str:
    """The first paragraph of a docstring in one line: what the module is about."""
    return " ".join((text or "").partition("\n\n")[0].split())


def path(place: str) -> str:
    """A place in the code; lines break behind its slashes, not within words."""
    return f"<code>{place.replace('/', '/<wbr>')}</code>"


def result(claim: Claim) -> list[str]:
    """A result with its checks, as the ledger has it."""
    found = recorded()[claim.id]
    status, says = STATUS[claim.status], claim.statement
    if found["verdict"] == "refuted":
        status, says = "refuted", f"{says} *Not so. Instead:* {claim.repaired}"
    proved = path(claim.proof_in or "verifier/claims/ours") if claim.proof else ""
    shapes = "; ".join(dict.fromkeys(part.family.shapes for part in claim.parts))
    sure = ", each by a certificate" if any(part.kernel for part in claim.parts) else ""
    checked = f"{found['instances']:,} instances{sure}: {shapes}"
    return [claim.id, says, status, proved, checked]


def home(function: Callable[..., object]) -> str:
    """Where a function stands."""
    return path(function.__module__.removeprefix("blowproof.").replace(".", "/"))


def modules(room: str) -> list[str]:
    """The modules of a room of the verifier, in their order."""
    package = import_module(f"blowproof.verifier.{room}")
    return sorted(item.name for item in iter_modules(package.__path__) if not item.ispkg)


@cache
def tested() -> dict[str, str]:
    """The texts of the tests, by file name."""
    return {path.name: path.read_text("utf-8") for path in sorted(ROOT.glob("tests/**/test_*.py"))}


def tests_of(module: str) -> str:
    """The test files that are named after a module, or speak of it."""
    asked = re.compile(rf"\b{re.escape(module)}\b")
    found = [name for name, text in tested().items() if module in name or asked.search(text)]
    return ", ".join(f"`{name}`" for name in found[:2]) or "brute force, on what it decides"


def lemma(room: str, name: str) -> list[str]:
    """A module of a room of theorems."""
    module = f"blowproof.verifier.{room}.{name}"
    return [first(import_module(module).__doc__), path(f"verifier/{room.replace('.', '/')}/{name}"),
            tests_of(module)]  # fmt: skip


def tables() -> str:
    """Return all tables, with their headings."""
    heads = ("result", "it says", "status", "proved in", "checked on")
    ours = [result(claim) for claim in all_claims() if claim.status]
    kinds = {item.name: [seen.kind for seen in SEEN if seen.theorem == item.name]
             for item in THEOREMS}  # fmt: skip
    asked = [
        (item.name, item.does, ", ".join(item.norms), ", ".join(kinds[item.name]))
        for item in THEOREMS
    ]
    forms = [
        (form.id.partition("/")[2], form.statement, FORM_STATUS[form.status], home(form.value))
        for form in FORMS
        if form.id.startswith("blowproof/")
    ]
    rooms = [lemma(room, name) for room in ROOMS for name in modules(room)]
    return "\n".join(
        (
            "## Results, with their checks\n",
            table(heads, ours),
            "## Theorems that bound an answer\n",
            "Asked before any search, in this order. `blowproof explain POLICY --run` says which "
            "of them apply to a question, and what each gave. The kinds of certificates are those "
            "that the tests see.\n",
            table(("name", "what it is about", "norms", "certificates of its answers"), asked),
            "## Where they are proved\n",
            "Each of these modules has its statement and the argument for it in its docstring.\n",
            table(("it says", "proved in", "tested by"), rooms),
            "## Closed forms of our own\n",
            table(("form", "it says", "status", "proved in"), forms),
        )
    )


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the tables in their place; any other page stays as it is."""
    return markdown.replace(MARK, tables()) if MARK in markdown else markdown


def on_post_build(config: Mapping[str, object], **_: object) -> None:
    """Write the pages of the ledger to where the links of CLAIMS.md lead."""
    record = files("blowproof.verifier.claims").joinpath("verdicts.json").read_text("utf-8")
    folder = Path(str(config["site_dir"])) / "build" / "claims"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(record, version("blowproof")).items():
        (folder / name).write_text(text, encoding="utf-8")
