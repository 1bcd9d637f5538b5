"""Evolution: search many recodings at once for those that no other beats in privacy and in utility."""

from sfumato.searches.evolution.evolution_run import Settings, evolve, improve
from sfumato.searches.evolution.nondominated_archive import Archive
from sfumato.searches.evolution.problems import PublisherProblem

__all__ = ["Archive", "PublisherProblem", "Settings", "evolve", "improve"]
