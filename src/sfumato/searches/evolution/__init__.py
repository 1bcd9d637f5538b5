"""Evolution: search many recodings at once for those that no other beats in privacy and in utility."""

from sfumato.search.evolution.archive import Archive
from sfumato.search.evolution.problems import PublisherProblem
from sfumato.search.evolution.run import Settings, evolve, improve

__all__ = ["Archive", "PublisherProblem", "Settings", "evolve", "improve"]
