"""A plain typed function as a tool: its signature is the schema, its docstring the description."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints, overload

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema

from gem._python.arguments import checked
from gem._python.sync_async import in_thread, is_awaitable
from gem.content import ToolResult
from gem.errors import BadArguments, in_one_line
from gem.tools._base import Tool, ToolContext

__all__ = ["FunctionTool", "tool"]

Function = Callable[..., Any]


class FunctionTool(Tool):
    """A function as a tool; calling it calls the function. See `tool`, which makes one."""

    def __init__(
        self,
        function: Function,
        *,
        name: str | None = None,
        description: str | None = None,
        is_pure: bool = False,
        max_concurrent: int | None = None,
        timeout_s: float | None = Tool.timeout_s,
        max_characters: int = Tool.max_characters,
    ) -> None:
        self.function = function
        self.name = function.__name__ if name is None else name
        self.description = inspect.getdoc(function) or "" if description is None else description
        self.is_pure = is_pure
        self.max_concurrent = max_concurrent
        self.timeout_s = timeout_s
        self.max_characters = max_characters
        hints = _type_hints(function, self.name)
        # Parameters that get what is known of the call. A policy can neither see nor set them.
        self._context_names = frozenset(name for name, hint in hints.items() if hint is ToolContext)
        self.parameters = _schema(function, self.name, hints, self._context_names)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself."""
        return self.function(*args, **kwargs)

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Check the arguments and call the function, on a thread if it is no coroutine's.

        Raises BadArguments, and whatever the function raises.
        """
        kwargs = self._checked(arguments) | dict.fromkeys(self._context_names, context)
        if inspect.iscoroutinefunction(self.function):
            answer = await self.function(**kwargs)
        else:
            answer = await in_thread(lambda: self.function(**kwargs))
            # A callable object, or a partial, of a coroutine function is known by what it returns.
            if is_awaitable(answer):
                answer = await answer
        return _as_result(answer, context)

    def _checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as the function takes them, or raise BadArguments with all problems.

        The error is written anew: that of `checked` would name the parameters for the context.
        """
        problems = [f"it takes no {name!r}" for name in self._context_names & arguments.keys()]
        # A stand-in, so that these parameters are not missing where they have no default.
        contexts = dict.fromkeys(self._context_names, ToolContext())
        kwargs: dict[str, Any] = {}
        try:
            kwargs = checked(self.function, {**arguments, **contexts}, subject=self.name)
        except BadArguments as error:
            problems += error.problems
        if problems:
            names = ", ".join(map(repr, self.parameters["properties"])) or "no arguments"
            raise BadArguments(
                f"{self.name} cannot be called with these arguments: {'; '.join(problems)}. "
                f"It takes {names}.",
                subject=self.name,
                problems=problems,
            )
        return kwargs


@overload
def tool(function: Function, /) -> FunctionTool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    is_pure: bool = False,
    max_concurrent: int | None = None,
    timeout_s: float | None = 60.0,
    max_characters: int = 20_000,
) -> Callable[[Function], FunctionTool]: ...


def tool(function: Function | None = None, /, **options: Any) -> Any:
    """Make a tool of a typed function or method, a coroutine function or not.

    The docstring is the description, unless `description` is given; `Annotated[int,
    Field(description=...)]` describes a parameter. A parameter annotated `ToolContext` is told
    about the call, and is not in the schema. A function that is no coroutine function runs on a
    thread. What it returns is the answer: text as it is, all else as JSON. The other options are
    as for `Tool`. Raises BadArguments where the signature has no schema.

    >>> @tool
    ... def add(a: int, b: int = 1) -> int:
    ...     "Add two integers."
    ...     return a + b
    >>> add(2, 3), sorted(add.parameters["properties"]), add.parameters["required"]
    (5, ['a', 'b'], ['a'])
    """
    if function is None:
        return lambda function: FunctionTool(function, **options)
    return FunctionTool(function, **options)


def _as_result(answer: Any, context: ToolContext) -> ToolResult:
    if isinstance(answer, ToolResult):
        return dataclasses.replace(answer, call_id=context.call_id)
    if not isinstance(answer, str):
        answer = json.dumps(answer, ensure_ascii=False, default=str)
    return ToolResult(context.call_id, answer)


def _type_hints(function: Function, name: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as error:
        raise _no_schema(name, in_one_line(error)) from error


def _schema(
    function: Function, name: str, hints: Mapping[str, Any], left_out: frozenset[str]
) -> dict[str, Any]:
    """Return the JSON schema of a function's arguments. Raises BadArguments where it has none."""
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise _no_schema(name, f"{parameter} has no name of its own")
        if parameter.name not in left_out:
            fields.append((parameter.name, hints.get(parameter.name, Any), _default(parameter)))
    # A class with these fields, for pydantic describes those, and refuses other names in them.
    arguments = dataclasses.make_dataclass(
        "Arguments", fields, kw_only=True, namespace={"__pydantic_config__": {"extra": "forbid"}}
    )
    try:
        schema = TypeAdapter(arguments).json_schema(schema_generator=_Terse)
    except PydanticUserError as error:
        raise _no_schema(name, in_one_line(error)) from error
    schema.pop("title", None)
    return schema


def _default(parameter: inspect.Parameter) -> Any:
    default = parameter.default
    if default is parameter.empty:
        return dataclasses.field()
    if type(default).__hash__ is None:  # dataclasses refuse it, for one object would serve all
        return dataclasses.field(default_factory=lambda: default)
    return dataclasses.field(default=default)


class _Terse(GenerateJsonSchema):
    """Repeats no parameter's name as its title: a prompt pays for every word."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - so it is

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _no_schema(name: str, why: str) -> BadArguments:
    return BadArguments(
        f"The tool {name!r} cannot be made: its signature has no JSON schema ({why}). Annotate "
        "every parameter with a type that JSON has, or subclass gem.Tool and state the schema.",
        subject=name,
    )
