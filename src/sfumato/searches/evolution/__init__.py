"""Evolutionary search for recodings that are efficient in privacy and utility."""

from sfumato.searches.evolution.evolution_run import Settings, evolve, improve
from sfumato.searches.evolution.nondominated_archive import Archive
from sfumato.searches.evolution.problems import PublisherProblem

__all__ = ["Archive", "PublisherProblem", "Settings", "evolve", "improve"]
