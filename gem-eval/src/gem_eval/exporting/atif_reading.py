"""Read an ATIF trajectory of any program, for `gem-env replay`. The file is not trusted.

Knows nothing about environments.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from gem.content import Action, ToolCall, ToolResult, normalise_text
from gem.episode import ForeignEpisode, ForeignTurn, StopReason
from gem.errors import LogError, in_one_line, problems_of
from gem.registry import check_requirements
from gem.specs import WrapperRef

if TYPE_CHECKING:
    from atif import Agent, Step
    from atif.observation_result import ObservationResult

__all__ = ["read"]

_MOST_BYTES = 64 * 2**20
_MOST_SHOWN = 200  # characters of what is wrong with a file
_OURS = "gem-env"  # the agent of what `gem-env export` writes
_VERSION = "ATIF-v1."
_UNKNOWN_IMAGE = re.compile(r"\[an image of type [^\]\n]*\]")
"""What the exporter writes in the place of an image whose type ATIF lacks."""
_LOST_STEP = frozenset({"env_error", "step_timeout", "worker_lost"})
"""Errors that came before the environment answered the last action."""

_ANSWER = {"call_id": str, "content": str, "is_error": bool}
"""What the exporter writes of the answer of a tool."""


class _Facts(BaseModel):
    """What the exporter writes in the `extra` of a trajectory, as far as a replay needs it."""

    model_config = ConfigDict(frozen=True, strict=True)

    env_id: str
    env_kwargs: dict[str, Any]
    wrappers: list[WrapperRef]
    seed: int
    task: int | None
    total_reward: float
    success: bool | None
    stop_reason: StopReason
    versions: dict[str, str]
    seat: str | None = None


def read(path: Path) -> ForeignEpisode | None:
    """Return the episode of a `.json` file; None for a file of another name.

    Steps of the agent are the actions, in order, but for those that were copied as context. Raises
    LogError, in one line, on a file that is no ATIF 1 trajectory; MissingRequirement.
    """
    if path.suffix != ".json":
        return None
    plain = _plain(path)  # first: a file of another format is not read with it either
    check_requirements(["atif>=1.8"], subject="Reading ATIF", of="gem-eval")
    steps = _steps(plain, path)
    agent = _agent(plain, path)
    if agent.name == _OURS and "env_id" in (plain.get("extra") or {}):
        return _own(plain, agent, steps, path)
    first = _first_action(steps)
    shown = [step for step in steps[:first] if step.source != "system"]
    return ForeignEpisode(agent.name, _turns(steps[first:]), _text_of_steps(shown))


def _own(plain: dict[str, Any], agent: Agent, steps: Sequence[Step], path: Path) -> ForeignEpisode:
    """Return an episode that the exporter wrote, with all that it says about it."""
    try:
        facts = _Facts.model_validate(plain["extra"])
    except ValidationError as error:
        raise _malformed(path, "extra", error) from error
    if facts.seat is not None:
        raise LogError(
            f"{path} has what the seat {facts.seat[:_MOST_SHOWN]!r} did in an episode of several "
            "seats, which cannot be played again alone. Replay the log of the run.",
            path=str(path),
        )
    first = _first_action(steps)
    turns = _turns(steps[first:])
    if facts.stop_reason in _LOST_STEP:
        turns = turns[:-1]  # it was not answered, and is not taken again
    return ForeignEpisode(
        agent=agent.model_name or agent.name,
        turns=turns,
        observation=_text_of_steps(steps[:first]),
        env_id=facts.env_id,
        env_kwargs=facts.env_kwargs,
        wrappers=tuple(facts.wrappers),
        seed=facts.seed,
        task=facts.task,
        stop_reason=facts.stop_reason,
        total_reward=facts.total_reward,
        success=facts.success,
        versions=facts.versions,
    )


def _plain(path: Path) -> dict[str, Any]:
    """Return the JSON data of a trajectory, its steps and the rest unchecked."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise LogError(f"{path} cannot be read ({error.strerror}).", path=str(path)) from error
    if len(text) > _MOST_BYTES:
        raise _not_atif(path, f"it has more than {_MOST_BYTES // 2**20} MB")
    try:
        plain: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _not_atif(path, in_one_line(error, at_most=_MOST_SHOWN)) from error
    if not isinstance(plain, dict):
        raise _not_atif(path, "it is no JSON object")
    version = plain.get("schema_version")
    if not isinstance(version, str) or not version.startswith(_VERSION):
        raise _not_atif(path, f"its schema_version is {version!r:.40}, and not {_VERSION}8")
    if not isinstance(plain.get("steps"), list):
        raise _not_atif(path, "its `steps` are no list")
    if not isinstance(plain.get("extra") or {}, dict):
        raise _not_atif(path, "its `extra` is no object")
    return plain


