"""What `record` keeps of an episode of several seats, as texts, and the record that they make.

Knows nothing about logs, or about the environment.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gem.content import observation_from_json, observation_to_json
from gem.env._step import Step
from gem.episode._episode import SEATED_FORMAT
from gem.episode._seats import SeatedCourse
from gem.episode._turn import Turn
from gem.specs import EnvSpec

__all__ = ["seated_fields", "shown_text"]


def shown_text(step: Step) -> str:
    """Return as JSON text what a step showed, and whose turn it then was."""
    kept = ("suffix", "success", "successes", "ends")
    info = {name: step.info[name] for name in kept if name in step.info}
    plain = {
        "seat": step.seat,
        "observations": [
            [seat, observation_to_json(observation)]
            for seat, observation in step.observations.items()
        ],
        "is_over": bool(step.terminated or step.truncated),
        "info": {**info, "ends": list(step.ends.items())},
    }
    return json.dumps(plain)


def _step(text: str) -> Step:
    plain: dict[str, Any] = json.loads(text)
    observations = {seat: observation_from_json(shown) for seat, shown in plain["observations"]}
    info = {
        **plain["info"],
        "seat": plain["seat"],
        "observations": observations,
        "ends": dict(plain["info"]["ends"]),
    }
    return Step("", 0.0, plain["is_over"], False, info)


def seated_fields(
    names: Sequence[str],
    shown: Sequence[str],
    turns: Sequence[Turn],
    *,
    policy: str,
    spec: EnvSpec | None,
    is_terminated: bool,
    rewrites: Sequence[bool],
) -> Mapping[str, Any]:
    """Return the fields of an `Episode` that are of several seats.

    `shown` has a text for the reset and for each of the turns, which lack their observations.
    """
    course = SeatedCourse(names)
    first = _step(shown[0])
    course.start("", first.info)
    whole_turns = []
    for turn, text in zip(turns, shown[1:], strict=True):
        question = course.questions[course.seat]
        suffix = course.suffixes[course.seat]
        seat = course.seat
        whole_turns.append(replace(turn, observation=question or "", suffix=suffix, seat=seat))
        course.pay(turn.rewards or ())
        course.take(_step(text))
    successes = course.successes(spec)
    outcomes = course.outcomes(
        [(policy, 0)] * len(names), successes, is_terminated=is_terminated, rewrites=rewrites
    )
    return {
        "turns": tuple(whole_turns),
        "total_reward": math.fsum(course.totals),
        "success": course.is_success(successes),
        "seats": outcomes,
        "format": SEATED_FORMAT,
        "rewrites_history": False,
    }
