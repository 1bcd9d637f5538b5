"""Attacks: what somebody gets out of a release about people in it, beyond what they get about strangers."""
