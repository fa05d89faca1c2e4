"""Where in its file a policy is wrong: an error found after reading gets its line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["fact_key", "placed"]


def fact_key(name: str) -> str:
    """Return the key in the file of a fact as errors name it.

    >>> fact_key("known[1] (sex = F)"), fact_key("size")
    ('known[1]', 'database.size')
    """
    return "database.size" if name == "size" else name.partition(" (")[0]


@contextmanager
def placed(path: str) -> Iterator[None]:
    """Add file and line to an error about facts: of several, the last one's."""
    from blowproof.models.base.door import is_standard_input, read_document
    from blowproof.models.base.errors import BlowproofError, ContradictionError, PolicyError
    from blowproof.models.files.toml_lines import key_lines

    try:
        yield
    except PolicyError as error:
        if error.file is None and error.line is None:
            text = ""
            with suppress(BlowproofError):  # standard input, for instance, is read only once
                text = "" if is_standard_input(path) else read_document(path)
            lines = key_lines(text)
            names = error.facts if isinstance(error, ContradictionError) else [error.key]
            places = [lines.line(fact_key(name)) for name in names]
            error.at(file=path, line=max(places, default=1) if text else None)
        raise
