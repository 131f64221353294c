"""A policy that is a table: a row of logits a state, a column an action.

It learns in seconds on one core. Knows nothing about estimators or training folders.
"""

from __future__ import annotations

import json
import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from gem.content import Message
from gem.conversation import Conversation, Request
from gem.episode import Episode
from gem.errors import BadArguments, in_one_line
from gem_baselines.learning_policy import Batch, Floats, LearntRow, Per
from gem_baselines.table_arguments import check_arguments, check_per
from gem_baselines.table_learning import PlayedTurns, Steps, decayed, log_softmax, surrogate
from gem_baselines.views import view_named

__all__ = ["TabularPolicy"]

_TABLE = "table.npz"
_STATES = "states.json"
_ARRAYS = ("logits", "expected", "first_moment", "second_moment", "steps_taken", "pace")
_NEVER = -1000.0
"""The logit of an action that a state does not allow: its probability is exactly 0."""

State = tuple[str, Sequence[str | None]]
"""The key of a state, and the text that each column stands for there."""


class TabularPolicy:
    r"""A softmax over a fixed list of actions, for each state that a view reads.

    - `view`: the state's name in `gem_baselines.views.VIEWS`.
    - `actions`: the texts that it may answer, one a column of the table.
    - `learning_rate`, `optimizer`: of the steps; "adam" or "sgd".
    - `clip`: how far a probability's ratio may go in one update before it stops to pay.
    - `epochs`: how many steps one update takes, each on the whole batch.
    - `critic_rate`: how far an update moves what is expected of a state towards the mean of its
      targets, from 0 to 1. None for a policy without a critic.
    - `rate_half_life`: updates after which the steps are half as large, None for steps that stay.
    - `entropy`: the weight of a turn's entropy, in nats, in what it maximises.
    - `entropy_half_life`: updates after which that weight is half as large, None for a fixed one.

    It draws with `request.seed` alone. A state that no update has met is answered uniformly, and
    greedily by the first action; asking adds no state, so the order of requests changes nothing.

    >>> policy = TabularPolicy(view="last", actions=["left", "right"])
    >>> policy(Request(messages=(Message("user", "Where?"),), seed=3)) in ("left", "right")
    True
    """

    name = "tabular"

    def __init__(
        self,
        view: str,
        actions: Sequence[str],
        learning_rate: float = 0.05,
        optimizer: Literal["adam", "sgd"] = "adam",
        clip: float = 0.2,
        epochs: int = 2,
        critic_rate: float | None = None,
        rate_half_life: float | None = None,
        entropy: float = 0.0,
        entropy_half_life: float | None = None,
    ) -> None:
        check_arguments(
            actions,
            above_0={
                "learning_rate": learning_rate,
                "clip": clip,
                "rate_half_life": rate_half_life,
                "entropy_half_life": entropy_half_life,
            },
            shares={"critic_rate": critic_rate},
            epochs=epochs,
            entropy=entropy,
        )
        self.is_greedy = False
        self._view = view
        self._key = view_named(view).key
        self._answers = view_named(view).answers
        self._actions = tuple(actions)
        self._learning_rate = learning_rate
        self._optimizer: Literal["adam", "sgd"] = optimizer
        self._clip = clip
        self._epochs = epochs
        self._critic_rate = critic_rate
        self._rate_half_life = rate_half_life
        self._entropy = entropy
        self._entropy_half_life = entropy_half_life
        self._pace = 1.0
        self._entropy_share = 1.0
        self._rows: dict[str, int] = {}
        self._logits = np.zeros((0, len(actions)))
        self._expected = np.zeros(0)
        self._steps = Steps(optimizer, learning_rate, len(actions))
        # The running sums of a row's probabilities, made when the row is first asked for.
        self._sums: dict[int, list[float]] = {}

    @staticmethod
    def arguments_for(env_kwargs: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given arguments with the `actions` of an environment, where none were given.

        Raises BadArguments where the view cannot tell them from the environment's arguments.
        """
        if "actions" in given or "view" not in given:
            return dict(given)
        view = view_named(given["view"])
        if view.actions is None:
            raise BadArguments(
                f"A tabular policy with the view {given['view']!r} was asked for without actions, "
                "and the view knows none. List the texts that the policy may answer as `actions`.",
                subject="actions",
            )
        return {**given, "actions": list(view.actions(env_kwargs))}

    def __call__(self, request: Request) -> str:
        row = self._rows.get(self._key(request))
        answers = self._actions if self._answers is None else self._answers(request)
        if row is None:
            allowed = [answer for answer in answers if answer is not None]
            share = 0.0 if self.is_greedy else random.Random(request.seed).random()
            return allowed[int(share * len(allowed))]
        if self.is_greedy:
            column = int(self._logits[row].argmax())
        else:
            column = self._drawn(row, random.Random(request.seed).random())
        answer = answers[column]
        assert answer is not None, "what a state does not allow has the probability 0 there"
        return answer

    def probabilities(self, request: Request) -> dict[str, float]:
        """Return the probability of each allowed answer, where actions are drawn."""
        answers = self._actions if self._answers is None else self._answers(request)
        row = self._rows.get(self._key(request))
        logits = self._at_first(answers) if row is None else self._logits[row]
        pairs = zip(answers, np.exp(log_softmax(logits)).tolist(), strict=True)
        return {answer: share for answer, share in pairs if answer is not None}

    def set_pace(self, pace: float, entropy: float = 1.0) -> None:
        """Take these shares of the steps and of the entropy's weight, from the next update on."""
        self._pace = pace
        self._entropy_share = entropy

    def update(self, batch: Batch) -> Mapping[str, float]:
        """Improve by `epochs` steps on the whole batch.

        The figures are of the table before the first step, but `clip_share`, which is of the last.
        Raises BadArguments for a batch by token.
        """
        check_per(batch.per)
        states = list(self._states(batch.episodes))
        keys = [key for key, _ in states]
        self._add_states(states)
        rows = np.array([self._rows[key] for key in keys], np.int64)
        played = self._played(batch, states, rows)
        updates = self._steps.taken / self._epochs  # from what a checkpoint has
        weight = self._entropy * self._entropy_share * decayed(updates, self._entropy_half_life)
        self._steps.share = self._pace * decayed(updates, self._rate_half_life)
        first = None
        for _ in range(self._epochs):
            step = surrogate(self._logits, played, self._clip, weight)
            first = first or step
            self._logits = self._steps.stepped(self._logits, step.gradient)
        assert first is not None  # there is one epoch at least
        self._sums.clear()
        figures = {
            "loss": first.loss,
            "entropy": first.entropy,
            "clip_share": step.clip_share,
            "grad_norm": float(np.sqrt((first.gradient**2).sum())),
            "states": float(len(self._rows)),
        }
        if batch.value_targets is not None:
            figures["value_error"] = self._learn_values(rows, np.concatenate(batch.value_targets))
        return figures

    def learnt_from(self, batch: Batch, episodes: Sequence[int]) -> Sequence[LearntRow]:
        """Return the turns of these episodes as an update by this batch learns from them.

        A state that no update has met yet is uniform, as it is when it is played.
        """
        found = []
        for number in episodes:
            episode = batch.episodes[number]
            states = list(self._states([episode]))
            rows = [self._rows.get(key) for key, _ in states]
            logits = [
                self._at_first(answers) if row is None else self._logits[row]
                for row, (_, answers) in zip(rows, states, strict=True)
            ]
            log_probs = log_softmax(np.array(logits).reshape(-1, len(self._actions)))
            columns = self._columns_of([episode], states)
            found.append(
                LearntRow(
                    episode=number,
                    ids=None,
                    places=range(len(rows)),
                    advantages=batch.advantages[number],
                    sampler=None,
                    learner=log_probs[np.arange(len(rows)), columns],
                    entropies=-(np.exp(log_probs) * log_probs).sum(axis=1),
                )
            )
        return found

    def values(self, episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
        """Return what is expected before each turn: 0 of a state that no update has met."""
        check_per(per)
        if self._critic_rate is None:
            raise BadArguments(
                "The values of a tabular policy were asked for, and it was made without a critic. "
                "Make it with critic_rate, 0.2 say.",
                subject="critic_rate",
            )
        known = {key: float(self._expected[row]) for key, row in self._rows.items()}
        return [
            np.array([known.get(key, 0.0) for key, _ in self._states([episode])])
            for episode in episodes
        ]

    def save(self, folder: Path) -> None:
        """Write the table and what its steps need, as numpy arrays, and the states as JSON."""
        np.savez(
            folder / _TABLE,
            logits=self._logits,
            expected=self._expected,
            first_moment=self._steps.first_moment,
            second_moment=self._steps.second_moment,
            steps_taken=np.array(self._steps.taken),
            pace=np.array([self._pace, self._entropy_share]),
        )
        states = json.dumps(list(self._rows))
        (folder / _STATES).write_text(states, encoding="ascii")

    def restore(self, folder: Path) -> None:
        """Take on what `save` wrote. Raises BadArguments on a table that does not fit, or is none.

        Raises OSError where a file cannot be read.
        """
        states, table = _read_table(folder)
        shape = (len(states), len(self._actions))
        if table["logits"].shape != shape:
            raise BadArguments(
                f"A table of {shape[0]} states and {shape[1]} actions was to be restored from "
                f"{folder}, and what is there has the shape {table['logits'].shape}. Restore "
                "into a policy that was made with the same actions.",
                subject="actions",
            )
        self._logits = table["logits"]
        self._expected = table["expected"]
        self._steps.first_moment = table["first_moment"]
        self._steps.second_moment = table["second_moment"]
        self._steps.taken = int(table["steps_taken"])
        self._pace = float(table["pace"][0])
        self._entropy_share = float(table["pace"][1])
        self._rows = {state: row for row, state in enumerate(states)}
        self._sums.clear()

    def describe(self) -> Mapping[str, Any]:
        """Return the arguments that it was made with."""
        return {
            "view": self._view,
            "actions": list(self._actions),
            "learning_rate": self._learning_rate,
            "optimizer": self._optimizer,
            "clip": self._clip,
            "epochs": self._epochs,
            "critic_rate": self._critic_rate,
            "rate_half_life": self._rate_half_life,
            "entropy": self._entropy,
            "entropy_half_life": self._entropy_half_life,
        }

    def _states(self, episodes: Sequence[Episode]) -> Iterator[State]:
        """Yield the state before each turn, as the policy was asked it."""
        for episode in episodes:
            talk = Conversation(rewrites_history=episode.rewrites_history)
            for index, turn in enumerate(episode.turns):
                talk.observe(turn.observation, {"suffix": turn.suffix})
                # What a view may look at: the rest of a request is of no state.
                request = Request(
                    talk.messages, turn=index, env_id=episode.env_id, task=episode.task
                )
                answers = self._actions if self._answers is None else self._answers(request)
                yield self._key(request), answers
                talk.answer(Message("assistant", turn.action, turn.tool_calls))

    def _drawn(self, row: int, share: float) -> int:
        """Return the column at this share of a row's probability."""
        sums = self._sums.get(row)
        if sums is None:
            sums = np.exp(log_softmax(self._logits[row])).cumsum().tolist()
            self._sums[row] = sums
        # The last sum may miss 1 by rounding, and a share may lie above it. That column may be one
        # that is not allowed: the first of those with the whole sum is.
        return min(bisect_right(sums, share), bisect_left(sums, sums[-1]))

    def _at_first(self, answers: Sequence[str | None]) -> Floats:
        """Return the logits of a state that no update has met: all that is allowed is alike."""
        return np.array([_NEVER if answer is None else 0.0 for answer in answers])

    def _add_states(self, states: Sequence[State]) -> None:
        """Add a row for each state that has none, in the order of the batch."""
        added = []
        for key, answers in states:
            if key not in self._rows:
                self._rows[key] = len(self._rows)
                added.append(self._at_first(answers))
        if not added:
            return
        # All at once: each addition copies the table.
        self._logits = np.concatenate([self._logits, np.array(added)])
        self._expected = np.concatenate([self._expected, np.zeros(len(added))])
        self._steps.add_rows(len(added))

    def _columns_of(self, episodes: Sequence[Episode], states: Sequence[State]) -> list[int]:
        """Return the column of each turn's action. Raises BadArguments on one that has none."""
        turns = [turn for episode in episodes for turn in episode.turns]
        columns = []
        for turn, (_, answers) in zip(turns, states, strict=True):
            if turn.action not in answers:
                raise BadArguments(
                    f"A tabular policy was to learn from the action {turn.action!r:.60}, and has "
                    "none like it. Train it on episodes that it played itself.",
                    subject="actions",
                )
            columns.append(answers.index(turn.action))
        return columns

    def _played(self, batch: Batch, states: Sequence[State], rows: Any) -> PlayedTurns:
        columns = np.array(self._columns_of(batch.episodes, states), np.int64)
        log_probs = log_softmax(self._logits[rows])[np.arange(len(rows)), columns]
        advantages = np.concatenate(batch.advantages)
        return PlayedTurns(rows, columns, advantages, log_probs, len(batch.episodes))

    def _learn_values(self, rows: Any, targets: Floats) -> float:
        """Move each state towards the mean of its targets; return the root mean square error."""
        error = float(np.sqrt(np.mean((targets - self._expected[rows]) ** 2)))
        counts = np.bincount(rows, minlength=len(self._expected))
        sums = np.bincount(rows, weights=targets, minlength=len(self._expected))
        met = counts > 0
        means = sums[met] / counts[met]
        self._expected[met] += (self._critic_rate or 0.0) * (means - self._expected[met])
        return error


def _read_table(folder: Path) -> tuple[list[str], Mapping[str, NDArray[Any]]]:
    """Return the states and the arrays that `save` wrote. BadArguments where a file is damaged."""
    try:
        states = json.loads((folder / _STATES).read_text(encoding="ascii"))
        if not isinstance(states, list) or not all(isinstance(state, str) for state in states):
            raise ValueError(f"{_STATES} is no list of texts")
        # Opened here: numpy does not close a file that it finds damaged.
        with (folder / _TABLE).open("rb") as file, np.load(file, allow_pickle=False) as table:
            return states, {name: table[name] for name in _ARRAYS}
    # What numpy raises for a file that is cut short, empty or none of its own.
    except (BadZipFile, EOFError, KeyError, ValueError) as error:
        raise BadArguments(
            f"{folder} was to be restored, and holds no table: {in_one_line(error, at_most=200)}. "
            "Give a folder that `save` of a tabular policy wrote.",
            subject="folder",
        ) from error
