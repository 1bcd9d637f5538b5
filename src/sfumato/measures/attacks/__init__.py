"""Attacks on releases: what an attacker learns about people in the table, beyond a control group."""
