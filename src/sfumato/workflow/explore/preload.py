"""Import what every worker needs, once, in the process that all workers are forked from.

Nothing here may start a thread or load a plug-in: the workers do that themselves.
"""

from __future__ import annotations

import pyarrow as pa

import sfumato.models
import sfumato.sanitizers
import sfumato.workflow.explore.candidate_workers
import sfumato.workflow.store.store
from sfumato.kernels.row_groups import number_rows

for methods in (sfumato.models, sfumato.sanitizers):
    for name in methods.__all__:
        getattr(methods, name)
# pyarrow looks for pandas at its first array, and numba learns of NumPy's types at its first kernel
pa.array([])
number_rows([], [], 1)
