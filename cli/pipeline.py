"""Many policies audited in a pipeline: what the pre-commit hook and the GitHub Action run.

    python -m blowproof.cli.pipeline [--sarif FOLDER] [OPTION ...] POLICY ...

Options go on to `blowproof audit`, each as one word (--planned-scale=4). A line is printed for each
policy; with --sarif, its findings are written to a file of its own. The exit code is the gravest:
2 (bad input) above 1 (a plan is too small) above 3 (undecided in time).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from blowproof.cli.asking.errors import Exit

__all__ = ["audit_all", "main"]

GRAVEST = (Exit.BAD_INPUT, Exit.NO, Exit.UNDECIDED, Exit.OK)
WORDS = {
    Exit.OK: "audited",
    Exit.NO: "what is planned is too small",
    Exit.BAD_INPUT: "not understood",
    Exit.UNDECIDED: "undecided in time",
}


def audit_all(policies: Sequence[str], options: Sequence[str], sarif: str | None) -> Exit:
    """Audit each policy, say how it went, and return the gravest exit code."""
    codes = [Exit.OK]
    for policy in policies:
        form = ["--format", "sarif"] if sarif is not None else []
        code, out, err = _run(["audit", policy, *options, *form])
        codes.append(code)
        print(f"{policy}: {WORDS[code]}")
        if err or (code != Exit.OK and sarif is None):
            print(err or out)
        if sarif is not None and out:
            name = policy.replace("/", "_").replace("\\", "_")
            place = Path(sarif) / f"{name}.sarif"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(out, encoding="utf-8")
    return min(codes, key=GRAVEST.index)


def _run(words: Sequence[str]) -> tuple[Exit, str, str]:
    from blowproof.cli.main import run

    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = Exit(run(words))
    return code, out.getvalue(), err.getvalue()


def main(words: Sequence[str]) -> Exit:
    """Read the command line, and return its exit code."""
    given = list(words)
    sarif = None
    if "--sarif" in given[:-1]:
        place = given.index("--sarif")
        sarif = given[place + 1]
        del given[place : place + 2]
    options = [word for word in given if word.startswith("--")]
    return audit_all([word for word in given if not word.startswith("--")], options, sarif)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
