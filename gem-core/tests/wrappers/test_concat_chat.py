"""`concat_chat`: finished prompts, rendered by whatever has a chat template."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.content import Action, ImagePart, Message, ToolCall
from gem.conversation import Request
from gem.env import Env
from gem.errors import BadArguments, OpaqueError, TargetError
from gem.wrappers._concat_chat import ConcatChat

MakeEnv = Callable[..., Env]


@pytest.fixture
def template_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of the user's own: `load()` makes a tokenizer and counts its calls."""
    source = (
        "calls = []\n"
        "class Tiny:\n"
        "    def apply_chat_template(self, conversation, **options):\n"
        "        return ''.join(each['content'] for each in conversation) + '>'\n"
        "def load():\n"
        "    calls.append(1)\n"
        "    return Tiny()\n"
        "def load_nothing():\n"
        "    return None\n"
    )
    name = f"tokenizers_of_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_the_conversation_is_rendered_with_only_the_newest_suffix(
    say: MakeEnv, template: Any
) -> None:
    env = ConcatChat(say(), template)

    assert env.reset()[0] == "<user>one\ns0</><assistant>"
    assert env.step("a").observation == ("<user>one</><assistant>a</><user>two\ns1</><assistant>")
    assert env.step("b").observation == (
        "<user>one</><assistant>a</><user>two</><assistant>b</><user>three\ns2</><assistant>"
    )


def test_the_template_is_asked_for_text_that_ends_where_the_model_begins(
    say: MakeEnv, template: Any
) -> None:
    ConcatChat(say(), template).reset()

    assert template.options == {"add_generation_prompt": True, "tokenize": False}


def test_a_system_prompt_comes_first_in_every_episode(say: MakeEnv, template: Any) -> None:
    env = ConcatChat(say(), template, system_prompt="Be brief.")
    env.reset()
    env.step("a")

    assert env.reset()[0] == "<system>Be brief.</><user>one\ns0</><assistant>"


def test_tools_and_tool_calls_reach_the_template(quiet: MakeEnv, template: Any) -> None:
    inner = quiet([Message("user", "Look it up."), Message("tool", "42", call_id="c1")])
    inner.tools = [{"type": "function", "function": {"name": "find"}}]
    env = ConcatChat(inner, template)
    env.reset()

    env.step(Action("", tool_calls=[ToolCall("c1", "find", {"q": "x"})]))

    assert template.options["tools"] == [{"type": "function", "function": {"name": "find"}}]
    assert template.messages == [
        {"role": "user", "content": "Look it up."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "find", "arguments": {"q": "x"}},
                }
            ],
        },
        {"role": "tool", "content": "42", "tool_call_id": "c1"},
    ]


def test_a_lone_surrogate_never_reaches_the_tokenizer(say: MakeEnv, template: Any) -> None:
    env = ConcatChat(say(), template)
    env.reset()

    assert "a\ufffd" in str(env.step("a\udfff").observation)


def test_an_image_is_refused(say: MakeEnv, template: Any) -> None:
    with pytest.raises(TypeError, match="with an image"):
        ConcatChat(say([(ImagePart(b"png"),), "end"]), template).reset()


def test_its_prompt_travels_as_it_is_to_the_policy(template: Any, said_id: str) -> None:
    seen: list[Request] = []

    def policy(request: Request) -> str:
        seen.append(request)
        return "a"

    layers = [{"id": "concat_chat", "tokenizer": template}]
    play_one(policy, said_id, layers)

    assert seen[1].prompt == "<user>one</><assistant>a</><user>two\ns1</><assistant>"
    assert seen[1].messages == ()


def play_one(policy: Any, env_id: str, layers: list[Any]) -> None:
    import asyncio

    async def run() -> None:
        async for _ in gem.rollout(policy, env_id, wrappers=layers):
            pass

    asyncio.run(run())


def test_it_imports_no_tokenizer_library(say: MakeEnv, template: Any) -> None:
    before = {*sys.modules}

    ConcatChat(say(), template).reset()

    assert "transformers" not in {*sys.modules} - before


def test_a_target_is_called_once_and_serves_every_instance(
    said_id: str, template_module: str
) -> None:
    layer = {"id": "concat_chat", "tokenizer": f"{template_module}:load"}

    first, second = gem.make(said_id, wrappers=[layer]), gem.make(said_id, wrappers=[layer])

    assert first.reset()[0] == second.reset()[0] == "one\ns0>"
    assert sys.modules[template_module].calls == [1]


def test_a_target_is_data_so_the_stack_rebuilds_from_its_spec(
    said_id: str, template_module: str
) -> None:
    layer = {"id": "concat_chat", "tokenizer": f"{template_module}:load", "system_prompt": "Hi."}
    env = gem.make(said_id, wrappers=[layer])
    assert env.spec is not None

    again = gem.make(gem.EnvSpec.model_validate_json(env.spec.model_dump_json()))

    assert again.spec == env.spec
    assert again.reset()[0] == env.reset()[0] == "Hi.one\ns0>"


def test_a_live_tokenizer_is_refused_by_name_where_the_stack_is_rebuilt(
    said_id: str, template: Any
) -> None:
    spec = gem.make(said_id, wrappers=[{"id": "concat_chat", "tokenizer": template}]).spec
    assert spec is not None

    with pytest.raises(OpaqueError, match=r"concat_chat was made with a live .*as 'tokenizer'"):
        gem.make(spec)


def test_snapshots_and_forks_share_the_tokenizer_and_nothing_else(
    said_id: str, template_module: str
) -> None:
    layer = {"id": "concat_chat", "tokenizer": f"{template_module}:load"}
    env, other = gem.make(said_id, wrappers=[layer]), gem.make(said_id, wrappers=[layer])
    env.reset(seed=0)
    env.step(Action("a", tool_calls=[ToolCall("c", "f", {"x": [1]})]))
    other.restore(gem.Snapshot.from_json(env.snapshot().to_json()))
    twin = env.fork()

    assert twin.step("left").observation == "oneatwoleftthree\ns2>"
    assert other.step("b") == env.step("b")


def test_a_name_is_refused_with_what_to_pass(said_id: str) -> None:
    layer = {"id": "concat_chat", "tokenizer": "org/model"}

    with pytest.raises(BadArguments, match=r"'org/model'\. It loads no tokenizer by name: pass"):
        gem.make(said_id, wrappers=[layer])


def test_a_target_that_cannot_be_imported_is_named(said_id: str) -> None:
    layer = {"id": "concat_chat", "tokenizer": "no_such_module:load"}

    with pytest.raises(TargetError, match="'no_such_module:load' cannot be imported"):
        gem.make(said_id, wrappers=[layer])


def test_a_target_that_returns_no_tokenizer_is_refused(said_id: str, template_module: str) -> None:
    layer = {"id": "concat_chat", "tokenizer": f"{template_module}:load_nothing"}

    with pytest.raises(BadArguments, match=r"got a NoneType from tokenizer=.*apply_chat_templ"):
        gem.make(said_id, wrappers=[layer])


def test_an_object_without_a_template_is_refused_by_either_door(said_id: str, say: MakeEnv) -> None:
    with pytest.raises(BadArguments, match="instance of ChatTokenizer"):
        gem.make(said_id, wrappers=[{"id": "concat_chat", "tokenizer": 5}])
    with pytest.raises(BadArguments, match="got a int from tokenizer=5"):
        ConcatChat(say(), 5)  # type: ignore[arg-type]
