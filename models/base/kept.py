"""What is derived from something that does not change, derived once and kept with it.

A `Setting` keeps its classes of values, a `Moves` its effects, and so on; whoever asks again gets
the same. A refusal is kept as well, so that what is too large is refused at once when one part
after the other asks. What was refused for want of time is tried again where there is far more.

A property may be kept with its object too. `functools.cached_property` is not for that: in Python
3.11 it holds one lock for all objects of a class while it derives. A worker that pauses in there
(models/base/clock) would keep all others waiting that need the property of any object, for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar, overload

from blowproof.models.base.clock import now
from blowproof.models.base.errors import BudgetError

__all__ = ["Kept", "cached_property"]

MORE_TIME = 3
"""How many times as much time there must be for another try."""

T = TypeVar("T")


class Kept:
    """Derived things by name, each with what else it depends on.

    >>> kept, made = Kept(), []
    >>> kept.get("squares", lambda: made.append(1) or [1, 4, 9])
    [1, 4, 9]
    >>> kept.get("squares", lambda: made.append(2) or [])
    [1, 4, 9]
    >>> made
    [1]
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._refusals: dict[Hashable, tuple[BudgetError, float | None]] = {}

    def get(self, key: Hashable, make: Callable[[], T], *, deadline: float | None = None) -> T:
        """Return what `make` returns, or returned before; a BudgetError is raised again.

        `deadline` (a time of `now`): `make` may refuse for want of time.
        """
        if key in self._values:
            value: T = self._values[key]
            return value
        self.repeat(key, deadline)
        started = now()
        try:
            value = self._values[key] = make()
        except BudgetError as refusal:
            self._refusals[key] = refusal, None if deadline is None else now() - started
            raise
        return value

    def found(self, key: Hashable) -> Any:
        """Return what is kept under a key, or None."""
        return self._values.get(key)

    def put(self, key: Hashable, value: object) -> None:
        """Keep something that was derived elsewhere."""
        self._values[key] = value

    def repeat(self, key: Hashable, deadline: float | None) -> None:
        """Raise what was raised for this key before, unless there is far more time now."""
        refusal, seconds = self._refusals.get(key, (None, None))
        if refusal is None:
            return
        again = deadline is None or deadline - now() > MORE_TIME * (seconds or 0.0)
        if seconds is None or not again:
            raise type(refusal)(str(refusal))


class cached_property(Generic[T]):  # noqa: N801 # named as what it stands for
    """A property that is derived when it is first asked for, without a lock.

    >>> class Square:
    ...     @cached_property
    ...     def side(self):
    ...         print("derived")
    ...         return 2
    >>> square = Square()
    >>> square.side + square.side
    derived
    4
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self._name = make, make.__name__
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> T | cached_property[T]:
        if instance is None:
            return self
        value = self._make(instance)
        vars(instance)[self._name] = value
        return value
