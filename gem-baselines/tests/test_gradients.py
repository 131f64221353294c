"""Exact gradients and measured estimators, beside derivatives and figures known from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gem
from gem.cli._main import main
from gem.env import Env, Step
from gem.errors import BadArguments
from gem_baselines.gradients.batches import drawn_batches, every_batch
from gem_baselines.gradients.figures import Measured
from gem_baselines.gradients.measuring import BY_TURN, TARGETS, gradients
from gem_baselines.gradients.policy import SoftmaxPolicy
from gem_baselines.gradients.trajectories import trajectories_of

ZERO = 1e-9


class Chain(Env):
    """Three steps: stop and be paid, go on for a little, or rush, half the time to the end."""

    max_turns = 3

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "step 0", {}

    def step(self, action: str) -> Step:
        pays = {"stop": (0.5, 0.8, 1.0)[self.turn], "go": 0.3, "rush": 0.7}[action]
        is_over = action == "stop" or (action == "rush" and bool(self.rng.randrange(2)))
        return Step(f"step {self.turn + 1}", pays, is_over, self.turn == 2 and not is_over, {})

    def sample_action(self) -> str:
        return self.sample_rng.choice(["stop", "go", "rush"])


class Tree(Env):
    """End with 0.6, or take a turn of 0.4 or -0.2, which decides what a second one pays."""

    max_turns = 2

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.way = 0
        return "The root.", {}

    def step(self, action: str) -> Step:
        choice = int(action)
        if self.turn == 1:
            pays = {1: (0.0, 0.2, 0.5), 2: (0.3, 0.9, 1.5)}[self.way][choice]
            return Step("A leaf.", pays, False, True, {})
        self.way = choice
        return Step("A branch.", (0.6, 0.4, -0.2)[choice], choice == 0, False, {})

    def sample_action(self) -> str:
        return self.sample_rng.choice(["0", "1", "2"])


class Doors(Env):
    """One of two doors pays, which nobody is told; a second turn may follow the wrong one."""

    max_turns = 2

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.prize = self.rng.choice(["left", "right"])
        return "Two doors.", {}

    def step(self, action: str) -> Step:
        is_right = action == self.prize
        info = {"success": True} if is_right else {}
        pays = 1.0 if is_right else 0.1
        return Step("wrong", pays, is_right, self.turn == 1 and not is_right, info)

    def sample_action(self) -> str:
        return self.sample_rng.choice(["left", "right"])


@pytest.fixture(autouse=True)
def _registered() -> None:
    gem.register("gradients:Chain", Chain)
    gem.register("gradients:Tree", Tree)
    gem.register("gradients:Doors", Doors)


def by_name(measured: tuple[Measured, ...]) -> dict[str, Measured]:
    return {each.estimator: each for each in measured}


def test_the_trajectories_have_chances_that_sum_to_1_under_every_policy() -> None:
    trajectories = trajectories_of("gradients:Doors")

    policy = SoftmaxPolicy.drawn(trajectories, 0.9, seed=0)

    # Of either prize: the right door, or the wrong one and then one of both.
    assert len(trajectories.all) == 6
    assert trajectories.shape == (3, 2)
    assert policy.chances.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("env_id", ["gradients:Doors", "gradients:Chain"])
@pytest.mark.parametrize(("target", "gamma"), [("J", 0.9), ("J1", 1.0)])
def test_the_gradient_is_that_of_finite_differences(env_id: str, target: Any, gamma: float) -> None:
    trajectories = trajectories_of(env_id)
    logits = np.random.default_rng(3).normal(size=trajectories.shape)
    exact = SoftmaxPolicy(trajectories, logits, 0.9).targets[target]

    def expected(change: Any) -> float:
        return SoftmaxPolicy(trajectories, logits + change, gamma).expected_return

    found = []
    for place in range(logits.size):
        step = np.zeros(logits.size)
        step[place] = 1e-5
        change = step.reshape(logits.shape)
        found.append((expected(change) - expected(-change)) / 2e-5)

    assert exact == pytest.approx(np.array(found), abs=1e-9)


def test_an_estimator_by_token_is_refused() -> None:
    with pytest.raises(BadArguments, match="It credits tokens"):
        gradients("gradients:Tree", estimators=["ppo_token"])


OWN = """
import numpy as np

