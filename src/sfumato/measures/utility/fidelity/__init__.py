"""Fidelity: how like the original the records of a release look, whatever its type."""
