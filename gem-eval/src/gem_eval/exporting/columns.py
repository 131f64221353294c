"""An episode as one row of a table: flat figures, and its turns nested in it.

What has no fixed shape (arguments, infos, calls of tools) is a column of JSON text, so that the
columns of every run are the same. Knows nothing about the files that tables are written to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gem.content import (
    ImagePart,
    Message,
    Observation,
    normalise_text,
    observation_text,
    observation_to_json,
)
from gem.episode import Turn
from gem_eval.errors import ExportError
from gem_eval.exporting.choosing import Source
from gem_eval.exporting.json_text import json_text
from gem_eval.exporting.stored_log import Entry
from gem_eval.summary import Outcome

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["row_of", "schema", "tables"]

_MOST_ROWS = 1000
_MOST_BYTES = 64 * 2**20
"""Of a group of rows, as the log has them: what is in memory at once."""

_EPISODE = {
    "env_id": "string",
    "policy": "string",
    "seat": "int32",
    "seat_name": "string",
    "seed": "int64",
    "task": "int64",
    "repeat": "int32",
    "env_index": "int32",
    "episode_index": "int64",
    "success": "bool",
    "total_reward": "double",
    "num_turns": "int32",
    "stop_reason": "string",
    "is_error": "bool",
    "error": "string",
    "terminated": "bool",
    "truncated": "bool",
    "prompt_tokens": "int64",
    "completion_tokens": "int64",
    "policy_s": "double",
    "environment_s": "double",
    "duration_s": "double",
    "final_observation": "string",
    "env_kwargs": "string",
    "wrappers": "string",
    "versions": "string",
    "rewrites_history": "bool",
    "fingerprint": "string",
    "line": "int64",
}
_TURN = {
    "turn": "int32",
    "seat": "int32",
    "observation": "string",
    "observation_parts": "string",
    "suffix": "string",
    "action": "string",
    "reasoning": "string",
    "tool_calls": "string",
    "tool_results": "string",
    "reward": "double",
    "reward_parts": "string",
    "terminated": "bool",
    "truncated": "bool",
    "info": "string",
    "finish_reason": "string",
    "prompt_tokens": "int64",
    "completion_tokens": "int64",
    "policy_s": "double",
    "step_s": "double",
    "new_sequence": "bool",
}


def schema() -> pa.Schema:
    """Return the columns of an episode. They are the same for every run."""
    import pyarrow as pa  # heavy: 0.2 s

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    turn = [pa.field(name, pa.type_for_alias(alias)) for name, alias in _TURN.items()]
    turn += [
        pa.field("token_ids", pa.list_(pa.int64())),
        pa.field("logprobs", pa.list_(pa.float64())),
        pa.field("mask", pa.list_(pa.int8())),
        pa.field("images", pa.list_(image)),
    ]
    episode = [pa.field(name, pa.type_for_alias(alias)) for name, alias in _EPISODE.items()]
    return pa.schema([*episode, pa.field("turns", pa.list_(pa.struct(turn)))])


def tables(source: Source) -> Iterator[pa.Table]:
    """Yield the chosen episodes in tables that fit into memory, at least one episode in each."""
    columns = schema()
    rows: list[dict[str, Any]] = []
    num_bytes = 0
    for entry in source.entries():
        rows.append(row_of(entry))
        num_bytes += entry.end - entry.start
        if len(rows) == _MOST_ROWS or num_bytes >= _MOST_BYTES:
            yield _table(rows, columns)
            rows = []
            num_bytes = 0
    if rows:
        yield _table(rows, columns)


def _table(rows: Sequence[dict[str, Any]], columns: pa.Schema) -> pa.Table:
    import pyarrow as pa

    try:
        return pa.Table.from_pylist(rows, schema=columns)
    except (pa.ArrowInvalid, OverflowError) as error:
        first = rows[0]
        raise ExportError(
            f"Of the {len(rows)} episodes from line {first['line']} of the log on, one has a "
            f"number that no column of 64 bits holds ({error}). Leave it out with --policy or "
            "--env, or export to a format of JSON."
        ) from error


def row_of(entry: Entry) -> dict[str, Any]:
    """Return an episode's row, or that of a seat's part. `success` is None after an error.

    `seat` and `seat_name` are None where there is one; `fingerprint` is that of the whole episode.
    """
    episode = entry.episode
    outcome = Outcome.of(episode)
    usage = outcome.usage
    final = episode.final_observation
    return {
        "env_id": _text(episode.env_id),
        "policy": _text(episode.policy),
        "seat": entry.seat,
        "seat_name": _text(entry.seat_name),
        "seed": episode.seed,
        "task": episode.task,
        "repeat": episode.repeat,
        "env_index": episode.env_index,
        "episode_index": episode.episode_index,
        "success": None if episode.is_error else episode.success,
        "total_reward": episode.total_reward,
        "num_turns": outcome.turns,
        "stop_reason": episode.stop_reason,
        "is_error": episode.is_error,
        "error": _text(episode.error),
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "prompt_tokens": None if usage is None else usage.prompt_tokens,
        "completion_tokens": None if usage is None else usage.completion_tokens,
        "policy_s": outcome.policy_s,
        "environment_s": outcome.environment_s,
        "duration_s": episode.duration_s,
        "final_observation": None if final is None else _text(observation_text(final)),
        "env_kwargs": json_text(episode.env_kwargs),
        "wrappers": json_text(episode.wrappers),
        "versions": json_text(episode.versions),
        "rewrites_history": episode.rewrites_history,
        "fingerprint": (entry.whole or episode).fingerprint(),
        "line": entry.line,
        "turns": [_turn(number, turn) for number, turn in enumerate(episode.turns)],
    }


def _turn(number: int, turn: Turn) -> dict[str, Any]:
    plain = turn.outcome()
    usage = turn.usage
    parts, images = _parts_and_images(turn.observation)
    return {
        "turn": number,
        "seat": turn.seat,
        "observation": _text(observation_text(turn.observation)),
        "observation_parts": parts,
        "suffix": _text(turn.suffix),
        "action": _text(turn.action),
        "reasoning": _text(turn.reasoning),
        "tool_calls": _json_or_none(plain["tool_calls"]),
        "tool_results": _json_or_none(plain["tool_results"]),
        "reward": turn.reward,
        "reward_parts": _json_or_none(plain["reward_parts"]),
        "terminated": turn.terminated,
        "truncated": turn.truncated,
        "info": _json_or_none(dict(turn.info)),
        "finish_reason": _text(turn.finish_reason),
        "prompt_tokens": None if usage is None else usage.prompt_tokens,
        "completion_tokens": None if usage is None else usage.completion_tokens,
        "policy_s": turn.policy_s,
        "step_s": turn.step_s,
        "new_sequence": turn.new_sequence,
        "token_ids": turn.token_ids,
        "logprobs": turn.logprobs,
        "mask": turn.mask,
        "images": images,
    }


def _parts_and_images(observation: Observation) -> tuple[str | None, list[dict[str, Any]]]:
    """Return the parts or messages of an observation as JSON, and its images apart.

    In the JSON an image is its number among the images. Plain text has neither.
    """
    if isinstance(observation, str):
        return None, []
    images: list[dict[str, Any]] = []
    plain = observation_to_json(observation)
    for part in _images_in(plain):
        part["image"] = len(images)
        images.append({})
    for image, found in zip(images, _images_of(observation), strict=True):
        image["bytes"] = found.image
        image["path"] = None
    return json_text(plain), images


def _images_in(plain: Any) -> Iterator[dict[str, Any]]:
    """Yield the parts that are images, in order, of an observation as plain data."""
    if "parts" in plain:
        contents = [plain["parts"]]
    else:
        contents = [each["content"] for each in plain.get("messages", [plain.get("message")])]
    for content in contents:
        if not isinstance(content, str):
            yield from (part for part in content if "image" in part)


def _images_of(observation: Observation) -> Iterator[ImagePart]:
    """Yield the images of an observation, in order."""
    pieces = [observation] if isinstance(observation, Message) else observation
    for piece in pieces:
        if isinstance(piece, ImagePart):
            yield piece
        elif isinstance(piece, Message) and not isinstance(piece.content, str):
            yield from (part for part in piece.content if isinstance(part, ImagePart))


def _json_or_none(plain: Any) -> str | None:
    return json_text(plain) if plain else None


def _text(text: str | None) -> str | None:
    """Return text as UTF-8 can hold it: half of a surrogate pair becomes U+FFFD."""
    return None if text is None else normalise_text(text)
