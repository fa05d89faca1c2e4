"""One file for each command; to add one, write it here and add it in main.

A command reads its options, puts questions through asking, and writes one document or one screen.
What it imports from the verifier it imports when it runs.

First steps: `audit`, `sensitivity`, `neighbours`, `compare`, `explain`, `sweep`. Theory: `sparse`,
`closed_forms`, `claims`, `encode`. Set-up: `schema`, `completion`. Mechanisms have a room of their
own, releasing.
"""
