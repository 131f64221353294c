"""Chat messages for supervised fine-tuning: JSON lines, a conversation a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gem.content import Message
from gem.episode import Episode
from gem_eval.exporting.chat import chat_rows, conversation, prompts_and_answers, write_lines
from gem_eval.exporting.choosing import ROUNDING, Source
from gem_eval.exporting.formats import Written

__all__ = ["write"]


def write(source: Source, draft: Path) -> Written:
    """Write what was solved, or what has `min_return` at least. An error is never among it.

    Of several seats each is a conversation of its own, and solved or not by itself.
    """
    lines: set[int] = set()

    def rows(with_parts: bool) -> Iterator[dict[str, Any]]:
        lines.clear()
        for entry in source.without_errors():
            reason = _reason(entry.episode, source.choice.min_return)
            if reason is not None:
                source.left_out[reason] += 1
                continue
            lines.add(entry.line)
            seat = {} if entry.seat is None else {"seat": entry.seat_name}
            for messages in _conversations(entry.episode):
                yield {
                    "messages": chat_rows(messages, with_parts=with_parts),
                    "env_id": entry.episode.env_id,
                    "policy": entry.episode.policy,
                    "seed": str(entry.episode.seed),
                    "total_reward": entry.episode.total_reward,
                    **seat,
                }

    num_rows = write_lines(draft, rows)
    return Written(len(lines), num_rows)


def _reason(episode: Episode, min_return: float | None) -> str | None:
    """Say why nobody should learn from an episode, or return None."""
    if not episode.played_turns:
        return "without an answer"
    if min_return is None:
        return None if episode.success else "not solved"
    is_enough = episode.total_reward >= min_return - ROUNDING
    return None if is_enough else f"with a return below {min_return:g}"


def _conversations(episode: Episode) -> Iterator[list[Message]]:
    """Yield the one conversation, or one for each turn where every prompt was written anew."""
    if not episode.rewrites_history:
        yield conversation(episode)
        return
    for prompt, answer in prompts_and_answers(episode):
        yield [*prompt, answer]
