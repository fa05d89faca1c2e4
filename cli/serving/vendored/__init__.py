"""Files of others that the workbench's page needs, as they are: nothing is fetched at run time.

vega.js draws the plots: Vega, Vega-Lite and Vega's interpreter of expressions in one module,
written by `.ci/vega.py` from the packages that versions.json names with their digests; licences.txt
has the licence of each. A test compares the files with their digests.
"""
