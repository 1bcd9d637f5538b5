"""Fidelity: how closely the records of any type of release resemble the original."""
