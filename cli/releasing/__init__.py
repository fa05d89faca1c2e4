"""Commands about mechanisms: what is drawn, whether it is private, what it costs and who spent it.

Built as those in commands: options are read, questions go through asking, one document or one
screen is written. What they import from the mechanisms they import when they run.

First steps: `certify`, `odds`, `plan` (with `plan_text`), `release` (with `tables`, `carrying_out`,
`shield`, `released_text`, `extras`), `estimate`, `check` (with `check_report`). Budgets: `ledger`.
"""
