"""Choosing: questions to the candidates, their answers, and releases side by side."""
