"""Lines on what steps return: flags and limits agree, and rewards stay in their range."""

from __future__ import annotations

import math

from gem.testing._playing import Play, play
from gem.testing._report import NotHeldError
from gem.testing._subject import Subject, drive

__all__ = ["flags_and_limits_agree", "rewards_stay_in_range"]

_LONGEST = 2000  # turns of the one long episode: a counter that wraps or drifts shows


def flags_and_limits_agree(subject: Subject) -> str:
    """Look at every flag of the common plays, and play up to the turn limit."""
    plays = [*subject.played(), _long_play(subject)]
    for episode in plays:
        _require_flags(episode)
        _require_turns(episode)
    _require_truncation([subject.driven(seed) for seed in subject.seeds])
    limit = subject.driven(subject.seeds[0]).max_turns
    return f"{len(plays)} episodes; turn limit {'none' if limit is None else limit}"


def _long_play(subject: Subject) -> Play:
    with subject.make() as env:
        return play(env, drive, subject.seeds[0], most_turns=_LONGEST)


def _require_flags(episode: Play) -> None:
    for turn, moment in enumerate(episode.moments[1:], start=1):
        for name in ("terminated", "truncated"):
            if not isinstance(moment[name], bool):
                raise NotHeldError(f"seed {episode.seed}, turn {turn}: {name} is {moment[name]!r}")
        if moment["terminated"] and moment["truncated"]:
            raise NotHeldError(
                f"seed {episode.seed}, turn {turn}: terminated and truncated at once; the task "
                "ended, or else a limit ended it"
            )


def _require_turns(episode: Play) -> None:
    turns = len(episode.actions)
    # A player that gave up at once took no turn, and shows nothing.
    is_one_turn = turns == 1 and episode.is_over
    if episode.single_turn and turns and not is_one_turn:
        raise NotHeldError(f"seed {episode.seed}: single_turn, and turn 1 did not end the episode")
    if episode.max_turns is not None and turns >= episode.max_turns and not episode.is_over:
        raise NotHeldError(
            f"seed {episode.seed}: max_turns is {episode.max_turns}, and the episode went on after "
            f"turn {turns}"
        )


def _require_truncation(plays: list[Play]) -> None:
    """Refuse a turn limit that terminates: every lost episode ends there, and none truncates."""
    lost = [episode for episode in plays if episode.is_over and not episode.is_success]
    at_limit = [episode for episode in lost if len(episode.actions) == episode.max_turns]
    # One turn is limit and end at once, and one or two lost episodes may end there by chance.
    if any(episode.single_turn or episode.max_turns == 1 for episode in plays):
        return
    if len(at_limit) < 3:
        return
    if len(at_limit) == len(lost) and all(episode.moments[-1]["terminated"] for episode in lost):
        raise NotHeldError(
            f"{len(lost)} of {len(plays)} episodes ended at the turn limit, all of them "
            "terminated; a turn limit truncates"
        )


def rewards_stay_in_range(subject: Subject) -> str:
    """Look at every reward of the common plays."""
    with subject.make() as env:
        lowest, highest = env.reward_range
    steps = [
        (episode.seed, turn, moment["reward"])
        for episode in subject.played()
        for turn, moment in enumerate(episode.moments[1:], start=1)
    ]
    for seed, turn, reward in steps:
        # Python counts True as 1; records and returns would too.
        if isinstance(reward, bool) or not isinstance(reward, (int, float)):
            raise NotHeldError(f"seed {seed}, turn {turn}: the reward is {reward!r}")
        if not math.isfinite(reward) or not lowest - 1e-9 <= reward <= highest + 1e-9:
            raise NotHeldError(
                f"seed {seed}, turn {turn}: the reward {reward!r} is outside "
                f"reward_range, {lowest} to {highest}"
            )
    rewards = [reward for _, _, reward in steps]
    return (
        f"{min(rewards, default=0):g} to {max(rewards, default=0):g} seen, "
        f"{lowest:g} to {highest:g} declared"
    )
