"""The error that a plan will have, before anything is drawn: no private number is read.

Exact where the answers are the noisy ones or follow from them by known formulas, else from
rehearsals on made-up data.

Read `made_up` (public data to rehearse on), `k_norm_error`, `polytope_error`, `rehearsal`,
`expected` (the error of a plan), `uncertainty` (of each number), `clusters` (a row each, from what
k-means measured).
"""
