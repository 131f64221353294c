"""Lines on what steps return: flags and limits agree, and rewards stay in their range."""

from __future__ import annotations

import math

from gem.testing.playing import Play, play
from gem.testing.report import NotHeldError
from gem.testing.subject import Subject, drive

__all__ = ["flags_and_limits_agree", "rewards_stay_in_range"]

_LONGEST = 2000


def flags_and_limits_agree(subject: Subject) -> str:
    """Look at every flag of the common plays, and play up to the turn limit."""
    plays = [*subject.played(), _long_play(subject)]
    for each in plays:
        _require_flags(each)
        _require_turns(each)
    _require_truncation([subject.driven(seed) for seed in subject.seeds])
    limit = subject.driven(subject.seeds[0]).max_turns
    return f"{len(plays)} episodes; turn limit {'none' if limit is None else limit}"


def _long_play(subject: Subject) -> Play:
    with subject.make() as env:
        return play(env, drive, subject.seeds[0], most_turns=_LONGEST)


def _require_flags(each: Play) -> None:
    for turn, moment in enumerate(each.moments[1:], start=1):
        for name in ("terminated", "truncated"):
            if not isinstance(moment[name], bool):
                raise NotHeldError(f"seed {each.seed}, turn {turn}: {name} is {moment[name]!r}")
        if moment["terminated"] and moment["truncated"]:
            raise NotHeldError(
                f"seed {each.seed}, turn {turn}: terminated and truncated at once; the task "
                "ended, or else a limit ended it"
            )


def _require_turns(each: Play) -> None:
    turns = len(each.actions)
    if each.single_turn and (turns != 1 or not each.is_over) and turns:
        raise NotHeldError(f"seed {each.seed}: single_turn, and turn 1 did not end the episode")
    if each.max_turns is not None and turns >= each.max_turns and not each.is_over:
        raise NotHeldError(
            f"seed {each.seed}: max_turns is {each.max_turns}, and the episode went on after "
            f"turn {turns}"
        )


def _require_truncation(plays: list[Play]) -> None:
    """Refuse a turn limit that terminates: every lost episode ends there, and none truncates."""
    lost = [each for each in plays if each.is_over and not each.is_success]
    at_limit = [each for each in lost if len(each.actions) == each.max_turns]
    if any(each.single_turn or each.max_turns == 1 for each in plays) or len(at_limit) < 3:
        return
    if len(at_limit) == len(lost) and all(each.moments[-1]["terminated"] for each in lost):
        raise NotHeldError(
            f"{len(lost)} of {len(plays)} episodes ended at the turn limit, all of them "
            "terminated; a turn limit truncates"
        )


def rewards_stay_in_range(subject: Subject) -> str:
    """Look at every reward of the common plays."""
    with subject.make() as env:
        lowest, highest = env.reward_range
    seen = [
        (each.seed, turn, moment["reward"])
        for each in subject.played()
        for turn, moment in enumerate(each.moments[1:], start=1)
    ]
    for seed, turn, reward in seen:
        if isinstance(reward, bool) or not isinstance(reward, (int, float)):
            raise NotHeldError(f"seed {seed}, turn {turn}: the reward is {reward!r}")
        if not math.isfinite(reward) or not lowest - 1e-9 <= reward <= highest + 1e-9:
            raise NotHeldError(
                f"seed {seed}, turn {turn}: the reward {reward!r} is outside "
                f"reward_range, {lowest} to {highest}"
            )
    rewards = [reward for _, _, reward in seen]
    return (
        f"{min(rewards, default=0):g} to {max(rewards, default=0):g} seen, "
        f"{lowest:g} to {highest:g} declared"
    )
