"""The workbench: one local page to edit a policy and see at once what it takes.

A page asks with a policy (as text, or as the fields of its form) and a query; a worker process of
its own answers with events, one JSON document for each line, as they come: the policy read, bounds,
the answer with its pair, what each fact costs, the plan, the odds. A page that goes away, or asks
anew, ends its worker. The engines run nowhere else.

The server listens to this machine alone and knows its pages by a token in their address. A worker
opens no file outside the folder of its question (`models.base.door`), and has limits of time and
memory.

Read `fields` (the form), `work` (what a question is answered with), `plots` (what is drawn), `pool`
(the processes, `warm` what they are forked from), `files` (what a page may open), `app` (the
server), `serve` (the command); workbench.html, the .js and the .css are the page.
"""
