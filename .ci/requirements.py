"""Print requirements-ci.txt: each version of constraints.txt with the hashes of its files.

    make requirements

The files are those that pip takes, from wherever it is set up to look, on Linux x86-64 with
Python 3.11 and some version of glibc: nearly always one wheel, now and then another on older
machines. No place is written down, since a hash names a file wherever it comes from.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# glibc 2.N of RHEL 8, Debian 11, RHEL 9, Debian 12, Ubuntu 24.04; numpy needs 28.
GLIBC = (28, 31, 34, 36, 39)
HEAD = """\
# Written by `make requirements` from constraints.txt: every version with the SHA-256 of its files
# for Python 3.11 on Linux x86-64. There, `make` installs these files and no others.
--only-binary :all:
"""


def chosen(glibc: int) -> list[tuple[str, str]]:
    """Return (name==version, SHA-256) of each file that pip takes on a machine with this glibc."""
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in range(glibc, 4, -1)]
    platforms += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--report", "-"]
    command += ["--ignore-installed", "--no-deps", "--only-binary", ":all:", "--target", "unused"]
    command += ["--python-version", "3.11", "--implementation", "cp"]
    command += [f"--platform={platform}" for platform in platforms]
    command += ["--requirement", str(ROOT / "constraints.txt")]
    report = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
    return [
        (f"{item['metadata']['name']}=={item['metadata']['version']}", files["hashes"]["sha256"])
        for item in json.loads(report)["install"]
        for files in [item["download_info"]["archive_info"]]
    ]


def main() -> None:
    """Print the file, sorted by name."""
    found: dict[str, set[str]] = {}
    for glibc in GLIBC:
        for pinned, digest in chosen(glibc):
            found.setdefault(pinned, set()).add(digest)
    print(HEAD, end="")
    for pinned in sorted(found, key=str.lower):
        hashes = (f"    --hash=sha256:{digest}" for digest in sorted(found[pinned]))
        print(" \\\n".join([pinned, *hashes]))


if __name__ == "__main__":
    main()
