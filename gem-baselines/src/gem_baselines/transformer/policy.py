"""A small transformer as a policy that plays by tokens and learns. Imports torch as one is made."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from gem import MicroBatch
from gem.conversation import PolicyAnswer, Reply, Request
from gem.episode import Episode
from gem.errors import BadArguments, MissingRequirement, in_one_line, problems_of
from gem.registry import pip_command
from gem_baselines.learning import LearningSettings, rows_of
from gem_baselines.learning_policy import Batch, Floats, LearntRow
from gem_baselines.text import TextCodec, Tokenizer, keep_matches, tokenizer_from
from gem_baselines.transformer._shape import TransformerShape

if TYPE_CHECKING:
    from gem_baselines.learning._learner import Learner
    from gem_baselines.transformer._sampler import Sampler

__all__ = ["TransformerPolicy"]

_FILE = "state.pt"
_FORMAT = 1
_MOST_REQUESTS = 512  # in a batch
Settings = TypeVar("Settings", bound=BaseModel)


class TransformerPolicy:
    r"""A causal transformer, made from random weights, that plays by tokens and learns.

    `tokenizer` is one, or its description (`tokenizer_from`). `opening`, `closing`,
    `max_answer_tokens` and `instructions_end` are those of `TextCodec`, and `keep` is a regular
    expression: of what the environment tells, only what it matches is shown. `shape` has the
    fields of `TransformerShape`, `learning` those of `LearningSettings`. `seed` decides the first
    weights and the order of minibatches.

        policy = TransformerPolicy(
            WordTokenizer.of(["1 2 3 4 5 6 7 8 9 10 higher lower before \\boxed{ }"]),
            opening="\\boxed{", closing="}", max_answer_tokens=1,
            instructions_end="ends the game.", keep="higher|lower|before",
        )
        async for episode in gem.rollout(policy, "game:GuessTheNumber-v0-easy", episodes=64):
            ...

    It answers the requests that are in flight together, and keeps what it computed of an episode
    for its next turn, in `cache_mb` megabytes. A request's seed alone decides what is drawn for
    it. On a CPU the same seeds give the same episodes at any concurrency, as long as the cache
    holds every episode in flight (512 of them, and what fits); one that it has lost is computed
    anew, and its logprobs differ by rounding, about 1e-7.

    `temperature` is of the policy itself: what is drawn, recorded as a logprob and learned from is
    the distribution at that temperature. With `is_greedy`, which may be set at any time, the most
    probable token is taken; the logprobs stay those of the policy.

    torch computes with `threads` threads while it samples or learns, and with as many as before
    afterwards: one is fastest for a small model, and leaves the other processors to others.

    Raises BadArguments for settings that do not fit, MissingRequirement where torch is missing.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | Mapping[str, Any],
        *,
        opening: str = "",
        closing: str = "",
        max_answer_tokens: int | None = None,
        instructions_end: str | None = None,
        keep: str | None = None,
        shape: Mapping[str, Any] | None = None,
        learning: Mapping[str, Any] | None = None,
        seed: int = 0,
        temperature: float = 1.0,
        is_greedy: bool = False,
        device: str = "cpu",
        threads: int = 1,
        cache_mb: float = 256.0,
        name: str = "transformer",
    ) -> None:
        _check_above_zero(temperature=temperature, threads=threads, cache_mb=cache_mb)
        _require_torch()
        self.name = name
        self.is_greedy = is_greedy
        self._tokenizer = tokenizer_from(tokenizer) if isinstance(tokenizer, Mapping) else tokenizer
        self._shape = _settings(TransformerShape, "shape", shape)
        self._learning = _settings(LearningSettings, "learning", learning)
        self._threads = threads
        self.tokens = TextCodec(
            self._tokenizer,
            opening=opening,
            closing=closing,
            max_answer_tokens=max_answer_tokens,
            max_length=self._shape.max_length,
            instructions_end=instructions_end,
            digest=None if keep is None else keep_matches(keep),
        )
        self._arguments: dict[str, Any] = {
            "tokenizer": dict(self._tokenizer.describe()),
            "opening": opening,
            "closing": closing,
            "max_answer_tokens": max_answer_tokens,
            "instructions_end": instructions_end,
            "keep": keep,
            "shape": self._shape.model_dump(),
            "learning": self._learning.model_dump(),
            "seed": seed,
            "temperature": temperature,
            "is_greedy": is_greedy,
            "device": device,
            "threads": threads,
            "cache_mb": cache_mb,
            "name": name,
        }
        self._make_parts()
        self._batches = MicroBatch(self._answers, max_batch=_MOST_REQUESTS, max_wait_s=0.0)

    def _make_parts(self) -> None:
        import torch  # heavy: seconds

        from gem_baselines.learning._learner import Learner
        from gem_baselines.transformer._model import CausalTransformer
        from gem_baselines.transformer._sampler import Sampler

        arguments = self._arguments
        device = torch.device(arguments["device"])
        model = CausalTransformer(self._shape, self._tokenizer.size, seed=arguments["seed"])
        model.to(device)
        self._learner: Learner = Learner(
            model,
            self._learning,
            temperature=arguments["temperature"],
            seed=arguments["seed"],
        )
        self._sampler: Sampler = Sampler(
            model,
            end_id=self._tokenizer.end_id,
            temperature=arguments["temperature"],
            cache_mb=arguments["cache_mb"],
            device=device,
        )

    def __call__(self, request: Request) -> Awaitable[PolicyAnswer]:
        if request.prompt_ids is None:
            raise BadArguments(
                "A TransformerPolicy was asked without prompt_ids. Give it to gem.rollout, which "
                "fills them in.",
                subject="prompt_ids",
            )
        return self._batches(request)

    async def _answers(self, requests: list[Request]) -> list[Reply]:
        """Answer requests together. It computes on the event loop, which waits meanwhile."""
        from gem_baselines.transformer._sampler import Question

        questions = []
        for request in requests:
            ids = request.prompt_ids or ()
            room = self._shape.max_length - len(ids)
            limit = room if request.token_budget is None else min(room, request.token_budget)
            questions.append(Question(ids, limit, request.seed))
        with self._own_threads():
            answers = self._sampler.sample(questions, is_greedy=self.is_greedy)
        return [self.tokens.reply(answer.ids, answer.logprobs) for answer in answers]

    def update(self, batch: Batch) -> Mapping[str, float]:
        """Improve by one update, and return its figures: those of `LearningSettings`' losses.

        They are `loss`, `grad_norm` (before it is cut), `entropy` (nats), `clip_share` (of tokens),
        `kl` (of the update), `logprob_gap` (between sampler and learner), and `reference_kl` and
        `value_loss` where there is a reference or a critic. Raises BadArguments for a batch
        without an episode, or of shapes that do not fit.
        """
        rows = rows_of(batch)
        if not rows:
            raise BadArguments(
                "An update was asked for with a batch of no episodes. Give one episode at least.",
                subject="batch",
            )
        self._sampler.forget()
        with self._own_threads():
            return self._learner.update(rows)

    def learnt_from(self, batch: Batch, episodes: Sequence[int]) -> Sequence[LearntRow]:
        """Return the rows that an update by this batch learns from, of these episodes alone."""
        # Packed as in an update, all of the batch: what one episode leaves to the next is seen.
        rows = [row for row in rows_of(batch) if row.episode in set(episodes)]
        with self._own_threads():
            reported = self._learner.reported(rows)
        return [
            LearntRow(
                episode=row.episode,
                ids=row.ids.tolist(),
                places=row.places.tolist(),
                advantages=row.advantages,
                sampler=row.logprobs,
                learner=logprobs,
                entropies=entropies,
            )
            for row, (logprobs, entropies) in zip(rows, reported, strict=True)
        ]

    def values(self, episodes: Sequence[Episode]) -> Sequence[Floats]:
        """Return what the critic expects at the last token of each turn's prompt."""
        import numpy as np

        if not self._shape.value_head:
            raise BadArguments(
                "A TransformerPolicy was asked for values, and has no critic. Make it with "
                'shape={"value_head": True}.',
                subject="value_head",
            )
        nothing = [np.zeros(len(episode.turns)) for episode in episodes]
        rows = rows_of(Batch(episodes, nothing))
        with self._own_threads():
            values = self._learner.values(rows)
        return [
            np.concatenate([own for row, own in zip(rows, values, strict=True) if row.episode == n])
            for n in range(len(episodes))
        ]

    def save(self, folder: Path) -> None:
        """Write the weights and the optimizer's state into `state.pt` of a folder."""
        import torch

        torch.save({"format": _FORMAT, **self._learner.state()}, folder / _FILE)

    def restore(self, folder: Path) -> None:
        """Take on what `save` wrote. Raises BadArguments where that is of another policy."""
        import pickle

        import torch

        path = folder / _FILE
        try:
            # Tensors and plain data alone: nothing in the file is run.
            state = torch.load(path, map_location=self._arguments["device"], weights_only=True)
            if state["format"] != _FORMAT:
                raise ValueError(f"its format is {state['format']}, and {_FORMAT} is known")
            self._learner.take_on(state)
        except (
            OSError,
            EOFError,
            RuntimeError,
            ValueError,
            KeyError,
            pickle.UnpicklingError,
        ) as error:
            raise BadArguments(
                f"{path} was to be restored, and holds no state of this policy: "
                f"{in_one_line(error, at_most=200)}. Give a folder that `save` of a policy with "
                "the same tokenizer, shape and learning wrote.",
                subject="folder",
            ) from error
        self._sampler.forget()

    def describe(self) -> Mapping[str, Any]:
        return dict(self._arguments)

    async def aclose(self) -> None:
        """Cancel what waits for an answer."""
        await self._batches.aclose()

    @contextmanager
    def _own_threads(self) -> Iterator[None]:
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(self._threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def _settings(kind: type[Settings], subject: str, fields: Mapping[str, Any] | None) -> Settings:
    try:
        return kind.model_validate(dict(fields or {}))
    except ValidationError as error:
        problems = problems_of(error, whole=subject)
        raise BadArguments(
            f"{subject}={fields!r:.100} was given, and does not fit: {'; '.join(problems)}. "
            f"{kind.__name__} lists its fields: {', '.join(kind.model_fields)}.",
            subject=subject,
            problems=problems,
        ) from error


def _check_above_zero(**quantities: float) -> None:
    for name, quantity in quantities.items():
        if not quantity > 0:
            raise BadArguments(
                f"{name}={quantity} was asked for, and has to be more than 0.", subject=name
            )


def _require_torch() -> None:
    try:
        import torch  # noqa: F401  only whether it can be imported
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        command = pip_command(["torch"], of="gem-baselines")
        raise MissingRequirement(
            f"A TransformerPolicy was asked for, and torch, which computes it, is not installed "
            f"here. Run: {command}",
            requirements=["torch"],
            command=command,
        ) from error
