"""Where torch is not installed: what imports, and what is said."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
sys.modules["torch"] = None  # as if it were not installed
import gem_baselines, gem_baselines.learning, gem_baselines.text, gem_baselines.transformer
from gem.errors import MissingRequirement
from gem_baselines.transformer.policy import TransformerPolicy
try:
    TransformerPolicy({"kind": "bytes"})
except MissingRequirement as error:
    print(error)
"""


def test_everything_imports_and_a_policy_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert "torch, which computes it, is not installed here. Run: pip install" in done.stdout
    assert done.stdout.count("\n") == 1
