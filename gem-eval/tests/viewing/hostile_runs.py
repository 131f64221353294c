"""A run in which every text that a viewer could show tries to be markup, and its pictures too."""

from __future__ import annotations

from pathlib import Path

from gem import ImagePart, TextPart, ToolCall, ToolResult
from gem.conversation import Usage
from gem_eval.run_folder import RunFolder

from .conftest import episode, failed, turn, write_run

__all__ = ["HOSTILE", "write_hostile_run"]

HOSTILE = (
    '</div><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">'
    '<a href="javascript:window.hacked=1">click</a>\u202e\x1b[31m {{ 7*7 }}'
)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6364f8cf500f00038601805a347d9b0000000049454e44ae426082"
)


def write_hostile_run(folder: Path) -> RunFolder:
    """Write one episode that was played, and one that an error ended."""
    seen = (TextPart(HOSTILE), ImagePart(PNG), ImagePart(b"<svg/>", "image/svg+xml"))
    played = turn(
        observation=seen,
        suffix=HOSTILE,
        action=HOSTILE,
        reasoning=HOSTILE,
        info={HOSTILE: HOSTILE},
        reward_parts={HOSTILE: 1.0, "other": 2.0},
        tool_calls=(ToolCall("1", HOSTILE, {HOSTILE: HOSTILE}),),
        tool_results=(ToolResult("1", HOSTILE, is_error=True),),
        usage=Usage(10, 20),
    )
    bad = {"policy": HOSTILE, "env_kwargs": {HOSTILE: HOSTILE}, "versions": {HOSTILE: HOSTILE}}
    return write_run(
        folder,
        episode(turns=(played,), final_observation=HOSTILE, **bad),
        failed(error=HOSTILE, episode_index=1, **bad),
        total=2,
    )
