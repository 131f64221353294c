"""Write an environment as a class of plain methods, for TRL, which makes tools of them.

Knows nothing about trainers, and does not import TRL.
"""

from __future__ import annotations

import inspect
import keyword
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Union

import gem
from gem.content import Action, ImagePart, Message, ToolCall, normalise_text
from gem.conversation import Conversation
from gem.errors import BadArguments, in_one_line, text_of
from gem_integrations.episodes import EnvOptions
from gem_integrations.faults import UnplayableError, holds_images
from gem_integrations.images import opened, parts_of
from gem_integrations.rows import Start, start_of

__all__ = ["ToolEnvironment", "environment"]

Shown = Union[str, list[dict[str, Any]]]
"""What TRL puts into a message: text, or blocks of text and images for a model that sees them."""

_log = logging.getLogger(__name__)

_OWN = ("act", "reset", "get_reward")
_OVER = "The episode is over."
_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict,
    "null": None,
}


class ToolEnvironment:
    """One environment that a model plays by calling methods; `environment` makes its subclasses.

    TRL makes tools of all public methods but `reset` and `get_reward`. It makes one instance for
    each episode of a batch, and uses them again.
    """

    _options: ClassVar[EnvOptions]
    _shared_fault: ClassVar[list[UnplayableError]]
    """What the next reset raises: TRL shows what a method raises to the model, and goes on."""

    def __init__(self) -> None:
        self._env = _made(self._options)
        self._earned: float | None = None
        self._is_over = True
        self._episode: int | None = None  # its number, None where none is counted
        self._start: Start | None = None

    def reset(self, **row: Any) -> Shown | None:
        """Begin the episode that a row's `seed` and `task` fix, and return what it says first.

        With images that is a list of blocks, as messages of `transformers` have them. None where
        the environment fails. Raises BadArguments for a row without a seed, and UnplayableError
        where many episodes in a row ended by errors of one type.
        """
        start = start_of(row)
        self._count(None)  # the last one, where TRL cut it by a limit of its own
        if self._shared_fault:
            raise self._shared_fault[0]
        self._episode = self._options.faults.begin()
        self._start = start
        self._earned = None
        self._is_over = True
        try:
            observation, info = self._env.reset(seed=start.seed, **_task(start.task))
        except Exception as error:
            _log.warning("%s failed at its beginning: %s", type(self).__name__, in_one_line(error))
            self._count(error)
            if self._shared_fault:
                raise self._shared_fault[0] from error
            return None
        self._earned = 0.0
        self._is_over = False
        return _for_trl(observation, info)

    def get_reward(self) -> float | None:
        """Return what the episode has earned, None where it could not begin."""
        return self._earned

    def act(self, text: str) -> str:
        """Say something to the environment, such as your answer or your next move.

        Args:
            text: What to say, in the form that the environment asks for.

        Returns:
            What the environment says to that.
        """
        # The hint is what TRL makes the schema of; blocks of images are taken as well.
        return self._play(Action(text))  # type: ignore[return-value]

    def _play(self, action: Action) -> Shown:
        if self._is_over:
            return _OVER
        self._is_over = True  # unless the environment says otherwise
        try:
            step = self._env.step(action)
        except Exception as error:
            self._count(error)
            raise  # TRL shows it to the model
        self._earned = (self._earned or 0.0) + step.reward
        self._is_over = step.terminated or step.truncated
        if self._is_over:
            self._count(None)
        return _for_trl(step.observation, step.info)

    def _count(self, error: Exception | None) -> None:
        """Count how the episode ended, if one was begun."""
        if self._episode is None:
            return
        number = self._episode
        self._episode = None
        shared = self._options.faults.end(
            number,
            env_id=self._options.env_id,
            start=self._start,
            error=None if error is None else text_of(error),
        )
        self._shared_fault[:] = [] if shared is None else [shared]


def environment(env_id: str, **options: Any) -> type[ToolEnvironment]:
    """Return what a GRPOTrainer takes as its `environment_factory`: a class with a method a tool.

    Each tool of the environment and its wrappers is a method with the type hints and the
    docstring that the tool's schema says, and `act(text)` says something to the environment
    itself. `get_reward` is the sum of the rewards. `options` are `env_kwargs`, `wrappers` and
    `max_turns` of `EnvOptions`: TRL sees to the rest, and rows have the system prompt.

    Tries the environment, and asks it for its tools. Raises BadArguments for other options, and
    for a tool whose name, or whose argument's, no method can have, the errors of `gem.make`, and
    UnplayableError where no episode can begin.
    """
    others = sorted(options.keys() - {"env_kwargs", "wrappers", "max_turns"})
    if others:
        raise BadArguments(
            f"An environment of tools was asked for with {', '.join(others)}. Its options are "
            "env_kwargs, wrappers and max_turns; the rest is for the trainer's configuration and "
            "the prompts of the data set.",
            subject="options",
            problems=others,
        )
    chosen = EnvOptions.of({"env_id": env_id, **options})
    chosen.try_out("TRL's environments of tools", takes_images=True)
    with _made(chosen) as env:
        methods = dict(
            _method(tool["function"]) for tool in getattr(env, "callable_tools", env.tools)
        )
    return type(env_id, (ToolEnvironment,), {"_options": chosen, "_shared_fault": [], **methods})


