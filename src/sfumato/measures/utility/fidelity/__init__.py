"""Fidelity: how like the original the records of a release look, whatever kind of release it is."""
