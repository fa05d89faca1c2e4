"""Why a release does not happen, as errors that say so; and points spread evenly.

Every refusal of the rooms above is one of these; nothing was drawn or spent when it is raised,
unless it says so.

Read `errors`, then `spread`.
"""
