"""Questions about policies: neighbours, S(f, P), sparse or not, proofs, certified mechanisms.

`ask` is the front door, `plan` decides who answers and in which order; ARCHITECTURE.md shows the
way from there. Rooms in reading order: limits, asked (question and answer), databases, exact,
moves, neighbours (the independent check of a pair), engines, theorems, reductions, witnesses,
portfolio (who can be asked), proofs and kernel (certificates), export; and above them certify,
closed_forms and claims, which compare and never decide.

Nothing is imported here, so that a part that needs no solver loads none.
"""
