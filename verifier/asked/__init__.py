"""What an engine is asked, and what it says: the words that all of the verifier shares.

An answer is no more certain than it says: bounds, a pair that shows the lower one, a status.
Engines make these objects, nobody else changes them.

Read `names`, `question`, `answer`.
"""
