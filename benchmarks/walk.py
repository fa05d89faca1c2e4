"""Which modules does a command go through, and how often from one to another?

python benchmarks/walk.py sensitivity examples/hospital.toml

The command runs twice in this process: what is imported, compiled or kept at the first time is no
part of the walk. Prints the modules of ours that it enters, the calls from one of them to another,
how often a table of classes was asked for and how often one was made, and seconds of processor
time (a profiler slows it down some ten times). With the interpreter of another version, by the
path of this file, it walks through that one.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time
from collections import Counter
from functools import cache
from types import CodeType, FrameType

from blowproof.cli import main as cli
from blowproof.cli.main import run

OURS = str(cli.__file__).removesuffix("cli/main.py")
TABLES = ("class_table", "_class_table")
"""Where a table of classes is asked for, and where one is made (it is kept between)."""


@cache
def place(code: CodeType) -> str:
    """Return the file that code of ours stands in; "" for that of others."""
    name = code.co_filename
    return name.removeprefix(OURS) if name.startswith(OURS) else ""


class Walk:
    """What was entered, from where."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.asked: Counter[str] = Counter()
        self.crossed = 0

    def entered(self, frame: FrameType, event: str, _: object) -> None:
        """Count one call."""
        here = place(frame.f_code) if event == "call" else ""
        if not here:
            return
        self.modules.add(here)
        self.asked[frame.f_code.co_name] += 1
        before = "" if frame.f_back is None else place(frame.f_back.f_code)
        self.crossed += before not in ("", here)


def main() -> None:
    """Run the command twice, and tell of the second time."""
    words, walk = sys.argv[1:], Walk()
    with contextlib.redirect_stdout(io.StringIO()):
        run(words)
        begun = time.process_time()
        threading.setprofile(walk.entered)
        sys.setprofile(walk.entered)
        code = run(words)
        sys.setprofile(None)
    tables = " and ".join(str(walk.asked[name]) for name in TABLES)
    print(f"{' '.join(words)}: exit {code}, {len(walk.modules)} modules, {walk.crossed:,} calls")
    print(f"tables of classes asked for and made: {tables}")
    print(f"{time.process_time() - begun:.1f} s of CPU")


if __name__ == "__main__":
    main()
