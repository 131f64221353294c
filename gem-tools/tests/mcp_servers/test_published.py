"""A server that others have published, and that needs no network."""

from __future__ import annotations

import sys

import pytest

from .conftest import Offers

pytestmark = pytest.mark.slow


def test_a_published_server_tells_the_time(offers: Offers) -> None:
    pytest.importorskip("mcp_server_time", reason="the group `servers` is not installed")
    server = offers(command=[sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"])

    result = server.call(
        "convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"
    )
    error = server.call("get_current_time", timezone="Nowhere/Atlantis")

    assert sorted(server.tools) == ["convert_time", "get_current_time"]
    assert '"time_difference": "+9.0h"' in result.content
    assert error.is_error
