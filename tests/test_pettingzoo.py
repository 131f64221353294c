"""Our games are PettingZoo's by its own tests, and its games play, replay and agree as ours.

Its `bombardment_test` is left out: it fails on PettingZoo's own example.
"""

from __future__ import annotations

import types
from typing import Any

import pytest

import gem

pytest.importorskip("pettingzoo", reason="gem-integrations' extra `pettingzoo` is not installed")


from gem_integrations.pettingzoo import aec_env, parallel_env, register

# Importing them imports a game in a way that warns, and this import passes warnings over.
zoo_tests = pytest.importorskip("pettingzoo.test")

# These tests advise: that spaces be of numbers, and agents be called `player_0`.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo.test")

ID = "pettingzoo:Game-v0"
SEATED = "gem_envs_games.seated"
ROUNDS = [
    f"{SEATED}.rock_paper_scissors:RockPaperScissors",
    f"{SEATED}.prisoners_dilemma:PrisonersDilemma",
]
GAMES = [
    "game:ConnectFour-v0",
    "game:Nim-v0",
    "game:TicTacToe-v0",
    f"{SEATED}.kuhn_poker:KuhnPoker",
    f"{SEATED}.leduc_poker:LeducPoker",
    f"{SEATED}.liars_dice:LiarsDice",
    *ROUNDS,
    "agents:ServiceOfTwo-v0",
    "game:Mastermind-v0-easy",  # of one seat
]


@pytest.mark.parametrize("env_id", GAMES)
def test_the_tests_of_the_aec_form_pass_on_our_games(env_id: str) -> None:
    zoo_tests.api_test(aec_env(env_id), num_cycles=50)
    zoo_tests.seed_test(lambda: aec_env(env_id), num_cycles=50)


@pytest.mark.parametrize("env_id", ROUNDS)
def test_the_tests_of_the_parallel_form_pass_on_our_games_of_rounds(env_id: str) -> None:
    def env(**limit: int) -> Any:
        return aec_env(env_id, **limit)  # type: ignore[arg-type]

    def parallel(**limit: int) -> Any:
        return parallel_env(env_id, **limit)  # type: ignore[arg-type]

    zoo_tests.parallel_api_test(parallel(), num_cycles=50)
    zoo_tests.parallel_seed_test(parallel, num_cycles=50)
    zoo_tests.max_cycles_test(types.SimpleNamespace(env=env, parallel_env=parallel))


def test_an_agent_with_tools_finds_their_schemas_in_its_info() -> None:
    zoo_env = aec_env("agents:ServiceOfTwo-v0")
    zoo_env.reset(seed=1)

    names = {
        agent: {tool["function"]["name"] for tool in info["tools"]}
        for agent, info in zoo_env.infos.items()
    }

    assert set(names) == {"agent", "user"}
    assert names["agent"] != names["user"]


def test_pettingzoo_makes_a_game_of_ours_by_its_id() -> None:
    import pettingzoo

    [zoo_id] = register("game:TicTacToe-v0")
    zoo_env = pettingzoo.make("aec", zoo_id)
    zoo_env.reset(seed=1)

    assert (zoo_id, zoo_env.agent_selection) == ("game/TicTacToe-v0", "X")


@pytest.mark.parametrize("game", ["classic/tictactoe_v3", "classic/connect_four_v3"])
def test_a_classic_game_plays_and_replays_and_agrees_on_every_backend(game: str) -> None:
    spec = gem.spec(ID).model_copy(update={"kwargs": {"game": game}})

    def fingerprints(**options: Any) -> list[str]:
        episodes = gem.run("random", spec, episodes=4, seed=3, **options)
        assert [episode.is_error for episode in episodes] == [False] * 4
        assert {episode.seats[0].total_reward for episode in episodes} <= {-1.0, 0.0, 1.0}
        return sorted(episode.fingerprint() for episode in episodes)

    alone = fingerprints()

    assert fingerprints(backend="process", num_workers=2) == alone
    assert fingerprints(backend="thread", num_workers=2) == alone
    assert len(set(alone)) == 4
    assert gem.replay(gem.run("random", spec, episodes=1, seed=3)[0]).state == "same"


def test_a_forbidden_move_of_a_classic_game_is_an_error_and_no_crash() -> None:
    episodes = gem.run(lambda request: r"\boxed{4}", ID, episodes=1)

    [episode] = episodes
    assert [turn.info.get("action_error") for turn in episode.turns] == [None, "invalid", "invalid"]
    assert [seat.total_reward for seat in episode.seats] == [0.0, -1.0]
    assert not episode.is_error
