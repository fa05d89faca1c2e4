"""The command line.

`main` is the group of commands; a command is a file in commands. `pipeline` audits many policies,
for hooks and actions. Importing anything here loads no solver and none of `blowproof.models`:
--help has to be quick. What scripts read (JSON, exit codes) is a contract.

Rooms in reading order: asking, text, audit, report, commands, beginning, serving.
"""
