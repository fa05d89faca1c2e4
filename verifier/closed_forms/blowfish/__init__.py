"""The closed forms of blowfish-2014, as printed and repaired.

Read `no_facts` (section 5), `clusters_and_ranges` (sections 6 and 7), `sparse` with
`sparse_witness`, and `marginals` (section 8). Printed forms stay as they are printed, also where
they are wrong.
"""
