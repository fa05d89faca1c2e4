"""All irreducibles, streamed."""

from __future__ import annotations

from collections.abc import Iterator

from blowproof.verifier.engines.irreducibles.choice import engines, identity
from blowproof.verifier.engines.irreducibles.multiset import Multiset, canonical
from blowproof.verifier.engines.irreducibles.search import Clock, explore
from blowproof.verifier.exact.coordinates import Instance

__all__ = ["Enumeration"]


class Enumeration:
    """Irreducibles, each once, as an iterator; `complete` if it has run out and none is missing."""

    def __init__(
        self,
        instance: Instance,
        *,
        limit: int | None = None,
        time_limit: float | None = None,
        largest: int | None = None,
    ) -> None:
        self.complete = False
        self._limit = limit
        self._multisets = self._run(instance, time_limit, largest)
        self._yielded = 0

    def __iter__(self) -> Iterator[Multiset]:
        return self

    def __next__(self) -> Multiset:
        if self._limit is not None and self._yielded >= self._limit:
            raise StopIteration
        multiset = next(self._multisets)
        self._yielded += 1
        return multiset

    def _run(
        self, instance: Instance, time_limit: float | None, largest: int | None
    ) -> Iterator[Multiset]:
        clock = Clock(time_limit)
        if not instance.effects:
            self.complete = True
            return
        for engine, most_nodes in engines(
            instance, identity(instance), largest=largest, eager=False
        ):
            found = explore(instance, engine, clock, most_nodes)
            # What an engine finds that only gets a try counts if it ends: the next starts afresh.
            members = found if most_nodes is None else list(found)
            if most_nodes is not None and not found.complete and not clock.expired:
                continue
            yield from map(canonical, members)
            self.complete = found.complete
            return
