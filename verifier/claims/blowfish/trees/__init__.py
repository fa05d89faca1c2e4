"""Claims of blowfish-2014, sections 7.1 to 7.3, about the errors of trees and ordered counts.

Read `equation_14`, `equation_15`, `true_errors` (by the structure itself), `lower_bounds` (what no
mechanism can do), `growth` (statements with an O), `regression` (constrained inference).
"""
