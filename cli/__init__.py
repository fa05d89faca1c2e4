"""The command line.

Reading order: main (the group of commands), options, errors and output; one file per command;
asking and watching (a question put to the verifier in a thread that can be stopped). Then what
people see: words (a policy in sentences), pairs, render; and the audit: plain, then as the
docstring of findings has it.
"""
