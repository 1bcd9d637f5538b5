"""Informed attackers: what the way in which a release was made gives away about the original."""
