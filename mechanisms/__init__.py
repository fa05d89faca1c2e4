"""Mechanisms that release answers privately, with the noise scales they really use."""
