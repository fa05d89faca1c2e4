"""Questions put to the verifier from a command: options, deadlines, Ctrl-C, errors.

A question runs in a thread that can be stopped and still answers with bounds. Exit codes are a
contract.

Read `errors`, `options`, `stoppable`, `progress`, `ask`, `judge` (a mechanism to the certifier),
`error_lines` (where in its file a policy is wrong); `memory`; `account_options`,
`promise_options`; `whose_certificate`; `cluster` (many machines); `piped` (data on standard input);
`suggested` (queries to choose from), `completing` (in shells).
"""
