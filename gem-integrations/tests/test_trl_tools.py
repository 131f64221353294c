"""Environments as classes of plain methods. No framework is imported here."""

from __future__ import annotations

import inspect
import io
import logging
from typing import Any, Literal, get_type_hints

import pytest

import gem
from gem.content import ImagePart, TextPart
from gem.errors import BadArguments
from gem_integrations.trl_tools import ToolEnvironment, environment


class MuteError(Exception):
    """An error whose own text fails."""

    def __str__(self) -> str:
        raise RuntimeError


class Counted(gem.Env):
    """Ends at "end", pays 1 for anything else, and fails at "fail"; it has two tools."""

    tools = (
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Look at a\nplace.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "depth": {"type": "integer", "default": 1},
                        "place": {"type": "string", "description": "where"},
                        "how": {"enum": ["far", "near"]},
                        "names": {"type": "array", "items": {"type": "string"}},
                        "weight": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                        "since": {"type": ["integer", "null"]},
                        "rest": {},
                        "all": True,
                    },
                    "required": ["place"],
                },
            },
        },
        {"type": "function", "function": {"name": "wait", "description": "Wait."}},
    )

    def __init__(self, no_board_at: int | None = None, is_mute: bool = False) -> None:
        self.no_board_at = no_board_at
        self.is_mute = is_mute

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        if self.no_board_at == self.episode_seed:
            raise MuteError if self.is_mute else OSError("there is no board")
        return f"episode {self.episode_seed}", {"suffix": "Go on."}

    def step(self, action: str) -> gem.Step:
        if action == "fail":
            raise OSError("the board is lost")
        calls = getattr(action, "tool_calls", ())
        said = ", ".join(f"{each.name}({dict(each.arguments)})" for each in calls)
        return gem.Step(said or "heard", 1.0, action == "end", False, {})


class Seen(gem.Env):
    """Shows an image each turn."""

    def __init__(self, png: str) -> None:
        self.png = png

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        return self.shown(), {}

    def step(self, action: str) -> gem.Step:
        return gem.Step(self.shown(), 0.0, False, False, {"suffix": "Go on."})

    def shown(self) -> list[Any]:
        return [ImagePart(bytes.fromhex(self.png)), TextPart("Look.")]


COUNTED = gem.register("test:Counted", Counted).id


def begun(**options: Any) -> Any:
    made = environment(COUNTED, **options)()
    made.reset(seed=3, prompt="of the data set")
    return made


def test_an_episode_is_played_by_methods() -> None:
    made: Any = environment(COUNTED)()

    assert made.reset(seed=3, prompt="of the data set") == "episode 3\nGo on."
    assert made.get_reward() == 0.0
    assert made.act("hello") == "heard"
    assert made.look(place="here", depth=2) == "look({'place': 'here', 'depth': 2})"
    assert made.get_reward() == 2.0


def test_a_method_says_what_the_schema_says() -> None:
    counted: Any = environment(COUNTED)
    look = counted.look

    parameters = inspect.signature(look).parameters
    assert inspect.getdoc(look) == (
        "Look at a place.\n\nArgs:\n    depth: The depth.\n    place: where\n    how: The how.\n"
        "    names: The names.\n    weight: The weight.\n    since: The since.\n"
        "    rest: The rest.\n    all: The all."
    )
    assert get_type_hints(look) == {
        "depth": int,
        "place": str,
        "how": Literal["far", "near"],
        "names": list[str],
        "weight": float | None,
        "since": int | None,
        "rest": Any,
        "all": Any,
        "return": str,
    }
    assert parameters["place"].default is inspect.Parameter.empty
    assert (parameters["depth"].default, parameters["rest"].default) == (1, None)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": []},
        {"type": {}},
        {"type": {"string": True}},
        {"type": [[]]},
        {"type": ["string", {}]},
        {"type": None},
        {"anyOf": []},
        {"anyOf": [{"type": []}, {"type": "string"}]},
    ],
)
def test_an_argument_whose_schema_names_no_type_may_be_anything(schema: dict[str, Any]) -> None:
    described = {"type": "object", "properties": {"place": schema}}
    tool = {"type": "function", "function": {"name": "look", "parameters": described}}
    env = gem.register("test:Untyped", type("Untyped", (Counted,), {"tools": (tool,)})).id

    made: Any = environment(env)

    assert get_type_hints(made.look) == {"place": Any, "return": str}


def test_public_methods_are_the_tools_and_no_more() -> None:
    public = {name for name in dir(environment(COUNTED)) if not name.startswith("_")}

    assert public == {"act", "get_reward", "look", "reset", "wait"}


def test_nothing_follows_the_end_but_another_beginning() -> None:
    made = begun()

    made.act("end")

    assert (made.act("hello"), made.wait()) == ("The episode is over.",) * 2
    assert made.get_reward() == 1.0
    assert made.reset(seed=4) == "episode 4\nGo on."
    assert made.get_reward() == 0.0


