"""A policy: domain, secrets and known facts together, and the setting that engines start from.

`policy` is what a person wrote; `setting` is the same under one scope with its numbers filled in.
Change `setting` only together with the definitions in the verifier: every engine believes what it
says.

Read `readings` (what a pair of neighbours is), `policy`, `setting`; `in_words` says what a policy
is, and `notebook_html` shows it in notebooks.
"""
