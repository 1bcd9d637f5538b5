"""Prelude: what every worker needs, imported once by the process from which all of them are forked.

Nothing here may start a thread or read what somebody plugged in: the workers do that themselves.
"""

from __future__ import annotations

import numba as _numba  # noqa: F401
import pyarrow as pa

import sfumato.exploring.workers
import sfumato.models
import sfumato.sanitizers
import sfumato.store.base  # noqa: F401

# pyarrow looks for pandas when it makes its first array, which takes longer than all the rest
pa.array([])
