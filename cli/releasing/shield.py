"""From the charge on, a release is carried to its end: what is paid for is not lost to Ctrl-C."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blowproof.mechanisms.budget.accountant import Accountant
    from blowproof.mechanisms.release.request import Request
    from blowproof.models.data.dataset import Dataset

__all__ = ["Charged", "Shield"]

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Shield:
    """Hears signals that ask to end, once it is up, and says so at the end in place of ending.

    Before that, nothing is charged, and Ctrl-C ends the command as ever.
    """

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._before: dict[int, Any] = {}

    def raise_up(self) -> None:
        """Put signals off from now on (in the main thread, which alone hears them)."""
        if self._before or threading.current_thread() is not threading.main_thread():
            return
        for name in SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._hear)

    def tell(self) -> None:
        """Say on stderr that a signal came too late."""
        if self.heard:
            import click

            click.echo(f"{self.heard[0]} came after the charge: the release was finished", err=True)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.heard.append(signal.Signals(number).name)

    def __enter__(self) -> Shield:
        return self

    def __exit__(self, *error: object) -> None:
        """Let signals do again what they did."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()


class Charged:
    """An account that raises a shield before it writes a charge down; else it is the account."""

    def __init__(self, account: Accountant | None, shield: Shield | None) -> None:
        self._account, self._shield = account, shield

    @property
    def number(self) -> int | None:
        """The number of the account."""
        return getattr(self._account, "number", None)

    @property
    def name(self) -> str | None:
        """The name of the account's ledger."""
        return getattr(self._account, "name", None)

    def spend(self, request: Request, mechanism: str, data: Dataset) -> tuple[str, ...]:
        """Write the spending down; from here on the release is finished whatever comes."""
        from blowproof.mechanisms.release.release import NO_ACCOUNT

        if self._shield is not None:
            self._shield.raise_up()
        if self._account is None:
            return (NO_ACCOUNT,)
        return self._account.spend(request, mechanism, data)
