"""Attacks: what an attacker gains about people in the data, beyond what they gain about people outside it."""
