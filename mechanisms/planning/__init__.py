"""What a release would be worth, worked out before anything is spent: no private number is read.

Data are looked at for n alone, and only where n is public. Errors come from the variance of the
noise where the answers are the noisy ones, else from rehearsals on made-up data.

Read `workload` (what is asked for), `made_up` (public data to rehearse on), `rehearsal`,
`expected` (the error of a plan), `k_norm_error`, `candidates`, `split` (of the budget),
`lower_bounds` (what no mechanism can do), `together` (several queries in one release), `options`,
`planner` (all of them compared), `plan_file`,
`default` (what is drawn where nobody says how), `uncertainty` (of
each number), and `picture`.
"""
