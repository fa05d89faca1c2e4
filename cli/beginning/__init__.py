"""The first steps: a policy from data, and the examples of the package.

`init` writes a commented policy: its columns come from `models.data.inferred`, what is secret,
public and to be published from questions or options. `demo` copies the examples and audits one.

Read `source` (where columns come from), `choices` (what options may say), `questions` (the same,
asked in a terminal), `draft` (the text of the policy), `init`; `demo`; `warm` (compiles the
searches beforehand).
"""
