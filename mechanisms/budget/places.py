"""Where ledgers lie: one store for each user, and what may not be one.

The store is `blowproof/ledger.sqlite` in the folder for data that the platform's conventions name:
`$XDG_DATA_HOME` or `~/.local/share` on Linux, `Application Support` on macOS, `%LOCALAPPDATA%` on
Windows. `BLOWPROOF_LEDGER` names another file for all commands, `--ledger` for one. What this
machine remembers about ledgers (`heads`) lies apart, so that one accident does not take both: in
`$XDG_STATE_HOME` or `~/.local/state`, or the folder that `BLOWPROOF_STATE` names.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path

from blowproof.mechanisms.base.errors import LedgerError

__all__ = ["heads_place", "ledger_place", "made_ready"]

LEDGER, STATE = "BLOWPROOF_LEDGER", "BLOWPROOF_STATE"
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # two letters at least: "C:" is a drive


def ledger_place(path: str | Path | None = None) -> Path:
    """Return the file that a ledger lies in (None: the user's store), or refuse what cannot be one.

    It is a regular file of its own, or nothing yet. What lives in memory, a pipe, a device, a link
    or a folder would forget what was spent, or be found under one of its names only.
    """
    written = str(os.environ.get(LEDGER) or "" if path is None else path)
    if path is None and not written:
        return _folder("XDG_DATA_HOME", ".local/share") / "ledger.sqlite"
    if not written or ":memory:" in written or _URI.match(written) or "\0" in written:
        raise LedgerError(_refusal(written, "is not the path of a file"))
    place = Path(written)
    try:
        found = place.lstat()
    except FileNotFoundError:
        found = None
    except OSError as error:
        raise LedgerError(f"{written}: the ledger cannot be used ({error.strerror})") from None
    if found is not None:
        what = _kind(found)
        if what:
            raise LedgerError(_refusal(written, what))
    try:
        return place.parent.resolve() / place.name
    except (OSError, RuntimeError) as error:
        raise LedgerError(f"{written}: the ledger cannot be used ({error})") from None


def _kind(found: os.stat_result) -> str:
    """Say what is wrong with a file as a ledger, or return ""."""
    kinds = {
        stat.S_ISLNK: "is a symbolic link",
        stat.S_ISDIR: "is a folder",
        stat.S_ISFIFO: "is a pipe",
        stat.S_ISSOCK: "is a socket",
        stat.S_ISCHR: "is a device",
        stat.S_ISBLK: "is a device",
    }
    for asked, what in kinds.items():
        if asked(found.st_mode):
            return what
    if found.st_nlink > 1:
        return f"has {found.st_nlink} names (hard links), and a database may have one only"
    return ""


def _refusal(written: str, what: str) -> str:
    return (
        f"the ledger {written!r} {what}: what is spent would be forgotten or mislaid\n"
        "  try: --ledger FILE with a file of its own, or leave it out for your own store"
    )


def heads_place() -> Path:
    """Return the file that keeps what was last seen of each ledger."""
    named = os.environ.get(STATE)
    folder = Path(named).absolute() if named else _folder("XDG_STATE_HOME", ".local/state")
    return folder / "heads.sqlite"


def made_ready(place: Path) -> None:
    """Create the folder and the file, for the user's eyes only, where they do not exist yet."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(place, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise LedgerError(
            f"{place}: the ledger cannot be used ({error.strerror}): nothing was released and "
            f"nothing spent\n  try: --ledger FILE, and {STATE}=FOLDER, where you may write"
        ) from None


def _folder(variable: str, below_home: str) -> Path:
    """Return our folder; a relative path in an XDG variable counts for nothing, as they say."""
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support" / "blowproof"
        if sys.platform == "win32":
            local = os.environ.get("LOCALAPPDATA")
            return Path(local or Path.home() / "AppData" / "Local") / "blowproof"
        named = Path(os.environ.get(variable, ""))
        return (named if named.is_absolute() else Path.home() / below_home) / "blowproof"
    except RuntimeError:
        raise LedgerError(
            f"this user has no home folder to keep a ledger in\n  try: set {LEDGER} and {STATE}"
        ) from None
