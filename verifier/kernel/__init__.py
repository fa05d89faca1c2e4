"""The kernel: an independent checker of certificates. Standard library only, runs alone.

A copy of this folder runs by itself (`python kernel CERT.json`), so imports are relative and
nothing else of blowproof is used. Do not touch its logic without FORMAT.md, which says what a
certificate is, why each kind of proof is one, and what is trusted.

Read `document` (JSON within limits), `boxes` (points and boxes of a grid), `policy`, `query` and
`stack` (what the claim is about), `measure` (the size of a change), `goal` (sizes as rows of whole
numbers), `world` with `joined_boxes` and `independent` (facts, cells, moves and effects), `implied`
(what numbers imply), `witness` (the lower bound), `check` (all of it, and the only maker of an
accepted verdict). Each kind of proof is one file in the folder proofs, `graver` with `graver_basis`
here.
"""

from .check import Verdict, check, check_text
from .document import Unreadable

__all__ = ["Unreadable", "Verdict", "check", "check_text"]
