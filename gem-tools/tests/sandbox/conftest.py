"""The sandboxes that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gem_tools.sandbox import Sandbox, SandboxUnavailable, SandboxWarning
from gem_tools.sandbox.bwrap import BwrapSandbox
from gem_tools.sandbox.process import ProcessSandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[BwrapSandbox]:
    """Return bubblewrap's, or skip where it is not installed."""
    try:
        sandbox = BwrapSandbox()
    except SandboxUnavailable as error:
        pytest.skip(error.reason)
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="module", params=["bwrap", "process"])
def backend(request: pytest.FixtureRequest) -> Sandbox:
    """Return each of this machine's sandboxes in turn."""
    if request.param == "bwrap":
        bwrap: BwrapSandbox = request.getfixturevalue("sandbox")
        return bwrap
    with pytest.warns(SandboxWarning, match="no boundary"):
        return ProcessSandbox()
