"""One estimate from everything that was released, and from everything public: it costs nothing.

Post-processing only: noisy answers, as files of releases keep them, known counts, and n.

Read `operators` (what a query adds up, cell by cell), `measurements` (noisy answers, in files and
out of them), `whole` (numbers of records), `alike` (of several tables), `quantiles`, `monotone`
(numbers that rise or fall), `estimator` (least squares, then no number below 0, then whole ones),
`joint` (the answers of one release by all that it draws), `names` (of outputs), `synthetic`
(records that have the estimated counts).
"""
