"""What the certifier is asked, and what it says.

Read `asked` (a policy under a reading and a scope, and until when), `promise` (an epsilon, a rho,
or an epsilon and a delta), `verdict` (proved, refuted or undecided, with the loss and what shows
it), `steps` (what may come after the noise), `asked_before`, `lemmas` (queries bounded by an
argument). A verdict without its bounds cannot be made.
"""
