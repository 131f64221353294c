"""What ROLL's managers read: text, or the dict of its manager of images."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest

import gem
from gem.content import ImagePart, Message, TextPart
from gem.errors import BadArguments
from gem_integrations.roll_env import RollEnv


def png(width: int, height: int) -> ImagePart:
    """Return an image as a file of its bytes."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    row = b"\0" + bytes(3 * width)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(row * height)), (b"IEND", b"")]
    written = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    ]
    return ImagePart(b"\x89PNG\r\n\x1a\n" + b"".join(written))


class Saying(gem.Env):
    """Shows what it is given, one thing a turn."""

    def __init__(self, *shown: Any, tools: Any = ()) -> None:
        self.shown = shown
        self.tools = tools

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        return self.shown[0], {"suffix": "Your turn."}

    def step(self, action: str) -> gem.Step:
        return gem.Step(self.shown[self.turn + 1], 1.0, False, False, {})


def saying(name: str, *shown: Any, takes_images: bool = True, **kwargs: Any) -> RollEnv:
    """Wrap an environment of its own name: ROLL tries one of each in a process."""
    tools = kwargs.pop("tools", ())
    env = gem.make(gem.register(f"rolled:{name}", lambda: Saying(*shown, tools=tools)).id)
    return RollEnv(env, takes_images=takes_images, **kwargs)


class Echo(gem.Env):
    """Says what was said to it."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Speak.", {}

    def step(self, action: str) -> gem.Step:
        return gem.Step(action, 0.0, False, False, {})


@pytest.mark.parametrize("end", ["", "<|im_end|>", "<|end|>", "<|answered|><|end|>"])
def test_all_that_ends_a_turn_is_cut_off_an_action(end: str) -> None:
    ends = ("<|im_end|>", "<|end|>", "<|answered|>", "")
    env = RollEnv(gem.make(gem.register("rolled:Echo", Echo).id), end_of_turn=ends)
    env.reset(seed=1)

    assert env.step(f"<|end|> Yes.{end}").observation == "<|end|> Yes."


LOOK = (TextPart("Look: "), png(3, 2), TextPart(" Which?"))


def test_an_observation_with_images_is_the_dict_that_rolls_manager_reads() -> None:
    pytest.importorskip("PIL")
    env = saying("Look", LOOK, "And now?", [png(1, 1), png(2, 1)])

    seen: Any = env.reset(seed=1)[0]
    assert seen["prompt"] == [
        {"type": "text", "text": "Look: "},
        {"type": "image"},
        {"type": "text", "text": " Which?"},
    ]
    assert [(each.mode, each.size) for each in seen["image"]] == [("RGB", (3, 2))]
    assert env.step("a").observation == "And now?"
    later: Any = env.step("b").observation
    assert [each.size for each in later["image"]] == [(1, 1), (2, 1)]


def test_parts_of_text_alone_are_lines_without_images() -> None:
    seen: Any = saying("Parts", [TextPart("a"), TextPart("b")]).reset(seed=1)[0]

    assert seen == {"prompt": [{"type": "text", "text": "a\nb"}]}


def test_the_state_and_how_to_call_tools_stand_around_an_image() -> None:
    pytest.importorskip("PIL")
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    env = saying("Around", [png(1, 1), TextPart("Go.")], joins_suffix=True, tools=[tool])

    seen: Any = env.reset(seed=1)[0]

    first, image, last = seen["prompt"]
    assert first["text"].startswith("# Tools")
    assert (image, last["text"]) == ({"type": "image"}, "Go.\nYour turn.")


def test_an_environment_of_images_is_refused_where_they_are_not_asked_for() -> None:
    with pytest.raises(BadArguments, match=r"TokenEnvManager takes them .* takes_images=True"):
        saying("Refused", LOOK, takes_images=False)


def test_it_is_refused_again_where_another_manager_took_it() -> None:
    pytest.importorskip("PIL")
    env = saying("Twice", LOOK).env

    with pytest.raises(BadArguments, match="takes_images=True"):
        RollEnv(env)


def test_a_first_image_later_ends_the_training() -> None:
    env = saying("Later", "Soon.", LOOK, takes_images=False)
    env.reset(seed=1)

    with pytest.raises(BadArguments, match="take one text a turn"):
        env.step("a")


def test_an_image_that_cannot_be_opened_costs_its_episode() -> None:
    pytest.importorskip("PIL")
    env = saying("Broken", "Soon.", [ImagePart(b"no image")])
    env.reset(seed=1)

    step = env.step("a")

    assert (step.terminated, step.truncated) == (True, True)
    assert step.info["metrics"]["env_failed"] == 1.0


def test_images_in_several_results_of_tools_are_refused() -> None:
    """ROLL's managers take one message of a user, or one text of all results."""
    pytest.importorskip("PIL")
    results = [Message("tool", (png(1, 1),), call_id="1"), Message("tool", "b", call_id="2")]
    env = saying("Returned", "Call.", results)
    env.reset(seed=1)

    with pytest.raises(BadArguments, match="one message of a user a turn"):
        env.step("a")


def test_no_lone_surrogate_reaches_rolls_tokenizer() -> None:
    env = saying("Broken", "a\ud800", [TextPart("b\ud800")])

    assert env.reset(seed=1)[0] == "a\ufffd"
    later: Any = env.step("go").observation
    assert later == {"prompt": [{"type": "text", "text": "b\ufffd"}]}
