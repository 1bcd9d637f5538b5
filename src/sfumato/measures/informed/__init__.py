"""Attackers who know the method: what the way a release was made reveals about the original."""
