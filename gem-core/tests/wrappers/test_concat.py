"""`concat` and `concat_with_action`: text prompts that hold the history."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import gem
from gem.content import Action, ImagePart, Message, TextPart
from gem.env import Env
from gem.wrappers._concat import Concat
from gem.wrappers._concat_with_action import ConcatWithAction

MakeEnv = Callable[..., Env]


def prompts(env: Env, *actions: str) -> list[Any]:
    """Return every observation of an episode."""
    return [env.reset(seed=0)[0], *(env.step(action).observation for action in actions)]


def test_concat_shows_what_the_environment_said_and_only_the_newest_suffix(say: MakeEnv) -> None:
    assert prompts(Concat(say()), "a", "b") == [
        "one\ns0",
        "one\ntwo\ns1",
        "one\ntwo\nthree\ns2",
    ]


def test_concat_with_action_shows_both_sides_and_only_the_newest_suffix(say: MakeEnv) -> None:
    assert prompts(ConcatWithAction(say()), "a", "b") == [
        "one\ns0",
        "one\na\ntwo\ns1",
        "one\na\ntwo\nb\nthree\ns2",
    ]


@pytest.mark.parametrize("wrap", [Concat, ConcatWithAction])
def test_a_reset_forgets_the_episode_before(wrap: Callable[[Env], Env], say: MakeEnv) -> None:
    env = wrap(say())
    prompts(env, "a", "b")

    assert env.reset()[0] == "one\ns0"


def test_without_suffixes_each_prompt_extends_the_one_before(quiet: MakeEnv) -> None:
    first, second, third = prompts(ConcatWithAction(quiet()), "a", "b")

    assert second == f"{first}\na\ntwo"
    assert third == f"{second}\nb\nthree"


def test_empty_observations_and_actions_leave_no_empty_line(quiet: MakeEnv) -> None:
    assert prompts(ConcatWithAction(quiet(["one", "", "three"])), "", "b")[-1] == "one\nb\nthree"


def test_a_suffix_stays_in_info_for_whoever_draws_the_state(say: MakeEnv) -> None:
    env = Concat(say())

    assert env.reset()[1] == {"suffix": "s0"}
    assert env.step("a").info == {"suffix": "s1"}


def test_the_text_of_parts_and_messages_is_shown(quiet: MakeEnv) -> None:
    said = [
        (TextPart("a"), TextPart("b")),
        Message("user", "c"),
        [Message("user", "d"), Message("tool", "e", call_id="1")],
        "f",
    ]

    assert prompts(Concat(quiet(said)), "", "", "")[-1] == "a\nb\nc\nd\ne\nf"


def test_a_tool_message_gets_no_suffix(say: MakeEnv) -> None:
    env = Concat(say([Message("tool", "42", call_id="1"), "end"]))

    assert env.reset()[0] == "42"


def test_an_image_is_refused_with_what_to_do(say: MakeEnv) -> None:
    env = Concat(say([(TextPart("a"), ImagePart(b"png")), "end"]))

    with pytest.raises(TypeError, match=r"with an image, and a prompt is text\. Leave the"):
        env.reset()


def test_lone_surrogates_in_an_action_become_a_character_that_can_be_written(
    say: MakeEnv,
) -> None:
    prompt = prompts(ConcatWithAction(say()), "x\ud800y")[-1]

    assert prompt == "one\nx\ufffdy\ntwo\ns1"


def test_a_huge_action_is_shown_whole(say: MakeEnv) -> None:
    assert "x" * 2_000_000 in prompts(ConcatWithAction(say()), "x" * 2_000_000)[-1]


@pytest.mark.parametrize("wrap", [Concat, ConcatWithAction])
def test_a_prompt_is_the_whole_history_but_not_finished(
    wrap: Callable[[Env], Env], say: MakeEnv
) -> None:
    env = wrap(say())

    assert (env.rewrites_history, env.prompt_is_finished) == (True, False)


@pytest.mark.parametrize("name", ["concat", "concat_with_action"])
def test_both_forms_agree(name: str, said_id: str) -> None:
    async def walk() -> list[Any]:
        env = gem.make(said_id, wrappers=[name])
        first, _ = await env.areset(seed=0)
        return [first, (await env.astep("a")).observation, (await env.astep("b")).observation]

    assert asyncio.run(walk()) == prompts(gem.make(said_id, wrappers=[name]), "a", "b")


@pytest.mark.parametrize("name", ["concat", "concat_with_action"])
def test_a_restored_snapshot_continues_alike(name: str, said_id: str) -> None:
    env, other = gem.make(said_id, wrappers=[name]), gem.make(said_id, wrappers=[name])
    prompts(env, "a")
    text = env.snapshot().to_json()

    other.restore(gem.Snapshot.from_json(text))

    assert other.step(Action("b")) == env.step(Action("b"))


def test_a_fork_goes_its_own_way(said_id: str) -> None:
    env = gem.make(said_id, wrappers=["concat_with_action"])
    prompts(env, "a")

    twin = env.fork()

    assert twin.step("left").observation == "one\na\ntwo\nleft\nthree\ns2"
    assert env.step("right").observation == "one\na\ntwo\nright\nthree\ns2"
