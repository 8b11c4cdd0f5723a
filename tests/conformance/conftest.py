"""The oracles are a module of this folder; pytest's importlib mode does not put that on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
