"""What a plugin states about itself, as frozen data. Knows nothing about how it is used.

A plugin's manifest module imports this module and the standard library, nothing else: every
target is a string, `"module:attribute"`, that is imported only when somebody asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    field_validator,
    model_validator,
)

__all__ = [
    "API_GROUP",
    "API_VERSION",
    "AdapterSpec",
    "CheckHints",
    "DataSource",
    "EnvSpec",
    "ExecutorSpec",
    "ObsoleteKwarg",
    "PluginManifest",
    "PolicySpec",
    "ToolSpec",
    "WrapperRef",
    "WrapperSpec",
]

API_VERSION = 1
API_GROUP = f"gem.plugins.v{API_VERSION}"

# A module, or the path of a file, which may hold blanks and colons; and what is named in it.
Target = Annotated[str, StringConstraints(pattern=r"(?s)^(?:[^\s:]+|.+\.py):[^\s:]+$")]
_ENV_ID = re.compile(r"[a-z][a-z0-9_]*:[A-Za-z0-9][A-Za-z0-9_.,-]*")
EnvId = Annotated[str, StringConstraints(pattern=f"^{_ENV_ID.pattern}$")]
PlainId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]*$")]


class _Spec(BaseModel):
    """Frozen, and deaf to unknown fields: a newer plugin still loads on an older core."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Provided(_Spec):
    """What every provided thing states: an id, where it lives, and what it needs.

    `target` is the `module:attribute` that is called for it. `requires` are pip requirements,
    checked before it is imported.
    """

    id: PlainId
    target: Target
    summary: str = ""
    requires: tuple[str, ...] = ()


class WrapperRef(_Spec):
    """One layer of a stack: the wrapper's id, or its `module:Class`, and its keyword arguments."""

    id: str
    kwargs: Mapping[str, Any] = {}


