"""What the tests on whole data sets share: what runs programs, where there is one."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def sandbox() -> None:
    """Skip where programs cannot be run."""
    tools = pytest.importorskip("gem_tools.sandbox", reason="gem-tools is not installed")
    try:
        tools.make_sandbox()
    except tools.SandboxUnavailable as unavailable:
        pytest.skip(str(unavailable))
