"""A small transformer as a policy that plays by tokens and learns. Imports torch as one is made."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem import MicroBatch
from gem.conversation import PolicyAnswer, Reply, Request
from gem.episode import Episode
from gem.errors import BadArguments
from gem_baselines._sampling import Question
from gem_baselines._torch import check_above_zero, device_named, own_threads, require
from gem_baselines.learning import LearningSettings
from gem_baselines.learning._episodes import learn_from, learnt_rows, values_of
from gem_baselines.learning._settings import settings_of
from gem_baselines.learning_policy import Batch, Floats, LearntRow, Per
from gem_baselines.text import TextCodec, Tokenizer, keep_matches, tokenizer_from
from gem_baselines.transformer._shape import TransformerShape

if TYPE_CHECKING:
    from gem_baselines.learning._learner import Learner
    from gem_baselines.transformer._sampler import Sampler

__all__ = ["TransformerPolicy"]

_MOST_REQUESTS = 512  # in a batch


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
        check_above_zero(temperature=temperature, threads=threads, cache_mb=cache_mb)
        require("TransformerPolicy", ["torch"])
        self.name = name
        self.is_greedy = is_greedy
        self._tokenizer = tokenizer_from(tokenizer)
        self._shape = settings_of(TransformerShape, "shape", shape)
        self._learning = settings_of(LearningSettings, "learning", learning)
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
        from gem_baselines.learning._learner import Learner
        from gem_baselines.transformer._model import CausalTransformer
        from gem_baselines.transformer._sampler import Sampler

        arguments = self._arguments
        device = device_named(arguments["device"])
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
        # Refused here, and not with all that it would be answered together with.
        if len(request.prompt_ids) >= self._shape.max_length:
            raise BadArguments(
                f"A TransformerPolicy was asked to go on from {len(request.prompt_ids)} tokens, "
                f"and reads max_length={self._shape.max_length} at most, its answer included. Make "
                "it with a larger max_length in `shape`, or give it fewer.",
                subject="prompt_ids",
            )
        return self._batches(request)

    async def _answers(self, requests: list[Request]) -> list[Reply]:
        """Answer requests together. It computes on the event loop, which waits meanwhile."""
        questions = []
        for request in requests:
            ids = request.prompt_ids or ()
            room = self._shape.max_length - len(ids)
            limit = room if request.token_budget is None else min(room, request.token_budget)
            questions.append(Question(ids, limit, request.seed))
        with own_threads(self._threads):
            answers = self._sampler.sample(questions, is_greedy=self.is_greedy)
        return [self.tokens.reply(answer.ids, answer.logprobs) for answer in answers]

    def update(self, batch: Batch) -> Mapping[str, float]:
        """Improve by one update, and return its figures: those of `LearningSettings`' losses.

        They are `loss`, `grad_norm` (before it is cut), `entropy` (nats), `clip_share` (of tokens),
        `kl` (of the update), `logprob_gap` (between sampler and learner), and `reference_kl` and
        `value_loss` where there is a reference or a critic. Raises BadArguments for a batch
        without a turn, or of shapes that do not fit.
        """
        self._sampler.forget()
        with own_threads(self._threads):
            return learn_from(batch, self._learner)

    def learnt_from(self, batch: Batch, episodes: Sequence[int]) -> Sequence[LearntRow]:
        """Return the rows that an update by this batch learns from, of these episodes alone."""
        with own_threads(self._threads):
            return learnt_rows(batch, episodes, self._learner)

    def values(self, episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
        """Return what the critic expects at the token before each turn's answer, or own token."""
        if not self._shape.value_head:
            raise BadArguments(
                "A TransformerPolicy was asked for values, and has no critic. Make it with "
                'shape={"value_head": True}.',
                subject="value_head",
            )
        with own_threads(self._threads):
            return values_of(episodes, self._learner, per)

    def save(self, folder: Path) -> None:
        """Write the weights and the optimizer's state into `state.pt` of a folder."""
        from gem_baselines.learning._keeping import save_state

        save_state(self._learner, folder)

    def restore(self, folder: Path) -> None:
        """Take on what `save` wrote. Raises BadArguments where that is of another policy."""
        from gem_baselines.learning._keeping import restore_state

        # First: a state that does not fit may have changed a part of the weights.
        self._sampler.forget()
        restore_state(self._learner, folder)

    def describe(self) -> Mapping[str, Any]:
        return dict(self._arguments)

    async def aclose(self) -> None:
        """Cancel what waits for an answer."""
        await self._batches.aclose()