from gem_baselines.training.advantages import Credit, Estimator, discounted


def without_baseline(episodes, terms):
    return Credit([discounted(episode, terms.gamma) for episode in episodes])


def less_values(episodes, terms):
    values = terms.values(episodes)
    pairs = zip(episodes, values)
    return Credit([discounted(episode, terms.gamma) - own for episode, own in pairs])


def by_seed(episodes, terms):
    earned = {}
    for episode in episodes:
        earned.setdefault(episode.seed, []).append(episode.total_reward)
    return Credit(
        [
            np.full(len(episode.turns), episode.total_reward - np.mean(earned[episode.seed]))
            for episode in episodes
        ]
    )


def an_episode(episodes, terms):
    return Credit([np.zeros(1) for episode in episodes])


in_groups = Estimator(by_seed, compares_repeats=True)
by_token = Estimator(without_baseline, per="token")
"""


@pytest.mark.parametrize(
    ("own", "ours"), [("without_baseline", "raw"), ("in_groups", "dr_grpo"), ("less_values", "raw")]
)
def test_an_estimator_of_ones_own_is_measured_as_ours_are(
    tmp_path: Path, own: str, ours: str
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    name = f"{tmp_path}/own.py:{own}"

    # Without a discount the targets are one: what is its own is not known to aim at J1.
    found = gradients("gradients:Tree", estimators=[name, ours], gamma=1.0, policies=1, repeats=3)

    mine, its = found.measured
    assert mine.is_exact
    assert mine.are_groups == its.are_groups
    assert mine.worst.direction_error == pytest.approx(its.worst.direction_error, abs=ZERO)
    assert mine.scale == pytest.approx(its.scale)


@pytest.mark.parametrize(
    ("own", "problem"),
    [("an_episode", "7 episodes of 13 turns"), ("by_token", "It credits tokens")],
)
def test_an_estimator_of_ones_own_that_does_not_fit_is_refused(
    tmp_path: Path, own: str, problem: str
) -> None:
    (tmp_path / "own.py").write_text(OWN)

    with pytest.raises(BadArguments, match=problem):
        gradients("gradients:Tree", estimators=[f"{tmp_path}/own.py:{own}"], policies=1)


def test_enumerated_estimators_have_the_figures_of_the_page() -> None:
    found = gradients("gradients:Tree", episodes=4, repeats=3)

    measured = by_name(found.measured)
    errors = {name: round(each.worst.direction_error, 3) for name, each in measured.items()}
    # docs/estimators.md has these of the tree; the rest are 0 there.
    biased = {"rebn": 0.791, "grpo": 0.449, "mt_grpo": 0.903, "ppo": 0.400}
    assert all(each.is_exact for each in found.measured)
    assert {name: error for name, error in errors.items() if error} == {**biased, "signed": 0.484}
    assert measured["rloo"].verdict == "unbiased"
    assert measured["dr_grpo"].verdict == "unbiased up to scale"
    assert measured["dr_grpo"].scale == pytest.approx(1 - 1 / 3, abs=ZERO)
    assert measured["raw"].episodes == 1
    assert measured["grpo"].verdict == "biased in groups of 3, however many"


def test_drawn_batches_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["rebn", "rebn_leave_one_out", "grpo", "mt_rloo", "rloo"]
    exact = gradients("gradients:Tree", estimators=names, policies=2)
    monkeypatch.setattr("gem_baselines.gradients.measuring._MOST_GROUPS", 0)
    monkeypatch.setattr("gem_baselines.gradients.measuring._MOST_BATCHES", 0)
    monkeypatch.setattr("gem_baselines.gradients.measuring._MOST_DRAWN", 2_000)

    drawn = gradients("gradients:Tree", estimators=names, policies=2)

    for known, found in zip(exact.measured, drawn.measured, strict=True):
        assert known.is_exact
        assert not found.is_exact
        for of_all, of_drawn in zip(known.by_policy, found.by_policy, strict=True):
            room = 4 * of_drawn.standard_error + 1e-6
            assert of_drawn.direction_error == pytest.approx(of_all.direction_error, abs=room)
            assert of_drawn.variance == pytest.approx(of_all.variance, rel=0.15)
    verdicts = [each.verdict.split(":")[0] for each in drawn.measured]
    assert verdicts[:2] == ["biased in batches of 8", "no bias found"]
    assert drawn.measured[-1].verdict == "unbiased"  # the control variates explain all of it


def test_groups_are_drawn_as_often_as_they_are_enumerated() -> None:
    trajectories = trajectories_of("gradients:Doors")
    policy = SoftmaxPolicy.drawn(trajectories, 0.9, seed=0)
    every = every_batch(trajectories, 2, are_groups=True)
    number = 20_000

    drawn = drawn_batches(policy, 2, number=number, are_groups=True, seed=0)

    chances = every.chances(policy)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    pairs = np.sort(drawn.members, axis=1)
    for members, chance in zip(every.members, chances, strict=True):
        share = (pairs == members).all(axis=1).mean()
        assert share == pytest.approx(chance, abs=5 * (chance * (1 - chance) / number) ** 0.5)


def test_every_estimator_has_a_target() -> None:
    assert TARGETS.keys() == set(BY_TURN)


def test_options_change_the_estimator_and_what_it_aims_at() -> None:
    found = gradients(
        "gradients:Chain",
        estimators=["rloo"],
        estimator_kwargs={"rloo": {"discounted": True}},
        repeats=2,
        policies=1,
    )

    [measured] = found.measured
    assert (measured.target, measured.verdict) == ("J", "unbiased")


class Open(Chain):
    """Its steps draw what no list holds."""

    def step(self, action: str) -> Step:
        self.rng.gauss(0, 1)
        return super().step(action)


class Idle(Chain):
    """Nothing that is done there changes what it pays."""

    def step(self, action: str) -> Step:
        return Step("over", 1.0, True, False, {})


@pytest.mark.parametrize(
    ("env", "env_kwargs", "what"),
    [
        (Open, {}, "cannot be enumerated: a draw of a real number"),
        (Idle, {}, "they are 0: what is played there changes no return"),
        ("game:Nim-v0", {"piles": (1, 1)}, "has 2 seats, .* Take an environment of one seat"),
        (
            "game:GuessTheNumber-v0",
            {"max_number": 9, "max_turns": 4},
            r"has .* and 5,000 are the most",
        ),
    ],
)
def test_an_environment_that_does_not_fit_is_refused(
    env: Any, env_kwargs: dict[str, Any], what: str
) -> None:
    if isinstance(env, str):
        pytest.importorskip("gem_envs_games", reason="gem-envs-games is not installed")
    else:
        gem.register("gradients:Unfit", env)
        env = "gradients:Unfit"

    with pytest.raises(BadArguments, match=what):
        gradients(env, env_kwargs)


def test_a_policy_of_too_many_parameters_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gem_baselines.gradients.trajectories.MOST_PARAMETERS", 5)

    with pytest.raises(BadArguments, match="has 6 parameters of a policy, and 5 are the most"):
        trajectories_of("gradients:Doors")


def test_the_command_prints_a_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["gradients", "gradients:Doors", "--policies", "1", "--repeats", "2"]
    arguments += ["--estimator", "rloo", "--estimator", "mt_grpo"]

    assert main(arguments) == 0
    table = capsys.readouterr().out
    assert main([*arguments, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)

    assert "6 trajectories, 6 parameters (3 histories, 2 actions)" in table
    assert [line.split()[0] for line in table.splitlines()[4:6]] == ["rloo", "mt_grpo"]
    assert len(data["policies"][0]["gradients"]["J1"]) == 6
    assert data["estimators"][0]["verdict"] == "unbiased"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--estimator", "rbn"], "Did you mean 'rebn'?"),
        (["--estimator-kwargs", "[1]"], "is not a JSON object of objects"),
        (["--estimator", "rebn", "--estimator-kwargs", '{"grpo": {}}'], "it is not measured"),
        (["--repeats", "1"], "Ask for 2 to 512"),
        (["--episodes", "100000"], "Ask for 2 to 512"),
        (["--seed", "-1"], "Give 0 or more"),
        (["--gamma", "2"], "a discount from 0 to 1"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gradients", "gradients:Doors", *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert what in line
