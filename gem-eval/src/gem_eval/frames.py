"""Rows as a pandas table, where pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gem.episode import Episode
from gem.registry import check_requirements
from gem_eval.summary import Outcome

if TYPE_CHECKING:
    # Handed on to annotations; its stubs are a package of their own, and it is optional itself.
    from pandas import DataFrame as DataFrame  # type: ignore[import-untyped,import-not-found,unused-ignore]  # noqa: PLC0414

__all__ = ["data_frame", "episode_rows"]


def data_frame(rows: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Return the rows as a table. Raises MissingRequirement without pandas."""
    check_requirements(("pandas>=2.1",), subject="to_pandas()", of="gem-eval")
    from pandas import DataFrame  # heavy: 0.5 s

    return DataFrame.from_records(list(rows))


def episode_rows(episode: Episode) -> Iterator[dict[str, Any]]:
    """Yield an episode's figures, without its turns: of several seats those of each.

    A row of a seat also has the seat, the line-up, and who ended the episode by an error.
    """
    if not episode.seats:
        yield _row(episode)
        return
    for seat, part in enumerate(episode.parts()):
        is_forfeit = episode.stop_reason == "policy_error" and episode.stopped_by == seat
        of_seat = {
            "line_up": episode.policy,
            "seat": part.seats[0].name,
            "is_forfeit": is_forfeit,
        }
        yield {**_row(part), **of_seat}


def _row(episode: Episode) -> dict[str, Any]:
    outcome = Outcome.of(episode)
    usage = outcome.usage
    return {
        "env_id": episode.env_id,
        "policy": episode.policy,
        "episode_index": episode.episode_index,
        "repeat": episode.repeat,
        "seed": episode.seed,
        "task": episode.task,
        "success": episode.success,
        "total_reward": episode.total_reward,
        "turns": outcome.turns,
        "stop_reason": episode.stop_reason,
        "error": episode.error,
        "prompt_tokens": None if usage is None else usage.prompt_tokens,
        "completion_tokens": None if usage is None else usage.completion_tokens,
        "policy_s": outcome.policy_s,
        "environment_s": outcome.environment_s,
    }
