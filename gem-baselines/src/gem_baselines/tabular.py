"""A policy that is a table: a row of logits a state, a column an action.

It learns in seconds on one core. Knows nothing about estimators or training folders.
"""

from __future__ import annotations

import json
import random
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gem.content import Message
from gem.conversation import Conversation, Request
from gem.episode import Episode
from gem.errors import BadArguments
from gem_baselines.learning_policy import Batch, Floats, LearntRow, Per
from gem_baselines.table_learning import PlayedTurns, Steps, log_softmax, surrogate
from gem_baselines.views import view_named

__all__ = ["TabularPolicy"]

_TABLE = "table.npz"
_STATES = "states.json"


class TabularPolicy:
    r"""A softmax over a fixed list of actions, for each state that a view reads.

    - `view`: the state's name in `gem_baselines.views.VIEWS`.
    - `actions`: the texts that it may answer, one a column of the table.
    - `learning_rate`, `optimizer`: of the steps; "adam" or "sgd".
    - `clip`: how far a probability's ratio may go in one update before it stops to pay.
    - `epochs`: how many steps one update takes, each on the whole batch.
    - `critic_rate`: how far an update moves what is expected of a state towards the mean of its
      targets, from 0 to 1. None for a policy without a critic.

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
    ) -> None:
        _check(actions, learning_rate, clip, epochs, critic_rate)
        self.is_greedy = False
        self._view = view
        self._key = view_named(view).key
        self._actions = tuple(actions)
        self._columns = {action: column for column, action in enumerate(self._actions)}
        self._learning_rate = learning_rate
        self._optimizer: Literal["adam", "sgd"] = optimizer
        self._clip = clip
        self._epochs = epochs
        self._critic_rate = critic_rate
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
        if self.is_greedy:
            column = 0 if row is None else int(self._logits[row].argmax())
            return self._actions[column]
        share = random.Random(request.seed).random()
        if row is None:
            return self._actions[int(share * len(self._actions))]
        sums = self._sums.get(row)
        if sums is None:
            sums = np.exp(log_softmax(self._logits[row])).cumsum().tolist()
            self._sums[row] = sums
        # The last sum may miss 1 by rounding, and a share may lie above it.
        column = min(bisect_right(sums, share), len(sums) - 1)
        return self._actions[column]

    def update(self, batch: Batch) -> Mapping[str, float]:
        """Improve by `epochs` steps on the whole batch.

        The figures are of the table before the first step, but `clip_share`, which is of the last.
        Raises BadArguments for a batch by token.
        """
        _check_per(batch.per)
        keys = list(self._keys(batch.episodes))
        self._add_states(keys)
        rows = np.array([self._rows[key] for key in keys], np.int64)
        played = self._played(batch, rows)
        first = None
        for _ in range(self._epochs):
            step = surrogate(self._logits, played, self._clip)
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
        uniform = np.zeros(len(self._actions))
        found = []
        for number in episodes:
            episode = batch.episodes[number]
            rows = [self._rows.get(key) for key in self._keys([episode])]
            logits = [uniform if row is None else self._logits[row] for row in rows]
            log_probs = log_softmax(np.array(logits).reshape(-1, len(self._actions)))
            columns = [self._columns[turn.action] for turn in episode.turns]
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
        _check_per(per)
        if self._critic_rate is None:
            raise BadArguments(
                "The values of a tabular policy were asked for, and it was made without a critic. "
                "Make it with critic_rate, 0.2 say.",
                subject="critic_rate",
            )
        known = {key: float(self._expected[row]) for key, row in self._rows.items()}
        return [
            np.array([known.get(key, 0.0) for key in self._keys([episode])]) for episode in episodes
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
        )
        states = json.dumps(list(self._rows))
        (folder / _STATES).write_text(states, encoding="ascii")

    def restore(self, folder: Path) -> None:
        """Take on what `save` wrote. Raises BadArguments on a table that does not fit."""
        states = json.loads((folder / _STATES).read_text(encoding="ascii"))
        with np.load(folder / _TABLE, allow_pickle=False) as table:
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
        }

    def _keys(self, episodes: Sequence[Episode]) -> Iterator[str]:
        """Yield the state before each turn, as the policy was asked it."""
        for episode in episodes:
            talk = Conversation(rewrites_history=episode.rewrites_history)
            for index, turn in enumerate(episode.turns):
                talk.observe(turn.observation, {"suffix": turn.suffix})
                # What a view may look at: the rest of a request is of no state.
                yield self._key(
                    Request(talk.messages, turn=index, env_id=episode.env_id, task=episode.task)
                )
                talk.answer(Message("assistant", turn.action, turn.tool_calls))

    def _add_states(self, keys: Sequence[str]) -> None:
        """Add a row for each state that has none, in the order of the batch."""
        before = len(self._rows)
        for key in keys:
            self._rows.setdefault(key, len(self._rows))
        added = len(self._rows) - before
        # All at once: each addition copies the table.
        self._logits = np.concatenate([self._logits, np.zeros((added, len(self._actions)))])
        self._expected = np.concatenate([self._expected, np.zeros(added)])
        self._steps.add_rows(added)

    def _played(self, batch: Batch, rows: Any) -> PlayedTurns:
        actions = [turn.action for episode in batch.episodes for turn in episode.turns]
        strange = [action for action in actions if action not in self._columns]
        if strange:
            raise BadArguments(
                f"A tabular policy was to learn from the action {strange[0]!r:.60}, and has none "
                "like it. Train it on episodes that it played itself.",
                subject="actions",
            )
        columns = np.array([self._columns[action] for action in actions], np.int64)
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


def _check_per(per: Per) -> None:
    if per == "token":
        raise BadArguments(
            "A tabular policy was asked to learn by token, and answers in whole texts: it has no "
            "tokens. Choose an estimator by turn, such as ppo, or a policy that plays by tokens.",
            subject="per",
        )


def _check(
    actions: Sequence[str],
    learning_rate: float,
    clip: float,
    epochs: int,
    critic_rate: float | None,
) -> None:
    """Raise BadArguments on what no tabular policy can be made with."""
    problems = []
    if not actions or len(set(actions)) < len(actions):
        problems.append("actions must be one text or more, each another")
    if not learning_rate > 0:
        problems.append(f"learning_rate is {learning_rate}, and must be above 0")
    if not clip > 0:
        problems.append(f"clip is {clip}, and must be above 0")
    if epochs < 1:
        problems.append(f"epochs is {epochs}, and must be 1 or more")
    if critic_rate is not None and not 0 <= critic_rate <= 1:
        problems.append(f"critic_rate is {critic_rate}, and must be from 0 to 1")
    if problems:
        raise BadArguments(
            f"A tabular policy cannot be made: {'; '.join(problems)}. Change these arguments.",
            subject="tabular",
            problems=problems,
        )
