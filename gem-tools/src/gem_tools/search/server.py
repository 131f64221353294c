r"""An index over HTTP, as Search-R1's `/retrieve` server speaks. Knows nothing about sockets.

POST /retrieve {"queries": ["..."], "topk": 3, "return_scores": true} answers
{"result": [[{"document": {"id": "7", "contents": "title\ntext"}, "score": 12.3}]]}; without
scores each document stands alone. GET /health says what is served.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gem import MicroBatch
from gem_tools.search.engines import LocalIndex
from gem_tools.search.hits import MOST_HITS, Hit

__all__ = ["search_app"]

_MOST_QUERIES = 1024
_MOST_DOCUMENTS = 20_000


class _Question(NamedTuple):
    """One request's body, checked."""

    queries: list[str]
    k: int
    with_scores: bool


class _RefusedError(Exception):
    """A request that gets no documents, and why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


def search_app(
    index: LocalIndex, *, k: int = 3, max_body_bytes: int = 1024 * 1024, max_batch: int = 64
) -> Starlette:
    """Return an ASGI application that searches an index; `k` is for requests without `topk`.

    Requests that come while the index is busy are answered together, on a thread of their own.
    A body over `max_body_bytes` is refused with 413 before it is read to its end.
    """
    batches: Any = MicroBatch(_Answers(index), max_batch=max_batch, max_wait_s=0)  # type: ignore[arg-type]

    async def retrieve(request: Request) -> Response:
        try:
            question = _checked(await _body(request, max_body_bytes), k)
            return Response(await batches(question), media_type="application/json")
        except _RefusedError as error:
            return JSONResponse({"error": str(error)}, status_code=error.status)
        except ClientDisconnect:
            return Response(status_code=HTTPStatus.BAD_REQUEST)  # nobody reads it

    async def health(_: Request) -> Response:
        facts = index.manifest.model_dump(include={"engine", "documents", "digest"})
        return JSONResponse({"status": "ok", **facts})

    return Starlette(
        routes=[
            Route("/retrieve", retrieve, methods=["POST"]),
            Route("/health", health, methods=["GET"]),
        ]
    )


class _Answers:
    """Search for a batch of requests and write each one's answer as JSON."""

    def __init__(self, index: LocalIndex) -> None:
        self._index = index

    def __call__(self, batch: list[_Question]) -> list[bytes]:
        queries = [query for question in batch for query in question.queries]
        hit_lists = iter(self._index.search(queries, max(question.k for question in batch)))
        replies = []
        for question in batch:
            # All were searched at once for the largest number: each gets as many as it asked for.
            own_hits = [next(hit_lists)[: question.k] for _ in question.queries]
            replies.append(_written(own_hits, question))
        return replies


def _written(hit_lists: list[list[Hit]], question: _Question) -> bytes:
    result = [[_document(hit, question) for hit in hits] for hits in hit_lists]
    return json.dumps({"result": result}, ensure_ascii=False).encode()


def _document(hit: Hit, question: _Question) -> dict[str, Any]:
    document = {"id": hit.id, "contents": f"{hit.title}\n{hit.text}"}
    return {"document": document, "score": hit.score} if question.with_scores else document


async def _body(request: Request, most: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise _RefusedError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The body has more than {most} bytes. Send fewer queries at once.",
            )
    return bytes(body)


def _checked(body: bytes, default_k: int) -> _Question:
    try:
        plain = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _wrong("is no JSON") from error
    if not isinstance(plain, dict):
        raise _wrong("is no object")
    queries = plain.get("queries")
    k = plain.get("topk")
    k = default_k if k is None else k
    if not isinstance(queries, list) or not all(isinstance(query, str) for query in queries):
        raise _wrong("has no list of strings named 'queries'")
    if type(k) is not int or not 1 <= k <= MOST_HITS:
        raise _wrong(f"has a 'topk' that is no int from 1 to {MOST_HITS}")
    if len(queries) > _MOST_QUERIES or len(queries) * k > _MOST_DOCUMENTS:
        raise _wrong(
            f"asks {len(queries)} queries for {k} documents each; at most {_MOST_QUERIES} "
            f"queries and {_MOST_DOCUMENTS} documents go in one request"
        )
    return _Question(queries, k, plain.get("return_scores") is True)


def _wrong(what: str) -> _RefusedError:
    return _RefusedError(
        HTTPStatus.BAD_REQUEST,
        f'The body {what}. Send {{"queries": ["..."], "topk": 3, "return_scores": true}}.',
    )
