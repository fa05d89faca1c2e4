"""The command line.

`main` is the group of commands; a command is a file in commands. Importing anything here loads no
solver and none of `blowproof.models`: --help has to be quick. What scripts read (JSON, exit codes)
is a contract.

Rooms in reading order: asking, text, audit, report, commands.
"""
