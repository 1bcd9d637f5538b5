"""Study the open questions of the four papers: one module for each question."""

import sys
from pathlib import Path

# the public tables are those of sfumato's own benchmarks
sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
