"""Claims of pufferfish-2012.

Statements in our own words, formulas as printed; each is held against beliefs, mechanisms and odds
in fractions, in worlds that are small enough to list.

Read `worlds` (people, beliefs, mechanisms), `semantics` (sections 3, 5, 6), `section_7`,
`section_9` (induced neighbours, the exam queue), `attackers` (sections 8 and 9), `blowfish` (what
blowfish-2014, section 4.2, says of Pufferfish).
"""
