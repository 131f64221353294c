"""A server that speaks just enough of the OpenAI API: one answer to all, after a fixed time.

`python server.py SECONDS` prints its port. It reads no JSON and writes an answer that was made
before, so that it takes a fraction of what any client does.
"""

from __future__ import annotations

import asyncio
import json
import sys

MESSAGE = {"role": "assistant", "content": r"I guess \boxed{8}."}
COMPLETION = {
    "id": "chatcmpl-0",
    "object": "chat.completion",
    "created": 0,
    "model": "model",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
}
BODY = json.dumps(COMPLETION).encode()
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY)
) + BODY
END = b"\r\n\r\n"
LENGTH = b"content-length:"


class Connection(asyncio.Protocol):
    """Answer each request of a client that waits for one answer before it asks again."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(END)
        if end and len(body) >= content_length(head):
            self._received = b""
            asyncio.get_running_loop().call_later(self._latency_s, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(ANSWER)


def content_length(head: bytes) -> int:
    """Return what the header says, 0 where there is none."""
    _, found, rest = head.lower().partition(LENGTH)
    return int(rest.split(b"\r\n", 1)[0]) if found else 0


async def serve(latency_s: float) -> None:
    """Serve until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(latency_s), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
