"""Secret graphs as a policy writes them: `[secrets]` with a `kind` and its options.

Constructors check what needs no domain; `bind` checks the rest and returns the graph. Keys in
errors are relative to the `[secrets]` table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import ClassVar, TypeVar

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.toml_values import array, each, text, within
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Region
from blowproof.models.secrets.graph import SecretGraph
from blowproof.models.secrets.spelling import toml

__all__ = [
    "SecretsSpec",
    "ShowRegion",
    "Shown",
    "inside",
    "listed_words",
    "read_names",
    "written_names",
]

Shown = Callable[[object], str]
"""How a name from a file is shown to people."""
ShowRegion = Callable[[Region], dict[str, object]]
"""How a region is written."""
T = TypeVar("T")


class SecretsSpec(ABC):
    """One kind of secrets: what a policy file says, in words, in the schema, and as a graph.

    A new kind is a file beside this one, and a line in `kinds`. Whoever knows nothing but which
    values are joined makes `bind` return a `RuleGraph`: right at once, fast later.
    """

    kind: ClassVar[str]
    keys: ClassVar[tuple[str, ...]] = ()
    """The options that go with the kind."""

    @classmethod
    @abstractmethod
    def read(cls, items: Mapping[str, object]) -> SecretsSpec:
        """Return what a `[secrets]` table says, its `kind` taken out and its keys being known."""

    @abstractmethod
    def bind(self, domain: Domain) -> SecretGraph:
        """Return the graph on a domain."""

    @abstractmethod
    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table."""

    @classmethod
    def schema(cls) -> dict[str, object]:
        """Return the JSON Schema of the table, where the schema file does not have it."""
        kind = {"title": "Kind", "const": cls.kind, "examples": [cls.kind]}
        return {
            "title": cls.kind.capitalize(),
            "description": (cls.__doc__ or cls.kind).split("\n")[0],
            "type": "object",
            "properties": {"kind": kind, **{key: {"title": key.capitalize()} for key in cls.keys}},
            "required": ["kind"],
            "additionalProperties": False,
        }

    def normal(self, domain: Domain, region: ShowRegion) -> dict[str, object]:
        """Return the table in normal form: two that mean the same are written the same."""
        return self.spec()

    @property
    def one_at_a_time(self) -> bool:
        """Whether no edge changes two attributes; not, where nobody knows."""
        return False

    def where_one_value(self, domain: Domain, axes: Collection[int]) -> SecretsSpec | None:
        """Return these secrets among values that agree on some axes; None where nobody knows.

        It is asked where changing a value on these axes takes no two values' edge away.
        """
        return None

    def words(self, shown: Shown) -> str:
        """Return what nobody may find out about a record."""
        return f"what the secrets {toml(self.spec())} say"

    def __repr__(self) -> str:
        return toml(self.spec())


def listed_words(names: Sequence[object], shown: Shown) -> str:
    """Return names as people list them."""
    words = [shown(name) for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def read_names(items: Mapping[str, object], key: str) -> list[str]:
    """Return the attributes that an option of a file names."""
    with within(key):
        return each(array(items[key], of="attribute names", hint=f'write {key} = ["sex"]'), text)


def inside(prefix: str, step: Callable[[], T]) -> T:
    """Return the step's result; a PolicyError gets the prefix to its key."""
    try:
        return step()
    except PolicyError as error:
        raise error.inside(prefix) from None


def written_names(names: Iterable[str], key: str, if_empty: str) -> tuple[str, ...]:
    """Return the attributes that somebody names, each once."""
    if isinstance(names, str):
        raise PolicyError(f"{names!r} is not a list", key=key, hint=f'write ["{names}"]')
    read = tuple(names)
    if not read:
        raise PolicyError("no attribute is named", key=key, hint=if_empty)
    seen: set[str] = set()
    for place, name in enumerate(read):
        if not isinstance(name, str):
            raise PolicyError(f"{name!r} is not an attribute's name", key=f"{key}[{place}]")
        if name in seen:
            raise PolicyError(f"the attribute {name!r} is named twice", key=f"{key}[{place}]")
        seen.add(name)
    return read
