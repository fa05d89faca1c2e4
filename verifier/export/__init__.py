"""What leaves the verifier besides answers: models as files, and the averaging attack.

Files are for independent solvers: what they find there has to be S. Nothing else in the verifier
reads them.

Read `files`, `asked`, `programs` (LP, MPS), `formulas` (DIMACS), `quantified` (QDIMACS), `map`
(what the variables mean), `averaging`.
"""
