from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import gem
from gem.cli._main import main

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]

MANIFEST = """
from gem.specs import CheckHints, EnvSpec, PluginManifest, ToolSpec

def spec(name, target=None, **facts):
    target = target or f"gem.testing.envs:{name}"
    return EnvSpec(id=f"acme:{name}", target=target, summary=f"The {name}.", **facts)

plugin = PluginManifest(name="acme", envs=(
    spec("Guess", kwargs={"highest": 31}, source="Drawn from the seed.", licence="MIT"),
    spec("Echo"),
    spec("Lamps", check=CheckHints(fixed_start=True, winnable=False, bound=0.5)),
    spec("Coin", check=CheckHints(winnable=False)),
    spec("Lucky", target="gem.testing.envs:Coin", check=CheckHints(needs_luck=True)),
    spec("Mixed", target="gem.testing.envs:Coin", check=CheckHints(mixes=True)),
    spec("Needy", requires=("acme-absent>=1.0",)),
    spec("Raises", target="acme_show.envs:Raises"),
    spec("Long", target="acme_show.envs:Long"),
    spec("NoLimit", target="acme_show.envs:NoLimit"),
    spec("Older", target="gem.testing.envs:Echo", replaced_by="acme:Echo"),
), tools=(
    ToolSpec(id="abacus", target="a:b", summary="Count.", requires=("acme-absent>=1.0",)),
))
"""
ENVS = '''
import gem

class Raises(gem.Env):
    """No start."""
    def reset(self, seed=None):
        raise RuntimeError("out of\\nwords")

class Long(gem.Env):
    """Much to read, some of it hostile."""
    max_turns = 3
    def __init__(self, table: object = object(), *, path: str, odd=None):
        self.path = path
    def reset(self, seed=None):
        print("looking for a mistake")
        return "\\x1b[2J" + "line\\n" * 50, {}

class NoLimit(gem.Env):
    """Goes on."""
    reward_range = (0.0, float("inf"))
    def reset(self, seed=None):
        return "Go.", {}
'''


@pytest.fixture(autouse=True)
def _acme(install: Install) -> None:
    install("acme-show", manifest=MANIFEST, files={"envs.py": ENVS}, version="1.2")


