"""What an attacker learns: the largest odds ratio over secret pairs, beliefs and outputs.

pufferfish-2012, Definition 3.1, exactly where a theorem or a finite sum allows it, else in bounds.
Each answer names a belief that reaches the lower bound, evaluated again from the belief alone.

Read `answer`, `chances` (probabilities of outputs), `evaluate` (a belief, letter by letter),
`asked`, `listed`, `any_belief`, `independent` (the theorem), `coupling` (its test), `identical`,
`odds` (the front door).
"""
