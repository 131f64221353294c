"""The format atif, read by the package `atif`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem_eval

from . import runs

atif = pytest.importorskip("atif")

MakeRun = Callable[..., Path]


def trajectories(run: Path, **options: Any) -> list[Any]:
    folder = Path(gem_eval.export(run, to="atif", out=run / "atif", **options).path)
    return [
        atif.Trajectory.model_validate_json(path.read_bytes())
        for path in sorted(folder.glob("*.json"))
    ]


def test_a_file_is_an_episode(run: Callable[..., Any]) -> None:
    played = run("run")

    read = trajectories(played.path)

    assert len(read) == 40
    assert {one.schema_version for one in read} == {"ATIF-v1.8"}
    assert len({one.trajectory_id for one in read}) == 40
    assert {one.agent.model_name for one in read} == {"solver", "random"}
    first = read[0]
    assert (first.steps[0].source, first.steps[1].source) == ("user", "agent")
    assert "Guess a number" in first.steps[0].message
    assert first.final_metrics.total_steps == len(first.steps)


def test_an_answer_is_followed_by_what_it_led_to(make_run: MakeRun) -> None:
    turns = (runs.turn("4"), runs.turn("7", "Higher.", 1.0, suffix="Guess again."))
    [one] = trajectories(make_run(runs.episode(*turns)))

    _, first, second = one.steps
    assert first.observation.results[0].content == "Higher.\nGuess again."
    assert second.observation.results[0].content == "Found."
    assert (first.extra["reward"], second.extra["reward"]) == (0.0, 1.0)


def test_how_to_play_it_again_is_told(make_run: MakeRun) -> None:
    error = runs.broken(seed=2, episode_index=1, env_kwargs={"highest": 3})
    solved, broken = trajectories(make_run(runs.episode(task=5), error))

    assert (solved.extra["success"], solved.extra["task"]) == (True, 5)
    assert (broken.extra["success"], broken.extra["error"]) == (None, "the server is gone")
    assert (broken.extra["seed"], broken.extra["env_kwargs"]) == (2, {"highest": 3})


def test_tokens_and_logprobs_are_of_prompt_and_answer(make_run: MakeRun) -> None:
    [one] = trajectories(make_run(runs.episode(*runs.with_tokens())))

    first, second = one.steps[1].metrics, one.steps[2].metrics
    assert (first.prompt_token_ids, first.completion_token_ids) == ([1, 2], [3])
    assert (second.prompt_token_ids, second.completion_token_ids) == ([1, 2, 3, 4], [5, 6])
    assert second.logprobs == [-0.1, -0.2]
    assert (second.prompt_tokens, second.completion_tokens) == (4, 2)
    assert one.steps[1].reasoning_content == "I think."
    assert one.steps[1].llm_call_count == 1
    assert one.final_metrics.total_completion_tokens == 3


def test_a_new_sequence_begins_its_prompt_anew(make_run: MakeRun) -> None:
    again = runs.turn("b", "All.", 1.0, token_ids=(7, 8), mask=(0, 1), new_sequence=True)
    [one] = trajectories(make_run(runs.episode(runs.with_tokens()[0], again)))

    assert one.steps[2].metrics.prompt_token_ids == [7]


def test_tokens_of_an_answer_alone_are_no_prompt(make_run: MakeRun) -> None:
    turn = runs.turn("b", reward=1.0, token_ids=(7, 8))
    [one] = trajectories(make_run(runs.episode(turn)))

    assert one.steps[1].metrics.completion_token_ids == [7, 8]
    assert one.steps[1].metrics.prompt_token_ids is None


def test_the_answer_of_a_tool_says_which_call_it_answers(make_run: MakeRun) -> None:
    [one] = trajectories(make_run(runs.episode(*runs.with_tools())))

    [_, call, answer] = one.steps
    assert call.tool_calls[0].function_name == "add"
    assert call.tool_calls[0].arguments == {"a": 2, "b": [3]}
    assert call.observation.results[0].source_call_id == "call-1"
    assert answer.observation.results[0].source_call_id is None


def test_a_system_message_is_a_step_of_its_own(make_run: MakeRun) -> None:
    from gem import Message

    shown = [Message("system", "Be brief."), Message("user", "1 to 3?"), Message("assistant", "2")]
    observation = (*shown, Message("user", "Guess."))
    [one] = trajectories(make_run(runs.episode(runs.turn("7", observation, 1.0))))

    assert [step.source for step in one.steps] == ["system", "user", "agent", "user", "agent"]


def test_an_image_is_a_file_beside_the_trajectory(make_run: MakeRun) -> None:
    run = make_run(runs.episode(runs.with_image()))
    [one] = trajectories(run)

    part = one.steps[0].message[1]
    assert (part.source.media_type, part.source.path) == ("image/png", "images/000001-1.png")
    assert (run / "atif" / part.source.path).read_bytes() == runs.PNG
    assert one.has_multimodal_content()


def test_an_image_of_another_type_is_named(make_run: MakeRun) -> None:
    from gem import ImagePart

    turn = runs.turn("x", (ImagePart(b"BM", "image/bmp"),), 1.0)
    run = make_run(runs.episode(turn))
    [one] = trajectories(run)

    assert one.steps[0].message[0].text == "[an image of type image/bmp: images/000001-1.bin]"
    assert (run / "atif" / "images" / "000001-1.bin").read_bytes() == b"BM"


def test_rewritten_prompts_are_told_in_the_notes(make_run: MakeRun) -> None:
    turns = (runs.turn("a", "All: 1"), runs.turn("b", "All: 1 a 2", 1.0))
    [one] = trajectories(make_run(runs.episode(*turns, rewrites_history=True)))

    assert one.notes == "Each observation is the whole prompt, and replaces those before it."


@pytest.mark.parametrize(("final", "sources"), [("Guess.", ["user"]), (None, [])])
def test_an_episode_without_an_answer_is_what_was_shown(
    make_run: MakeRun, final: str | None, sources: list[str]
) -> None:
    silent = runs.broken(turns=(), final_observation=final)
    [one] = trajectories(make_run(silent))

    assert [step.source for step in one.steps] == sources


def test_an_answer_that_nothing_followed_has_no_results(make_run: MakeRun) -> None:
    lost = runs.broken(final_observation=None, stop_reason="worker_lost")
    [one] = trajectories(make_run(lost))

    assert one.steps[1].observation.results == []


def test_hostile_text_survives_but_for_halves_of_pairs(make_run: MakeRun) -> None:
    [one] = trajectories(make_run(runs.hostile()))

    shown, first, second = one.steps
    assert shown.message == f"{runs.READABLE}\n{runs.READABLE}"
    assert first.message == first.reasoning_content == runs.READABLE
    assert first.tool_calls[0].arguments == {runs.READABLE_NAME: runs.READABLE}
    assert len(second.message) == 10_000_000