def shown(capsys: Output, name: str) -> str:
    assert main(["show", f"acme:{name}"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "fact",
    [
        "The Guess.",
        "at most 4",
        "each step -0.1 to 1.0; success from a return of 1",
        "acme-show 1.2",
        "Drawn from the seed.",
        "MIT",
        "highest    int  = 31",
        "max_turns  int  = 4",
        "Guess a number from 1 to 31.",
        "\n  Guess.\n",
    ],
)
def test_the_page_states(capsys: Output, fact: str) -> None:
    assert fact in shown(capsys, "Guess")


def test_a_single_turn_is_one_turn(capsys: Output) -> None:
    assert "turns    1\n" in shown(capsys, "Echo")


def test_no_limit_of_turns_is_stated(capsys: Output) -> None:
    page = shown(capsys, "NoLimit")

    assert "no limit" in page
    assert "each step 0.0 to inf" in page
    assert "Parameters\n  none" in page


def test_an_older_id_names_the_one_to_use(capsys: Output) -> None:
    assert main(["show", "acme:Older"]) == 0
    assert "  older id  use acme:Echo\n" in capsys.readouterr().out


def test_what_cannot_be_won_is_stated_with_its_bound(capsys: Output) -> None:
    page = shown(capsys, "Lamps")

    assert "cannot be won, the best return is 0.5" in page
    assert "the same for every seed" in page


def test_what_takes_luck_is_stated(capsys: Output) -> None:
    assert "by a lucky guess only" in shown(capsys, "Lucky")
    assert "no move is right by itself" in shown(capsys, "Mixed")


def test_what_cannot_be_won_is_stated_without_a_bound_too(capsys: Output) -> None:
    page = shown(capsys, "Coin")

    assert "cannot be won\n" in page
    assert "tasks    2" in page


def test_what_is_missing_is_told_by_its_pip_command(capsys: Output) -> None:
    page = shown(capsys, "Needy")

    assert "needs    acme-absent>=1.0" in page
    assert "not known: acme:Needy needs acme-absent>=1.0" in page
    assert "cannot be shown: acme:Needy needs acme-absent>=1.0" in page


def test_an_environment_that_raises_is_shown_without_its_start(capsys: Output) -> None:
    page = shown(capsys, "Raises")
    assert "cannot be shown: RuntimeError: out of words (" in page
    assert ", in reset)" in page


def test_a_parameter_that_must_be_given_is_marked(capsys: Output) -> None:
    page = shown(capsys, "Long")

    assert "path   str     required" in page
    assert "cannot be shown: acme:Long cannot be made" in page


def test_an_environment_is_shown_as_it_is_with_the_arguments_given(capsys: Output) -> None:
    assert main(["show", "acme:Long", "--env-kwargs", '{"path": "x"}', "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["observation"].endswith("line\n")


def test_an_environment_is_shown_as_its_wrappers_show_it(capsys: Output) -> None:
    layers = '[{"id": "time_limit", "max_turns": 2}]'
    assert main(["show", "acme:Guess", "--wrappers", layers]) == 0
    assert "at most 2" in capsys.readouterr().out


def test_arguments_that_do_not_fit_are_said_where_the_start_would_be(capsys: Output) -> None:
    assert main(["show", "acme:Guess", "--env-kwargs", '{"lowest": 2}']) == 0
    assert "cannot be shown: acme:Guess cannot be made with" in capsys.readouterr().out


def test_arguments_for_what_is_no_environment_are_wrong_use(capsys: Output) -> None:
    assert main(["show", "time_limit", "--env-kwargs", '{"max_turns": 2}']) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "which names no environment" in line


def test_a_long_observation_is_cut_and_made_harmless(capsys: Output, install: Install) -> None:
    gem.register("acme2:Long", "acme_show.envs:Long", path="x")

    assert main(["show", "acme2:Long"]) == 0

    page = capsys.readouterr().out
    assert "(21 more lines)" in page
    assert "\x1b" not in page
    assert "this process" in page


def test_json_has_the_same_facts(capsys: Output) -> None:
    assert main(["show", "acme:Guess", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["parameters"][0] == {
        "name": "highest",
        "type": "int",
        "is_required": False,
        "default": 31,
    }
    assert (facts["max_turns"], facts["reward_range"]) == (4, [-0.1, 1.0])


def test_infinite_rewards_are_still_json(capsys: Output) -> None:
    assert main(["show", "acme:NoLimit", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reward_range"] == [0.0, "inf"]


def test_what_is_not_here_is_stated(capsys: Output) -> None:
    assert "lacks    acme-absent>=1.0\n" in shown(capsys, "Needy")


def test_a_pattern_shows_every_one_that_it_fits(capsys: Output) -> None:
    page = shown(capsys, "[ce]*o*")
    assert [line for line in page.splitlines() if line.startswith("acme:")] == [
        "acme:Coin",
        "acme:Echo",
    ]
    assert main(["show", "acme:L*", "--json"]) == 0
    pages = json.loads(capsys.readouterr().out)
    assert [facts["id"] for facts in pages] == ["acme:Lamps", "acme:Long", "acme:Lucky"]


def test_a_pattern_that_fits_nothing_is_wrong_use(capsys: Output) -> None:
    assert main(["show", "acme:x*"]) == 2
    assert "'acme:x*'" in capsys.readouterr().err


def test_a_wrapper_is_shown_with_what_it_takes(capsys: Output) -> None:
    assert main(["show", "time_limit"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("time_limit\n\n  wrapper  Truncate an episode")
    assert "  layer    any\n  pack     gem-core\n" in page
    assert "Parameters\n  max_turns  int  required\n" in page
    assert "Observation" not in page


def test_a_tool_is_shown_with_what_it_lacks(capsys: Output) -> None:
    assert main(["show", "abacus"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("abacus\n\n  tool    Count.\n")
    assert "not known: abacus needs acme-absent>=1.0" in page


def test_a_bare_name_that_was_registered_is_shown(capsys: Output) -> None:
    gem.register("bare", "gem.testing.envs:Coin")
    assert main(["show", "bare"]) == 0
    assert capsys.readouterr().out.startswith("local:bare\n")


def test_an_unknown_id_is_wrong_use(capsys: Output) -> None:
    assert main(["show", "acme:Gues"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "Did you mean 'acme:Guess'" in line


def test_the_seats_of_several_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "gem.testing.envs:Kuhn"]) == 0
    assert "first, second" in capsys.readouterr().out
