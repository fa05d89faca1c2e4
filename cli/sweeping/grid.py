"""The grid file: which policies, which questions, and what is claimed of the answers.

policies = ["base.toml", "candidates/*.toml"]   # files and patterns, beside the grid
template = "template.toml"                      # a policy with holes {{name}} ...
[parameters]                                    # ... and what fills them
table = [["sex"], ["sex", "age"]]               # written as TOML: marginal = {{table}}
[parameters.totals]                             # or named pieces of text
none = ""
sex = '[[known]]\\nmarginal = ["sex"]'
[questions]                                     # all optional
queries = ["histogram", "marginal(sex)"]
readings = ["published", "add-remove"]
norms = ["l1", "l2-squared"]
answers = ["any"]                               # default: what each policy says
time_limit = 20                                 # seconds for each question
[[claim]]                                       # optional: what should hold
policies = "base*"                              # a pattern of names, default all
query = "histogram"                             # default all
at_most = 40                                    # or at_least
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path

from blowproof.cli.asking.options import READINGS, SCOPES
from blowproof.cli.sweeping.template import Alternative, filled, holes, settings_of
from blowproof.models import Exact, Policy
from blowproof.models.base.door import read_document, stem
from blowproof.models.base.errors import PolicyError
from blowproof.models.base.toml_values import (
    array,
    check_keys,
    choice,
    each,
    number,
    table,
    text,
    within,
)
from blowproof.models.files.reading import parse_policy
from blowproof.models.files.toml_lines import key_lines, parse_toml
from blowproof.models.files.toml_text import inline
from blowproof.models.norms import NORMS

__all__ = ["Claimed", "Grid", "Source", "read_grid"]

KEYS = ("name", "policies", "template", "parameters", "questions", "claim")
QUESTION_KEYS = ("queries", "readings", "norms", "answers", "time_limit")
CLAIM_KEYS = ("policies", "query", "reading", "norm", "at_most", "at_least")

MOST_POINTS = 100_000
"""Questions in a grid; larger ones are refused with their number before any is asked."""


LABEL = 40
"""Characters of a value that a point is called by."""


@dataclass(frozen=True)
class Source:
    """A policy of the grid: what it is called, its text, where its files lie, its parameters."""

    name: str
    text: str
    folder: str
    file: str
    settings: tuple[tuple[str, str], ...] = ()

    def read(self) -> Policy:
        """Return the policy; what is wrong with it names its file, and the parameters set."""
        try:
            return parse_policy(self.text, name=self.name, file=self.file, folder=Path(self.folder))
        except PolicyError as error:
            if self.settings:
                chosen = ", ".join(f"{name} = {label}" for name, label in self.settings)
                error.reason = f"{error.reason} (with {chosen})"
            raise


@dataclass(frozen=True)
class Claimed:
    """What should hold of every answer that it speaks about."""

    policies: str = "*"
    query: str | None = None
    reading: str | None = None
    norm: str | None = None
    at_most: Exact | None = None
    at_least: Exact | None = None

    def about(self, policy: str, query: str, reading: str, norm: str) -> bool:
        """Whether it speaks about a question."""
        wanted = ((self.query, query), (self.reading, reading), (self.norm, norm))
        return fnmatchcase(policy, self.policies) and all(
            named in (None, found) for named, found in wanted
        )

    def holds(self, lower: Exact, upper: Exact | None) -> bool | None:
        """Whether it holds; None while the bounds leave it open."""
        if self.at_most is not None and lower > self.at_most:
            return False
        if self.at_least is not None and upper is not None and upper < self.at_least:
            return False
        above = self.at_most is None or (upper is not None and upper <= self.at_most)
        below = self.at_least is None or lower >= self.at_least
        return True if above and below else None

    def words(self) -> str:
        """Return the claim in words."""
        parts = [f"S({self.query or 'every query'})"]
        if self.at_least is not None:
            parts.insert(0, f"{self.at_least} <=")
        if self.at_most is not None:
            parts.append(f"<= {self.at_most}")
        return f"{' '.join(parts)} for {self.policies}"


@dataclass(frozen=True)
class Grid:
    """What a grid file says; every policy was found, and none was read yet."""

    name: str
    sources: tuple[Source, ...]
    queries: tuple[str, ...] = ("histogram",)
    readings: tuple[str, ...] = ("published",)
    norms: tuple[str, ...] = ("l1",)
    answers: tuple[str | None, ...] = (None,)
    time_limit: float | None = 60.0
    claims: tuple[Claimed, ...] = field(default=())

    @property
    def size(self) -> int:
        """How many questions there are."""
        each_policy = len(self.queries) * len(self.readings) * len(self.norms) * len(self.answers)
        return len(self.sources) * each_policy


def read_grid(path: str) -> Grid:
    """Return the grid in a file; what is wrong with it is said by file, line and key."""
    written = read_document(path)
    folder = Path(path).parent
    try:
        tables = parse_toml(written)
    except PolicyError as error:
        raise error.at(file=path, line=error.line) from None
    try:
        return _grid(tables, folder, stem(path))
    except PolicyError as error:
        if error.file is None:
            error.at(file=path, line=key_lines(written).line(error.key))
        raise


def _grid(top: dict[str, object], folder: Path, name: str) -> Grid:
    check_keys(top, KEYS)
    if "name" in top:
        with within("name"):
            name = text(top["name"])
    with within("questions"):
        asked = table(top.get("questions", {}))
        check_keys(asked, QUESTION_KEYS)
        queries = _words(asked, "queries", ("histogram",))
        readings = _words(asked, "readings", ("published",), READINGS)
        norms = _words(asked, "norms", ("l1",), tuple(NORMS))
        answers = _words(asked, "answers", (), SCOPES) or (None,)
        limit = _limit(asked)
    each_policy = len(queries) * len(readings) * len(norms) * len(answers)
    sources = (*_files(top, folder), *_templated(top, folder, each_policy))
    if not sources:
        raise PolicyError(
            "there is no policy in this grid", hint='write policies = ["policy.toml"]'
        )
    claims = tuple(each(array(top.get("claim", []), of="tables"), _claim))
    grid = Grid(name, sources, queries, readings, norms, answers, limit, claims)
    _refuse_many(grid.size)
    return grid


def _words(
    asked: dict[str, object],
    key: str,
    default: tuple[str, ...],
    allowed: Sequence[str] | None = None,
) -> tuple[str, ...]:
    if key not in asked:
        return default
    with within(key):
        items = array(asked[key], of="strings")
        if not items:
            raise PolicyError("this is empty", hint="leave the key out, or name one")
        words = each(
            items,
            text if allowed is None else lambda item: choice(item, allowed, what=key.rstrip("s")),
        )
        return tuple(dict.fromkeys(words))


def _limit(asked: dict[str, object]) -> float:
    with within("time_limit"):
        limit = number(asked.get("time_limit", 60))
        if not 0 < limit <= 10**8:
            raise PolicyError(f"{limit} is not a time in seconds above zero")
        return float(limit)


def _files(top: dict[str, object], folder: Path) -> list[Source]:
    """Return the policies that are files; a pattern that matches none is refused."""
    if "policies" not in top:
        return []
    found: dict[str, Source] = {}
    with within("policies"):
        for place, item in enumerate(array(top["policies"], of="paths")):
            with within(f"[{place}]"):
                pattern = text(item)
                paths = [str(folder / pattern)]
                if has_magic(pattern):
                    paths = sorted(map(str, _matching(folder, pattern)))
                    if not paths:
                        raise PolicyError(f"no file matches {pattern!r}", hint="check the folder")
                for path in paths:
                    found[path] = Source(
                        stem(path), read_document(path), str(Path(path).parent), path
                    )
    names = [source.name for source in found.values()]
    twice = [source.name for source in found.values() if names.count(source.name) > 1]
    return [
        source
        if source.name not in twice
        else Source(source.file, source.text, source.folder, source.file)
        for source in found.values()
    ]


def _matching(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the files that a pattern matches, which lies in the folder or begins at the root."""
    path = Path(pattern)
    if path.is_absolute():
        folder, pattern = Path(path.anchor), str(path.relative_to(path.anchor))
    yield from (found for found in folder.glob(pattern) if found.is_file())


