"""What may be spent and what has been spent.

The ledger is written first and drawn from afterwards, under a lock: a crash may waste budget and
never overspend it.

Read `places`, `heads`, `ledger` (the chained log), `accounts` (what it says), `accountant`;
`taking_over` moves ledgers of version 1; `fingerprints` (of data, for plans and reports).
"""
