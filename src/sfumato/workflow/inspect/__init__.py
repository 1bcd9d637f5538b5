"""Inspect a table before anything is tried: its attributes, and how risky it is as it is."""
