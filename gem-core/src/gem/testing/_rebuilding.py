"""Lines on the spec: it is data that rebuilds the environment, and its tasks can be picked."""

from __future__ import annotations

from gem.errors import OpaqueError
from gem.registry._making import make
from gem.specs import EnvSpec
from gem.testing._playing import play, repeating, require_same
from gem.testing._report import NotApplicableError, NotHeldError
from gem.testing._subject import Subject

__all__ = ["spec_survives_json", "tasks_can_be_picked"]


def spec_survives_json(subject: Subject) -> str:
    """Write the spec as JSON, read it, make the environment from it, and compare an episode."""
    again = EnvSpec.model_validate_json(subject.spec.model_dump_json())
    if again.model_dump(mode="json") != subject.spec.model_dump(mode="json"):
        raise NotHeldError(f"the spec {subject.spec!r} came back from JSON as {again!r}")
    whole = subject.driven(subject.seeds[0])
    try:
        with make(again) as env:
            rebuilt = play(env, repeating(whole.actions), whole.seed)
    except OpaqueError as error:
        raise NotApplicableError(str(error)) from error
    require_same("rebuilt from its spec", whole.moments, rebuilt.moments)
    return f"{len(subject.spec.model_dump_json())} bytes rebuild it"


def tasks_can_be_picked(subject: Subject) -> str:
    """Reset to the first and the last task by number, and past them."""
    with subject.make() as env:
        count = env.num_tasks
        if count is None:
            raise NotApplicableError("it has no finite set of tasks")
        for task in sorted({0, count - 1}):
            _, info = env.reset(seed=subject.seeds[0], task=task)
            if info.get("task") != task:
                raise NotHeldError(
                    f'task {task} was picked, and info["task"] is {info.get("task")}'
                )
        # Tasks count from 0, so their number is the first that is none.
        try:
            env.reset(seed=subject.seeds[0], task=count)
        except ValueError:
            return f"{count} tasks"
    raise NotHeldError(f"task {count} was accepted, and there are {count}")
