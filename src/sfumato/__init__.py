"""sfumato: find, compare, choose and publish a privacy-preserving release of a table about people."""

from __future__ import annotations

from sfumato.runtime.lazy_names import lazy_names

__version__ = "0.2.0"

# The public names and the module that each lives in; that of a namespace ends in a dot. They are imported
# when they are first used, so that `import sfumato` (and with it the command line) costs next to nothing.
_HOMES = {
    "Attribute": "data.schema",
    "Candidate": "results.candidate",
    "Dates": "data.hierarchy",
    "Decision": "results.decision",
    "Frontier": "results.frontier",
    "Hierarchy": "data.hierarchy",
    "Intervals": "data.hierarchy",
    "Limit": "results.pareto",
    "Prefixes": "data.hierarchy",
    "Project": "workflow.project.project_file",
    "Publication": "workflow.project.project_file",
    "PublicValues": "data.public_values",
    "Recipe": "registry.recipe",
    "Recoding": "results.recoding",
    "Release": "results.release",
    "Schema": "data.schema",
    "Store": "workflow.store.store",
    "Table": "data.table",
    "apply": "workflow.apply.apply",
    "ask": "workflow.choose.question_answer",
    "challenge": "workflow.query.challenge",
    "compare": "workflow.choose.comparison",
    "datasets": "reading.datasets.",
    "errors": "runtime.errors.",
    "explore": "workflow.explore.library",
    "freeze": "results.recoding",
    "inspect": "workflow.inspect.inspected_columns",
    "measure": "results.measurement",
    "measure_by": "measures.grouped",
    "measures": "measures.",
    "miners": "miners.",
    "models": "models.",
    "publish": "workflow.publish.publish",
    "query": "workflow.query.query_answer",
    "read": "reading.read_table",
    "read_codebook": "reading.codebook",
    "read_release": "workflow.external",
    "register": "registry.methods",
    "results": "results.",
    "sanitize": "sanitizers.base",
    "sanitizers": "sanitizers.",
    "searches": "searches.",
    "verify": "workflow.publish.verify",
}

__all__ = sorted([*_HOMES, "__version__"])

__getattr__, __dir__ = lazy_names(__name__, _HOMES, ["__version__"])