class DataSource(BaseModel):
    """A data set of the Hugging Face Hub: what an environment's rows are read from.

    `hub` is its id, `config` its subset. `revision` is the commit, tag or branch that is asked
    for; without it the newest is taken, and the commit that was got is reported. `fields` maps
    the environment's fields to those of the data set, `role` says whether its rows are to train
    or to evaluate on, `licence` and `homepage` are shown to whoever fetches it. A field that is
    not known is refused, for a revision misspelt would be a revision ignored.

    In a spec it stands in `kwargs`, as JSON data or as this. `gem.make(..., source={...})` then
    changes only the fields that it names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    hub: str | None = None
    config: str | None = None
    split: str | None = None
    revision: str | None = None
    fields: Mapping[str, str] = {}
    role: Literal["train", "eval"] | None = None
    licence: str = ""
    homepage: str = ""


class ObsoleteKwarg(_Spec):
    """What an argument of an earlier release is today.

    `instead` is the argument that takes its value, or with a dot one field of it: "source.hub" is
    `hub` in the mapping `source`. Without it the argument is ignored. `values` translates what it
    could be, written as JSON, into what `instead` takes: `{"true": "boxed", "false": "answer"}`.
    """

    instead: str = ""
    values: Mapping[str, Any] = {}


class CheckHints(_Spec):
    """What `gem-env check` has to know of an environment; nothing else depends on it.

    `fixed_start` declares that every seed starts alike, `winnable=False` that even a perfect
    player cannot succeed (`bound` is then the best return there is), `needs_luck` that some starts
    are only won by a lucky guess. `mixes` declares that no move is right by itself: the best play
    draws its moves, as in poker, or depends on how the others play. Its `solve()` may then earn
    less than a fixed player does against a fixed opponent, and says different moves in states that
    look alike.
    """

    fixed_start: bool = False
    winnable: bool = True
    needs_luck: bool = False
    bound: float | None = None
    mixes: bool = False


# Names that were fields of EnvSpec itself in earlier releases.
_HINTS = frozenset(CheckHints.model_fields)


class EnvSpec(_Provided):
    """One environment: where it lives, what it takes, and what it promises.

    `target` is called with `kwargs` to build it. `blocking` says that a step may wait or compute
    for long, so it never runs on an event loop. `success_return` is the total return from which
    an episode counts as a success where its last `info` has no `"success"`. `check` holds hints
    for the checker. `wrappers` is the stack, innermost first. `obsolete_kwargs` are arguments of
    earlier releases, which `gem.make` still takes, with a warning. `replaced_by` marks an older id
    that goes on working, with a warning, and names the one to use; no listing shows it.

    `probe` is a `module:function` that is called with `kwargs` and tells what an environment needs
    that is not here, beyond packages and data sets: a pair (what, remedy), or None. `gem-env list`
    calls it, so its module imports nothing heavy. `compat_kwargs` are arguments that
    `gem.make(..., compat=True)` adds, so that it is as gem-llm's environment of this id was.

    The id of an environment that no pack provides is its target, `./try.py:Parity`.
    """

    id: str
    kwargs: Mapping[str, Any] = {}
    blocking: bool = True
    success_return: float = 1.0
    check: CheckHints = CheckHints()
    source: str = ""
    licence: str = ""
    wrappers: tuple[WrapperRef, ...] = ()
    probe: Target | None = None
    obsolete_kwargs: Mapping[str, ObsoleteKwarg] = {}
    replaced_by: EnvId | None = None
    compat_kwargs: Mapping[str, Any] = {}
    # What is called in place of an import of `target`, in this process alone: JSON leaves it out,
    # and a copy keeps it. `gem.registry._env_targets` sets it where a class or a factory was given.
    _maker: Any = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _id_is_one(self) -> EnvSpec:
        if _ENV_ID.fullmatch(self.id) or self.id == self.target:
            return self
        # A record has the id that was typed, and is read in another folder, or another process.
        # Of a file, the target may have the whole path and the id the one that was typed.
        _, py, name = self.id.rpartition(".py:")
        if py and self.target.endswith(f".py:{name}"):
            return self
        raise ValueError(
            f"{self.id!r:.80} is no id. Write namespace:Name, the namespace in small "
            "letters; an environment that no pack provides has its target as its id"
        )

    def __new__(cls, *_: Any, **stated: Any) -> EnvSpec:
        """Refuse a hint that is written beside `check`: it would be ignored, as unknown fields are.

        A validator would do it in strict JSON too, and there turn what it is given into Python's
        types, of which a list is no tuple. Data does not come this way: specs that were stored
        with such fields are read.
        """
        misplaced = sorted(_HINTS & stated.keys())
        if misplaced:
            written = ", ".join(f"{name}={stated[name]!r:.40}" for name in misplaced)
            raise TypeError(
                f"{written} is a hint for `gem-env check`, and no field of EnvSpec. "
                f"Write check=CheckHints({written})."
            )
        return super().__new__(cls)

    @field_validator("kwargs")
    @classmethod
    def _sources_are_plain(cls, kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        # Only what was set: a default that was written down would count as stated.
        return {
            name: value.model_dump(exclude_unset=True) if isinstance(value, DataSource) else value
            for name, value in kwargs.items()
        }

    @property
    def namespace(self) -> str:
        """The part of the id before the colon."""
        return self.id.partition(":")[0]


class WrapperSpec(_Provided):
    """One wrapper. `layer` places it: tools inside observations inside prompts; "any" anywhere.

    `rewrites_history` marks a wrapper whose observation is the whole prompt. `compat_target` takes
    the target's place with `gem.make(..., compat=True)`, where gem-llm's wrapper of this id did
    something else.
    """

    blocking: bool = True
    layer: Literal["tool", "observation", "prompt", "any"] = "any"
    rewrites_history: bool = False
    compat_target: Target | None = None


class ToolSpec(_Provided):
    """One tool that a policy may call, or a set: what `target` makes may yield several."""


class PolicySpec(_Provided):
    """One policy for evaluation. In `NAME:ARGUMENT`, `target` gets ARGUMENT if `takes_argument`.

    `reference_for` are ids or shell patterns of environments whose scores say little alone: an
    evaluation plays this policy too, with `random` and `solver`, and shows theirs beside. It costs
    their episodes, so a policy that asks a model is none. Where such an environment has several
    seats, `reference_beside` says who sits where meanwhile, `{"user": "customer"}`; the reference
    sits at all others.
    """

    takes_argument: str | None = Field(
        default=None, description="what stands after the colon, as help shows it: 'MODEL@BASE_URL'"
    )
    reference_for: tuple[str, ...] = ()
    reference_beside: Mapping[str, str] = {}


class AdapterSpec(_Provided):
    """One bridge to a training framework."""


class ExecutorSpec(_Provided):
    """One way to run environments, behind the word `backend=` of `gem.make_vec` and `gem.rollout`.

    `target` is a factory: it is called by keyword with `num_envs` (how many there will be at most,
    None where that is open), `num_workers` and `step_timeout_s` as the user gave them, and returns
    a `gem.hosting.Host`. It raises BadArguments for what it cannot do. What else it takes by
    keyword are the user's `backend_options`.
    """


class PluginManifest(_Spec):
    """Everything one plugin provides. The value of its entry point in `gem.plugins.v1`.

    `hooks` are modules with pluggy implementations (see `gem.hooks`), imported only when
    something is announced or the command line needs its commands. `published` says where this
    plugin has names of the published gem-llm: `{"gem.envs.math_env:MathEnv": "acme.old:MathEnv"}`.
    """

    name: PlainId
    summary: str = ""
    envs: tuple[EnvSpec, ...] = ()
    wrappers: tuple[WrapperSpec, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    policies: tuple[PolicySpec, ...] = ()
    adapters: tuple[AdapterSpec, ...] = ()
    executors: tuple[ExecutorSpec, ...] = ()
    hooks: tuple[str, ...] = ()
    published: Mapping[Target, Target] = {}

    @model_validator(mode="after")
    def _ids_are_unique(self) -> PluginManifest:
        for kind in ("envs", "wrappers", "tools", "policies", "adapters", "executors"):
            ids = [spec.id for spec in getattr(self, kind)]
            twice = sorted({id for id in ids if ids.count(id) > 1})
            if twice:
                raise ValueError(f"{kind} lists {', '.join(map(repr, twice))} more than once")
        return self