def _agent(plain: dict[str, Any], path: Path) -> Agent:
    from atif import Agent

    try:
        return Agent.model_validate(plain.get("agent"))
    except (ValidationError, RecursionError) as error:
        raise _malformed(path, "agent", error) from error


def _steps(plain: dict[str, Any], path: Path) -> list[Step]:
    """Check the steps one by one: a huge file that is wrong everywhere has one error, the first."""
    from atif import Step

    steps = []
    for number, plain_step in enumerate(plain["steps"], start=1):
        try:
            step = Step.model_validate(plain_step)
        except (ValidationError, RecursionError) as error:
            raise _malformed(path, f"step {number}", error) from error
        if step.step_id != number:
            raise _not_atif(path, f"its step {number} has the step_id {step.step_id!r:.20}")
        steps.append(step)
    return steps


def _first_action(steps: Sequence[Step]) -> int:
    """Return how many steps come before the first action."""
    places = (place for place, step in enumerate(steps) if _is_action(step))
    return next(places, len(steps))


def _is_action(step: Step) -> bool:
    return step.source == "agent" and not step.is_copied_context


def _turns(steps: Sequence[Step]) -> tuple[ForeignTurn, ...]:
    """Return the actions, each with what stands between it and the next."""
    places = [place for place, step in enumerate(steps) if _is_action(step)]
    ends = [*places[1:], len(steps)][: len(places)]
    return tuple(
        _turn(steps[place], steps[place + 1 : end]) for place, end in zip(places, ends, strict=True)
    )


def _turn(step: Step, later: Sequence[Step]) -> ForeignTurn:
    """Return an action with what led from it: its results, and what a user says after them."""
    extra = step.extra or {}
    results = [] if step.observation is None else step.observation.results
    shown = [_text(result.content) for result in results if result.content is not None]
    shown += [_text(one.message) for one in later if one.source == "user"]
    terminated = extra.get("terminated")
    truncated = extra.get("truncated")
    return ForeignTurn(
        step=step.step_id,
        action=_action(step, results, extra.get("tool_results")),
        observation="\n".join(shown) if shown else None,
        reward=_finite(extra.get("reward")),
        terminated=terminated if isinstance(terminated, bool) else None,
        truncated=truncated if isinstance(truncated, bool) else None,
    )


def _finite(value: Any) -> float | None:
    """Return a number as a float; None for all else, and for one that no float can hold."""
    if type(value) not in (int, float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _action(step: Step, results: Sequence[ObservationResult], recorded: Any) -> Action:
    calls = tuple(
        ToolCall(call.tool_call_id, call.function_name, call.arguments)
        for call in step.tool_calls or ()
    )
    answers = _recorded_answers(recorded)
    if not answers:
        by_call = {result.source_call_id: result for result in results}
        answers = [
            ToolResult(call.id, _text(by_call[call.id].content or ""))
            for call in calls
            if call.id in by_call
        ]
    return Action(_text(step.message), tool_calls=calls, tool_results=answers)


def _recorded_answers(recorded: Any) -> list[ToolResult]:
    """Return the answers of tools that the exporter wrote; none where this is another's."""
    answers = []
    for one in recorded if isinstance(recorded, list) else []:
        values: list[Any] = []
        if isinstance(one, dict):
            values = [one.get(name) for name in _ANSWER]
        if tuple(map(type, values)) != tuple(_ANSWER.values()):
            return []
        answers.append(ToolResult(*values))
    return answers


def _text_of_steps(steps: Sequence[Step]) -> str | None:
    """Return the messages of steps as text; None where there are none."""
    return "\n".join(_text(step.message) for step in steps) if steps else None


def _text(content: Any) -> str:
    """Return content as text that a file can hold, with a mark for each image."""
    if isinstance(content, str):
        return normalise_text(content)
    lines = []
    for part in content:
        is_text = part.type == "text" and not _UNKNOWN_IMAGE.fullmatch(part.text)
        lines.append(part.text if is_text else "[image]")
    return normalise_text("\n".join(lines))


def _malformed(path: Path, where: str, error: Exception) -> LogError:
    what = problems_of(error)[0] if isinstance(error, ValidationError) else in_one_line(error)
    return _not_atif(path, f"{where}: {what}"[:_MOST_SHOWN])


def _not_atif(path: Path, why: str) -> LogError:
    instead = "one of ATIF 1, a run folder or its episodes.jsonl"
    if (path.parent / "episodes.jsonl").is_file():  # a run's run.json or summary.json
        instead = f"the folder of the run, {shlex.quote(str(path.parent))}"
    return LogError(f"{path} is no ATIF trajectory ({why}). Give {instead}.", path=str(path))
