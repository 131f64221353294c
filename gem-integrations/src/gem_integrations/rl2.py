"""Environments for RL2: a file for `rollout.env_path` that says which one.

    from gem_integrations.rl2 import environment

    generate, reset, step = environment("game:GuessTheNumber-v0-hard", max_turns=7)

RL2's main calls `generate`, its release 0.0.2 (`rl-square`) calls `reset` and `step`. RL2's own
functions write down what becomes of tokens and rewards.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gem.errors import BadArguments
from gem.tokens import ChatCodec, Sampled
from gem_integrations.episodes import EnvOptions, Row, one_row
from gem_integrations.frameworks import require
from gem_integrations.rows import Start, start_of
from gem_integrations.stepping import SteppedEpisode

IS_RELEASE = bool(importlib.util.find_spec("RL2") and importlib.util.find_spec("RL2.utils.sglang"))
"""Whether the RL2 that is here is the release, which calls `reset` and `step` alone."""

if not IS_RELEASE:
    require("rl2")

    from omegaconf import OmegaConf
    from RL2.datasets import Sample, add_env_response, add_llm_response, initialize_state_dict
    from RL2.utils.communication import async_request

__all__ = ["Functions", "environment"]


class Functions(NamedTuple):
    """What RL2 looks for in the file: `generate` in main, `reset` and `step` in the release."""

    generate: Callable[..., Awaitable[None]]
    reset: Callable[..., Awaitable[tuple[str, dict[str, Any]]]]
    step: Callable[..., Awaitable[dict[str, Any]]]


def environment(
    env_id: str,
    *,
    max_response_tokens: int | None = None,
    tokenizer: Any = None,
    **options: Any,
) -> Functions:
    """Return the functions of an environment; `options` are those of `EnvOptions`.

    A row of the data states its episode: its "seed", and its "task" where there is a finite set
    (in the release within "extra_info"). The samples of a group have one row, and begin alike.
    `max_response_tokens` bounds all that follows an episode's prompt. `reset` and `step` alone
    need `tokenizer`, a model's name or one that is loaded: the release gives them none.

    Tries the environment. Raises BadArguments for other options, the errors of `gem.make`, and
    UnplayableError where no episode can begin; `generate` and `reset`, BadArguments for a row
    without a seed.
    """
    stated = EnvOptions.of({**options, "env_id": env_id})
    stated.try_out("RL2")
    env = _Environment(stated, max_response_tokens, tokenizer)
    return Functions(env.generate, env.reset, env.step)


class _Environment:
    def __init__(
        self, options: EnvOptions, max_response_tokens: int | None, tokenizer: Any
    ) -> None:
        self._options = options
        self._max_response_tokens = max_response_tokens
        self._tokenizer = tokenizer
        self._codec: tuple[Any, ChatCodec] | None = None
        self._aborted: dict[int, _Live] = {}  # apart from the samples, which are saved as JSON

    async def generate(self, config: Any, tokenizer: Any, router_url: str, sample: Any) -> None:
        """Play a sample to its end, or until the server aborts it; another call then goes on."""
        if sample.status == Sample.Status.DONE:
            return
        live = self._aborted.pop(id(sample), None) or self._begin(
            tokenizer, start_of(sample.sample)
        )
        sample.status = Sample.Status.RUNNING
        try:
            while await live.is_asked():
                live.write_prompt(sample)
                await _complete(config, router_url, sample, live.token_budget)
                if sample.status == Sample.Status.ABORTED:
                    self._aborted[id(sample)] = live
                    return
                live.answer(_sampled(sample, len(live.prompt)))
            live.write_end(sample)
        except BaseException:
            await live.cancel()
            raise

    async def reset(self, extra_info: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Begin an episode, and return its prompt as text."""
        if self._tokenizer is None:
            raise BadArguments(
                "RL2's release calls `reset` and `step`, and gives them no tokenizer, whose chat "
                'template they need. Write environment(..., tokenizer="the model\'s name").',
                subject="tokenizer",
            )
        if isinstance(self._tokenizer, str):
            from transformers import AutoTokenizer  # heavy: seconds

            self._tokenizer = AutoTokenizer.from_pretrained(self._tokenizer)
        live = self._begin(self._tokenizer, start_of(extra_info))
        await live.is_asked()
        return live.text(live.prompt), {**extra_info, "live": live}

    async def step(self, state: str, action: str, extra_info: Mapping[str, Any]) -> dict[str, Any]:
        """Take what the model said, as text. The reward is that of the turn."""
        live: _Live = extra_info["live"]
        prompt_length = len(live.prompt)
        answer_ids = self._tokenizer.encode(action, add_special_tokens=False)
        if await live.is_asked():
            live.answer(Sampled(answer_ids))
        is_done = not await live.is_asked()
        added = "" if is_done else live.text(live.prompt[prompt_length + len(answer_ids) :])
        return {
            "next_state": state + action + added,
            "reward": live.reward,
            "score": live.reward,
            "done": is_done,
            "extra_info": extra_info,
        }

    def _begin(self, tokenizer: Any, start: Start) -> _Live:
        if self._codec is None or self._codec[0] is not tokenizer:
            self._codec = (tokenizer, self._options.codec(tokenizer))
        codec = self._codec[1]
        return _Live(self._options, codec, tokenizer, start, self._max_response_tokens)


