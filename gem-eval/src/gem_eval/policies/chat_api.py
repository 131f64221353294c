"""The OpenAI API's JSON: a request's body, and a reply read back. Knows nothing about HTTP.

What a server answers is checked field by field: whatever is not the documented shape is an
error that says which field, and never an answer.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from gem.content import ImagePart, Message, Part, ToolCall, is_shallow, normalise_text
from gem.conversation import Reply, Request, Usage

__all__ = ["CHAT_PATH", "MalformedReplyError", "read_reply", "request_body", "request_path"]

FinishReason = Literal["stop", "length", "tool_calls", "other"]
_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
CHAT_PATH = "/chat/completions"
_SEEDS = 2**31
_MOST_IDS = 2**31 - 1
_LARGEST = sys.float_info.max
_THINK = "<think>"
_THOUGHT = "</think>"


class MalformedReplyError(Exception):
    """A reply of another shape: what is wrong, and the text where it is, uncut and as it came."""

    def __init__(self, what: str, found: object) -> None:
        super().__init__(what)
        self.what = what
        self.found = found if isinstance(found, str) else repr(found)


def request_path(request: Request) -> str:
    """Return where the request goes: a finished prompt is not templated again."""
    return CHAT_PATH if request.prompt is None else "/completions"


def request_body(request: Request, *, system: str | None, sends_seed: bool) -> dict[str, Any]:
    """Return the request as the API takes it, without the model and the sampling options."""
    body: dict[str, Any] = {"stream": False}
    if sends_seed:
        body["seed"] = request.seed % _SEEDS
    if request.prompt is not None:
        return {**body, "prompt": normalise_text(request.prompt)}
    first = [] if system is None else [{"role": "system", "content": system}]
    body["messages"] = [*first, *map(_message, request.messages)]
    if request.tools:
        body["tools"] = [dict(tool) for tool in request.tools]
    return body


def _message(message: Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": _content(message.content)}
    if message.tool_calls:
        sent["content"] = sent["content"] or None
        sent["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.call_id is not None:
        sent["tool_call_id"] = message.call_id
    return sent


def _content(content: str | tuple[Part, ...]) -> Any:
    if isinstance(content, str):
        return normalise_text(content)
    return [_part(part) for part in content]


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        encoded = base64.b64encode(part.image).decode("ascii")
        url = f"data:{part.media_type};base64,{encoded}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": normalise_text(part.text)}


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(dict(call.arguments))}
    return {"id": call.id, "type": "function", "function": function}


def read_reply(body: bytes, *, is_chat: bool, think_tags: bool = False) -> Reply:
    """Read a server's answer. Raises MalformedReplyError on any but the documented shape.

    With `think_tags`, what stands between `<think>` and `</think>` at the beginning is reasoning.
    """
    plain = _parsed(body)
    choices = plain.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise MalformedReplyError("it has no 'choices'", plain.get("error") or plain)
    choice: dict[str, Any] = choices[0]
    message = _answer(choice) if is_chat else _completion(choice)
    finish = _finish_reason(choice.get("finish_reason"))
    reasoning = _reasoning(choice)
    if think_tags:
        thought, text = thought_apart(message.text)
        message = replace(message, content=text)
        reasoning = reasoning or thought
    token_ids, logprobs = _tokens(choice)
    return Reply(
        message,
        token_ids=token_ids,
        logprobs=logprobs,
        finish_reason=finish,
        usage=_usage(plain.get("usage")),
        reasoning=reasoning,
    )


def _tokens(choice: dict[str, Any]) -> tuple[tuple[int, ...] | None, tuple[float, ...] | None]:
    """Return the ids and logprobs of an answer's tokens, each where the server gives it.

    The API has no ids; vLLM gives them where it is asked to (`return_token_ids`). Both are of the
    whole answer, thoughts included. What is not of the documented shape counts as not given, and
    so do logprobs of another number of tokens.
    """
    told = choice.get("logprobs")
    told = told if isinstance(told, dict) else {}
    of_chat = told.get("content")
    values = told.get("token_logprobs")  # of a finished prompt
    if isinstance(of_chat, list):
        values = [token.get("logprob") if isinstance(token, dict) else None for token in of_chat]
    token_ids = _numbers(choice.get("token_ids"), int, least=0, most=_MOST_IDS)
    logprobs = _numbers(values, (int, float), least=-_LARGEST, most=_LARGEST)
    if token_ids is not None and logprobs is not None and len(token_ids) != len(logprobs):
        logprobs = None
    return token_ids, None if logprobs is None else tuple(map(float, logprobs))


def _numbers(
    values: Any, kind: type | tuple[type, ...], *, least: float, most: float
) -> tuple[Any, ...] | None:
    """Return a list's numbers, from least to most; None where it is empty or has anything else."""
    if not isinstance(values, list) or not values:
        return None
    for value in values:
        is_number = isinstance(value, kind) and not isinstance(value, bool)
        if not is_number or not least <= value <= most:  # as NaN is not
            return None
    return tuple(values)


