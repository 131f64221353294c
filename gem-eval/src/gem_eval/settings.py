"""Everything that decides what an evaluation does, as frozen data.

Two evaluations with equal settings have the same episodes. Knows nothing about running them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from gem import registry
from gem.conversation import name_of
from gem.registry import recorded
from gem.rollouts import EnvLike, WrapperLike, resolve, unknown_option
from gem.specs import EnvSpec, WrapperRef
from gem_eval.errors import SettingsError
from gem_eval.line_ups import LineUpRef, Policies, PolicyLike, PolicyRef, members_of, policy_refs
from gem_eval.prices import Price, prices_from
from gem_eval.settings_checks import check_settings

__all__ = [
    "BUDGETS",
    "DEFAULT_EPISODES",
    "FREE",
    "GROWING",
    "MOST_EPISODES",
    "Envs",
    "Policies",
    "PolicyLike",
    "PolicyRef",
    "Settings",
    "differences",
    "env_specs",
    "kwargs_by_policy",
    "resumed",
    "settings_from",
    "wrapper_refs",
]

Envs = EnvLike | Iterable[EnvLike]

Positive = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Wait = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Timeout = Annotated[float, Field(gt=0, allow_inf_nan=False)]

DEFAULT_EPISODES = 100
MOST_EPISODES = 10_000
"""How many are played at most until it is decided, where nobody said how many."""

FREE = frozenset(
    {
        "concurrency",
        "backend",
        "num_workers",
        "backend_options",
        "policy_timeout_s",
        "episode_timeout_s",
        "policy_retries",
        "retry_wait_s",
        "wait_for_server_s",
        "max_refusals",
        "cache",
        "track",
        "max_requests",
        "max_total_tokens",
        "max_cost",
        "prices",
    }
)
"""Settings that change no episode, so that a run may go on with others.

