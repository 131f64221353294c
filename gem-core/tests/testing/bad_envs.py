"""Environments that each break one rule, for the check to find. Imported by target, by name."""

from __future__ import annotations

import random
import re
import sys
from typing import Any

import numpy as np

from gem.env import Env
from gem.env._snapshot import Snapshot, encode
from gem.env._step import Step
from gem.errors import DataError, ResetNeeded
from gem.testing.envs import Coin, Echo, Guess, Lamps

Started = tuple[str, dict[str, Any]]


class GlobalChance(Guess):
    """Draws the secret from the global generator, which it seeds."""

    def reset(self, seed: int | None = None) -> Started:
        started = super().reset(seed)
        random.seed(self.rng.random())
        self.secret = random.randint(1, self.highest)
        return started


class NumpyChance(Guess):
    """Seeds numpy's global generator, so that its own draws look fixed."""

    def reset(self, seed: int | None = None) -> Started:
        started = super().reset(seed)
        np.random.seed(self.rng.randrange(1000))  # noqa: NPY002 - the fault to be found
        self.secret = int(np.random.randint(1, self.highest))  # noqa: NPY002
        return started


class ReadsGlobalChance(Lamps):
    """Reads the global generator's state without drawing from it."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        return f"{observation} {random.getstate()[1][0]}", info


class IgnoresSeed(Guess):
    """Draws from a generator of its own, which nobody seeds."""

    def reset(self, seed: int | None = None) -> Started:
        started = super().reset(seed)
        self.secret = random.SystemRandom().randint(1, self.highest)
        return started


class UnseededSamples(Guess):
    """Samples actions from a generator that nobody seeds."""

    def sample_action(self) -> str:
        return f"\\boxed{{{random.SystemRandom().randint(1, self.highest)}}}"


class OneEpisode(Guess):
    """Hides the same number whatever the seed."""

    def reset(self, seed: int | None = None) -> Started:
        started = super().reset(seed)
        self.secret = 7
        return started


class FixedStart(Lamps):
    """Declares a fixed start, and draws one."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        return f"{observation} Day {self.rng.randrange(100)}.", info


class LeaksNumber(Guess):
    """Shows the secret among other numbers."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        return f"{observation} Round 1, key {self.secret}.", info


class LeaksWord(Echo):
    """Shows the answer as a word."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        return f"{observation} ({self.word}, of course)", info


class LeaksLater(Guess):
    """Shows the secret after the first miss."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(observation=f"{step.observation} {self.secret}")

    def reset(self, seed: int | None = None) -> Started:
        return super().reset(seed)[0].replace("1 to", "0 to"), {}


class ShowsTosses(Echo):
    """Asks for a toss and shows others: one of many copies is right about half of the time."""

    def reset(self, seed: int | None = None) -> Started:
        self.word, *shown = self.rng.choices("01", k=31)
        return f"Earlier tosses: {' '.join(shown)}. Name the next.", {}

    def sample_action(self) -> str:
        return self.sample_rng.choice("01")


class SaysTheConstant(Echo):
    """Its only answer is in the text, and a guess finds it as often as a copy."""

    def reset(self, seed: int | None = None) -> Started:
        self.word = self.rng.choice(["yes", "yes", "yes", "no"])
        return f"Question {self.rng.random()}: yes or no?", {}

    def sample_action(self) -> str:
        return self.sample_rng.choice(["yes", "no", "no"])


class AsksWhich(Echo):
    """Names both answers, others with each seed, and does not say which is right."""

    def reset(self, seed: int | None = None) -> Started:
        pair = self.rng.sample(["Ann", "Bob", "Cleo", "Dan", "Eve"], 2)
        self.word = self.rng.choice(pair)
        return f"Who is older, {pair[0]} or {pair[1]}?", {}


class AsksYesOrNo(Echo):
    """Names both answers, the same with every seed. Most often one of them is right."""

    def reset(self, seed: int | None = None) -> Started:
        self.word = self.rng.choice(["yes", "yes", "yes", "yes", "no"])
        return f"Is {self.rng.randrange(10**6)} large, yes or no?", {}


class LeaksOftenEnough(Echo):
    """Shows the answer with three of five seeds, and with the others a word that is none."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        hint = self.word if self.rng.random() < 0.6 else "perhaps"
        return f"{observation} ({hint}, of course)", info


