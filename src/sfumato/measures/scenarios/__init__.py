"""Scenarios: what honest users and adversaries want to learn, and what a release is worth to them."""
