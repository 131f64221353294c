"""Lines on actions: sampled ones are valid and free of effects, hostile ones do no harm."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from gem.content import Action, ToolCall
from gem.env import Env
from gem.errors import in_one_line
from gem.step import Step
from gem.testing.formats import asked_formats
from gem.testing.playing import Sight, first_difference, play, repeating
from gem.testing.report import NotHeldError
from gem.testing.subject import Subject, drive

__all__ = [
    "action_error",
    "long_actions_end_in_time",
    "malformed_actions_do_not_raise",
    "sampled_actions_are_valid",
    "sampling_changes_nothing",
]

_ERROR_PARTS = ("format_error", "invalid")
_MOST_SECONDS = 10.0
_ALWAYS_FINE_S = 1.0
_LONG = (2**10, 2**14, 2**16, 2**18, 2**20)


def action_error(info: Mapping[str, Any]) -> str | None:
    """Say how the last action was refused, or None where it was taken.

    An environment marks a refusal by `info["action_error"]` ("format" or "invalid"), or by a
    reward part named `format_error` or `invalid` that is not zero.
    """
    if info.get("action_error"):
        return str(info["action_error"])
    parts = info.get("reward_parts", {})
    return next((name for name in _ERROR_PARTS if parts.get(name)), None)


def sampled_actions_are_valid(subject: Subject) -> str:
    """Play whole episodes of sampled actions, two for each seed."""
    subject.require_samples()
    taken = 0
    with subject.make() as env:
        for seed in subject.seeds:
            for most_turns in (200, 200):
                taken += _sampled_episode(env, seed, most_turns)
    return f"{taken} actions taken"


def _sampled_episode(env: Env, seed: int, most_turns: int) -> int:
    env.reset(seed=seed)
    for turn in range(1, most_turns + 1):
        action = env.sample_action()
        if not isinstance(action, str):
            raise NotHeldError(f"sample_action() drew {action!r}, which is not text")
        step = env.step(action)
        error = action_error(step.info)
        if error is not None:
            raise NotHeldError(f"seed {seed}, turn {turn}: {action!r} was refused ({error})")
        if step.terminated or step.truncated:
            break
    return turn


def sampling_changes_nothing(subject: Subject) -> str:
    """Draw actions in plenty before each step, and compare with an episode without."""
    subject.require_samples()
    for seed in subject.seeds[:4]:
        plain = subject.driven(seed)
        with subject.make() as env:
            watched = play(env, _sampling(plain.actions), seed)
        difference = first_difference(plain.moments, watched.moments)
        if difference is not None:
            raise NotHeldError(
                f"seed {seed}, sample_action() called before each step: {difference}"
            )
    return f"{len(subject.seeds[:4])} episodes unchanged by it"


def _sampling(actions: tuple[str, ...]) -> Any:
    given = repeating(actions)

    def player(env: Env, sight: Sight) -> str | None:
        before = env.rng.getstate()
        for _ in range(3):
            env.sample_action()
        if env.rng.getstate() != before:
            raise NotHeldError("sample_action() drew from rng, and it has sample_rng")
        return given(env, sight)

    return player


def malformed_actions_do_not_raise(subject: Subject) -> str:
    """Step with broken text of many kinds, plain and in the format that is asked for."""
    taken = 0
    with subject.make() as env:
        text = subject.driven(subject.seeds[0]).texts[0]
        is_over = True
        for action in _malformed(asked_formats(text, *subject.driven(subject.seeds[0]).actions)):
            if is_over:
                env.reset(seed=subject.seeds[0])
            step = _harmless_step(env, action)
            is_over = step.terminated or step.truncated
            taken += 1
    return f"{taken} broken actions taken"


def _harmless_step(env: Env, action: str) -> Step:
    shown = f"{action[:40]!r}" + (f" and so on, {len(action):,} characters" * (len(action) > 40))
    try:
        return env.step(action)
    except Exception as error:
        raise NotHeldError(f"{shown} raised {in_one_line(error)}") from error


_BROKEN = (
    "",
    " ",
    "\n\n\n",
    "\x00",
    "1\x002",
    "\ud800",
    "\udfff1",
    "\u202e321\u202c",  # right to left
    "\u05d0\u05d1",
    "\u0663",  # digits for isdigit, one of which int() refuses
    "\u00b2",
    "\uff11",
    "\u2460",
    "1" * 5000,  # more digits than int() converts
    "-1",
    "1e309",
    "nan",
    "1/0",
    "None",
    "{}",
    "[1, 2",
    "%s%d%n",
    "{0.__class__}",
    "a" * 1000,
    "1 " * 1000,
    "\U0001f600",
)
_UNBALANCED = (
    "\\boxed{",
    "\\boxed{}",
    "\\boxed",
    "\\boxed{{1}",
    "}{",
    "<answer>",
    "</answer><answer>",
)


def _malformed(formats: list[str]) -> Iterator[str]:
    yield from _BROKEN
    yield from _UNBALANCED
    yield Action("", tool_calls=(ToolCall("0", "no_such_tool", {"x": 1}),))
    for form in formats:
        yield from (form % text for text in _BROKEN)


def long_actions_end_in_time(subject: Subject) -> str:
    """Step with ever longer text, up to 1 MB, of kinds that trip a careless pattern."""
    slowest = 0.0
    seed = subject.seeds[0]
    texts = (subject.driven(seed).texts[0], *subject.driven(seed).actions)
    with subject.make() as env:
        play(env, drive, seed)  # first: what a step imports is then imported
        for piece in _PIECES:
            for length in _LONG:
                for form in {*asked_formats(*texts), "%s"}:
                    env.reset(seed=seed)
                    action = form % (piece * (length // len(piece)))
                    slowest = max(slowest, _timed(env, action))
    return f"1 MB in at most {slowest:.3f} s"


_PIECES = ("1", "1 ", " ", "a", "\\boxed{", "\\boxed{1}", "{", "}", "<answer>", "\n", "\x00")


def _timed(env: Env, action: str) -> float:
    started = time.process_time()  # not the clock's: the machine may be busy
    _harmless_step(env, action)
    seconds = time.process_time() - started
    # Checked at each length: work that grows with the square is caught before it takes hours.
    if seconds > max(_MOST_SECONDS * len(action) / _LONG[-1], _ALWAYS_FINE_S):
        raise NotHeldError(
            f"{action[:20]!r} and so on, {len(action):,} characters, took {seconds:.1f} s; "
            "parsing must take time in proportion to the length"
        )
    return seconds