def _reasoning(choice: dict[str, Any]) -> str | None:
    """Return what the model thought, where the server tells it apart from the answer."""
    message = choice.get("message")
    if not isinstance(message, dict):
        return None
    fields = (message.get(name) for name in ("reasoning_content", "reasoning"))
    return next((field for field in fields if isinstance(field, str) and field), None)


def thought_apart(text: str) -> tuple[str | None, str]:
    """Return what a text thinks, None where it does not, and what it says after that.

    The first tag may be part of the prompt. Thoughts that are cut off have no answer.
    """
    begun = text.lstrip()
    is_open = begun.startswith(_THINK)
    thought, end, rest = begun.removeprefix(_THINK).partition(_THOUGHT)
    if not end and not is_open:
        return None, text
    return thought.strip() or None, rest.lstrip() if end else ""


def _finish_reason(finish: Any) -> FinishReason | None:
    return _FINISH.get(finish, "other") if isinstance(finish, str) else None


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        plain = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedReplyError("it is not JSON", body.decode("utf-8", "replace")) from error
    if not isinstance(plain, dict):
        raise MalformedReplyError("it is not a JSON object", plain)
    return plain


def _completion(choice: dict[str, Any]) -> Message:
    text = choice.get("text")
    if not isinstance(text, str):
        raise MalformedReplyError("its choice has no 'text'", choice)
    return Message("assistant", text)


def _answer(choice: dict[str, Any]) -> Message:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise MalformedReplyError("its choice has no 'message'", choice)
    calls = _tool_calls(message.get("tool_calls"))
    text = _text(message)
    if text is None:
        # With calls there may be no text; a model may spend its whole budget on thoughts, or say
        # nothing, or be kept from it, which is `null` and not a field that is missing.
        finish = choice.get("finish_reason")  # of any JSON type, also one that no set takes
        is_null = finish in ("stop", "content_filter") and "content" in message
        says_nothing = finish == "length" or is_null
        if not calls and not says_nothing:
            raise MalformedReplyError("its message has no 'content'", choice)
        text = ""
    return Message("assistant", text, calls)


def _text(message: dict[str, Any]) -> str | None:
    content = message.get("content")
    if content is None:
        content = message.get("refusal")
    if content is None or isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    if len(texts) == len(parts) and all(isinstance(text, str) for text in texts):
        return "".join(map(str, texts))
    raise MalformedReplyError("its 'content' is neither text nor parts with text", content)


def _tool_calls(calls: Any) -> tuple[ToolCall, ...]:
    try:
        return tuple(
            ToolCall(
                str(call.get("id") or f"call_{number}"),
                _name(call["function"]["name"]),
                _arguments(call["function"].get("arguments")),
            )
            for number, call in enumerate(calls or ())
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise MalformedReplyError("its 'tool_calls' are not calls of functions", calls) from error


def _name(name: Any) -> str:
    """Return what a call calls. Raises TypeError: `null` is no function called None."""
    if not isinstance(name, str):
        raise TypeError("a function's name is a string")
    return name


def _arguments(text: Any) -> Mapping[str, Any]:
    """Return a call's arguments. Text that is no JSON object is the model's fault, and kept."""
    try:
        arguments = json.loads(text) if isinstance(text, str) and text else text or {}
        json.dumps(arguments, allow_nan=False)  # Python reads NaN and 1e999, which are not JSON
    except (ValueError, RecursionError):
        arguments = None
    return (
        arguments
        if isinstance(arguments, dict) and is_shallow(arguments)
        else {"$malformed": str(text)}
    )


def _usage(usage: Any) -> Usage | None:
    names = ("prompt_tokens", "completion_tokens")
    # Some servers leave a 0 out. Without either nothing was counted, and a budget must know that.
    if not isinstance(usage, dict) or not any(name in usage for name in names):
        return None
    counts = [usage.get(name, 0) for name in names]
    if any(type(count) is not int or count < 0 for count in counts):
        return None
    return Usage(*counts)
