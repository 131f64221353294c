"""An episode as tokens: a view of its record, never a second one. Knows nothing about tokenizers.

A sequence is what a model was given and said, in order: the prompt, an action, what the
environment added, the next action. A history that is rewritten starts another sequence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from typing import NamedTuple

from gem.episode import Episode, StopReason, Turn
from gem.errors import BadArguments

__all__ = ["Segment", "TokenSequence", "Trajectory", "TurnSample"]


class Segment(NamedTuple):
    """Tokens of one origin, next to each other. `logprobs` is None where the model said nothing."""

    ids: tuple[int, ...]
    is_model: bool
    logprobs: tuple[float, ...] | None


class TurnSample(NamedTuple):
    """One turn as a training sample of its own: all that the model was given, and what it said."""

    prompt_ids: tuple[int, ...]
    response_ids: tuple[int, ...]
    logprobs: tuple[float, ...] | None
    reward: float
    finish_reason: str | None


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """Tokens that extend one another, of one turn or many.

    `ids` and `mask` (1 where the model said it) have shape (tokens,), and so has `logprobs`, 0.0
    where the environment spoke; it is None where a turn came without. `spans` are the first
    position of each turn's action and the one after its last, `rewards` and `finish_reasons` have
    an entry a turn. Raises BadArguments where these do not fit together.
    """

    ids: tuple[int, ...]
    mask: tuple[int, ...]
    logprobs: tuple[float, ...] | None
    spans: tuple[tuple[int, int], ...]
    rewards: tuple[float, ...]
    finish_reasons: tuple[str | None, ...]

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise BadArguments(
                f"A token sequence does not fit together: {problem}.",
                subject="TokenSequence",
                problems=[problem],
            )

    def _problems(self) -> Iterator[str]:
        columns = [self.mask, self.ids if self.logprobs is None else self.logprobs]
        if any(len(column) != len(self.ids) for column in columns):
            yield "ids, mask and logprobs differ in length"
        expected_mask = [0] * len(self.ids)
        for start, stop in self.spans:
            expected_mask[start:stop] = [1] * (stop - start)
        if tuple(expected_mask) != self.mask:
            yield "the spans of its actions are not where its mask is 1"
        if not len(self.spans) == len(self.rewards) == len(self.finish_reasons) > 0:
            yield "it has no turn, or not as many spans as rewards"
        if any(start >= stop for start, stop in self.spans):
            yield "an action has no tokens"

    @property
    def prompt_ids(self) -> tuple[int, ...]:
        """What stands before the first action."""
        return self.ids[: self.prompt_length]

    @property
    def prompt_length(self) -> int:
        """Tokens before the first action."""
        return self.spans[0][0]

    @property
    def response_ids(self) -> tuple[int, ...]:
        """Everything from the first action on, what the environment added included."""
        return self.ids[self.prompt_length :]

    @property
    def response_mask(self) -> tuple[int, ...]:
        """1 where the model said it: shape (tokens from the first action on,)."""
        return self.mask[self.prompt_length :]

    @property
    def response_logprobs(self) -> tuple[float, ...] | None:
        """Logprobs from the first action on, 0.0 where the environment spoke."""
        return None if self.logprobs is None else self.logprobs[self.prompt_length :]

    @property
    def token_rewards(self) -> tuple[float, ...]:
        """The reward of each turn on the last token of its action, 0.0 elsewhere."""
        rewards = [0.0] * len(self.ids)
        for (_, stop), reward in zip(self.spans, self.rewards, strict=True):
            rewards[stop - 1] = reward
        return tuple(rewards)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The tokens by origin, in order."""
        # Where the origin changes, and where actions begin and end: two may touch, and each is a
        # segment of its own.
        edges = [0]
        at = 0
        for _, run in groupby(self.mask):
            at += len(list(run))
            edges.append(at)
        for start, stop in self.spans:
            edges += [start, stop]
        return tuple(self._segment(start, stop) for start, stop in pairwise(sorted({*edges})))

    def _segment(self, start: int, stop: int) -> Segment:
        is_model = bool(self.mask[start])
        logprobs = self.logprobs[start:stop] if self.logprobs and is_model else None
        return Segment(self.ids[start:stop], is_model, logprobs)

    def samples(self) -> Iterator[TurnSample]:
        """Yield each turn as a sample of its own."""
        for (start, stop), reward, reason in zip(
            self.spans, self.rewards, self.finish_reasons, strict=True
        ):
            logprobs = None if self.logprobs is None else self.logprobs[start:stop]
            yield TurnSample(self.ids[:start], self.ids[start:stop], logprobs, reward, reason)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """An episode as tokens, for a trainer.

    `sequences` is one sequence, or several where the history was rewritten on the way. `rewards`
    has an entry a turn, of all sequences in order.
    """

    sequences: tuple[TokenSequence, ...]
    env_id: str
    seed: int
    task: int | None
    terminated: bool
    truncated: bool
    stop_reason: StopReason
    error: str | None

    @classmethod
    def of(cls, episode: Episode) -> Trajectory:
        """Return the tokens of an episode that a `TokenPolicy` played.

        Of several seats it takes a part, `Episode.parts()`, whose tokens are those of one seat, and
        whose rewards are what that seat earned from each of its turns to the next.

        Raises BadArguments for an episode of several seats as a whole, and where the record has no
        tokens, or no turn.
        """
        if len(episode.seats) > 1:
            names = ", ".join(outcome.name for outcome in episode.seats)
            raise BadArguments(
                f"The tokens of an episode of {episode.env_id} were asked for, and each of its "
                f"seats ({names}) has tokens of its own. Take them of each of `episode.parts()`.",
                subject="episode",
            )
        if not episode.turns:
            raise _no_tokens(episode, f"has no turn ({episode.error or episode.stop_reason})")
        if any(turn.token_ids is None or turn.mask is None for turn in episode.turns):
            raise _no_tokens(episode, "was played by a policy that answers in text")
        return cls(
            sequences=tuple(map(_sequence, _by_sequence(episode.turns))),
            env_id=episode.env_id,
            seed=episode.seed,
            task=episode.task,
            terminated=episode.terminated,
            truncated=episode.truncated,
            stop_reason=episode.stop_reason,
            error=episode.error,
        )

    @property
    def sequence(self) -> TokenSequence:
        """The only sequence. Raises BadArguments where there are several."""
        if len(self.sequences) == 1:
            return self.sequences[0]
        raise BadArguments(
            f"An episode of {self.env_id} was asked for as one sequence of tokens, and is "
            f"{len(self.sequences)}: its history was rewritten on the way, by a wrapper or by a "
            "chat template that drops what was said before. Train on `samples()`, choose another "
            'wrapper or template, or make the codec with on_rewrite="keep".',
            subject="sequence",
        )

    @property
    def rewards(self) -> tuple[float, ...]:
        """The reward of each turn."""
        return tuple(reward for sequence in self.sequences for reward in sequence.rewards)

    @property
    def total_reward(self) -> float:
        """The sum of the rewards."""
        return math.fsum(self.rewards)

    def returns(self, gamma: float) -> tuple[float, ...]:
        """Return the discounted return of each turn, over all sequences."""
        from gem_train.returns import discounted_returns  # imports numpy: 0.1 s

        return tuple(discounted_returns(self.rewards, gamma).tolist())

    def samples(self) -> Iterator[TurnSample]:
        """Yield each turn as a sample of its own, whatever became of the history."""
        for sequence in self.sequences:
            yield from sequence.samples()


