"""The inner loops of the search for irreducibles, compiled: arrays only.

The stamp of `exact.compiled` covers one folder: functions that call each other compiled have to
stay in this one, or machine code of yesterday goes on running.

Read `state` (what is read and written), `subset_sums`, `covered_multisets`, `advance` (the search
that `search` argues for), `hyperplanes`.
"""
