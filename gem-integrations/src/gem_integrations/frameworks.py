"""The frameworks that adapters are for: which versions, and whether what is here is one of them.

Knows nothing about environments, and imports a framework only to look at its signatures.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import platform
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from packaging.specifiers import SpecifierSet

from gem.errors import GemError, in_one_line
from gem.registry import pip_command

__all__ = ["FRAMEWORKS", "Framework", "FrameworkError", "drift", "recorded", "require", "signature"]

_MOST_CHANGES = 3  # that an error tells
_MOST_TEXT = 200  # of an error of the framework


class FrameworkError(GemError):
    """A framework is absent, of another version, or not as it was. `command` installs one."""

    def __init__(self, message: str, *, framework: str, command: str) -> None:
        super().__init__(message)
        self.framework = framework
        self.command = command


class Framework(NamedTuple):
    """One framework: what pip installs of it, or where it is cloned from as a checkout.

    `versions` is empty where it comes as a checkout, which has none to trust. `python` is what its
    extra is for: elsewhere pip would install nothing, and say nothing.
    """

    name: str
    module: str
    distribution: str
    versions: str = ""
    requirements: tuple[str, ...] = ()
    repository: str = ""
    python: str = ""


FRAMEWORKS: Mapping[str, Framework] = {
    framework.name: framework
    for framework in (
        Framework(
            "oat",
            "oat",
            "oat-llm",
            ">=0.2.4,<0.3",
            ("oat-llm>=0.2.4,<0.3",),
            python="<3.11",
        ),
        Framework(
            "openrlhf",
            "openrlhf",
            "openrlhf",
            ">=0.11.2,<0.12",
            ("openrlhf>=0.11.2,<0.12",),
        ),
        Framework(
            "rl2",
            "RL2",
            "RL2",
            repository="https://github.com/ChenmienTan/RL2",
        ),
        Framework(
            "roll",
            "roll",
            "roll",
            repository="https://github.com/alibaba/ROLL",
        ),
        Framework(
            "tinker",
            "tinker_cookbook",
            "tinker-cookbook",
            ">=0.5,<0.6",
            ("tinker>=0.38,<0.39", "tinker-cookbook>=0.5,<0.6"),
        ),
        Framework(
            "trl",
            "trl",
            "trl",
            ">=1.16,<1.17",
            ("trl>=1.16,<1.17",),
        ),
        Framework(
            "verl",
            "verl",
            "verl",
            ">=0.9.1,<0.10",
            ("verl[verl-core]>=0.9.1,<0.10",),
        ),
    )
}


def require(name: str) -> None:
    """Raise FrameworkError unless a supported version of the framework is here, as recorded.

    An adapter calls this as it is imported, before it touches the framework.
    """
    framework = FRAMEWORKS[name]
    version = _installed_version(framework)
    if version is None:
        raise _error(framework, "is not installed here")
    if framework.versions and not SpecifierSet(framework.versions).contains(
        version, prereleases=True
    ):
        raise _error(framework, f"is installed here as {version}")
    changes = list(drift(name))
    if changes:
        difference = "; ".join(changes[:_MOST_CHANGES])
        more = len(changes) - _MOST_CHANGES
        difference += f"; and {more} more" if more > 0 else ""
        raise _error(framework, f"({version}) is not as this adapter knows it: {difference}")


def _installed_version(framework: Framework) -> str | None:
    """Return the version that is here, None where none is."""
    if not framework.versions:
        return "a checkout" if importlib.util.find_spec(framework.module) else None
    try:
        return importlib.metadata.version(framework.distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _error(framework: Framework, what: str) -> FrameworkError:
    supported = framework.versions or f"the commit {recorded(framework.name)['recorded_from']}"
    command = _command(framework)
    return FrameworkError(
        f"The adapter for {framework.name} was asked for, and {framework.distribution} {what}. "
        f"Supported: {supported}. {_other_python(framework)}Run: {command}",
        framework=framework.name,
        command=command,
    )


def _other_python(framework: Framework) -> str:
    """Say that a framework wants another Python than this one; "" where this one will do."""
    here = platform.python_version()
    if SpecifierSet(framework.python).contains(here, prereleases=True):
        return ""
    return f"It needs Python {framework.python}, and this is {here}: use such a Python first. "


def _command(framework: Framework) -> str:
    """Return what installs a framework as its page of the documentation does."""
    if not framework.repository:
        return pip_command(framework.requirements, of="gem-integrations")
    folder = framework.repository.rpartition("/")[2]
    commit = recorded(framework.name)["recorded_from"]
    return (
        f"git clone {framework.repository} && git -C {folder} checkout {commit} && "
        f"export PYTHONPATH=$PWD/{folder}"
    )


def recorded(name: str) -> dict[str, Any]:
    """Return what was recorded: `recorded_from`, and `signatures` by "module:attribute"."""
    text = (files(__package__) / "recorded" / f"{name}.json").read_text(encoding="utf-8")
    record: dict[str, Any] = json.loads(text)
    return record


def drift(name: str) -> Iterator[str]:
    """Yield, in a line each, how the signatures here differ from the recorded ones."""
    for target, known in recorded(name)["signatures"].items():
        try:
            live = signature(target)
        except Exception as error:  # noqa: BLE001 - a framework may raise anything as it is imported
            yield f"{target} cannot be found ({in_one_line(error, at_most=_MOST_TEXT)})"
            continue
        if live != known:
            yield f"{target} takes {' '.join(live)}, and took {' '.join(known)}"


def signature(target: str) -> list[str]:
    """Return the parameters of "module:attribute" in order: "name", "name=", "*name", "**name".

    Those that are taken by keyword alone stand behind "*". Of a class that stores fields, a
    dataclass or a pydantic model, the parameters are the fields.
    """
    module, _, path = target.partition(":")
    target_object: Any = importlib.import_module(module)
    for name in path.split("."):
        target_object = getattr(target_object, name)
    return list(_written(inspect.signature(target_object)))


def _written(live_signature: inspect.Signature) -> Iterator[str]:
    marks: dict[Any, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    is_open = True
    for parameter in live_signature.parameters.values():
        if is_open and parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            yield "*"
        is_open = is_open and parameter.kind not in (
            inspect.Parameter.KEYWORD_ONLY,
            inspect.Parameter.VAR_POSITIONAL,
        )
        default = "" if parameter.default is inspect.Parameter.empty else "="
        yield f"{marks.get(parameter.kind, '')}{parameter.name}{default}"
