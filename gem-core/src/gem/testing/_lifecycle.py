"""Lines on the order of calls: out of turn is refused, and closing is always fine."""

from __future__ import annotations

from gem.env._env import Env
from gem.errors import ResetNeeded, in_one_line
from gem.testing._playing import play
from gem.testing._report import NotApplicableError, NotHeldError
from gem.testing._subject import Subject, drive, solve

__all__ = [
    "closing_twice_is_fine",
    "step_after_the_end_is_refused",
    "step_before_reset_is_refused",
]


def step_before_reset_is_refused(subject: Subject) -> str:
    """Step a new instance."""
    with subject.make() as env:
        _require_refusal(env, "before the first reset")
    return "ResetNeeded"


def step_after_the_end_is_refused(subject: Subject) -> str:
    """Play to the end, by sampled actions or else by solve(), and step twice more."""
    with subject.make() as env:
        for seed in subject.seeds:
            # Sampled actions may never end an episode, and solve() may not be known.
            for player in (drive, solve):
                if play(env, player, seed).is_over:
                    _require_refusal(env, "after the end")
                    # The refusal itself must not have opened a new episode.
                    _require_refusal(env, "after the end, a second time")
                    return "ResetNeeded, twice"
    raise NotApplicableError("no episode came to an end that could be stepped over")


def _require_refusal(env: Env, when: str) -> None:
    try:
        step = env.step("1")
    except ResetNeeded:
        return
    except Exception as error:
        raise NotHeldError(
            f"step {when} raised {in_one_line(error)}, and not ResetNeeded"
        ) from error
    raise NotHeldError(f"step {when} was accepted, with the reward {step.reward!r}")


def closing_twice_is_fine(subject: Subject) -> str:
    """Close a new instance, one in the middle of an episode, each twice."""
    for is_started in (False, True):
        env = subject.make()
        if is_started:
            env.reset(seed=subject.seeds[0])
        env.close()
        env.close()
    return "new and in the middle of an episode"
