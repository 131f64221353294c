"""Turn a level and keyword arguments into a task's configuration, by the library's curricula."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Union

from gem.errors import BadArguments

__all__ = ["Level", "configured"]

Level = Union[int, Mapping[str, int], None]
"""One level for every attribute, or one for each by name; None: the library's defaults."""

_OURS = ("seed", "size")
_ENDLESS = (("jugs", 3),)
"""Levels at which no question comes about: with seven jugs none takes twenty moves."""


def configured(
    name: str, config_class: Any, level: Level, config: Mapping[str, Any], size: int
) -> Any:
    """Return the task's configuration: the level's values, and over them those given by name.

    Raises BadArguments on a level or a name that there is not, and says which there are.
    """
    _check_names(name, config_class, config)
    base = config_class() if level is None else _curriculum(name, level).generate_configuration()
    return dataclasses.replace(base, **config, seed=0, size=size)


def _check_names(name: str, config_class: Any, config: Mapping[str, Any]) -> None:
    known = {field.name: field for field in dataclasses.fields(config_class)}
    problems = [
        f"it takes no {option!r}" for option in config if option not in known or option in _OURS
    ]
    if problems:
        allowed = ", ".join(sorted(option for option in known if option not in _OURS))
        raise BadArguments(
            f"rg:{name} cannot be made: {'; '.join(problems)}. Besides level, split, binary, "
            f"format_error_reward and answer_form it takes {allowed or 'nothing'}.",
            subject=f"rg:{name}",
            problems=problems,
        )


def _curriculum(name: str, level: int | Mapping[str, int]) -> Any:
    from reasoning_gym.factory import CURRICULA

    if name not in CURRICULA:
        raise BadArguments(
            f"level={level!r} was asked of rg:{name}, and reasoning-gym has no curriculum for it. "
            "Leave level out.",
            subject=f"rg:{name}",
        )
    curriculum: Any = CURRICULA[name]()
    most = {
        setting: len(attribute.levels) - 1 for setting, attribute in curriculum.attributes.items()
    }
    if (name, level) in _ENDLESS:
        raise BadArguments(
            f"level={level!r} was asked of rg:{name}, and reasoning-gym looks for such puzzles for "
            "minutes and finds none. Choose a lower one.",
            subject=f"rg:{name}",
        )
    if isinstance(level, int):
        if not 0 <= level <= max(most.values()):
            raise _no_level(name, level, most)
        curriculum.set_global_level(level)
        return curriculum
    for attribute, number in level.items():
        if attribute not in most or not 0 <= number <= most[attribute]:
            raise _no_level(name, level, most)
        curriculum.set_attr_level(attribute, number)
    return curriculum


def _no_level(name: str, level: object, most: Mapping[str, int]) -> BadArguments:
    ranges = ", ".join(f"{attribute} 0 to {top}" for attribute, top in most.items())
    return BadArguments(
        f"level={level!r} was asked of rg:{name}. It has the levels 0 to {max(most.values())}, and "
        f"by attribute {ranges}. Give one int, or a dictionary of attributes.",
        subject=f"rg:{name}",
    )
