"""Compiles the searches beforehand: `python -m blowproof.cli.beginning.warm`, after installing.

numba compiles a function at its first call and keeps it on disk. Three small questions call what
questions call: a search over moves, the same again with what a proof of it asks, and a search in
reading 3. With compiled code on disk they take a second of the processor, else some fifteen.
"""

from __future__ import annotations

from blowproof.models import Domain, Labels, Marginal, Policy
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.exact.available import AVAILABLE

__all__ = ["warm"]

SECONDS = 60.0


def warm() -> bool:
    """Ask the questions; return whether there is anything to compile (numba is an extra)."""
    if not AVAILABLE:
        return False
    domain = Domain(a=Labels(["0", "1"]), b=Labels(["0", "1"]), c=Labels(["0", "1"]))
    policy = Policy(domain=domain, known=tuple(Marginal([name]) for name in "abc"))
    sensitivity(policy, engine="search", time_limit=SECONDS)
    certified(policy, engine="search", time_limit=SECONDS)
    sensitivity(policy, reading="add-remove", engine="search", time_limit=SECONDS)
    return True


if __name__ == "__main__":
    print("The searches are compiled." if warm() else "Nothing to compile: numba is not installed.")
