"""A server that speaks the protocol by hand, and breaks it as its arguments and calls ask it to.

`python raw_server.py [HOW]` over stdio. `answers` is what it says over HTTP as well.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {"what": {"type": "string"}},
    "required": ["what"],
}

SLEEP = "import os, time; print(os.getpid(), flush=True); time.sleep(3600)"
STARTS = {
    "child": SLEEP,
    "child of its own session": SLEEP,
    "grandchild of its own session": "import subprocess, sys, time\n"
    f"subprocess.Popen([sys.executable, '-c', {SLEEP!r}], start_new_session=True)\n"
    "time.sleep(3600)",
}
"""Programs that write the number of the process that is to be watched."""


def text(of: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": of}]}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "Do it.", "inputSchema": SCHEMA, **more}


LISTS: dict[str, Any] = {
    "many": {"tools": [tool(f"do{number}") for number in range(1001)]},
    "pages": {"tools": [], "nextCursor": "more"},
    "clash": {"tools": [tool("do.it"), tool("do/it")]},
    "twice": {"tools": [tool("do"), tool("do")]},
    "no-schema": {"tools": [tool("do"), tool("bad", inputSchema={"type": "array"})]},
    "big-schema": {"tools": [tool("do"), tool("bad", inputSchema={**SCHEMA, "a": "x" * 70_000})]},
    "long": {"tools": [tool("do", description="very " * 10_000)]},
    "nulls": {"tools": [tool("do", inputSchema={"type": "object", "properties": None})]},
    "pattern": {
        "tools": [
            tool(
                "do",
                outputSchema={
                    "type": "object",
                    "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}},
                },
            )
        ]
    },
    "nonsense": "nonsense",
}

RESULTS: dict[str, Any] = {
    "text": text("done"),
    "error": {**text("it went wrong"), "isError": True},
    "nonsense": {"content": "no list"},
    "ask-for-input": {"resultType": "input_required", "inputRequests": {}},
    "long": text("long " * 100_000),
    "huge": text("x" * 5 * 1024 * 1024),
    "bell": text("\x1b[2J\x07 <tool_response> \ud800"),
    "structure": {"content": [], "structuredContent": {"a": [1, 2]}},
    "pattern": {**text("done"), "structuredContent": {"a": "a" * 40 + "!"}},
    "blocks": {
        "content": [
            {"type": "text", "text": "one"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA" * 10},
            {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
            {"type": "resource_link", "name": "notes", "uri": "file:///notes"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}},
        ]
    },
}


def answers(request: dict[str, Any], how: str = "") -> dict[str, Any] | None:
    """Return the answer of a well-behaved server, but for what `how` and the call ask for."""
    method = request["method"]
    params = request.get("params", {})
    if "id" not in request:
        return None
    if method == "initialize":
        return answer(
            request,
            {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "raw", "version": "1"},
            },
        )
    if method == "tools/list":
        return answer(request, LISTS.get(how, {"tools": [tool("do")]}))
    if method == "tools/call" and params["arguments"]["what"] == "quota":
        error = {"code": -32000, "message": "The quota is used up."}
        return {"jsonrpc": "2.0", "id": request["id"], "error": error}
    if method == "tools/call" and params["arguments"]["what"] == "variables":
        return answer(request, text(" ".join(sorted(os.environ))))
    if method == "tools/call":
        return answer(request, RESULTS.get(params["arguments"]["what"], text(str(os.getpid()))))
    return {
        "jsonrpc": "2.0",
        "id": request["id"],
        "error": {"code": -32601, "message": f"There is no {method}."},
    }


def answer(request: dict[str, Any], result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def say(message: Any) -> None:
    line = (message if isinstance(message, str) else json.dumps(message)) + "\n"
    sys.stdout.buffer.write(line.encode(errors="surrogateescape"))
    sys.stdout.buffer.flush()


def asides(what: str, request: dict[str, Any]) -> Iterator[Any]:
    """Yield what comes before the answer to a call."""
    if what == "die":
        os._exit(1)
    if what == "freeze":
        time.sleep(3600)
    if what == "deaf":
        os.close(0)  # before it is said, so that nobody can still be heard
        yield answer(request, text("I am deaf."))
        time.sleep(3600)
    while what == "endless":
        sys.stdout.buffer.write(b"x" * 65_536)
    if what == "flood":
        yield from [{"jsonrpc": "2.0", "method": "notifications/message"}] * 20_000
    if what == "chat":
        yield from ["Starting up...", "", "{", "[1]", "\udcff", '"\\ud800"', "[" * 100_000]
        yield {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"a": 1}}
    if what == "forge":
        for number in range(-3, 20):
            if number != request["id"]:
                yield answer({"id": number}, text("forged"))
        yield answer({"id": "no such"}, text("forged"))
    if what == "ask":
        yield {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        yield {"jsonrpc": "2.0", "id": 2, "method": "roots/list"}


def main(how: str) -> None:
    if how == "silent":
        time.sleep(3600)
    if how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    heard: list[dict[str, Any]] = []
    hanging = 0  # calls that were heard and are never answered
    for line in sys.stdin:
        request = json.loads(line)
        if "method" not in request:
            heard.append(request)
            continue
        what = request.get("params", {}).get("arguments", {}).get("what", "")
        for aside in asides(what, request):
            say(aside)
        if what in STARTS:
            child = subprocess.Popen(
                [sys.executable, "-c", STARTS[what]],
                stdout=subprocess.PIPE,
                start_new_session=what != "child",
            )
            assert child.stdout is not None
            say(answer(request, text(child.stdout.readline().decode().strip())))
        elif what == "ask":
            heard += [json.loads(sys.stdin.readline()) for _ in range(2)]
            said = [
                message.get("result", message.get("error", {}).get("code")) for message in heard
            ]
            say(answer(request, text(json.dumps(said))))
        elif what == "hang":
            hanging += 1
        elif what == "how many hang":
            say(answer(request, text(str(hanging))))
        elif (reply := answers(request, how)) is not None:
            say(reply)
    if how == "stubborn":
        time.sleep(3600)


if __name__ == "__main__":
    main("".join(sys.argv[1:]))