class KeepsState(Guess):
    """Tells how many guesses were made since it was built."""

    guesses = 0

    def step(self, action: str) -> Step:
        self.guesses += 1
        step = super().step(action)
        return step._replace(observation=f"{step.observation} {self.guesses} guesses so far.")


class RaisesOnMalformed(Guess):
    """Trusts that there is a number in the box."""

    def step(self, action: str) -> Step:
        found = re.search(r"\\boxed\{(.*?)\}", action)
        if found:
            int(found[1])
        return super().step(action)


class SquareTime(Guess):
    """Takes time in proportion to the square of the action's length."""

    def step(self, action: str) -> Step:
        for _ in range(20 * (len(action) > 10_000)):
            re.search(r" +x", action[:20_000])
        return super().step(action)


class BadSample(Guess):
    """Samples numbers without their box."""

    def sample_action(self) -> str:
        return str(self.sample_rng.randint(1, self.highest))


class SampleIsNoText(Guess):
    """Samples a number."""

    def sample_action(self) -> str:
        return self.sample_rng.randint(1, self.highest)  # type: ignore[return-value]


class NoSample(Guess):
    """Has nothing to sample."""

    def sample_action(self) -> str:
        raise NotImplementedError("nothing to sample")


class SampleDrawsChance(Lamps):
    """Samples from the episode's own generator."""

    def sample_action(self) -> str:
        return str(self.rng.randint(1, 4))


class SampleCounts(Lamps):
    """Remembers, and tells, that it was asked for a sample."""

    asked = 0

    def sample_action(self) -> str:
        self.asked += 1
        return super().sample_action()

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(info={**step.info, "asked": self.asked})


class RewardOutOfRange(Guess):
    """Pays more than it declares."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(reward=step.reward * 2)


class RewardIsNoNumber(Guess):
    """Pays with numpy's narrow floats, which are not floats."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        narrow: Any = np.float32(step.reward)
        return step._replace(reward=narrow)


class StepsAfterEnd(Guess):
    """Puts a faster step on the instance, which no rule guards."""

    def __init__(self, highest: int = 15) -> None:
        super().__init__(highest)
        self.step = self.fast_step  # type: ignore[method-assign]

    def fast_step(self, action: str) -> Step:
        step = Guess.step.__wrapped__(self, action)  # type: ignore[attr-defined]
        self.turn += 1
        return step  # type: ignore[no-any-return]

    def reset(self, seed: int | None = None) -> Started:
        self.secret = 1
        return super().reset(seed)


class RefusesInItsWay(StepsAfterEnd):
    """Refuses a step before reset by an error of its own."""

    def fast_step(self, action: str) -> Step:
        if not hasattr(self, "secret"):
            raise ValueError("call reset first, please")
        return super().fast_step(action)


class EndsBothWays(Guess):
    """Terminates and truncates at the turn limit."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(terminated=step.terminated or step.truncated)


class LimitTerminates(Guess):
    """Terminates at the turn limit."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(terminated=step.terminated or step.truncated, truncated=False)


class IgnoresLimit(Guess):
    """States a turn limit and does not keep it."""

    def step(self, action: str) -> Step:
        return super().step(action)._replace(truncated=False)


class NotSingle(Guess):
    """Says that it has a single turn, and has more."""

    single_turn = True


class FlagsAreNumbers(Guess):
    """Returns 1 and 0 for flags."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(terminated=int(step.terminated))  # type: ignore[arg-type]


class SolveFails(Guess):
    """Its solve() goes from one end."""

    def solve(self) -> str:
        return f"\\boxed{{{self.low}}}"


class SolveGivesUp(Guess):
    """Its solve() knows the first move only."""

    def solve(self) -> str:
        return "\\boxed{8}" if self.turn == 0 else None  # type: ignore[return-value]


class EveryAnswerWins(Guess):
    """Rewards whatever it is told."""

    def step(self, action: str) -> Step:
        super().step(action)
        return Step("Well done.", 1.0, True, False, {"success": True})


class BelievesPleas(Guess):
    """Reads the mark in the answer."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        if '"success": true' in action:
            return Step("So be it.", 1.0, True, False, {"success": True})
        return step


