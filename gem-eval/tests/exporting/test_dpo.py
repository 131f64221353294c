"""The format dpo: which plays make a pair, and where they part."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import Message, ToolCall, read_episodes
from gem_eval import ExportError

from . import runs

MakeRun = Callable[..., Path]


def exported_pairs(run: Path, **options: Any) -> list[dict[str, Any]]:
    path = gem_eval.export(run, to="dpo", out=run / "x.jsonl", **options).path
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages]


def test_a_pair_parts_at_the_first_answer_that_differs(make_run: MakeRun) -> None:
    first = runs.turn("4")
    won = runs.episode(first, runs.turn("7", "Higher.", 1.0))
    lost = runs.failed(first, runs.turn("5", "Higher."), runs.turn("6", "Higher."))

    [pair] = exported_pairs(make_run(won, lost))

    assert texts(pair["prompt"]) == ["Guess.", "4", "Higher."]
    assert texts(pair["chosen"]) == ["7"]
    assert texts(pair["rejected"]) == ["5", "Higher.", "6"]
    assert (pair["chosen_policy"], pair["rejected_policy"]) == ("good", "bad")


def test_every_pair_of_a_real_run_is_of_one_seed(run: Callable[..., Any]) -> None:
    played = run("run")
    prompts = {
        str(episode.seed): episode.messages()[0]["content"]
        for episode in read_episodes(played.path)
    }

    pairs = exported_pairs(played.path)

    assert pairs
    assert all(texts(pair["prompt"])[0] == prompts[pair["seed"]] for pair in pairs)
    assert all(pair["chosen_return"] > pair["rejected_return"] for pair in pairs)
    roles = {pair[side][0]["role"] for pair in pairs for side in ("chosen", "rejected")}
    assert roles == {"assistant"}


def test_seeds_without_a_pair_are_counted(make_run: MakeRun) -> None:
    run = make_run(
        runs.episode(),
        runs.failed(runs.turn("9")),
        runs.episode(seed=2, episode_index=1),
        runs.episode(seed=3, episode_index=2),
        runs.episode(seed=3, episode_index=2, policy="bad"),
        runs.episode(seed=4, episode_index=3),
        runs.failed(seed=4, episode_index=3),
        runs.broken(seed=5, episode_index=4),
    )

    exported = gem_eval.export(run, to="dpo", out=run / "x.jsonl")

    assert (exported.rows, exported.episodes) == (1, 2)
    assert exported.notes == (
        "seeds played once: 1",
        "seeds whose plays do not part in an answer: 1",
        "seeds without a better and a worse play: 1",
    )
    assert exported.left_out == {"ended by an error": 1}


def test_returns_that_differ_enough_make_a_pair(make_run: MakeRun) -> None:
    better = runs.failed(runs.turn("4"), total_reward=0.5, policy="good")
    worse = runs.failed(runs.turn("9"), total_reward=0.2)
    run = make_run(better, worse)

    [pair] = exported_pairs(run, margin=0.3)

    assert (pair["chosen_return"], pair["rejected_return"]) == (0.5, 0.2)
    assert gem_eval.export(run, to="dpo", out=run / "z.jsonl", margin=0.1 + 0.2).rows == 1
    with pytest.raises(ExportError, match="seeds without a better and a worse play: 1"):
        gem_eval.export(run, to="dpo", out=run / "y.jsonl", margin=0.31)


def test_the_ids_of_calls_part_no_plays(make_run: MakeRun) -> None:
    call, answer = runs.with_tools()
    again = dataclasses.replace(
        call, tool_calls=(ToolCall("call-9", "add", {"a": 2, "b": [3]}),), tool_results=()
    )
    result = (Message("tool", "5", call_id="call-9"),)
    lost = runs.failed(again, runs.turn("It is 6.", result))

    [pair] = exported_pairs(make_run(runs.episode(call, answer), lost))

    assert [message["role"] for message in pair["prompt"]] == ["user", "assistant", "tool"]
    assert (texts(pair["chosen"]), texts(pair["rejected"])) == (["It is 5."], ["It is 6."])


def test_what_the_environment_said_differently_is_no_preference(make_run: MakeRun) -> None:
    won = runs.episode(runs.turn("4"), runs.turn("7", "Higher.", 1.0))
    lost = runs.failed(runs.turn("4"), runs.turn("5", "Lower."))

    with pytest.raises(ExportError, match="do not part in an answer"):
        exported_pairs(make_run(won, lost))


def test_the_next_best_play_is_taken_where_the_best_does_not_part(make_run: MakeRun) -> None:
    won = runs.episode()
    same = runs.failed(runs.turn("7"), total_reward=-1.0)
    other = runs.failed(runs.turn("9"), repeat=1)

    [pair] = exported_pairs(make_run(won, same, other))

    assert texts(pair["rejected"]) == ["9"]


def test_where_prompts_were_rewritten_one_turn_is_the_pair(make_run: MakeRun) -> None:
    first = runs.turn("4", "All: 1")
    won = runs.episode(first, runs.turn("7", "All: 1 4", 1.0), rewrites_history=True)
    lost = runs.failed(first, runs.turn("5", "All: 1 4"), rewrites_history=True)

    [pair] = exported_pairs(make_run(won, lost))

    assert [texts(pair[side]) for side in ("prompt", "chosen", "rejected")] == [
        ["All: 1 4"],
        ["7"],
        ["5"],
    ]


@pytest.mark.parametrize("observation", ["All: 1", "All: 2"])
def test_rewritten_prompts_that_do_not_part_in_an_answer_make_no_pair(
    make_run: MakeRun, observation: str
) -> None:
    won = runs.episode(runs.turn("4", "All: 1", 1.0), rewrites_history=True)
    lost = runs.failed(runs.turn("4", observation), rewrites_history=True)

    with pytest.raises(ExportError, match="do not part in an answer"):
        exported_pairs(make_run(won, lost))


def test_calls_of_tools_and_images_are_as_in_sft(make_run: MakeRun) -> None:
    won = runs.episode(runs.with_image())
    lost = runs.failed(runs.turn("a dog", runs.with_image().observation))

    [pair] = exported_pairs(make_run(won, lost))

    assert [part["type"] for part in pair["prompt"][0]["content"]] == ["text", "image", "text"]
    assert pair["chosen"][0]["content"] == [{"type": "text", "text": "a cat"}]


@pytest.mark.parametrize("margin", [1e-10, 0.5])
def test_equal_returns_are_no_pair(make_run: MakeRun, margin: float) -> None:
    run = make_run(runs.episode(), runs.episode(runs.turn("9", reward=1.0)))

    with pytest.raises(ExportError, match="without a better and a worse play"):
        exported_pairs(run, margin=margin)


@pytest.mark.parametrize("margin", [0.0, -1.0, float("nan")])
def test_a_margin_that_is_none_is_refused(make_run: MakeRun, margin: float) -> None:
    with pytest.raises(ExportError, match="not above 0"):
        exported_pairs(make_run(runs.episode()), margin=margin)


def test_a_seed_with_thousands_of_plays_has_its_pair(make_run: MakeRun) -> None:
    """Were all pairs made, there would be six million."""
    won = [runs.episode(repeat=number) for number in range(2500)]
    lost = [runs.failed(repeat=2500 + number) for number in range(2500)]
    lost[0] = runs.failed(runs.turn("9"), repeat=2500)

    [pair] = exported_pairs(make_run(*won, *lost))

    assert texts(pair["rejected"]) == ["9"]
