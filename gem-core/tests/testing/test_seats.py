"""The lines on several seats, each with a fault that it catches, and the views of each seat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

import gem
from gem.specs import CheckHints, EnvSpec
from gem.testing import EnvContract, SeatedEnvContract, check_env
from gem.testing._report import CheckLine
from gem.testing._subject import Subject
from gem.testing._table import CHECKS, SEAT_CHECKS
from gem.testing.envs import Kuhn, LastOne, Signs

KUHN = EnvSpec(id="fine:Kuhn", target="gem.testing.envs:Kuhn")
SIGNS = EnvSpec(
    id="fine:Signs", target="gem.testing.envs:Signs", check=CheckHints(fixed_start=True)
)


class TestKuhn(SeatedEnvContract):
    env_id = KUHN
    seeds = range(3)
    backends = ()


class TestSecondOfKuhn(EnvContract):
    env_id = KUHN
    seat = "second"
    seeds = range(3)
    backends = ()


class TestRightOfSigns(EnvContract):
    env_id = SIGNS
    seat = 1
    seeds = range(3)
    backends: ClassVar = ["thread"]


class TestSigns(SeatedEnvContract):
    env_id = SIGNS
    seeds = range(3)
    backends = ()


class Leaking(Kuhn):
    """Shows the second seat the first one's card."""

    def step(self, action: str) -> gem.Step:
        self.tell(1, f"Psst. Your card is {self.cards[0]}, they heard.")
        return super().step(action)


class Generous(Kuhn):
    """Pays the winner twice."""

    def step(self, action: str) -> gem.Step:
        step = super().step(action)
        rewards = tuple(2 * reward if reward > 0 else reward for reward in step.rewards)
        return step._replace(info={**step.info, "rewards": rewards})


class Endless(Kuhn):
    """Never says that the second seat is out."""

    def step(self, action: str) -> gem.Step:
        step = super().step(action)
        ends = {seat: end for seat, end in step.ends.items() if seat == 0}
        return step._replace(info={**step.info, "ends": ends})


class EndsTwice(LastOne):
    """Says of the first seat in every step that it is out."""

    def step(self, action: str) -> gem.Step:
        step = super().step(action)
        return step._replace(info={**step.info, "ends": {0: "terminated"}})


class Returning(Kuhn):
    """Lets a seat that is out play on."""

    def step(self, action: str) -> gem.Step:
        step = super().step(action)
        return step._replace(info={**step.info, "ends": {self.seat: "terminated"}})


class LateWords(Kuhn):
    """Tells its seats something after it has ended."""

    def step(self, action: str) -> gem.Step:
        step = super().step(action)
        self.tell_all("Well played.")
        return step


class Announcing(gem.Wrapper):
    """Tells everybody at once what was played."""

    all_seats = True

    def on_step(self, action: str, step: gem.Step) -> gem.Step:
        return step._replace(observation=f"{step.observation}\nThey played {action}.")


class AnnouncingSigns(gem.Wrapper):
    """Tells everybody at once which sign was read in what was played."""

    all_seats = True

    def on_step(self, action: str, step: gem.Step) -> gem.Step:
        sign = next((sign for sign in ("rock", "paper", "scissors") if sign in action), "nothing")
        return step._replace(observation=f"{step.observation}\nThey played {sign}.")


class Unending(gem.SeatedEnv):
    """Goes on for ever, says nothing of secrets or sums, and draws no actions."""

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.tell_all("Both.")
        return self.begin(0, 1)

    def step_all(self, actions: Mapping[int, str]) -> gem.Step:
        self.tell_all("Again.")
        return self.ask(0, 1)


class Unfinished(gem.SeatedEnv):
    """Ends without `end`, and tells at its end what nobody is shown, in words that were shown."""

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.tell_all("Your move.")
        return self.begin(0)

    def step(self, action: str) -> gem.Step:
        if self.turn == 0:
            self.tell_all("Your move.")
            return self.ask(1)
        self.tell_all("Your move.")
        ends = {0: "terminated", 1: "terminated"}
        info = {"seat": 1, "rewards": (0.0, 0.0), "observations": {}, "ends": ends}
        return gem.Step("", terminated=True, info=info)


class Lizards(Signs):
    """Draws what is no sign for the seat that acts first in a round."""

    def sample_action(self) -> str:
        return super().sample_action() if self.seat else "lizard"


def line(name: str, env: Any, *, wrappers: Any = ()) -> CheckLine:
    subject = Subject(env, seeds=range(3), wrappers=wrappers)
    (check,) = (check for check in (*CHECKS, *SEAT_CHECKS) if check.name == name)
    return check.line(subject)


@pytest.mark.parametrize(
    ("name", "env", "wrappers", "evidence"),
    [
        ("secrets", Leaking, (), "second was shown 'Your card is J', which is a secret of first"),
        ("zero_sum", Generous, (), "the rewards are "),
        ("seat_ends", Endless, (), "it is over, and second never ended"),
        ("seat_ends", EndsTwice, (), "seat 0 ended by turn 1 and again by turn 2"),
        ("seat_ends", Returning, (), "acted, and it is out"),
        ("told", LateWords, (), "was told 'Well played.', and it was never shown"),
        ("sampled_actions", Lizards, (), "'lizard' was refused (invalid)"),
        ("told", Unfinished, (), "was told 'Your move.\\nYour move.', and it was never shown"),
        ("rounds", Signs, [Announcing], "another move at turn 1 changed what turn 1 showed"),
        ("rounds", Signs, [AnnouncingSigns], "another move at turn 1 changed what turn 1 showed"),
    ],
)
def test_a_planted_fault_is_caught(
    name: str, env: Callable[[], gem.Env], wrappers: Any, evidence: str
) -> None:
    found = line(name, env, wrappers=wrappers)

    assert found.state == "failed"
    assert evidence in found.evidence


