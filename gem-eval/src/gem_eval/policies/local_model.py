"""Ask a model on this machine: a folder that transformers wrote, its answers sampled in batches.

Nothing is downloaded, and no code of the model's folder is run.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Union, cast

import gem
from gem.content import ImagePart, Message
from gem.conversation import PolicyAnswer, Reply, Request, Usage
from gem.env import in_thread
from gem.errors import BadArguments, ModelLengthError, in_one_line
from gem_eval.errors import PolicyError
from gem_eval.policies.chat_api import thought_apart

if TYPE_CHECKING:
    from gem_eval.policies.sampling import LoadedModel, Sample

__all__ = ["LocalModelPolicy"]

_Answer = Union[Reply, ModelLengthError, PolicyError]


class LocalModelPolicy:
    """The `hf:PATH` policy: a causal language model in a folder, on the GPU where there is one.

    Requests that wait together are answered together, `max_batch` at most. Each is sampled with
    `request.seed` alone, whatever else is in its batch; with a `temperature` of 0 the likeliest
    token is taken. Rounding may differ by the size of a batch, and then now and then a token:
    `max_batch=1` gives the same answers always. What the model's folder says of sampling is not
    used. Token ids and logprobs, under temperature 1, are recorded. A request with an image is
    refused, and calls of tools are not read from the text.
    """

    def __init__(
        self,
        path: str,
        *,
        system: str | None = None,
        temperature: float = 1.0,
        top_p: float = 1.0,
        max_tokens: int = 512,
        max_batch: int = 16,
        max_wait_s: float = 0.01,
        device: str | None = None,
        dtype: str = "auto",
        think_tags: bool = False,
    ) -> None:
        self._path = _model_folder(path)
        _check_options(temperature, top_p, max_tokens)
        self._system = system
        self._temperature = temperature
        self._top_p = top_p
        self._max_tokens = max_tokens
        self._device = device
        self._dtype = dtype
        self._think_tags = think_tags
        self._batches = gem.MicroBatch(self._answers, max_batch=max_batch, max_wait_s=max_wait_s)
        self._lock = threading.Lock()
        self._model: LoadedModel | None = None

    async def __call__(self, request: Request) -> Reply:
        """Ask the model. Raises ModelLengthError, and PolicyError for what it cannot read."""
        if any(_has_image(message) for message in request.messages):
            raise PolicyError(
                f"The model in {self._path} was shown an image, and hf: reads text alone. Ask it "
                "behind a server, by openai:."
            )
        answer = cast(_Answer, await self._batches(request))
        if not isinstance(answer, Reply):
            raise answer
        return answer

    async def probe(self, *, wait_s: float = 0.0) -> None:
        """Load the model. Raises PolicyError where that fails."""
        await in_thread(self._loaded)

    async def aclose(self) -> None:
        """Forget the model. A later request loads it again."""
        await self._batches.aclose()
        self._model = None

    def _loaded(self) -> LoadedModel:
        with self._lock:  # by a batch, or before the first of them
            if self._model is None:
                from gem_eval.policies.sampling import LoadedModel  # heavy: seconds

                try:
                    self._model = LoadedModel(self._path, device=self._device, dtype=self._dtype)
                except Exception as error:  # whatever a damaged or strange folder leads to
                    raise PolicyError(
                        f"The model in {self._path} cannot be loaded: "
                        f"{in_one_line(error, at_most=300)}. Check the folder and the options."
                    ) from error
            return self._model

    def _answers(self, requests: list[Request]) -> list[PolicyAnswer]:
        """Answer a batch, on a thread. A prompt that is too long is an error of its own."""
        model = self._loaded()
        prompts = [self._prompt(model, request) for request in requests]
        limits = [
            self._limit(model, request, prompt)
            for request, prompt in zip(requests, prompts, strict=True)
        ]
        asked = [place for place, limit in enumerate(limits) if limit > 0 and prompts[place]]
        samples = model.sample(
            [prompts[place] for place in asked],
            limits=[limits[place] for place in asked],
            seeds=[requests[place].seed for place in asked],
            temperature=self._temperature,
            top_p=self._top_p,
        )
        answers: list[_Answer] = [self._refusal(model, prompt) for prompt in prompts]
        for place, sample in zip(asked, samples, strict=True):
            answers[place] = self._reply(sample, len(prompts[place]))
        return cast(list[PolicyAnswer], answers)

    def _refusal(self, model: LoadedModel, prompt: Sequence[int]) -> PolicyError | ModelLengthError:
        """Return why nothing can be asked with a prompt."""
        if not prompt:
            return PolicyError(f"The prompt is empty, and the model in {self._path} needs a token.")
        return ModelLengthError(
            f"The prompt has {len(prompt)} tokens, and the model in {self._path} reads "
            f"{model.context}."
        )

    def _prompt(self, model: LoadedModel, request: Request) -> Sequence[int]:
        if request.prompt is not None:
            return model.tokens_of(request.prompt)
        first = [] if self._system is None else [Message("system", self._system)]
        messages = [message.to_chat() for message in (*first, *request.messages)]
        return model.tokens_of_chat(messages, tools=[dict(tool) for tool in request.tools])

    def _limit(self, model: LoadedModel, request: Request, prompt: Sequence[int]) -> int:
        """Return how many tokens an answer may have; 0 or less where none fits."""
        limits = [self._max_tokens, model.context - len(prompt)]
        if request.token_budget is not None:
            limits.append(request.token_budget)
        return min(limits)

    def _reply(self, sample: Sample, prompt_tokens: int) -> Reply:
        reasoning, text = thought_apart(sample.text) if self._think_tags else (None, sample.text)
        return Reply(
            Message("assistant", text),
            token_ids=sample.token_ids,
            logprobs=sample.logprobs,
            finish_reason="length" if sample.is_cut else "stop",
            usage=Usage(prompt_tokens, len(sample.token_ids)),
            reasoning=reasoning,
        )


def _model_folder(path: str) -> Path:
    folder = Path(path).expanduser()
    if not (folder / "config.json").is_file():
        raise BadArguments(
            f"The policy 'hf:{path}' names a folder of a model, and there is no "
            f"{folder / 'config.json'}. Give the folder that save_pretrained wrote, or into which "
            "the model was downloaded before: hf: downloads nothing.",
            subject="hf",
        )
    return folder


def _check_options(temperature: float, top_p: float, max_tokens: int) -> None:
    if not (0 <= temperature < float("inf") and 0 < top_p <= 1 and max_tokens >= 1):
        raise BadArguments(
            f"hf: was given temperature={temperature:g}, top_p={top_p:g} and "
            f"max_tokens={max_tokens}. A temperature is 0 or more, top_p above 0 and at most 1, "
            "and max_tokens 1 or more.",
            subject="hf",
        )


def _has_image(message: Message) -> bool:
    content = message.content
    return not isinstance(content, str) and any(isinstance(part, ImagePart) for part in content)
