"""`frame_stack`: the last few observations together."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import gem
from gem.content import Message, TextPart
from gem.env import Env
from gem.errors import BadArguments
from gem.wrappers._frame_stack import FrameStack

MakeEnv = Callable[..., Env]


def test_the_newest_observations_stand_together_oldest_first(quiet: MakeEnv) -> None:
    env = FrameStack(quiet(), 2)

    assert env.reset()[0] == "one"
    assert env.step("a").observation == "one\ntwo"
    assert env.step("b").observation == "two\nthree"


def test_a_reset_forgets_the_episode_before(quiet: MakeEnv) -> None:
    env = FrameStack(quiet(), 3)
    env.reset()
    env.step("a")

    assert env.reset()[0] == "one"


def test_observations_that_are_not_all_text_become_messages(quiet: MakeEnv) -> None:
    env = FrameStack(quiet(["a", [TextPart("b")], Message("tool", "c", call_id="1")]), 3)
    env.reset()
    env.step("")

    assert env.step("").observation == (
        Message("user", "a"),
        Message("user", (TextPart("b"),)),
        Message("tool", "c", call_id="1"),
    )


def test_a_list_that_the_environment_changes_later_stays_as_it_was(quiet: MakeEnv) -> None:
    board = [TextPart("b")]
    env = FrameStack(quiet([board, "end"]), 2)
    env.reset()
    board.append(TextPart("changed"))

    assert env.step("").observation == (
        Message("user", (TextPart("b"),)),
        Message("user", "end"),
    )


def test_an_observation_that_is_an_action_is_kept_as_text(quiet: MakeEnv) -> None:
    env = FrameStack(quiet([gem.Action("a"), "end"]), 2)
    env.reset()

    assert env.fork().step("").observation == "a\nend"


@pytest.mark.parametrize("size", [0, -1])
def test_a_size_below_one_is_refused(size: int, quiet: MakeEnv) -> None:
    with pytest.raises(BadArguments, match=f"size={size}. It counts observations"):
        FrameStack(quiet(), size)


def test_stacks_of_frames_nest(quiet: MakeEnv) -> None:
    env = FrameStack(FrameStack(quiet(), 2), 2)
    env.reset()

    assert env.step("").observation == "one\none\ntwo"


def test_a_restored_snapshot_continues_alike_and_a_fork_alone(said_id: str) -> None:
    layers = [{"id": "frame_stack", "size": 2}]
    env, other = gem.make(said_id, wrappers=layers), gem.make(said_id, wrappers=layers)
    env.reset(seed=0)
    env.step("a")
    twin = env.fork()
    twin.step("b")
    other.restore(gem.Snapshot.from_json(env.snapshot().to_json()))

    assert other.step("b").observation == env.step("b").observation == "two\nthree"
    assert twin.step("c").observation == "three\nfour"