@pytest.mark.parametrize(
    ("name", "env", "reason"),
    [
        ("secrets", Signs, "secrets() names none"),
        ("zero_sum", LastOne, "it does not declare zero_sum"),
        ("rounds", Kuhn, "no round of several seats was played"),
        ("told", gem.Schedule([{"env": KUHN}]).mixture(), "it is no gem.SeatedEnv"),
        ("secrets", gem.Schedule([{"env": KUHN}]).mixture(), "secrets() names none"),
    ],
)
def test_a_line_that_does_not_apply_is_skipped(name: str, env: Any, reason: str) -> None:
    found = line(name, env)

    assert (found.state, found.evidence) == ("skipped", found.evidence)
    assert reason in found.evidence


@pytest.mark.parametrize("env", [Kuhn, LastOne, Signs])
@pytest.mark.parametrize("turns", [1, 2, 3])
def test_what_a_wrapper_shows_as_it_ends_an_episode_was_not_told_too_late(
    env: type[gem.Env], turns: int
) -> None:
    # Some seats of LastOne are out by then, and are shown the rest with the others.
    found = line("told", env, wrappers=[{"id": "time_limit", "max_turns": turns}])

    assert found.state == "passed", found.evidence


def test_what_a_wrapper_shows_instead_is_not_what_was_told() -> None:
    shouting = {"id": "transform_observation", "function": shouted}
    wrappers = [{"id": "seat", "seat": "second", "wrapper": shouting}]

    assert line("told", Kuhn, wrappers=wrappers).state == "passed"
    assert line("told", LateWords, wrappers=wrappers).state == "failed"


def shouted(observation: gem.Observation) -> gem.Observation:
    return str(observation).upper()


class Piles(gem.SeatedEnv):
    """Starts always alike, for the first seat alone: the second is shown the first one's move."""

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.tell_all("Take some of 9.")
        return self.begin(0)

    def step(self, action: str) -> gem.Step:
        if self.seat:
            return self.end()
        self.tell(1, f"They took {action}.")
        return self.ask(1)

    def sample_action(self) -> str:
        return str(self.sample_rng.randint(1, 3))


def test_an_opponent_that_moves_before_a_view_is_no_start_that_differs() -> None:
    spec = EnvSpec(id="fine:Piles", target=f"{__name__}:Piles", check=CheckHints(fixed_start=True))
    opponent = "gem.testing._subject:sampled"
    view = {"id": "seat_view", "seat": "second", "opponents": opponent}

    found = line("different_seeds", spec, wrappers=[view])

    assert (found.state, "opponents move before a view" in found.evidence) == ("skipped", True)


def test_moves_of_a_round_are_changed_in_words_and_to_another_sample() -> None:
    # Of three episodes three rounds each, in which the first move is changed in both ways.
    assert line("rounds", Signs).evidence.startswith("18 moves changed")


def test_moves_of_a_round_are_changed_in_words_alone_where_none_can_be_drawn() -> None:
    assert line("rounds", Unending).evidence.startswith("9 moves changed")


def test_an_episode_without_an_end_is_no_evidence() -> None:
    assert line("seat_ends", Unending).evidence == "0 episodes, each of 2 seats ended once"
    assert line("secrets", Unending).state == "skipped"
    assert line("told", Unending).evidence == "0 texts shown to whom they were told"


def test_views_of_an_environment_without_samples_have_opponents_all_the_same() -> None:
    view = Subject(Unending, seeds=range(2)).view("second")

    assert view.driven(0).texts[:2] == ("Both.", "Again.")


@pytest.mark.slow
def test_a_report_has_the_lines_of_all_seats_and_of_the_view_of_each() -> None:
    report = check_env(KUHN, seeds=range(2), backends=())
    names = [line.name for line in report.lines]

    assert report.is_good, report.failures
    assert len(names) == 3 * len(CHECKS) + len(SEAT_CHECKS)
    assert {"secrets", "first.same_seed", "second.same_seed"} <= set(names)
    assert next(line.claim for line in report.lines if line.name == "second.closing_twice") == (
        "second: closing twice is fine"
    )


def test_of_one_seat_a_report_is_as_it_was() -> None:
    report = check_env("gem.testing.envs:Echo", seeds=range(2), backends=())

    assert [line.name for line in report.lines] == [check.name for check in CHECKS]


class Solving(Kuhn):
    """Solves by folding, or by betting, whatever the cards are."""

    answer = "\\boxed{pass}"

    def solve(self) -> str:
        return self.answer


class SolvingWell(Solving):
    answer = "\\boxed{bet}"


def test_in_a_view_solving_must_earn_no_less_than_samples() -> None:
    lines = {}
    for env in (Solving, SolvingWell):
        view = Subject(env, seeds=range(20)).view(0)
        for check in CHECKS:
            if check.name in ("solve_succeeds", "solve_beats_noop", "solve_beats_random"):
                lines[env.__name__, check.name] = check.line(view)

    assert lines["Solving", "solve_succeeds"].state == "skipped"
    # An empty answer passes, too: it earns the same.
    assert lines["Solving", "solve_beats_noop"].state == "passed"
    assert lines["Solving", "solve_beats_random"].state == "failed"
    assert lines["SolvingWell", "solve_beats_random"].state == "passed"
