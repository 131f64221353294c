"""`concat_chat_on_reset`: one templated opening, then the text as it was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gem.env import Env
from gem.wrappers._concat_chat_on_reset import ConcatChatOnReset

MakeEnv = Callable[..., Env]


def test_only_the_first_observation_is_in_the_template(say: MakeEnv, template: Any) -> None:
    env = ConcatChatOnReset(say(), template)

    assert env.reset()[0] == "<user>one\ns0</><assistant>"
    assert env.step("a").observation == "<user>one</><assistant>a\ntwo\ns1\n"
    assert env.step("b").observation == "<user>one</><assistant>a\ntwo\nb\nthree\ns2\n"


def test_without_suffixes_each_prompt_extends_prompt_and_action(
    quiet: MakeEnv, template: Any
) -> None:
    env = ConcatChatOnReset(quiet(), template)
    first = str(env.reset()[0])
    second = str(env.step("a").observation)
    third = str(env.step("b").observation)

    assert second == f"{first}a\ntwo\n"
    assert third == f"{second}b\nthree\n"


def test_an_empty_observation_adds_no_empty_line(quiet: MakeEnv, template: Any) -> None:
    env = ConcatChatOnReset(quiet(["one", "", "three"]), template)
    env.reset()

    assert env.step("a").observation == "<user>one</><assistant>a\n"


def test_a_system_prompt_opens_it(quiet: MakeEnv, template: Any) -> None:
    env = ConcatChatOnReset(quiet(), template, system_prompt="Be brief.")

    assert env.reset()[0] == "<system>Be brief.</><user>one</><assistant>"


def test_tools_reach_the_template(quiet: MakeEnv, template: Any) -> None:
    inner = quiet()
    inner.tools = [{"type": "function"}]
    ConcatChatOnReset(inner, template).reset()

    assert template.options["tools"] == [{"type": "function"}]


def test_a_reset_starts_the_prompt_afresh(say: MakeEnv, template: Any) -> None:
    env = ConcatChatOnReset(say(), template)
    env.reset()
    env.step("a")

    assert env.reset()[0] == "<user>one\ns0</><assistant>"


def test_its_prompt_is_finished(say: MakeEnv, template: Any) -> None:
    env = ConcatChatOnReset(say(), template)

    assert (env.rewrites_history, env.prompt_is_finished) == (True, True)


def test_a_fork_goes_its_own_way(say: MakeEnv, template: Any) -> None:
    env = ConcatChatOnReset(say(), template)
    env.reset()
    twin = env.fork()
    twin.step("left")

    assert env.step("right").observation == "<user>one</><assistant>right\ntwo\ns1\n"
    assert twin.step("b").observation == "<user>one</><assistant>left\ntwo\nb\nthree\ns2\n"


def test_a_lone_surrogate_is_replaced(say: MakeEnv, template: Any) -> None:
    env = ConcatChatOnReset(say(), template)
    env.reset()

    assert "assistant>\ufffd\n" in str(env.step("\ud800").observation)