def _templated(top: dict[str, object], folder: Path, each_policy: int) -> list[Source]:
    """Return the template with every choice of its parameters."""
    with within("parameters"):
        given = table(top.get("parameters", {}))
        parameters = {}
        for key, value in given.items():
            with within(key):
                parameters[key] = _alternatives(value)
    if "template" not in top:
        if parameters:
            raise PolicyError(
                "there are parameters, and no template",
                key="parameters",
                hint='add template = "..."',
            )
        return []
    with within("template"):
        path = str(folder / text(top["template"]))
    written = read_document(path)
    used = holes(written)
    for name in parameters:
        if name not in used:
            raise PolicyError(
                f"nobody uses this parameter: there is no {{{{{name}}}}} in {path}",
                key=f"parameters.{name}",
                hint="take it away, or use it in the template",
            )
    count, ways = settings_of(parameters)
    _refuse_many(count * each_policy)
    found = []
    for values in ways:
        settings = tuple((name, value.label) for name, value in values.items())
        called = ", ".join(f"{name}={label}" for name, label in settings)
        name = f"{stem(path)}[{called}]" if settings else stem(path)
        try:
            policy = filled(written, values)
        except PolicyError as error:
            raise error.at(file=path, line=error.line) from None
        found.append(Source(name, policy, str(Path(path).parent), path, settings))
    return found


def _alternatives(value: object) -> list[Alternative]:
    if isinstance(value, dict):
        items = [Alternative(key, text(item)) for key, item in value.items()]
    else:
        items = []
        for item in array(value, of="values, or a table of named texts"):
            written = item if isinstance(item, str) else inline(item)
            items.append(
                Alternative(written if len(written) <= 40 else f"{written[:37]}...", written)
            )
    if not items:
        raise PolicyError("this is empty", hint="name at least one value")
    labels = [item.label for item in items]
    if len(set(labels)) < len(labels):
        raise PolicyError("two values are called alike", hint="give them names: a table of texts")
    return items


def _claim(value: object) -> Claimed:
    items = table(value)
    check_keys(items, CLAIM_KEYS)
    words = {}
    for key, allowed in (
        ("policies", None),
        ("query", None),
        ("reading", READINGS),
        ("norm", tuple(NORMS)),
    ):
        if key in items:
            with within(key):
                words[key] = (
                    text(items[key]) if allowed is None else choice(items[key], allowed, what=key)
                )
    ends = {}
    for key in ("at_most", "at_least"):
        if key in items:
            with within(key):
                ends[key] = number(items[key])
    if not ends:
        raise PolicyError("this claims nothing", hint="add at_most or at_least")
    return Claimed(**words, **ends)  # type: ignore[arg-type] # keys are those of the class


def _refuse_many(count: int) -> None:
    if count > MOST_POINTS:
        raise PolicyError(
            f"this grid has {count:,} questions, and a sweep takes {MOST_POINTS:,} at the most",
            hint="fewer values for a parameter, or several grids",
        )
