"""Closed forms for S(f, P): as printed in the papers, and repaired where they are wrong.

They are compared with the exact answer and never decide one. A room for each paper, and
`designing` for designing-statistical-privacy-2015, which has one file; a form says itself when it
applies.

Read the room stating, then blowfish, cuboids, ours (new ones), and `catalogue` (all of them,
beside the exact answer).
"""

from blowproof.verifier.closed_forms.catalogue import FORMS, Exactly, FormResult, closed_forms
from blowproof.verifier.closed_forms.stating.degree_policy import degree_policy
from blowproof.verifier.closed_forms.stating.form import Case, Counterexample, Form

__all__ = [
    "FORMS",
    "Case",
    "Counterexample",
    "Exactly",
    "Form",
    "FormResult",
    "closed_forms",
    "degree_policy",
]
