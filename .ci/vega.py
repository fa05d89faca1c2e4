"""Write vega.js, which draws the workbench's plots, from packages of npm; needs npm, and network.

    python .ci/vega.py            the versions of versions.json, which give the same file again
    python .ci/vega.py --renew    the newest versions

The packages come from wherever npm is set up to look. Each is checked against the digest that
versions.json has for it, so no place is written down. No script of a package is run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

ROOM = Path(__file__).resolve().parent.parent / "cli/serving/vendored"
VERSIONS = ROOM / "versions.json"
BUNDLER = "esbuild"
WANTED = ("vega", "vega-lite", "vega-interpreter")
ENTRY = """\
export { View, parse } from "vega";
export { compile } from "vega-lite";
export { expressionInterpreter } from "vega-interpreter";
"""
FLAGS = ("--bundle", "--minify", "--format=esm", "--target=es2020", "--charset=utf8",
         "--legal-comments=none", "--metafile=meta.json", "--outfile=vega.js")  # fmt: skip


def installed(folder: Path, recorded: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Install packages; return the version and digest of each, refusing other digests."""
    pinned = [f"{name}@{item['version']}" for name, item in recorded.items()]
    (folder / "package.json").write_text('{"private": true}', "utf-8")
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"]
    subprocess.run([*command, *(pinned or [*WANTED, BUNDLER])], check=True, cwd=folder)
    lock = json.loads((folder / "package-lock.json").read_text("utf-8"))["packages"]
    found = {
        place.removeprefix("node_modules/"): {
            "version": item["version"],
            "integrity": item["integrity"],
        }
        for place, item in lock.items()
        if place.startswith("node_modules/")
    }
    for name, item in recorded.items():
        if found.get(name) != item:
            sys.exit(f"{name} is not what versions.json says: {found.get(name)}")
    return found


def bundled(folder: Path) -> set[str]:
    """Write the bundle in the folder; return the packages that are in it."""
    (folder / "entry.js").write_text(ENTRY, "utf-8")
    program = folder / "node_modules" / BUNDLER / "bin" / BUNDLER
    subprocess.run(["node", program, "entry.js", *FLAGS], check=True, cwd=folder)
    (output,) = json.loads((folder / "meta.json").read_text("utf-8"))["outputs"].values()
    inside = [place.rpartition("node_modules/")[2] for place in output["inputs"]]
    return {place.partition("/")[0] for place in inside if "/" in place}


def licences(folder: Path, names: list[str], found: dict[str, dict[str, str]]) -> str:
    """Return the licence of each package; packages with the same one stand together."""
    texts: dict[str, list[str]] = {}
    for name in names:
        (file,) = sorted((folder / "node_modules" / name).glob("LICENSE*"))[:1] or [None]
        if file is None:
            sys.exit(f"{name} has no licence in its package")
        text = "\n".join(line.rstrip() for line in file.read_text("utf-8").strip().splitlines())
        texts.setdefault(text, []).append(f"{name} {found[name]['version']}")
    rule = "=" * 100
    return "".join(f"{rule}\n{', '.join(who)}\n\n{text}\n\n" for text, who in texts.items())


def main() -> None:
    """Write vega.js, licences.txt and versions.json."""
    known = json.loads(VERSIONS.read_text("utf-8")) if VERSIONS.exists() else {}
    recorded = {} if "--renew" in sys.argv else {**known["packages"], **known["made_by"]}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        found = installed(folder, recorded)
        names = sorted(bundled(folder))
        files = {
            "licences.txt": licences(folder, names, found).encode(),
            "vega.js": (folder / "vega.js").read_bytes(),
        }
    for name, content in files.items():
        (ROOM / name).write_bytes(content)
    record = {
        "files": {name: sha256(content).hexdigest() for name, content in files.items()},
        "packages": {name: found[name] for name in names},
        "made_by": {BUNDLER: found[BUNDLER]},
    }
    VERSIONS.write_text(json.dumps(record, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
