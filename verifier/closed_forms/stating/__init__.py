"""What a closed form is stated with: the form itself, its conditions, where it breaks.

A condition is checked by machine, and failing is a sentence for people.

Read `form`, `conditions`, `degree_policy` (graphs with known degrees, as policies),
`counterexamples` (re-checked by the tests).
"""
