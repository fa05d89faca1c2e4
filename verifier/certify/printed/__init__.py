"""Calibrations word for word as blowfish-2014 prints them: statements under test.

Mechanisms that are meant for use are in `blowproof.mechanisms`; nothing may be calibrated from
here.

Read `calibrations`, `privacy_grid` (verdicts on grids of policies), `empirical` (drawn noise
against its declared scale).
"""
