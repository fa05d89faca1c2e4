"""What people read on a terminal, and how it is written.

Words only: nothing here decides or computes. Text goes through `output`, which ends quietly when a
pipe closes.

Read `output`, `files`, `answer`, `pairs`, `certify_screen`, `odds_screen`,
`claims_screen`.
"""
