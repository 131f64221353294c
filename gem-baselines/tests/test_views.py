"""What a view reads out of a conversation."""

from __future__ import annotations

import pytest

import gem
from gem.content import Message
from gem.conversation import Request
from gem.errors import BadArguments
from gem_baselines.tabular import TabularPolicy
from gem_baselines.views import VIEWS

RULES = "Find the target number, a whole number from 1 to 10, both included."
LOWER = "At turn 1, you guessed 7, and the target number is lower."
HIGHER = "At turn 2, you guessed 3, and the target number is higher."


def key(view: str, *texts: str) -> str:
    roles = ("user", "assistant")
    messages = [Message(roles[place % 2], text) for place, text in enumerate(texts)]  # type: ignore[arg-type]
    return VIEWS[view].key(Request(messages=tuple(messages)))


def test_interval_is_what_the_hints_leave() -> None:
    assert key("interval", RULES) == "1..10"
    assert key("interval", RULES, "7", LOWER) == "1..6"
    assert key("interval", RULES, "7", LOWER, "3", HIGHER) == "4..6"


def test_interval_takes_no_hint_from_the_policy_itself() -> None:
    assert key("interval", RULES, HIGHER, LOWER) == "1..6"


def test_interval_reads_a_finished_prompt() -> None:
    prompt = f"{RULES}\n{LOWER}\n"

    assert VIEWS["interval"].key(Request(prompt=prompt)) == "1..6"


def test_interval_refuses_a_text_without_bounds() -> None:
    with pytest.raises(BadArguments, match="names no two bounds"):
        key("interval", "Break the code.")


def test_whole_tells_apart_what_last_does_not() -> None:
    first = ("A?", "x", "Go on.")
    second = ("B?", "y", "Go on.")

    assert key("last", *first) == key("last", *second) == "Go on."
    assert key("whole", *first) != key("whole", *second)


def test_the_actions_of_interval_are_the_numbers_between_the_bounds() -> None:
    arguments = TabularPolicy.arguments_for(
        {"min_number": -1, "max_number": 1}, {"view": "interval"}
    )

    assert arguments["actions"] == ["\\boxed{-1}", "\\boxed{0}", "\\boxed{1}"]


@pytest.mark.parametrize(
    ("env_kwargs", "problem"),
    [
        ({}, "are None and None"),
        ({"min_number": 1, "max_number": None}, "are 1 and None"),
        ({"min_number": 1, "max_number": 10**9}, "has 1 to 10000 actions"),
    ],
)
def test_bounds_that_no_table_has_are_refused(env_kwargs: dict[str, object], problem: str) -> None:
    with pytest.raises(BadArguments, match=problem):
        TabularPolicy.arguments_for(env_kwargs, {"view": "interval"})


def test_a_view_without_actions_asks_for_them() -> None:
    with pytest.raises(BadArguments, match="List the texts"):
        TabularPolicy.arguments_for({}, {"view": "last"})


def test_interval_reads_the_texts_of_the_game() -> None:
    pytest.importorskip("gem_envs_games", reason="gem-envs-games is not installed")
    seen = []

    def bisect(request: gem.Request) -> str:
        state = VIEWS["interval"].key(request)
        low, high = (int(end) for end in state.split(".."))
        seen.append(high - low)
        return f"\\boxed{{{(low + high) // 2}}}"

    episodes = gem.run(bisect, "game:GuessTheNumber-v0-hard", episodes=20)

    assert all(episode.success for episode in episodes)  # which bisection alone does in 7 turns
    assert max(seen) == 49


@pytest.mark.parametrize("view", [5, None, ["whole"], "hole"])
def test_what_is_no_view_is_refused_before_actions_are_looked_up_by_it(view: object) -> None:
    with pytest.raises(BadArguments, match=r"The view .* was asked for, and there is none of"):
        TabularPolicy.arguments_for({}, {"view": view})
