"""Parts of the data: sets of record numbers, and when parts do not add up.

Read `records`, then `parallel` (Theorems 4.2 and 4.3 of blowfish-2014). A part is paid for alone
only where the theorem's conditions are checked.
"""
