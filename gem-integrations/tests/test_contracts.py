"""The committed results of the contracts: of every adapter, and of the same episodes in all."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gem
from gem.tokens import Sampled
from gem_integrations.episodes import EnvOptions, one_row, play
from gem_integrations.frameworks import FRAMEWORKS, recorded

CONTRACTS = Path(__file__).parents[1] / "contracts"
names = pytest.mark.parametrize("name", sorted(FRAMEWORKS))


def result(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CONTRACTS / name / "result.json").read_text())
    return found


@names
def test_a_result_says_how_much_was_compared_and_with_what(name: str) -> None:
    found = result(name)

    assert (found["framework"], found["version"]) == (name, recorded(name)["recorded_from"])
    assert all(found["asserted"][each] > 0 for each in ("tests", "episodes", "tokens", "rewards"))


@pytest.fixture(scope="module")
def tokenizer(harness: ModuleType) -> Any:
    return harness.chat_tokenizer()


def test_the_same_episodes_are_the_same_tokens_through_every_adapter(
    harness: ModuleType, tokenizer: Any
) -> None:
    rows = [harness.whole(harness.expected(tokenizer, seed)) for seed in harness.SEEDS]

    assert {name: result(name)["trajectories"] for name in FRAMEWORKS} == dict.fromkeys(
        FRAMEWORKS, harness.digest(rows)
    )


def test_what_is_expected_of_an_episode_reads_as_the_template_writes_it(
    harness: ModuleType, tokenizer: Any
) -> None:
    row = harness.expected(tokenizer, harness.SEEDS[1])
    chat = [{"role": "system", "content": "Play to win."}]
    for start, stop in row.spans:
        shown = tokenizer.decode(row.ids[:start])
        said = tokenizer.decode(row.ids[start : stop - 1])
        user = shown.rpartition("<|im_start|>user\n")[2].partition("<|im_end|>")[0]
        chat += [{"role": "user", "content": user}, {"role": "assistant", "content": said}]

    assert row.actions == [r"Turn 0: \boxed{25}", r"Turn 1: \boxed{12}"]
    assert row.rewards == [0.0, 1.0]
    assert tokenizer.decode(row.ids) + "\n" == tokenizer.apply_chat_template(chat, tokenize=False)


def test_what_is_tokenised_again_is_other_tokens(harness: ModuleType, tokenizer: Any) -> None:
    row = harness.expected(tokenizer, harness.SEEDS[1])
    text = tokenizer.decode(row.ids)
    (_, end), (start, _) = row.spans
    added = tokenizer.decode(row.ids[end:start])
    pieces = [tokenizer.encode(line, add_special_tokens=False) for line in added.splitlines(True)]

    assert tokenizer.encode(text, add_special_tokens=False) != row.ids
    assert tokenizer.encode(added, add_special_tokens=False) == row.ids[end:start]
    assert [id for piece in pieces for id in piece] != row.ids[end:start]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"limit": 19},  # the first answer is whole, and then there is no room
        {"limit": 80},  # the second answer is cut
        {"max_turns": 2},
        {"max_turn_tokens": 7},
        {"system_prompt": None},
        {"first": "<lookup>the number</lookup>"},  # with the tool that it calls
        {"env_id": "contract:Paying", "env_kwargs": {"fails_at": 2}},
    ],
)
def test_our_own_loop_plays_what_contracts_expect(
    harness: ModuleType, tokenizer: Any, options: dict[str, Any]
) -> None:
    given = options | (harness.TOOLS if "first" in options else {})
    wanted = harness.expected(tokenizer, harness.SEEDS[3], **given)
    limit = given.pop("limit", None)
    first = given.pop("first", "")
    known = EnvOptions.of({**harness.GAME, **given})
    codec = known.codec(tokenizer)

    async def engine(request: gem.Request) -> Sampled:
        said = harness.scripted(tokenizer, request.prompt_ids, request.token_budget, first=first)
        return Sampled(*said)

    run = play(known, engine, codec, seed=harness.SEEDS[3], max_response_tokens=limit)
    row = one_row(asyncio.run(run), codec)

    assert (row.prompt_ids, row.response_ids) == (wanted.prompt_ids, wanted.response_ids)
    assert (row.response_mask, row.logprobs) == (wanted.response_mask, wanted.logprobs)
    assert (row.rewards, row.spans) == (wanted.rewards, wanted.spans)
    assert row.episode.truncated == wanted.truncated
