"""Solvers of others, as programs: what they find in a file that `encode` wrote.

`SOLVERS` are Debian's packages. Where one is missing its tests are skipped, unless the environment
says BLOWPROOF_SOLVERS=required, as `.ci/run` does once it has installed them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from blowproof.verifier.export.files import Encoded, Format

SOLVERS = {
    "glpsol": "glpk-utils",
    "cbc": "coinor-cbc",
    "lp_solve": "lp-solve",
    "symphony": "coinor-symphony",
    "minisat": "minisat",
    "cadical": "cadical",
    "picosat": "picosat",
    "depqbf": "depqbf",
    "4ti2-graver": "4ti2",
    "4ti2-hilbert": "4ti2",
}
"""The programs, with the packages that hold them."""


def needs(name: str) -> pytest.MarkDecorator:
    """Skip a test where the program is missing, unless it is required."""
    missing = shutil.which(name) is None and os.environ.get("BLOWPROOF_SOLVERS") != "required"
    return pytest.mark.skipif(missing, reason=f"{name} is not installed (package {SOLVERS[name]})")


def each(*names: str) -> list[ParameterSet]:
    """Parameters of a test that is run by each of these programs."""
    return [pytest.param(name, marks=needs(name)) for name in names]


def _said(*command: str | Path) -> str:
    """What a program prints; SAT solvers exit with 10 or 20, and lp_solve with 2 on no solution."""
    found = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    assert found.returncode in (0, 2, 10, 20), found.stdout + found.stderr
    return found.stdout + found.stderr


# --- the optimum of an LP or MPS file: None without a solution -----------------------------------


def _glpsol(path: Path) -> int | None:
    out = path.with_suffix(".glpk")
    said = _said("glpsol", "--lp", path, "-w", out)
    if "HAS NO PRIMAL FEASIBLE" in said or "HAS NO INTEGER FEASIBLE" in said:
        return None
    (line,) = re.findall(r"^s mip \d+ \d+ (\w) ?(\S*)$", out.read_text(), re.MULTILINE)
    return round(float(line[1])) if line[0] == "o" else _none(line[0] == "n", said)


def _cbc(path: Path) -> int | None:
    out = path.with_suffix(".cbc")
    said = _said("cbc", path, "solve", "solution", out)
    first = out.read_text().splitlines()[0]
    found = re.fullmatch(r"Optimal - objective value (\S+)", first)
    value = None if found is None else round(float(found[1]))
    return abs(value) if value is not None else _none("nfeasible" in first, said)


def _lp_solve(path: Path) -> int | None:
    said = _said("lp_solve", "-fmps", path, "-S3")
    found = re.search(r"Value of objective function: (\S+)", said)
    return round(float(found[1])) if found else _none("infeasible" in said, said)


def _symphony(path: Path) -> int | None:
    said = _said("symphony", "-L", path)
    found = re.findall(r"Solution Cost: (\S+)", said)
    done = "Optimal Solution Found" in said
    return round(-float(found[-1])) if found and done else _none("nfeasible" in said, said)


def _none(infeasible: bool, said: str) -> int | None:
    assert infeasible, said
    return None


OPTIMUM: dict[str, tuple[Callable[[Path], int | None], tuple[Format, ...]]] = {
    "glpsol": (_glpsol, ("lp",)),
    "cbc": (_cbc, ("lp",)),
    "lp_solve": (_lp_solve, ("mps",)),
    "symphony": (_symphony, ("lp",)),
}
"""How to ask each program, and which formats it reads: MPS files are of many kinds (OBJSENSE)."""


def scale(made: Encoded) -> int:
    """The objective is the change times this."""
    words = next(note for note in made.notes if note.startswith("the objective")).split(", times ")
    return int(words[1].split(",")[0]) if len(words) == 2 else 1


# --- whether there is a solution -----------------------------------------------------------------


def satisfiable(name: str, path: Path) -> bool:
    """What minisat, cadical, picosat or depqbf says."""
    said = _said(name, path)
    (word,) = re.findall(r"^(?:s )?(SATISFIABLE|UNSATISFIABLE|SAT|UNSAT)\s*$", said, re.MULTILINE)
    return str(word) in ("SATISFIABLE", "SAT")