Deadlines and retries of the policy only decide which episodes end by an error, and a run that goes
on plays those again; a budget only decides when a run stops.
"""

BUDGETS = frozenset({"max_requests", "max_total_tokens", "max_cost", "prices"})
"""Settings that a run goes on with until it is given others: they stay on its record."""

GROWING = frozenset({"episodes", "repeats"})
"""Settings of which a run that goes on may have more."""

_WILD = frozenset("*?[")
_RULE = "Input should be"  # how pydantic begins to say what a value has to be


# From left to right: a line-up has all that a policy has.
_Playing = Annotated[LineUpRef | PolicyRef, Field(union_mode="left_to_right")]


class Settings(BaseModel):
    """The settings of an evaluation. From `concurrency` on they change no episode.

    `episodes` is None where nobody said how many: 100 of each environment, or every task once
    where it has fewer. `tasks` and `seed_range` choose the episodes one by one instead. With
    `until="decided"` the plan is what is played at most: `tolerance` is a difference of success
    that counts as none. With `every_rotation` line-ups play each seed in every rotation. Where an
    argument is `varied`, `envs` has each environment once for each of its `variants`, side by side.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    envs: Annotated[tuple[EnvSpec, ...], Field(min_length=1)]
    policies: Annotated[tuple[_Playing, ...], Field(min_length=1)]
    policy_kwargs: Mapping[str, Mapping[str, Any]] = {}
    episodes: Positive | Literal["all"] | None = None
    tasks: Annotated[tuple[Natural, ...], Field(min_length=1)] | None = None
    seed_range: tuple[int, int] | None = None
    repeats: Positive = 1
    every_rotation: bool = False
    seed: int = 0
    until: Literal["decided"] | None = None
    tolerance: Annotated[float, Field(ge=0, lt=1)] | None = None
    wrappers: tuple[WrapperRef, ...] = ()
    env_kwargs: Mapping[str, Any] = {}
    max_turns: Positive | None = None
    step_timeout_s: Timeout | None = None
    concurrency: Positive = 64
    backend: str = "inline"
    num_workers: Positive | None = None
    backend_options: Mapping[str, Any] = {}
    policy_timeout_s: Timeout | None = None
    episode_timeout_s: Timeout | None = None
    policy_retries: Natural = 0
    retry_wait_s: Wait = 0.0
    wait_for_server_s: Wait | None = None
    max_refusals: Positive = 5
    cache: str | None = None
    track: tuple[str, ...] = ()
    max_requests: Positive | None = None
    max_total_tokens: Positive | None = None
    max_cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    prices: Mapping[str, Price] = {}
    varied: str | None = None
    variants: Positive = 1

    @property
    def members(self) -> tuple[PolicyRef, ...]:
        """The policies that play, alone or in a line-up, each once."""
        return members_of(self.policies)

    @property
    def line_ups(self) -> tuple[LineUpRef, ...]:
        """Those of its policies that say who sits where."""
        return tuple(ref for ref in self.policies if isinstance(ref, LineUpRef))

    @property
    def rotations(self) -> int:
        """How often each seed is played by each line-up: by another rotation each time."""
        return len(self.policies[0].members) if self.every_rotation else 1

    @model_serializer(mode="wrap")
    def _without_what_is_not_asked_for(
        self, serialised: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        # What is of several seats alone is on no other record, which older versions read too.
        plain: dict[str, Any] = serialised(self)
        if not self.every_rotation:
            del plain["every_rotation"]
        if self.varied is None:
            del plain["varied"]
            del plain["variants"]
        return plain


def settings_from(given: Mapping[str, Any]) -> Settings:
    """Check what was given and fill in the rest. Raises SettingsError, UnknownEnv, IdConflict."""
    _refuse_unknown(given)
    try:
        settings = Settings.model_validate(_recorded(given), strict=True)
    except ValidationError as error:
        raise _complaint(error, given) from error
    check_settings(settings)
    return settings


def differences(settings: Settings, given: Mapping[str, Any]) -> list[str]:
    """Say, one line each, where what was given is not what a run was started with.

    Environments and policies are compared by name: the run's own specs go on. More episodes and
    more repeats are no difference: whether they are more is for the plan to say.
    """
    given_settings = settings_from({**dict(settings), **given})
    lines = []
    for name in sorted(Settings.model_fields.keys() - FREE - GROWING):
        then = _essence(settings, name)
        now = _essence(given_settings, name)
        if then != now:
            lines.append(f"{name} is {_shortened(then)} there and {_shortened(now)} here")
    return lines


def resumed(settings: Settings, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a run that goes on with what was given now, where that may differ.

    The number of workers and the options of its backend do not go with another backend.
    """
    free = _recorded({name: value for name, value in given.items() if name in FREE | GROWING})
    if free.get("backend", settings.backend) != settings.backend:
        free = {"num_workers": None, "backend_options": {}, **free}
    return settings.model_copy(update=free)


def env_specs(envs: Envs) -> tuple[EnvSpec, ...]:
    """Resolve ids, shell patterns and specs, each environment once, in the order given.

    Patterns may match the same ones. Raises SettingsError on an id that was given twice.
    """
    env_or_envs: Any = envs
    is_one = isinstance(env_or_envs, (str, EnvSpec, Mapping)) or callable(env_or_envs)
    several: list[Any] = [env_or_envs] if is_one else [*env_or_envs]
    ids = Counter(env for env in several if isinstance(env, str))
    for id, count in ids.items():
        if count > 1:
            raise SettingsError(
                f"The environment {id!r} was given {count} times, and a run has each once. Give "
                "it once; --repeats plays each episode several times.",
                option="envs",
            )
    specs = [spec for env in several for spec in _resolved(env)]
    return tuple(spec for index, spec in enumerate(specs) if spec not in specs[:index])


def _resolved(env: EnvLike) -> list[EnvSpec]:
    is_pattern = isinstance(env, str) and _WILD & set(env) and ".py:" not in env
    if not isinstance(env, str) or not is_pattern:  # the path of a file may hold any character
        return [resolve(env)]
    matching = registry.list_envs(env)
    if not matching:
        raise SettingsError(
            f"The pattern {env!r} matches no environment. Run `gem-env list` to see every one.",
            option="envs",
        )
    return matching


def wrapper_refs(wrappers: Iterable[WrapperLike]) -> tuple[WrapperRef, ...]:
    """Record a stack of wrappers, innermost first, as ids with their JSON arguments."""
    return tuple(map(_wrapper_ref, wrappers))


def _wrapper_ref(wrapper: WrapperLike) -> WrapperRef:
    if isinstance(wrapper, WrapperRef):
        return wrapper.model_copy(update={"kwargs": recorded(wrapper.kwargs)})
    if isinstance(wrapper, str):
        return WrapperRef(id=wrapper)
    if isinstance(wrapper, Mapping):
        kwargs = {name: value for name, value in wrapper.items() if name != "id"}
        return WrapperRef(id=str(wrapper.get("id", "")), kwargs=recorded(kwargs))
    return WrapperRef(id=f"{wrapper.__module__}:{name_of(wrapper)}")


def _tasks(tasks: Any) -> Any:
    several = [tasks] if isinstance(tasks, int) else tasks
    return None if several is None else tuple(dict.fromkeys(several))


def _names(names: Any) -> Any:
    several = [names] if isinstance(names, str) else names
    return () if several is None else tuple(dict.fromkeys(several))


def _ends(seeds: Any) -> Any:
    if isinstance(seeds, range) and seeds.step == 1:
        return (seeds.start, seeds.stop)
    return tuple(seeds) if isinstance(seeds, list) else seeds


def _path(path: Any) -> Any:
    return str(path) if isinstance(path, PathLike) else path


_RECORDED: Mapping[str, Callable[[Any], Any]] = {
    "envs": env_specs,
    "policies": policy_refs,
    "wrappers": wrapper_refs,
    "env_kwargs": recorded,
    "backend_options": recorded,
    "tasks": _tasks,
    "seed_range": _ends,
    "prices": prices_from,
    "cache": _path,
    "track": _names,
}


def _recorded(values: Mapping[str, Any]) -> dict[str, Any]:
    plain = {
        name: _RECORDED[name](value) if name in _RECORDED else value
        for name, value in values.items()
    }
    if "policy_kwargs" in values:
        named = kwargs_by_policy(values["policy_kwargs"], members_of(plain.get("policies", ())))
        plain["policy_kwargs"] = {name: recorded(kwargs) for name, kwargs in named.items()}
    return plain


def kwargs_by_policy(
    given: Mapping[str, Any], refs: Iterable[PolicyRef]
) -> dict[str, Mapping[str, Any]]:
    """Return arguments of policies by the name of each. Those of an only policy may stand alone.

    Raises SettingsError, which shows the form, where it is not clear whose an argument is.

    >>> kwargs_by_policy({"temperature": 0}, [PolicyRef(name="openai:m@http://localhost/v1")])
    {'openai:m@http://localhost/v1': {'temperature': 0}}
    """
    refs = list(refs)
    names = [ref.name for ref in refs if ref.live is None]  # an object has its arguments
    owners = list(dict.fromkeys([*(name.partition(":")[0] for name in names), *names]))
    if not isinstance(given, Mapping):
        raise _unowned(f"policy_kwargs is {_shortened(given)}, and must be an object", owners)
    known = {spec.id for spec in registry.policies()} | {ref.name for ref in refs}
    for name in given.keys() - set(owners):
        if name in known or str(name).partition(":")[0] in known:
            raise SettingsError(
                f"policy_kwargs has arguments for {name!r}, which names no policy that is made "
                f"here. Name one of: {', '.join(map(repr, owners)) or 'none'}.",
                option="policy_kwargs",
            )
    own = [name for name in given if name not in owners]
    if own and len(own) == len(given) and len(names) == len(refs) == 1:
        return {names[0]: given}
    if own:
        raise _unowned(
            f"policy_kwargs has {own[0]!r}, and does not say of which policy it is", owners
        )
    for name, kwargs in given.items():
        if not isinstance(kwargs, Mapping):
            raise _unowned(f"policy_kwargs has {_shortened(kwargs)} for {name!r}", owners)
    return dict(given)


def _unowned(what: str, owners: Sequence[str]) -> SettingsError:
    owner = owners[0] if owners else "openai"
    return SettingsError(
        f'{what}. Give arguments by the policy\'s name, {{"{owner}": {{"ARGUMENT": VALUE}}}}; an '
        'only policy\'s may stand alone, {"ARGUMENT": VALUE}.',
        option="policy_kwargs",
    )


def _essence(settings: Settings, name: str) -> Any:
    if name == "envs":
        return [spec.id for spec in settings.envs]
    if name == "policies":
        return [ref.name for ref in settings.policies]
    return settings.model_dump(mode="json").get(name)


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _refuse_unknown(values: Mapping[str, Any]) -> None:
    known = list(Settings.model_fields)
    for name in values:
        if name not in known:
            raise SettingsError(unknown_option("An evaluation", name, known), option=name)


def _complaint(error: ValidationError, values: Mapping[str, Any]) -> SettingsError:
    details = error.errors(include_url=False)
    name = str(details[0]["loc"][0])
    if name not in values or (not values[name] and name in {"envs", "policies"}):
        return SettingsError(f"An evaluation needs {name}, and none were given.", option=name)
    # A union has a reason for each of its types, often the same one: each is said once, in order.
    reasons = dict.fromkeys(detail["msg"] for detail in details if detail["loc"][0] == name)
    given = f"{name}={_shortened(values[name])}"
    # Pydantic speaks of an "input", which who gave an option does not know. What it says beside
    # such a rule only follows from it: of [-1], whose item breaks one, that there is no item.
    rules = [
        reason.replace(_RULE, "it has to be", 1) for reason in reasons if reason.startswith(_RULE)
    ]
    if rules:
        text = f"{given} was asked for, and {', or '.join(rules)}. Change it."
    else:
        text = f"{given} cannot be evaluated: {', or '.join(reasons)}. Change it."
    return SettingsError(text, option=name)
