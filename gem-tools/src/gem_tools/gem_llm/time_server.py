"""The MCP server of gem-llm's examples: what time it is, here and elsewhere.

`python -m gem.tools.mcp_server.time_mcp` serves it over stdio. Times are written as
`YYYY-MM-DD HH:mm:ss`; without a zone they are UTC.
"""

from __future__ import annotations

import calendar
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from mcp.server.mcpserver import MCPServer

__all__ = ["app", "main"]

app = MCPServer("time")

_WRITTEN = "%Y-%m-%d %H:%M:%S"
_TOKENS = {"YYYY": "%Y", "MM": "%m", "DD": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_UNITS = (("years", 31_536_000), ("months", 2_592_000), ("days", 86_400))
_SHORTER = (("hours", 3600), ("minutes", 60), ("seconds", 1))


@app.tool()
def current_time(format: str = "YYYY-MM-DD HH:mm:ss", timezone: str = "UTC") -> str:  # noqa: A002
    """Return the time in a zone, written with YYYY, MM, DD, HH, mm and ss."""
    for token, directive in _TOKENS.items():
        format = format.replace(token, directive)  # noqa: A001 - the tool's own argument
    return datetime.now(ZoneInfo(timezone)).strftime(format)


@app.tool()
def convert_time(sourceTimezone: str, targetTimezone: str, time: str) -> str:  # noqa: N803
    """Return what time it is in one zone when it is `time` in another."""
    there = _read(time, ZoneInfo(sourceTimezone))
    return there.astimezone(ZoneInfo(targetTimezone)).strftime(_WRITTEN)


@app.tool()
def get_timestamp(time: str) -> str:
    """Return a time as milliseconds since 1970."""
    return str(int(_read(time).timestamp() * 1000))


@app.tool()
def days_in_month(date: str | None = None) -> str:
    """Return how many days the month of a date, `YYYY-MM-DD`, has; of today without one."""
    day = _day(date)
    return str(calendar.monthrange(day.year, day.month)[1])


@app.tool()
def get_week_year(date: str | None = None) -> str:
    """Return the number of the week of a date, counted from 1 January, and the ISO one."""
    day = _day(date)
    return f"week: {(day.timetuple().tm_yday - 1) // 7 + 1}, isoWeek: {day.isocalendar().week}"


@app.tool()
def relative_time(time: str) -> str:
    """Return how long ago a time was, or how long it is until then."""
    seconds = (datetime.now(timezone.utc) - _read(time)).total_seconds()
    for unit, length in (*_UNITS, *_SHORTER):
        count = int(abs(seconds) // length)
        if count:
            return f"{count} {unit} ago" if seconds > 0 else f"in {count} {unit}"
    return "now"


def _read(time: str, zone: ZoneInfo | timezone = timezone.utc) -> datetime:
    return datetime.strptime(time, _WRITTEN).replace(tzinfo=zone)


def _day(date: str | None) -> datetime:
    if date is None:
        return datetime.now(timezone.utc)
    return datetime.strptime(date, "%Y-%m-%d").replace(tzinfo=timezone.utc)


def main() -> None:
    """Serve over stdio."""
    app.run("stdio")
