"""What a release would be worth, worked out before anything is spent: no private number is read.

Data are looked at for n alone, and only where n is public.

Read `workload` (what is asked for), `candidates`, `split` (of the budget), `strategies`,
`groupings`, `noise_program`, `spectral_bound` and `lower_bounds` (what no mechanism can do),
`options`, `finishing`, `planner` (all of them compared), `plan_file`, `default` (what is drawn
where nobody says how), `advice` (about what is published), and `picture`.
"""
