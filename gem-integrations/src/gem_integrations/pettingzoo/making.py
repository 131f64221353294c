"""Make an environment of PettingZoo from what names it: an id, a target, a module, a callable."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Literal

import pettingzoo
from pettingzoo.env_registry.exceptions import FailedToImport, PettingZooRegistryError

from gem.errors import BadArguments, MissingRequirement, in_one_line
from gem.registry import load_target, near, pip_command

__all__ = ["Form", "make"]

Form = Literal["aec", "parallel"]
_REGISTRIES: Mapping[Form, Mapping[str, Any]] = {
    "aec": pettingzoo.aec_registry,
    "parallel": pettingzoo.parallel_registry,
}
_MAKERS: Mapping[Form, str] = {"aec": "env", "parallel": "parallel_env"}
_CLASSES: Mapping[Form, Any] = {"aec": pettingzoo.AECEnv, "parallel": pettingzoo.ParallelEnv}
_MOST_SHOWN = 80
_UNDERSCORE = re.compile(r"_v(?=\d+$)")


def make(
    game: str | ModuleType | Callable[..., Any], form: Form | None, options: Mapping[str, Any]
) -> Any:
    """Return an environment of PettingZoo, in the form that is asked for, AEC where both are there.

    `game` is an id of its registry ("classic/tictactoe_v3"), a "module:attribute", a module with
    `env` or `parallel_env`, or what makes one. Raises BadArguments for what is none of these,
    MissingRequirement where a game needs a package that is absent, TargetError as `load_target`.
    """
    if form not in (None, "aec", "parallel"):
        raise _wrong(game, f"was asked for in the form {form!r:.40}. Pass 'aec' or 'parallel'.")
    if isinstance(game, str) and ":" not in game:
        return _registered(game, form, options)
    maker = load_target(game) if isinstance(game, str) else game
    if isinstance(maker, ModuleType):
        maker = _maker_of(maker, form)
    if not callable(maker):
        raise _wrong(
            game,
            f"is a {type(maker).__name__}, and no maker of a game. Pass a class, a function, a "
            "module, or an id of PettingZoo.",
        )
    env = _called(game, functools.partial(maker, **options))
    classes = [_CLASSES[form]] if form else list(_CLASSES.values())
    if not isinstance(env, tuple(classes)):
        wanted = " or ".join(each.__name__ for each in classes)
        raise _wrong(game, f"made {type(env).__name__}. Pass what makes PettingZoo's {wanted}.")
    return env


def _called(game: object, maker: Callable[[], Any]) -> Any:
    try:
        return maker()
    except TypeError as error:
        raise _wrong(
            game,
            f"cannot be made with these options ({in_one_line(error)}). Pass options= as it takes "
            "them.",
        ) from error


def _maker_of(module: ModuleType, form: Form | None) -> Any:
    for each in [form] if form else list(_MAKERS):
        maker = getattr(module, _MAKERS[each], None)
        if maker is not None:
            return maker
    names = [_MAKERS[form]] if form else list(_MAKERS.values())
    raise _wrong(module, f"has no {' and no '.join(names)}. Pass what makes the environment.")


def _registered(game: str, form: Form | None, options: Mapping[str, Any]) -> Any:
    found: PettingZooRegistryError | None = None
    for each in [form] if form else list(_REGISTRIES):
        try:
            pettingzoo.spec(each, game)
        except PettingZooRegistryError as error:
            found = found or error
            continue
        try:
            return _called(game, functools.partial(pettingzoo.make, each, game, **options))
        except FailedToImport as error:
            raise _lacking(game, error) from error
    known = sorted({name for registry in _REGISTRIES.values() for name in registry})
    versioned = _UNDERSCORE.sub("-v", game)  # as PettingZoo writes its ids
    others = [name for name in known if name.partition("/")[2] == versioned]
    alike = near(versioned, known) or others
    hint = "`pettingzoo.pprint_registry()` shows all."
    if form == "parallel" and versioned in pettingzoo.aec_registry:
        hint = "It is in that of AEC games: leave `form` out."
    elif alike:
        hint = f"Did you mean {' or '.join(map(repr, alike))}?"
    where = f" in the form {form!r}" if form else ""
    raise _wrong(game, f"is in no registry of PettingZoo{where}. {hint}") from found


def _lacking(game: str, error: FailedToImport) -> MissingRequirement:
    requirements = (f"pettingzoo[{game.partition('/')[0]}]",)
    command = pip_command(requirements)
    return MissingRequirement(
        f"PettingZoo's {game} needs a package that is not installed here ({error.__cause__}). "
        f"Run: {command}",
        requirements=requirements,
        command=command,
    )


def _wrong(game: object, problem: str) -> BadArguments:
    name = getattr(game, "__name__", None) or repr(game)
    return BadArguments(f"PettingZoo's game {name:.{_MOST_SHOWN}} {problem}", subject="pettingzoo")
