"""Hypothesis profiles: every run draws the same examples, however slow the machine."""

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("ci")
