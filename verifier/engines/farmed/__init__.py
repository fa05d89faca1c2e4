"""Searches whose tasks run elsewhere: in other processes, or on the machines of a cluster.

What is sent away is a task of `irreducibles.tasks`, and what comes back is put together there. This
room knows no cluster: `Workers` is what it wants of one, and `blowproof.cli` has one of Dask.

Read `workers` (what runs a task, and is asked to), `farm` (the search that hands out its tasks).
"""