class _Live(SteppedEpisode):
    """An episode that waits for its model, and writes into RL2's samples what it came to."""

    def __init__(
        self,
        options: EnvOptions,
        codec: ChatCodec,
        tokenizer: Any,
        start: Start,
        max_response_tokens: int | None,
    ) -> None:
        super().__init__(
            options,
            codec,
            seed=start.seed,
            task=start.task,
            max_response_tokens=max_response_tokens,
        )
        self._codec = codec
        self._tokenizer = tokenizer
        self.prompt: list[int] = []
        self.token_budget: int | None = None

    async def is_asked(self) -> bool:
        """Wait until the model is asked, for which `prompt` is set, or the episode is over."""
        request = await self.request()
        if request is not None:
            self.prompt = list(request.prompt_ids or ())
            self.token_budget = request.token_budget
        elif not self.prompt:
            self.prompt = self._row().prompt_ids
        return request is not None

    def _row(self) -> Row:
        assert self.episode is not None  # `is_asked` has said so
        return one_row(self.episode, self._codec)

    def text(self, ids: Sequence[int]) -> str:
        """Return tokens as text, with those that end a turn."""
        return self._codec.decode(ids)

    def write_prompt(self, sample: Any) -> None:
        """Let RL2 write down what came before this turn, unless it did before an abort."""
        states = sample.state_dict.get("states", [])
        if len(states) >= len(self.prompt):
            return
        added = self.prompt[len(states) :]
        if not states:
            sample.state_text = self.text(added)
            sample.state_dict = initialize_state_dict(_Encoded(added), sample.state_text)
            return
        state = sample.state_text + sample.action_text + self.text(added)
        answer = {"next_state": state, "reward": self.reward, "done": False}
        add_env_response(_Encoded(added), sample, answer)

    def write_end(self, sample: Any) -> None:
        """Let RL2 write down the end. Its metric becomes the sum over all turns, not the last."""
        row = self._row()
        if not row.rewards:
            sample.state_text = self.text(row.ids)
            sample.state_dict = initialize_state_dict(_Encoded(row.ids), sample.state_text)
        add_env_response(None, sample, {"reward": self.reward, "done": True})
        sample.metrics["rewards"][-1] = math.fsum(row.rewards)


class _Encoded(NamedTuple):
    """Stands for the tokenizer where RL2 would encode a text whose tokens are known."""

    ids: list[int]

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return list(self.ids)


async def _complete(config: Any, router_url: str, sample: Any, token_budget: int | None) -> None:
    """Ask RL2's server to go on with the sample, and let RL2 write down what it says."""
    params = OmegaConf.to_container(config.sampling_params)
    limits = [limit for limit in (params.get("max_new_tokens"), token_budget) if limit is not None]
    if limits:
        params["max_new_tokens"] = min(limits) - sample.previous_response_length
    response = await async_request(
        router_url,
        "generate",
        json={
            "input_ids": sample.state_dict["states"],
            "sampling_params": {**params, "no_stop_trim": True},
            "return_logprob": True,
        },
    )
    about = response["meta_info"]
    if about["output_token_logprobs"]:
        add_llm_response(sample, response)
    elif about["finish_reason"]["type"] == "abort":  # before a token: RL2's function needs one
        sample.status = Sample.Status.ABORTED


def _sampled(sample: Any, prompt_length: int) -> Sampled:
    """Return what the model said since the prompt, as RL2 has it."""
    state = sample.state_dict
    clipped = sample.metrics["length_clip_ratio"]
    reason: Literal["length", "stop"] = "length" if clipped and clipped[-1] else "stop"
    return Sampled(state["states"][prompt_length:], state["logps"][prompt_length:], reason)
