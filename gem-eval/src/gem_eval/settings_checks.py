"""Refuse settings that no evaluation can have although each of them alone is one.

Knows nothing about how settings are given or recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gem_eval.errors import SettingsError
from gem_eval.line_ups import LineUpRef
from gem_eval.prices import how_to_price, model_of, price_of

if TYPE_CHECKING:
    from gem_eval.settings import Settings

__all__ = ["check_settings"]


def check_settings(settings: Settings) -> None:
    """Raise SettingsError where settings contradict one another."""
    _check_names(settings)
    _check_rotations(settings)
    _check_choice(settings)
    _check_until(settings)
    _check_varied(settings)
    _check_prices(settings)


def _check_names(settings: Settings) -> None:
    for refs in (settings.policies, settings.members):
        names = [ref.name for ref in refs]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SettingsError(
                f"Two policies are called {twice[0]!r}, and a run tells them apart by name. Give "
                "one another `name`.",
                option="policies",
            )


def _check_rotations(settings: Settings) -> None:
    """Refuse to play every rotation where nothing rotates, or where there is another number."""
    if not settings.every_rotation:
        return
    for ref in settings.policies:
        if not (isinstance(ref, LineUpRef) and ref.rotates):
            raise SettingsError(
                f"every_rotation was asked for, and {ref.name!r} does not rotate. Give line-ups "
                "that do, each a tuple of policies (--policy A --policy B --rotate).",
                option="every_rotation",
            )


def _check_choice(settings: Settings) -> None:
    """Refuse to choose the episodes in two ways at once, or to choose none."""
    chosen = [name for name in ("episodes", "tasks", "seed_range") if getattr(settings, name)]
    if len(chosen) > 1:
        raise SettingsError(
            f"{chosen[0]} and {chosen[1]} were given, and each says which episodes to play. Leave "
            "one of them out.",
            option=chosen[1],
        )
    if settings.seed_range is not None and settings.seed_range[0] >= settings.seed_range[1]:
        first, end = settings.seed_range
        raise SettingsError(
            f"seed_range={first}:{end} holds no seed. Its end is not played: {first}:{first + 1} "
            f"is the seed {first} alone.",
            option="seed_range",
        )


def _check_until(settings: Settings) -> None:
    """Refuse to decide about one policy alone, and a tolerance that nothing asks for."""
    if settings.until is not None and settings.line_ups:
        raise SettingsError(
            f"until={settings.until!r} was asked for, and it decides by the success of whole "
            "episodes, where each seat of a line-up has its own. Play a number of episodes, and "
            "see `gem-env compare RUN --seat SEAT`.",
            option="until",
        )
    if settings.until is not None and len(settings.policies) < 2:
        raise SettingsError(
            f"until={settings.until!r} needs two policies, and {settings.policies[0].name} is "
            "alone. Give another, to decide which is better.",
            option="until",
        )
    if settings.tolerance is not None and settings.until is None:
        raise SettingsError(
            f"tolerance={settings.tolerance:g} says when two policies are the same, and nothing is "
            'decided here. Give until="decided" too, or compare the runs afterwards.',
            option="tolerance",
        )


def _check_varied(settings: Settings) -> None:
    """Refuse to decide by episodes of one task as if they were tasks of their own."""
    if settings.varied is not None and settings.until is not None:
        raise SettingsError(
            f"until={settings.until!r} was asked for, and {settings.varied!r} is varied: it "
            "decides by tasks that are played once. Leave one of them out.",
            option="until",
        )


def _check_prices(settings: Settings) -> None:
    """Refuse a budget of money where nobody knows what a model costs."""
    if settings.max_cost is None:
        return
    for ref in settings.members:
        model = model_of(ref.name)
        if model is not None and price_of(ref.name, settings.prices) is None:
            known = ", ".join(map(repr, settings.prices)) or "none"
            raise SettingsError(
                f"max_cost={settings.max_cost:g} was given, and the model {model!r} has no price; "
                f"those with one: {known}. {how_to_price(model)} Give the file as prices "
                "(--prices FILE).",
                option="prices",
            )
