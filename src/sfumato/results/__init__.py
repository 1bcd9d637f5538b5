"""Results of methods: releases, recodings, measurements, candidates, the frontier and the decision."""

from __future__ import annotations

from sfumato.runtime.lazy_names import lazy_names

_HOMES = {
    "Answer": "workflow.choose.question_answer",
    "Candidate": "results.candidate",
    "Challenge": "workflow.query.challenge",
    "Check": "verification.check",
    "Codebook": "reading.base",
    "Comparison": "workflow.choose.comparison",
    "Decision": "results.decision",
    "Earlier": "results.origin",
    "Evidence": "workflow.publish.publication_request",
    "Frontier": "results.frontier",
    "Inspection": "workflow.inspect.inspected_columns",
    "Limit": "results.pareto",
    "LinkedRelease": "results.linked_release",
    "Measurement": "results.measurement",
    "Origin": "results.origin",
    "Picture": "registry.display",
    "Publication": "workflow.project.project_file",
    "Query": "workflow.query.query_language",
    "QueryAnswer": "workflow.query.query_answer",
    "Recoding": "results.recoding",
    "Release": "results.release",
    "Verification": "results.verification_outcome",
    "origin_of": "results.linked_release",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
