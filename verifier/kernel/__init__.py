"""The kernel: an independent checker of certificates. Standard library only, runs alone.

Reading order: FORMAT.md (what a certificate is, why each kind of proof is one, what is trusted),
`document` (JSON within limits), `boxes`, `policy` and `query` (what the claim is about), `world`
(facts, cells, moves and effects), `witness` (the lower bound), `tree` (the upper bound of the main
kind), `check` (all of it, and the only maker of an accepted verdict). Each further kind of proof is
one file, imported when a certificate is of that kind: `cycles`, `single`, `four`, `every`,
`branching`, `graver` (with `lifting`), `merged`.
"""

from .check import Verdict, check, check_text
from .document import Unreadable

__all__ = ["Unreadable", "Verdict", "check", "check_text"]
