"""Where the kernel refuses what a writer asks it for, the writer has no more proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec

from blowproof.verifier.kernel.document import Rejected

__all__ = ["unless_refused"]

Of = ParamSpec("Of")
Proofs = Iterator[dict[str, Any]]


def unless_refused(writer: Callable[Of, Proofs]) -> Callable[Of, Proofs]:
    """Return a writer that ends, after what it has yielded, where the kernel refuses something."""

    @wraps(writer)
    def written(*args: Of.args, **kwargs: Of.kwargs) -> Proofs:
        try:
            yield from writer(*args, **kwargs)
        except Rejected:
            return

    return written
