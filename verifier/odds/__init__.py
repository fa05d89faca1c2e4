"""What an attacker learns: the largest odds ratio over secret pairs, beliefs and outputs.

pufferfish-2012, Definition 3.1, exactly where a theorem or a finite sum allows it, else in bounds.
Each answer names a belief that reaches the lower bound, evaluated again from the belief alone. What
is asked and answered is in the room base; beliefs under bounds and clauses are in the room
families.

Read `listed`, `any_belief`, `one_bound`, `independent` (the theorem), `coupling` (its
test), `identical`,
`composition` (do releases compose?), `certificate` (what the kernel is shown), `odds` (the front
door).
"""
