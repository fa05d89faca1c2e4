"""Closed forms for S(f, P): as printed in the papers, and repaired where they are wrong.

Reading order: form (what a form is), conditions (preconditions), spread and change (no known
counts), blowfish_free, blowfish_clusters, designing, realise, blowfish_sparse, blowfish_marginals,
affine and affine_blocks (few signatures), cells, cuboids, projection, degree_policy, degrees,
counterexamples, catalogue (all of them, beside the exact answer).
"""

from blowproof.verifier.closed_forms.catalogue import FORMS, Exactly, FormResult, closed_forms
from blowproof.verifier.closed_forms.degree_policy import degree_policy
from blowproof.verifier.closed_forms.form import Case, Counterexample, Form

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
