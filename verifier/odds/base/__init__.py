"""What `odds` is about: the question, the probabilities of outputs, one belief, and the answer.

Nothing here searches. `evaluate` follows Definition 3.1 of pufferfish-2012 letter by letter, and
knows of no theorem.

Read `algebraic` (roots of polynomials), `answer`, `board` (what is known by now), `chances`
(probabilities of outputs), `seen`
(what was published before), `asked` (the question), `evaluate` (a belief).
"""
