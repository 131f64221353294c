"""Lines on what is declared: the manifest is exact, the spec rebuilds it, tasks can be picked."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
from collections.abc import Iterator
from types import ModuleType

from pydantic import BaseModel, ValidationError

from gem import registry, specs
from gem.errors import OpaqueError
from gem.registry._discovery import PluginRecord
from gem.registry._making import make
from gem.testing._playing import play, repeating, require_same
from gem.testing._report import NotApplicableError, NotHeldError
from gem.testing._subject import Subject

__all__ = ["manifest_is_exact", "spec_survives_json", "tasks_can_be_picked"]

# The leaves first: a model keeps a copy of what it holds.
_MODELS: tuple[type[BaseModel], ...] = (
    specs.WrapperRef,
    specs.CheckHints,
    specs.EnvSpec,
    specs.WrapperSpec,
    specs.ToolSpec,
    specs.PolicySpec,
    specs.AdapterSpec,
    specs.ExecutorSpec,
    specs.PluginManifest,
)


def manifest_is_exact(subject: Subject) -> str:
    """Read the manifest's source again, with unknown fields forbidden.

    At run time they are ignored, so that a newer plugin loads on an older core; a field that is
    only misspelled would be ignored as well.
    """
    record = registry.owner(subject.spec.id)
    if record is None:
        raise NotApplicableError(
            "no plugin provides it: it was registered in this process, or is named by its target"
        )
    module = _module_of(record)
    module_spec = importlib.util.find_spec(module)
    assert module_spec is not None
    assert module_spec.loader is not None
    with _strict():
        # Run again in a module that nobody imports: the one that is loaded stays as it is.
        try:
            module_spec.loader.exec_module(ModuleType(module))
        except ValidationError as error:
            unknown = {str(detail["loc"][-1]) for detail in error.errors() if detail["loc"]}
            raise NotHeldError(
                f"{module} sets {', '.join(map(repr, sorted(unknown)))} in a {error.title}, which "
                "has no such field"
            ) from error
    return f"{module} sets known fields only"


def _module_of(record: PluginRecord) -> str:
    points = importlib.metadata.entry_points(group=specs.API_GROUP, name=record.name)
    [module] = {
        point.module for point in points if point.dist and point.dist.name == record.distribution
    }
    return module


@contextlib.contextmanager
def _strict() -> Iterator[None]:
    _set_extra("forbid")
    try:
        yield
    finally:
        _set_extra("ignore")  # or every plugin of a newer core would fail from here on


def _set_extra(how: str) -> None:
    for model in _MODELS:
        model.model_config["extra"] = how  # type: ignore[typeddict-item]
        model.model_rebuild(force=True)


def spec_survives_json(subject: Subject) -> str:
    """Write the spec as JSON, read it, make the environment from it, and compare an episode."""
    again = specs.EnvSpec.model_validate_json(subject.spec.model_dump_json())
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
