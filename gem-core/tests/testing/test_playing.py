from __future__ import annotations

import json
from typing import Any

import gem
from gem.testing._playing import (
    MOST_TURNS,
    continued,
    first_difference,
    moment_of,
    play,
    repeating,
)
from gem.testing.envs import Guess, Lamps


class Endless(gem.Env):
    """Ends no episode by itself."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Go.", {}

    def step(self, action: str) -> gem.Step:
        return gem.Step("Go on.", 0.0, False, False, {})


UP = {"observation": "higher", "reward": 0.0}


def test_a_play_ends_where_the_script_does() -> None:
    played = play(Lamps(), repeating(["1", "2"]), 0)

    assert played.actions == ("1", "2")
    assert (len(played.moments), played.is_over, played.is_success) == (3, False, False)


def test_a_play_ends_at_the_most_turns() -> None:
    played = play(Lamps(), lambda env, sight: "1", 0, most_turns=5)

    assert len(played.actions) == 5


def test_a_play_goes_on_to_a_declared_limit_and_else_to_a_bound() -> None:
    declared, endless = Endless(), Endless()
    declared.max_turns = 300

    assert len(play(declared, lambda env, sight: "", 0).actions) == 300
    assert len(play(endless, lambda env, sight: "", 0).actions) == MOST_TURNS


def test_a_play_sees_observation_and_suffix() -> None:
    played = play(Guess(), repeating([]), 0)

    assert played.texts[0].endswith("\nGuess.")


def test_what_follows_an_end_is_the_next_episode_cut_at_its_end() -> None:
    env = Guess(highest=1)
    env.reset(seed=0)

    moments = continued(env, ["\\boxed{1}", "\\boxed{1}"][:1])

    assert [moment.get("terminated") for moment in moments] == [True, None, True]


def test_equal_streams_have_no_difference() -> None:
    assert first_difference([UP, UP], [dict(UP), dict(UP)]) is None


def test_a_nan_equals_itself() -> None:
    assert first_difference([{"reward": float("nan")}], [{"reward": float("nan")}]) is None


def test_a_difference_names_field_and_turn() -> None:
    difference = first_difference([UP, UP], [UP, {**UP, "reward": 1.0}])

    assert difference == "reward after turn 1 was 0.0, then 1.0"


def test_a_difference_at_the_start_is_at_the_reset() -> None:
    difference = first_difference([UP], [{**UP, "observation": "x" * 500}])

    assert difference is not None
    assert difference.startswith("observation at the reset")
    assert len(difference) < 300


def test_streams_of_different_length_differ() -> None:
    assert first_difference([UP], [UP, UP]) == "one took 0 turns and the other 1"


def test_what_json_cannot_hold_is_noted_by_its_type() -> None:
    moment = moment_of("seen", {"lock": object()})

    assert json.dumps(moment["info"]) == '{"lock": "<builtins.object>"}'
