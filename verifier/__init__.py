"""Engines that compute sensitivities, and checks of what they claim."""
