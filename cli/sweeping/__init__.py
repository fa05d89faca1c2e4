"""Many questions: a grid of policies, queries, readings and scopes, answered on all cores.

A grid file names policies (files, patterns, a template with parameters) and questions; each point
is one question with a key of its own, a digest of all that its answer depends on. What is answered
is kept at once in a journal beside the results, so that nothing is answered twice.

Read `template` (a policy text with holes), `grid` (the grid file), `points` (the questions, and
their keys), `work` (what a worker process does with some of them), `warm` (what these are forked
from), `travel` (what answers say about other questions), `pool` (who works: processes here, or a
cluster), `kept` (journal and results), `shown` (the table in the terminal), `page` (the page with
small pictures), `run` (all together).
"""
