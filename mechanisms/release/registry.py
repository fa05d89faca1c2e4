"""The mechanisms by name: what `--mechanism` may say.

A mechanism is a `Plan` built from a `Request`. To add one, write a class in a file of its own and
give it a line here; the file is imported only when it is asked for.
"""

from __future__ import annotations

from importlib import import_module

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.release import Plan, Request
from blowproof.models import QueryError
from blowproof.models.base.errors import nearest

__all__ = ["MECHANISMS", "plan", "unproved"]

MECHANISMS: dict[str, tuple[str, str]] = {
    "laplace": ("laplace", "Laplace"),
    "gaussian": ("laplace", "Gaussian"),
    "ordered": ("ordered", "Ordered"),
    "hierarchical": ("hierarchical", "Hierarchical"),
    "consistent": ("consistent", "Consistent"),
    "k-norm": ("k_norm", "KNorm"),
    "k-means": ("kmeans", "KMeans"),
    "steps": ("steps", "Steps"),
    "quadtree": ("quadtree", "Quadtree"),
    "strategy": ("strategy", "Strategy"),
    "table": ("table", "Table"),
    "transformed": ("transformed", "Transformed"),
    "dawa": ("data_dependent", "Dawa"),
    "dawa-transformed": ("data_dependent", "DawaTransformed"),
    "matching-transformed": ("data_dependent", "MatchingTransformed"),
}
"""Name -> (file, class)."""


def plan(name: str, request: Request) -> Plan:
    """Return a mechanism made ready for a request, or refuse the name with the nearest one.

    What makes it ready looks at the request's deadline wherever it asks for a sensitivity. What
    nothing proves private is refused here, before the data are opened.
    """
    made = unproved(name, request)
    proved(made)
    return made


def unproved(name: str, request: Request) -> Plan:
    """Return a mechanism as it would be: to see what it would be worth, before it is proved.

    Nothing is drawn by it but what the gate proves when it comes to that.
    """
    if name not in MECHANISMS:
        hint = nearest(name, MECHANISMS, what="mechanism")
        raise QueryError(f"there is no mechanism {name!r}\n  try: {hint}")
    _ = request.left  # refused where no time is left
    file, kind = MECHANISMS[name]
    made = getattr(import_module(f"blowproof.mechanisms.kinds.{file}"), kind)(request)
    if not isinstance(made, Plan):  # pragma: no cover
        raise RefusedError(f"{name} is not a mechanism")
    return made
