"""What is behind `gem.wrappers`: prompts, and what an episode has come to."""

from __future__ import annotations

from typing import Any

import pytest

from gem.compat._observing import ObservationWrapper
from gem.compat._tracking import EpisodeTrackingWrapper
from gem.errors import BadArguments

from . import envs


def test_tracking_counts_and_keeps_what_the_episode_before_came_to() -> None:
    env = EpisodeTrackingWrapper(envs.Game())

    first = env.reset()[1]
    last = [env.step("a").info for _ in range(3)][-1]
    second = env.reset()[1]
    assert (first["step_counter"], first["prev_ep_cumulative_rewards"]) == (0, 0.0)
    assert (last["step_counter"], last["cumulative_rewards"]) == (3, 0.5)
    assert (second["prev_ep_step_counter"], second["prev_ep_cumulative_rewards"]) == (3, 0.5)
    assert (second["step_counter"], second["cumulative_rewards"]) == (0, 0.0)


class Template:
    """A tokenizer whose template is easy to read."""

    def apply_chat_template(self, conversation: Any, **options: Any) -> str:
        turns = "".join(f"<{each['role']}>{each['content']}</>" for each in conversation)
        return f"{turns}<assistant>"


def prompts(**arguments: Any) -> list[Any]:
    env = ObservationWrapper(envs.Game(max_turns=9), **arguments)
    return [env.reset(seed=1)[0], *(env.step(action).observation for action in "abc")]


def test_prompts_of_text_are_the_published_ones() -> None:
    without = prompts(include_action=False, include_chat_template=False)
    within = prompts(include_action=True, include_chat_template=False)

    assert without[:2] == ["Play plain.\nYour move.", "Play plain.\nOn.\nMove 2."]
    assert within[2] == "Play plain.\na\nOn.\nb\nOn.\nMove 3."


def test_a_prompt_shows_as_many_turns_as_it_is_told_to() -> None:
    shown = prompts(include_chat_template=False, max_history_length=1)

    assert shown[0] == "Play plain.\nYour move."
    assert shown[2] == "On.\nb\nOn.\nMove 3."
    assert shown[3] == "On.\nc\nOn.\nMove 4."


def test_a_prompt_is_rendered_whole_or_at_its_beginning() -> None:
    whole = prompts(tokenizer=Template())
    at_reset = prompts(
        include_chat_template=False, apply_chat_template_on_reset=True, tokenizer=Template()
    )

    assert whole[1] == "<user>Play plain.</><assistant>a</><user>On.\nMove 2.</><assistant>"
    assert at_reset[1] == "<user>Play plain.</><assistant>\na\nOn.\nMove 2."


def test_a_prompt_to_be_rendered_needs_a_tokenizer() -> None:
    with pytest.raises(BadArguments, match="given no tokenizer"):
        ObservationWrapper(envs.Game())
