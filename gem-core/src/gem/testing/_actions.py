"""Lines on actions: sampled ones are valid, hostile ones do no harm."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from gem.content import Action, ToolCall
from gem.env._env import Env
from gem.env._step import Step
from gem.errors import in_one_line
from gem.testing._formats import asked_formats
from gem.testing._playing import MOST_TURNS, play
from gem.testing._report import NotHeldError
from gem.testing._subject import Subject, drive

__all__ = [
    "action_error",
    "long_actions_end_in_time",
    "malformed_actions_do_not_raise",
    "sampled_actions_are_valid",
]

_ERROR_PARTS = ("format_error", "invalid")
_MOST_SECONDS = 10.0  # for 1 MB; shorter text has its share of it
_ALWAYS_FINE_S = 1.0  # a short text may meet a first import or a busy machine
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
    num_actions = 0
    with subject.make() as env:
        for seed in subject.seeds:
            for _ in range(2):
                num_actions += _sampled_episode(env, seed)
    return f"{num_actions} actions taken"


def _sampled_episode(env: Env, seed: int) -> int:
    env.reset(seed=seed)
    taken: dict[int, str] = {}  # the last action of each seat, and when it was taken
    for turn in range(1, MOST_TURNS + 1):
        action = env.sample_action()
        if not isinstance(action, str):
            raise NotHeldError(f"sample_action() drew {action!r}, which is not text")
        seat = env.seat
        taken[seat] = f"seed {seed}, turn {turn}: {action!r}"
        step = env.step(action)
        errors = dict(step.info.get("action_errors", {}))  # of a round, with its last action
        if own := action_error(step.info):
            errors[seat] = own
        for number, error in errors.items():
            raise NotHeldError(f"{taken[number]} was refused ({error})")
        if step.terminated or step.truncated:
            break
    return turn


def malformed_actions_do_not_raise(subject: Subject) -> str:
    """Step with broken text of many kinds, plain and in the format that is asked for."""
    num_actions = 0
    with subject.make() as env:
        known = subject.driven(subject.seeds[0])
        formats = asked_formats(known.texts[0], *known.actions)
        is_over = True  # a new instance is reset first
        for action in _malformed(formats):
            if is_over:
                env.reset(seed=subject.seeds[0])
            step = _harmless_step(env, action)
            is_over = step.terminated or step.truncated
            num_actions += 1
    return f"{num_actions} broken actions taken"


def _harmless_step(env: Env, action: str) -> Step:
    excerpt = repr(action[:40])
    if len(action) > 40:
        excerpt = f"{excerpt} and so on, {len(action):,} characters"
    try:
        return env.step(action)
    except Exception as error:
        raise NotHeldError(f"{excerpt} raised {in_one_line(error)}") from error


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
    # In the format that is asked for too: only then does it reach what reads the answer.
    for form in formats:
        for text in _BROKEN:
            yield form % text


def long_actions_end_in_time(subject: Subject) -> str:
    """Step with ever longer text, up to 1 MB, of kinds that trip a careless pattern."""
    slowest = 0.0
    seed = subject.seeds[0]
    texts = (subject.driven(seed).texts[0], *subject.driven(seed).actions)
    with subject.make() as env:
        play(env, drive, seed)  # first: what a step imports is then imported
        for piece in _PIECES:
            for length in _LONG:
                # Bare too: what looks for the format must not take long to miss it.
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
