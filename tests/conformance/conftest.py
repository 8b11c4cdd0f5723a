"""The oracles are a module of this folder, which pytest does not put on the path by itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
