"""Prepare what ROLL's modules ask for as they are imported: a folder for logs, and qwen-vl-utils.

Neither can wait for the tests' own imports, since the signatures are compared first. Nor can it be
a conftest.py here: pytest would import that as `roll.conftest`, and this folder then hides ROLL.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("ROLL_LOG_DIR", tempfile.mkdtemp())
sys.path.insert(0, str(Path(__file__).parent))  # for roll_rig.py and qwen_vl_utils.py
