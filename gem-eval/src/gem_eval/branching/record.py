"""What a run that branches from an episode says of it. Knows nothing about how it is played."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Branch"]


class Branch(BaseModel):
    """Where a run branches from: the episode in `line` of the log of `run`, at a turn.

    Lines count from 1 and turns from 0: `turn` is the first that is played anew. `policy` is who
    played the parent, `fingerprint` that of the whole parent, which `parent.jsonl` of the run
    holds. The episodes of the run are its children.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    run: str
    line: int
    fingerprint: str
    policy: str
    turn: int

    def __str__(self) -> str:
        return (
            f"turn {self.turn + 1} of line {self.line} of {self.run} ({self.fingerprint[:12]}), "
            f"which {self.policy} played"
        )
