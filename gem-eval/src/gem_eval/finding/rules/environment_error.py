"""`environment_error`: the environment failed, hung or was lost, and not the policy."""

from __future__ import annotations

from collections.abc import Iterator

from gem.episode import Episode
from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Evidence, Finder
from gem_eval.finding.wording import excerpt

__all__ = ["FINDER"]

_SHOWN = 300  # characters of an error: what went wrong is seldom said in the first words
_WHAT = {
    "env_error": "raised",
    "step_timeout": "did not answer in time",
    "worker_lost": "was lost with its worker",
}


def rule(episode: Episode) -> Iterator[Evidence]:
    """Find an episode that its environment ended by an error."""
    what = _WHAT.get(episode.stop_reason)
    if what is None:
        return
    turns = len(episode.turns)
    when = f"in turn {turns:,}" if turns else "before the first turn"
    why = f": {excerpt(episode.error, at_most=_SHOWN)}" if episode.error else ""
    yield Evidence(turns - 1 if turns else None, f"The environment {what} {when}{why}.")


def _examples() -> list[Example]:
    turn = example_turn("7")
    error = "RuntimeError: the wheel came off"
    raised = {"stop_reason": "env_error", "error": error, "success": None}
    return [
        Example("it raised", example_episode(turn, turn, **raised), (1,)),
        Example("it never began", example_episode(**raised), (None,)),
        Example("it hung", example_episode(turn, stop_reason="step_timeout"), (0,)),
        Example("its process died", example_episode(turn, stop_reason="worker_lost"), (0,)),
        Example(
            "the policy failed",
            example_episode(turn, stop_reason="policy_error", error=error, success=None),
        ),
        Example("a plain failure", example_episode(turn)),
    ]


FINDER = Finder(
    id="environment_error",
    summary="the environment raised, did not answer in time, or was lost",
    rule=rule,
    examples=_examples,
)
