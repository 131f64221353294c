"""Turn what stands for an environment outside every pack into a spec.

That is a target, a class, a factory, or the JSON data of a spec.

`./try.py:Parity` is one of a file, `acme.words:Spell` one of a module. Knows nothing about ids.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from gem._python.recorded_arguments import is_opaque, recorded
from gem.env._env import Env
from gem.errors import BadArguments, TargetError, problems_of
from gem.registry._importing import classes_written_in, split_target, target_of
from gem.registry._source_files import digest, is_file, path_of, shortest
from gem.specs import EnvSpec

__all__ = [
    "findable",
    "names_a_target",
    "refuse_other_kinds",
    "source_versions",
    "spec_from",
    "spec_of_maker",
    "spec_of_target",
]

_NOT_IN_A_TARGET = re.compile(r"[\s:]+")


def names_a_target(text: str) -> bool:
    """Say whether a text is meant as a target of a file or of a module, and not as an id.

    `try.py:Parity`, `./try.py` and `acme.words:Spell` are. `words:Spell` could be an id too: it
    is a target if there is a module `words`. Imports nothing.
    """
    module, name = split_target(text)
    if is_file(module):
        return True
    if _is_hidden(name):
        return True
    if not _is_dotted(module) or not _is_dotted(name):
        return False
    return "." in module or module in sys.modules or importlib.util.find_spec(module) is not None


def _is_hidden(name: str) -> bool:
    """Say whether this names a lambda, or what a function defines: `make.<locals>.Env`."""
    return "<" in name


def _is_dotted(path: str) -> bool:
    return all(part.isidentifier() for part in path.split("."))


def spec_of_target(text: str) -> EnvSpec:
    """Return the spec of a text that names a target. Imports no module.

    The path of a file stays as it was given, so that a record of it is good wherever the folder
    is. Raises TargetError for a file without the name of a class, and for what no import finds.
    """
    module, name = split_target(text)
    if _is_hidden(name):
        raise TargetError(
            f"{text!r} was asked for, and no import finds a lambda or what a function defines. "
            "Define it at the top of a file, and name it as ./file.py:Name.",
            target=text,
        )
    if is_file(module):
        if not _is_dotted(name):
            raise _no_class_named(text, module)
        # With `./` a record can be told from an id at a glance.
        path = module if module.startswith((".", "/", "~")) else f"./{module}"
        text = f"{path}:{name}"
    return EnvSpec(id=text, target=text)


def _no_class_named(text: str, path: str) -> TargetError:
    """Return the error for a file without the name of a class, with the classes in it."""
    try:
        targets = [f"{path}:{name}" for name in classes_written_in(text, path)]
    except TargetError as error:
        return error
    write = targets[0] if targets else "a subclass of gem.Env there, and its name after a colon"
    return TargetError(
        f"{text!r} names a file and no environment of it. It has {', '.join(targets) or 'none'}. "
        f"Write {write}.",
        target=text,
    )


def _is_env(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Env)


def spec_of_maker(maker: Callable[..., Env]) -> EnvSpec:
    """Return the spec of a class, or of a function that makes an environment.

    Its target is what an import would find it by, in another process too. What no import finds (a
    lambda, a class inside a function) has a name for records, and is made in this process alone.
    Keyword arguments of a `functools.partial` become those of the spec. Raises BadArguments on a
    class that is no Env.
    """
    kwargs: dict[str, Any] = {}
    while isinstance(maker, functools.partial) and not maker.args:
        plain = recorded(maker.keywords)
        # A live argument cannot stand in a spec: the partial itself is then the maker.
        if any(is_opaque(value) for value in plain.values()):
            break
        kwargs = {**plain, **kwargs}  # those of the outer partial win, as in a call
        maker = maker.func
    refuse_other_kinds(maker, "An environment was asked for by")
    target = findable(maker) or _name_of(maker)
    spec = EnvSpec(id=target, target=target, kwargs=kwargs)
    spec._maker = maker
    return spec


def refuse_other_kinds(maker: object, subject: str) -> None:
    """Raise BadArguments on what makes no environment: a value, an instance, another class.

    `subject` begins the sentence: "An environment was asked for by".
    """
    if isinstance(maker, Env):
        description = f"{type(maker).__name__}, which is a live instance"
    elif isinstance(maker, type) and not _is_env(maker):
        description = f"{maker.__name__}, which is a class and no gem.Env"
    elif not callable(maker):
        description = f"{maker!r:.60}, which cannot be called"
    else:
        return
    raise BadArguments(
        f"{subject} {description}. Give a subclass of gem.Env, or a function that returns an "
        "instance of one.",
        subject=type(maker).__name__ if isinstance(maker, Env) else f"{maker!r:.60}",
    )


def findable(maker: Any) -> str | None:
    """Return the target by which an import finds this very object; None where none does."""
    name = getattr(maker, "__qualname__", None)
    module = sys.modules.get(getattr(maker, "__module__", None) or "")
    if module is None or name is None:
        return None
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    # The name may lead elsewhere by now: a decorator, or a notebook's next cell, has put another
    # object there.
    if value is not maker:
        return None
    return f"{_importable(maker.__module__)}:{name}"


def _importable(module: str) -> str:
    """Return what a module is imported by in another process: of a script, its file."""
    if module != "__main__":
        path = path_of(module)
        return module if path is None else shortest(path)
    main = sys.modules[module]
    if main.__spec__ is not None:  # it was run as `python -m acme.words`
        return main.__spec__.name
    script = getattr(main, "__file__", None) or ""
    return shortest(script) if is_file(script) else module


def _name_of(maker: Any) -> str:
    """Return a name for records of what no import finds."""
    while isinstance(maker, functools.partial):
        maker = maker.func
    module, _, name = target_of(maker).rpartition(":")
    return f"{_NOT_IN_A_TARGET.sub('_', module)}:{_NOT_IN_A_TARGET.sub('_', name)}"


def source_versions(env_id: str) -> dict[str, str]:
    """Return a digest of the file that a target's environment is in, by the file or the module.

    None are known of an id, and of a module that was not imported here.
    """
    if not names_a_target(env_id):
        return {}
    module, _ = split_target(env_id)
    path = module if is_file(module) else getattr(sys.modules.get(module), "__file__", None)
    file_digest = None if path is None else digest(path)
    return {} if file_digest is None else {module: file_digest}


def spec_from(plain: Mapping[str, Any]) -> EnvSpec:
    """Return the spec that JSON data describes. Raises BadArguments, with every problem in it."""
    try:
        return EnvSpec.model_validate(plain)
    except ValidationError as error:
        problems = problems_of(error)
        raise BadArguments(
            f"{plain!r:.80} does not describe an environment ({'; '.join(problems)}). Give an id "
            "such as 'acme:Words-v0', an EnvSpec, or its JSON data.",
            subject="env",
            problems=problems,
        ) from error