def _no_tokens(episode: Episode, why: str) -> BadArguments:
    return BadArguments(
        f"The tokens of an episode of {episode.env_id} were asked for, and it {why}. Play it with "
        "a gem.tokens.TokenPolicy, and leave out episodes without a turn.",
        subject="episode",
    )


def _by_sequence(turns: Sequence[Turn]) -> list[list[Turn]]:
    sequences: list[list[Turn]] = [[]]
    for turn in turns:
        if turn.new_sequence:
            sequences.append([])
        sequences[-1].append(turn)
    return [sequence for sequence in sequences if sequence]


def _sequence(turns: Sequence[Turn]) -> TokenSequence:
    ids: list[int] = []
    mask: list[int] = []
    spans: list[tuple[int, int]] = []
    for turn in turns:
        ids += turn.token_ids or ()
        mask += turn.mask or ()
        # A turn's tokens are what was added and then its action, which its mask counts.
        spans.append((len(mask) - sum(turn.mask or ()), len(mask)))
    # Of every turn or of none: with a gap they would not be in step with the ids.
    logprobs = [turn.logprobs for turn in turns if turn.logprobs is not None]
    has_logprobs = len(logprobs) == len(turns)
    return TokenSequence(
        ids=tuple(ids),
        mask=tuple(mask),
        logprobs=tuple(chain.from_iterable(logprobs)) if has_logprobs else None,
        spans=tuple(spans),
        rewards=tuple(turn.reward for turn in turns),
        finish_reasons=tuple(turn.finish_reason for turn in turns),
    )
