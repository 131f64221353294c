"""What a written reset takes: a seed or not, and which options by name.

Knows nothing about phases and streams: `gem.env._lifecycle` asks this around every reset.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gem._python.deprecation import warn_deprecated
from gem.errors import BadArguments

__all__ = ["ResetForm", "by_name", "checked_options", "refuse_positional", "reset_form"]


class ResetForm(NamedTuple):
    """What a written reset takes, read from its signature once."""

    takes_seed: bool
    named: frozenset[str]
    """The options that it names."""
    takes_any: bool
    """Whether it takes every other option too, by `**`."""

    @property
    def takes_dict(self) -> bool:
        """Whether it names Gymnasium's `options` itself, and is given that dict as it is."""
        return "options" in self.named

    def arguments(self, seed: int | None, options: dict[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments to call it with."""
        return {"seed": seed, **options} if self.takes_seed else options


def reset_form(written: Callable[..., Any]) -> ResetForm:
    """Return what a reset takes, as its author wrote it."""
    parameters = list(inspect.signature(written).parameters.values())[1:]  # without self
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    rest = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = {parameter.name for parameter in parameters if parameter.kind not in rest}
    return ResetForm(
        takes_seed="seed" in names or takes_any,
        named=frozenset(names - {"seed"}),
        takes_any=takes_any,
    )


def checked_options(cls: type, form: ResetForm, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options by name, those in Gymnasium's `options={...}` among them.

    Raises BadArguments on an option that this reset does not take.
    """
    if not form.takes_dict:
        options = by_name(cls, options)
    if "idx" in options and "idx" not in form.named and "task" in form.named:
        options = _task_for_idx(options)
    unknown = sorted(options.keys() - form.named)
    if unknown and not form.takes_any:
        parameters = " and ".join(["seed", *sorted(form.named)])
        raise BadArguments(
            f"{cls.__name__} was reset with {', '.join(unknown)}. It takes {parameters}; pass "
            "everything else to gem.make.",
            subject="reset",
        )
    return options


def by_name(cls: type, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with those of Gymnasium's `options={...}` beside the others.

    An option that is given in both ways counts as it was given by its name.
    """
    if "options" not in options:
        return options
    others = dict(options)
    inner = others.pop("options")
    if inner is None:
        return others
    if not isinstance(inner, Mapping) or not all(isinstance(name, str) for name in inner):
        raise BadArguments(
            f"{cls.__name__} was reset with options={inner!r:.60}. Options are a dict by name, or "
            "None.",
            subject="reset",
        )
    return {**inner, **others}


def _task_for_idx(options: dict[str, Any]) -> dict[str, Any]:
    if "task" in options:
        raise BadArguments(
            "reset was given idx= and task=, two names for the number of one task. Leave idx= out.",
            subject="reset",
        )
    warn_deprecated("reset takes idx= as the name of an earlier release.", instead="Write task=.")
    return {("task" if name == "idx" else name): value for name, value in options.items()}


def refuse_positional(cls: type, extra: tuple[Any, ...]) -> None:
    """Raise BadArguments where reset was given more than the seed by position."""
    if extra:
        raise BadArguments(
            f"{cls.__name__}.reset was given {extra[0]!r:.60} after the seed. Only the seed may be "
            "given by its place: name each option, as in reset(seed, task=2).",
            subject="reset",
        )
