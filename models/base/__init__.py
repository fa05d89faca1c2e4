"""What every other room stands on: errors and exact numbers.

Nothing here knows what a policy is. A new way to fail belongs into the tree of `errors`, with a
text that says what, where, why and what to try; a float is refused in `numbers` and nowhere else.

Read `masked` (no password is shown), `errors`, `numbers`, `toml_values` (checks of what a file
holds); `clock` (of work that can take turns), `kept` (what is derived once), `door` (the one way to
files that a user names), `temporary` (files that say whose they are), `closing` (what ends with its
`with` block), `processes` (how they begin and end), `threads` (one, for small matrices).
"""