def test_turns_are_limited() -> None:
    made = begun(max_turns=2)

    assert [made.wait(), made.act("a"), made.act("b")][2] == "The episode is over."
    assert made.get_reward() == 2.0


def test_what_was_earned_before_a_fault_is_kept() -> None:
    made = begun()
    made.act("hello")

    with pytest.raises(OSError, match="the board is lost"):
        made.act("fail")

    assert (made.act("hello"), made.get_reward()) == ("The episode is over.", 1.0)


def test_an_episode_that_cannot_begin_has_no_reward(caplog: pytest.LogCaptureFixture) -> None:
    made = environment(COUNTED, env_kwargs={"no_board_at": 3})()

    with caplog.at_level(logging.WARNING):
        assert made.reset(seed=3) is None

    assert made.get_reward() is None
    assert made.act("hello") == "The episode is over."
    assert "there is no board" in caplog.text


def test_an_episode_that_cannot_begin_is_told_of_where_its_error_has_no_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = environment(COUNTED, env_kwargs={"no_board_at": 3, "is_mute": True})()

    with caplog.at_level(logging.WARNING):
        assert made.reset(seed=3) is None

    assert "failed at its beginning: MuteError: (its text cannot be shown)" in caplog.text


def test_images_are_blocks_as_messages_of_transformers_have_them() -> None:
    pillow = pytest.importorskip("PIL.Image")
    drawn = io.BytesIO()
    pillow.new("L", (3, 2)).save(drawn, "PNG")
    gem.register("test:Seen", Seen, png=drawn.getvalue().hex())
    made = environment("test:Seen")()

    answers: list[Any] = [made.reset(seed=1), made.act("x")]
    assert [text for _, text in answers] == [
        {"type": "text", "text": "Look."},
        {"type": "text", "text": "Look.\nGo on."},  # templates write nothing between two texts
    ]
    for image, _ in answers:
        assert (image["type"], image["image"].size, image["image"].mode) == ("image", (3, 2), "RGB")


def test_a_row_without_a_seed_is_refused() -> None:
    with pytest.raises(BadArguments, match="seed=None"):
        environment(COUNTED)().reset(prompt="of the data set")


def test_options_that_trl_sees_to_are_refused() -> None:
    with pytest.raises(BadArguments, match="asked for with max_turn_tokens, system_prompt"):
        environment(COUNTED, system_prompt="Play.", max_turn_tokens=5)


@pytest.mark.parametrize("name", ["from", "per-page", "self"])
def test_an_argument_that_no_method_can_have_is_refused(name: str) -> None:
    described = {"type": "object", "properties": {"place": {"type": "string"}, name: {}}}
    tool = {"type": "function", "function": {"name": "look", "parameters": described}}
    env = gem.register("test:Arguments", type("Arguments", (Counted,), {"tools": (tool,)})).id

    with pytest.raises(BadArguments, match=f"none can be called '{name}'"):
        environment(env)


@pytest.mark.parametrize("name", ["act", "get_reward", "_hidden", "two words"])
def test_a_tool_that_cannot_be_a_method_is_refused(name: str) -> None:
    tool = {"type": "function", "function": {"name": name, "description": "Do it."}}
    env = gem.register("test:Named", type("Named", (Counted,), {"tools": (tool,)})).id

    with pytest.raises(BadArguments, match=f"The tool '{name}' cannot be a method"):
        environment(env)


def test_the_class_is_named_by_its_environment() -> None:
    made = environment(COUNTED)

    assert made.__name__ == COUNTED  # TRL names the reward by it
    assert issubclass(made, ToolEnvironment)


class Broken(gem.Env):
    """Shows half of a surrogate pair, beside the image that it is given where there is one."""

    def __init__(self, png: str = "") -> None:
        self.png = png

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        if not self.png:
            return "a\ud800", {}
        return [ImagePart(bytes.fromhex(self.png)), TextPart("b\ud800")], {}

    def step(self, action: str) -> gem.Step:
        return gem.Step(action, 0.0, False, False, {})


def test_no_lone_surrogate_reaches_trls_tokenizer() -> None:
    assert environment(gem.register("test:Broken", Broken).id)().reset(seed=3) == "a\ufffd"


def test_no_lone_surrogate_beside_an_image_reaches_trls_tokenizer() -> None:
    image = pytest.importorskip("PIL.Image")
    drawn = io.BytesIO()
    image.new("RGB", (3, 2)).save(drawn, format="PNG")
    gem.register("test:BrokenBeside", Broken, png=drawn.getvalue().hex())

    shown: Any = environment("test:BrokenBeside")().reset(seed=3)

    assert shown[1] == {"type": "text", "text": "b\ufffd"}
