"""Temporary files of a process that was killed are gone at the next start; nobody else's are."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from blowproof.models import Domain, Integers
from blowproof.models.base.temporary import FILE, prefix, sweep
from blowproof.models.data.dataset import Dataset

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="nothing tells which processes live"
)

CHILD = """
import sys, time
from pathlib import Path
from blowproof.mechanisms.release.publish import OutputFile
from blowproof.models.data.tabular import Table

folder = Path(sys.argv[1])
table = Table(folder / "d.csv")
output = OutputFile(folder / "out.csv")
(folder / "ready").touch()
time.sleep(600)
"""


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder of its own for temporary files, and one for data."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "d.csv").write_text("x\n1\n2\n")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    sweep.cache_clear()
    yield tmp_path
    sweep.cache_clear()


def started(room):
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(room)])
    while not (room / "ready").exists():
        assert child.poll() is None
        time.sleep(0.01)
    return child


def left(room):
    return sorted(
        path.name for path in (*(room / "tmp").iterdir(), *room.iterdir())
        if path.name.startswith(("blowproof-", ".blowproof-"))
    )  # fmt: skip


def opened(room):
    """What a start does: it reads data, and gets ready to write."""
    from blowproof.mechanisms.release.publish import OutputFile

    sweep.cache_clear()
    with Dataset(room / "d.csv", Domain(x=Integers(0, 3))) as data:
        assert data.size == 2
        OutputFile(room / "other.csv").discard()


def test_what_a_killed_process_left_is_gone_at_the_next_start(room):
    child = started(room)
    try:
        assert len(left(room)) == 2
        opened(room)
        assert len(left(room)) == 2, "the child lives, and its files are its own"
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    assert len(left(room)) == 2
    opened(room)
    assert left(room) == []


def test_what_is_not_ours_or_not_that_of_a_process_stays(room):
    machine, number, began = prefix(FILE).removeprefix(FILE).split("-")[:3]
    dead = "0" * 16
    kept = [
        f".blowproof-{'0' * 8}-{number}-{dead}-abc",  # of another machine
        f".blowproof-{machine}-{number}-{began}-abc",  # of this very process
        ".blowproof-abc",  # of an earlier version
        f"x.blowproof-{machine}-{number}-{dead}-abc",
    ]
    for name in kept:
        (room / name).touch()
    gone = room / f".blowproof-{machine}-{number}-{dead}-abc"  # the number was used again
    gone.touch()
    link = room / f".blowproof-{machine}-{number}-{dead}-link"
    link.symlink_to(room / "d.csv")
    assert sweep(str(room), FILE) == 1
    assert not gone.exists() and link.is_symlink() and (room / "d.csv").exists()
    assert all((room / name).exists() for name in kept)


def test_a_link_in_a_folder_that_was_left_is_not_followed(room):
    left_over = room / "tmp" / prefix().replace(prefix().split("-")[3], "f" * 16)
    target = Path(f"{left_over}abc")
    target.mkdir()
    (target / "data.csv").symlink_to(room / "d.csv")
    (target / "folder").symlink_to(room)
    assert sweep() == 1
    assert not target.exists() and (room / "d.csv").read_text() == "x\n1\n2\n"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives away")
def test_another_user_s_files_stay(room):
    name = prefix().replace(prefix().split("-")[3], "f" * 16) + "abc"
    theirs = room / "tmp" / name
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    assert sweep() == 0 and theirs.exists()
    shutil.rmtree(theirs)