def _made(options: EnvOptions) -> gem.Env:
    limit = [] if options.max_turns is None else [_limit(options.max_turns)]
    wrappers = [*options.wrappers, *limit]
    return gem.make(options.env_id, wrappers=wrappers, **options.env_kwargs)


def _limit(max_turns: int) -> Mapping[str, Any]:
    return {"id": "time_limit", "max_turns": max_turns}


def _task(task: int | None) -> Mapping[str, Any]:
    return {} if task is None else {"task": task}


def _for_trl(observation: Any, info: Mapping[str, Any]) -> Shown:
    """Return an observation as TRL takes it: text, or blocks of text and images.

    Without lone surrogates: TRL tokenises the text, and no tokenizer takes one.
    """
    talk = Conversation()
    talk.observe(observation, info)
    if not holds_images(talk.messages):
        return normalise_text("\n".join(message.text for message in talk.messages))
    return [block for message in talk.messages for block in _blocks(message)]


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    for part in parts_of(message):
        if isinstance(part, ImagePart):
            yield {"type": "image", "image": opened(part)}
        else:
            yield {"type": "text", "text": normalise_text(part.text)}


def _method(schema: Mapping[str, Any]) -> tuple[str, Callable[..., Shown]]:
    """Return the name of a tool and the method that calls it."""
    name = schema["name"]
    described = schema.get("parameters", {})
    properties = described.get("properties", {})
    if name in _OWN or name.startswith("_") or not name.isidentifier():
        raise BadArguments(
            f"The tool {name!r} cannot be a method: {', '.join(_OWN)} are there already, and a "
            "method has a name without a leading underscore. Give the tool another name.",
            subject=name,
        )

    def call(self: ToolEnvironment, **arguments: Any) -> Shown:
        return self._play(Action("", tool_calls=[ToolCall(name, name, arguments)]))

    unfit = [key for key in properties if not _is_parameter(key)]
    if unfit:
        raise BadArguments(
            f"The tool {name!r} cannot be a method: TRL makes its schema of the method's "
            f"parameters, and none can be called {', '.join(map(repr, unfit))}. Give these "
            "arguments other names.",
            subject=name,
            problems=unfit,
        )
    parameters = [
        _parameter(key, property_schema, described) for key, property_schema in properties.items()
    ]
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__name__ = name
    call.__qualname__ = f"{ToolEnvironment.__name__}.{name}"
    call.__doc__ = _docstring(schema.get("description", ""), properties)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {
        "return": str
    }
    signature = inspect.Signature([itself, *parameters], return_annotation=str)
    call.__signature__ = signature  # type: ignore[attr-defined]
    return name, call


def _is_parameter(name: str) -> bool:
    """Say whether a parameter of a method can have a name; `self` is there already."""
    return name.isidentifier() and not keyword.iskeyword(name) and name != "self"


def _parameter(name: str, schema: Any, of: Mapping[str, Any]) -> inspect.Parameter:
    is_required = name in of.get("required", ())
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if is_required else _of(schema, "default"),
        annotation=_hint(schema),
    )


def _of(schema: Any, key: str) -> Any:
    """Return what a schema says under a key: nothing where it is True, which allows anything."""
    return schema.get(key) if isinstance(schema, Mapping) else None


def _hint(schema: Any) -> Any:
    """Return the type that a schema describes, as far as types can say it."""
    if not isinstance(schema, Mapping):
        return Any
    types = schema.get("type", "")
    if isinstance(types, list):  # any of several, most often one and null
        return _any_of([{**schema, "type": one} for one in types])
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if "anyOf" in schema:
        return _any_of(schema["anyOf"])
    if types == "array":
        return list[_hint(schema["items"])] if "items" in schema else list  # type: ignore[misc]
    # An environment may be sloppy, and a type that is no word describes nothing.
    return _TYPES.get(types, Any) if isinstance(types, str) else Any


def _any_of(schemas: Sequence[Any]) -> Any:
    """Return the type of what fits one of some schemas, Any where there are none."""
    hints = tuple(map(_hint, schemas))
    return Union[hints] if hints and Any not in hints else Any


def _docstring(description: str, properties: Mapping[str, Any]) -> str:
    """Write a docstring as Google has them; without every parameter TRL refuses the tool."""
    arguments = [
        f"    {name}: {_line(_of(schema, 'description') or f'The {name}.')}"
        for name, schema in properties.items()
    ]
    sections: Sequence[str] = ["Args:", *arguments] if arguments else []
    return "\n".join([_line(description), "", *sections])


def _line(text: str) -> str:
    return " ".join(text.split())
