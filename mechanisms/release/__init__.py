"""What every release goes through: calibrate, agree, spend, draw, publish.

Noise meets answers in `draw` and nowhere else, and the budget is written before anything is drawn.
Keep this order. Whoever draws holds a permit of the `gate`, which asks the certifier first.

Read `request`, `calibrate`, `agreement`, `worth` (is the noise worth its price), `gate`, `draw`,
`release`, `form` (answers in a form of their own), `measured`, `publish`, and `registry`
(mechanisms by name).
"""
