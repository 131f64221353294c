"""What `gem.rollout` may be told, as one frozen object, checked when it is made.

Knows nothing about how episodes are run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from gem._python.near_names import near
from gem._python.quantities import (
    check_count,
    check_count_or_all,
    check_seed,
    check_timeout,
    check_wait,
)
from gem.errors import BadArguments

if TYPE_CHECKING:
    from gem.registry._making import WrapperLike
    from gem.rollouts._planning import PlannedEpisode
    from gem.rollouts._stats import RolloutStats

__all__ = ["RolloutKeywords", "RolloutOptions", "RunKeywords", "options_from", "unknown_option"]


@dataclass(frozen=True, kw_only=True)
class RolloutOptions:
    """How `gem.rollout` runs episodes. What cannot be raises BadArguments when this is made.

    Which episodes there are:

    - `episodes`: how many of each environment, or "all" tasks of a finite set.
    - `repeats`: how often each seed is played.
    - `seed`: the run's seed, which fixes the seeds and tasks of all episodes.
    - `plan`: exactly these episodes instead of the three above.

    What an environment is:

    - `wrappers`: put around each environment, the innermost first.
    - `env_kwargs`: arguments of every environment.
    - `max_turns`: turns after which an episode is truncated; None for no limit.

    Where and how many at once:

    - `concurrency`: the most episodes in flight.
    - `backend`, `num_workers`, `backend_options`: where environments run, as `gem.rollout` says.

    What takes too long, in seconds, and what is tried again (None for no limit):

    - `step_timeout_s`: a reset or a step. Its episode ends as `step_timeout`.
    - `policy_timeout_s`: an answer of a policy that waits (`async def`): a plain function cannot be
      interrupted. Its episode ends as `policy_error`.
    - `episode_timeout_s`: an episode from its beginning. It ends by the reason of whom it then
      waited for.
    - `policy_retries`: how often a call of the policy that fails or is late is made again.
    - `retry_wait_s`: the wait before the first of these calls; each later wait is twice as long.

    What is shown:

    - `stats`: a RolloutStats that counts while the run goes on.
    - `progress`: a line on stderr with those figures. It needs rich.

    >>> options = RolloutOptions(episodes=8, seed=3)
    >>> options.episodes, options.concurrency
    (8, 64)
    """

    episodes: int | Literal["all"] = 1
    repeats: int = 1
    seed: int = 0
    concurrency: int = 64
    backend: str = "inline"
    wrappers: Sequence[WrapperLike] = ()
    env_kwargs: Mapping[str, Any] | None = field(default_factory=dict)
    max_turns: int | None = None
    step_timeout_s: float | None = None
    policy_timeout_s: float | None = None
    episode_timeout_s: float | None = None
    policy_retries: int = 0
    retry_wait_s: float = 0.0
    stats: RolloutStats | None = None
    plan: Sequence[PlannedEpisode] | None = None
    num_workers: int | None = None
    backend_options: Mapping[str, Any] | None = field(default_factory=dict)
    progress: bool = False

    def __post_init__(self) -> None:
        check_count_or_all("episodes", self.episodes)
        check_count("repeats", self.repeats)
        check_seed("seed", self.seed)
        check_count("concurrency", self.concurrency)
        check_count("max_turns", self.max_turns, is_optional=True)
        check_timeout("step_timeout_s", self.step_timeout_s)
        check_timeout("policy_timeout_s", self.policy_timeout_s)
        check_timeout("episode_timeout_s", self.episode_timeout_s)
        check_count("policy_retries", self.policy_retries, least=0)
        check_wait("retry_wait_s", self.retry_wait_s)
        # A copy of what the caller may go on to change, and of what can be read only once.
        # A frozen dataclass lets its own fields be set in no other way.
        object.__setattr__(self, "wrappers", _stack(self.wrappers))
        object.__setattr__(self, "env_kwargs", _by_name("env_kwargs", self.env_kwargs))
        object.__setattr__(
            self, "backend_options", _by_name("backend_options", self.backend_options)
        )


class RunKeywords(TypedDict, total=False):
    """The options that a rollout and an evaluation have in common, for type checkers."""

    repeats: int
    seed: int
    concurrency: int
    backend: str
    wrappers: Sequence[WrapperLike]
    env_kwargs: Mapping[str, Any] | None
    max_turns: int | None
    step_timeout_s: float | None
    policy_timeout_s: float | None
    episode_timeout_s: float | None
    policy_retries: int
    retry_wait_s: float
    num_workers: int | None
    backend_options: Mapping[str, Any] | None


class RolloutKeywords(RunKeywords, total=False):
    """The fields of RolloutOptions as keyword arguments of `gem.rollout`, for type checkers."""

    episodes: int | Literal["all"]
    stats: RolloutStats | None
    plan: Sequence[PlannedEpisode] | None
    progress: bool


def options_from(options: RolloutOptions | None, keywords: Mapping[str, Any]) -> RolloutOptions:
    """Return the options with these keywords in place of their own. Raises BadArguments."""
    known = [option.name for option in fields(RolloutOptions)]
    for name in keywords:
        if name not in known:
            raise BadArguments(unknown_option("A rollout", name, known), subject=name)
    if options is None:
        return RolloutOptions(**keywords)
    return replace(options, **keywords)


def unknown_option(whose: str, name: str, known: Sequence[str]) -> str:
    """Return the error's text for an option of a name that there is not."""
    alike = near(name, known)
    hint = f"Did you mean {alike[0]!r}? " if alike else ""
    return (
        f"{whose} was given the option {name!r}, and has none of that name. {hint}It has "
        f"{', '.join(known)}."
    )


def _stack(wrappers: Any) -> tuple[WrapperLike, ...]:
    if isinstance(wrappers, (str, Mapping)) or not isinstance(wrappers, Iterable):
        raise BadArguments(
            f"wrappers={wrappers!r:.60} was given. It is a list of wrappers, the innermost first: "
            "give one of them in a list of its own.",
            subject="wrappers",
        )
    return tuple(wrappers)


def _by_name(name: str, values: Any) -> dict[str, Any]:
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise BadArguments(
            f"{name}={values!r:.60} was given. It is a dict of arguments by name, or None.",
            subject=name,
        )
    return dict(values)