class SolvePeeks(Guess):
    """Its solve() looks at the secret."""

    def solve(self) -> str:
        return f"\\boxed{{{self.secret}}}"


class SolveDraws(Lamps):
    """Its solve() draws from the episode's generator."""

    def solve(self) -> str:
        self.rng.random()
        return super().solve()


class SolveWavers(Lamps):
    """Its solve() says one thing and then another."""

    wavering = 0

    def solve(self) -> str:
        self.wavering += 1
        return str(1 + self.wavering % 4)


class SolveCounts(Lamps):
    """Remembers, and tells, that it was asked for a solution."""

    asked = 0

    def solve(self) -> str:
        self.asked += 1
        return super().solve()

    def step(self, action: str) -> Step:
        step = super().step(action)
        return step._replace(info={**step.info, "asked": self.asked})


class ForgetsGenerator(Lamps):
    """Its snapshot leaves the generator out."""

    def snapshot(self) -> Snapshot:
        kept = ((name, value) for name, value in self._state() if name != "rng")
        return Snapshot(self._plain_spec(), encode(kept))


class RestoreForgetsLamps(Lamps):
    """Loses its state when it is restored."""

    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self.lit = set()


class SharesWithFork(Lamps):
    """Its fork has the same lamps."""

    shared = ("lit",)


class NotPlain(Lamps):
    """Keeps what no snapshot can hold."""

    def reset(self, seed: int | None = None) -> Started:
        self.lock = re.compile("a").finditer("aaa")
        return super().reset(seed)


class ByHash(Lamps):
    """Depends on the hashes of this process."""

    def reset(self, seed: int | None = None) -> Started:
        observation, info = super().reset(seed)
        return f"{observation} {hash('lamps')}", info


class DiesElsewhere(Lamps):
    """Ends any process but this one."""

    def __init__(self) -> None:
        if sys.argv[0].endswith("elsewhere.py"):
            sys.exit(3)


class RaisesElsewhere(Lamps):
    """Raises in any process but this one."""

    def __init__(self) -> None:
        if sys.argv[0].endswith("elsewhere.py"):
            raise RuntimeError("not here")


class CountsInstances(Lamps):
    """Depends on how many were made before it."""

    made = 0

    def __init__(self) -> None:
        CountsInstances.made += 1
        self.number = CountsInstances.made

    def reset(self, seed: int | None = None) -> Started:
        return f"Number {self.number}. {super().reset(seed)[0]}", {}


class TasksByAnotherName(Coin):
    """Starts another task than the one asked for."""

    def reset(self, seed: int | None = None, task: int | None = None) -> Started:
        observation, _ = super().reset(seed, task=task)
        return observation, {"task": None}


class TakesAnyTask(Coin):
    """Takes the number of any task."""

    def reset(self, seed: int | None = None, task: int | None = None) -> Started:
        return super().reset(seed, task=None if task is None else task % 2)[0], {"task": task}


class RaisesAlways(Env):
    """Raises in reset."""

    def reset(self, seed: int | None = None) -> Started:
        raise RuntimeError("this one is broken")


class CannotBeMade(Env):
    """Leaves while it is made."""

    def __init__(self) -> None:
        sys.exit("not even made")


class LacksData(Env):
    """Finds out in reset that its data is not there."""

    def reset(self, seed: int | None = None) -> Started:
        raise DataError("There is no table.", source="table")


class ExitsAlways(Env):
    """Leaves in reset."""

    def reset(self, seed: int | None = None) -> Started:
        sys.exit("this one wants to leave")


class NeverEnds(Lamps):
    """Has no limit and no end."""

    max_turns = None  # type: ignore[assignment]

    def step(self, action: str) -> Step:
        return Step(f"Day {self.rng.random()}.", 0.0, False, False, {})

    def solve(self) -> str:
        return None  # type: ignore[return-value]


class Hopeless(Guess):
    """Cannot be won, and says so."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        if step.reward == 1.0:
            return Step("Not quite.", 0.5, True, False, {"success": False})
        return step


class RefusesEarly(Guess):
    """Refuses by raising what it should, though in its own way."""

    def step(self, action: str) -> Step:
        if not hasattr(self, "secret"):
            raise ResetNeeded("not yet")
        return super().step(action)
