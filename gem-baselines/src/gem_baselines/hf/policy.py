"""A model of transformers as a policy that plays by tokens and learns.

Imports torch and transformers as one is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from gem import MicroBatch
from gem.conversation import Reply, Request
from gem.episode import Episode
from gem.errors import BadArguments, in_one_line
from gem.tokens import ChatCodec, Sampled, TokenPolicy, TokenTerms
from gem_baselines._sampling import Answer, Question
from gem_baselines._torch import check_above_zero, device_named, own_threads, require
from gem_baselines.learning import LearningSettings
from gem_baselines.learning._episodes import learn_from, learnt_rows, values_of
from gem_baselines.learning._settings import settings_of
from gem_baselines.learning_policy import Batch, Floats, LearntRow, Per

if TYPE_CHECKING:
    from gem_baselines.hf._model import HFModel
    from gem_baselines.learning._learner import Learner

__all__ = ["HFPolicy"]

_MOST_REQUESTS = 4096  # in a batch; a sampler divides it
_MOST_TOKENS = 4096  # of an answer that nothing limits
_SAMPLING = "generation_config.json"  # what transformers and vLLM sample by unless told otherwise
_LEARNING: Mapping[str, Any] = {"lr": 1e-6, "rows_at_once": 8}
_LEARNING_FROM_VLLM: Mapping[str, Any] = {**_LEARNING, "importance_cap": 2.0}


class _Sampler(Protocol):
    def sample(self, questions: Sequence[Question], *, is_greedy: bool) -> list[Answer]: ...

    def refresh(self) -> None: ...


class HFPolicy:
    """A causal language model of transformers that plays by tokens and learns.

    - `path`: a folder with its configuration and tokenizer. Where it has no weights they are drawn
      from `seed`, as the configuration says; weights of another kind than `*.safetensors`, or of
      which a part is missing, are refused.
    - `max_turn_tokens`, `max_response_tokens`, `max_length`: limits of a turn's answer, of all that
      follows a prompt, and of a sequence, as `gem.tokens.TokenPolicy` takes them. A sequence is
      never longer than the model's context.
    - `chat_template`: the text of one, in place of the tokenizer's own. `template_options`,
      `tool_format` and `on_rewrite` are those of `gem.tokens.ChatCodec`.
    - `learning`: the fields of `LearningSettings`, of which `lr` is 1e-6 and `rows_at_once` 8 here
      if not given, and with vLLM `importance_cap` 2. `critic` adds one, for `ppo`.
    - `dtype`: of the weights. With "bfloat16" they take half the memory, and small steps are lost
      in rounding; `learning={"precision": "bf16"}` keeps them exact and computes in bfloat16, in
      play as well.
    - `sampler`: "transformers" continues `sample_at_once` sequences together by the model itself;
      "vllm" by an engine that gets the weights after every update, made with `sampler_options`.
    - `device`: where it computes; None for a GPU if there is one.
    - `threads`: of torch, while it samples or learns; None leaves them as they are.

    A request's seed alone decides what is drawn for it, from probabilities that depend by rounding
    on what is answered together, and so on timing. With `sample_at_once` 1 every sequence is
    continued alone: on a CPU the same experiment then has the same metrics, bit for bit, at any
    concurrency and with as many threads. On a GPU, and by vLLM, nothing is promised.

    Raises BadArguments for settings that do not fit and for a folder that cannot be loaded,
    MissingRequirement where torch, transformers or vLLM is missing.
    """

    def __init__(
        self,
        path: str,
        *,
        max_turn_tokens: int | None = 256,
        max_response_tokens: int | None = None,
        max_length: int | None = None,
        chat_template: str | None = None,
        template_options: Mapping[str, Any] | None = None,
        tool_format: str = "template",
        on_rewrite: Literal["split", "refuse", "keep"] = "split",
        learning: Mapping[str, Any] | None = None,
        critic: bool = False,
        dtype: Literal["float32", "bfloat16"] = "float32",
        temperature: float = 1.0,
        sampler: Literal["transformers", "vllm"] = "transformers",
        sampler_options: Mapping[str, Any] | None = None,
        sample_at_once: int = 64,
        device: str | None = None,
        threads: int | None = None,
        seed: int = 0,
        is_greedy: bool = False,
        name: str = "hf",
    ) -> None:
        self._arguments: dict[str, Any] = {
            "path": path,
            "max_turn_tokens": max_turn_tokens,
            "max_response_tokens": max_response_tokens,
            "max_length": max_length,
            "chat_template": chat_template,
            "template_options": None if template_options is None else dict(template_options),
            "tool_format": tool_format,
            "on_rewrite": on_rewrite,
            "learning": None if learning is None else dict(learning),
            "critic": critic,
            "dtype": dtype,
            "temperature": temperature,
            "sampler": sampler,
            "sampler_options": None if sampler_options is None else dict(sampler_options),
            "sample_at_once": sample_at_once,
            "device": device,
            "threads": threads,
            "seed": seed,
            "is_greedy": is_greedy,
            "name": name,
        }
        check_above_zero(temperature=temperature, threads=threads, sample_at_once=sample_at_once)
        if sampler_options and sampler != "vllm":
            raise BadArguments(
                f"sampler_options={sampler_options!r:.80} was given, and the sampler "
                f'{sampler!r} takes none. Leave it out, or choose sampler="vllm".',
                subject="sampler_options",
            )
        require("HFPolicy", ["torch", "transformers", *(["vllm"] if sampler == "vllm" else [])])
        defaults = _LEARNING_FROM_VLLM if sampler == "vllm" else _LEARNING
        self._learning = settings_of(LearningSettings, "learning", {**defaults, **(learning or {})})
        self.name = name
        self.is_greedy = is_greedy
        self._threads = threads
        self._folder = _model_folder(path)
        self._make_parts()
        # It hands on what a function gives; here that is samples, and no answers of a policy.
        self._batches: Any = MicroBatch(
            self._answers,  # type: ignore[arg-type]
            max_batch=_MOST_REQUESTS,
            max_wait_s=0.0,
        )

    def _make_parts(self) -> None:
        from gem_baselines.learning._learner import Learner  # imports torch: seconds

        arguments = self._arguments
        model = self._model()
        codec = self._codec()
        self._end_ids = codec.stop_ids
        max_length = arguments["max_length"]
        if model.context is not None:
            max_length = min(max_length or model.context, model.context)
        self._player = TokenPolicy(
            self._sampled,
            codec,
            max_turn_tokens=arguments["max_turn_tokens"],
            max_response_tokens=arguments["max_response_tokens"],
            max_length=max_length,
            name=self.name,
        )
        self.tokens: TokenTerms = self._player.tokens
        self._learner: Learner = Learner(
            model,
            self._learning,
            temperature=arguments["temperature"],
            seed=arguments["seed"],
        )
        self._sampler = self._make_sampler(model, codec)

    def _model(self) -> HFModel:
        import torch

        from gem_baselines.hf._model import HFModel

        arguments = self._arguments
        found = "cuda" if torch.cuda.is_available() else "cpu"
        device = device_named(arguments["device"] or found)
        try:
            return HFModel(
                self._folder,
                dtype=arguments["dtype"],
                device=device,
                with_critic=arguments["critic"],
                seed=arguments["seed"],
            )
        except Exception as error:  # whatever a damaged or strange folder leads to
            raise self._not_loaded("model", error) from error

    def _codec(self) -> ChatCodec:
        from transformers import AutoTokenizer

        arguments = self._arguments
        try:
            tokenizer: Any = AutoTokenizer.from_pretrained(
                self._folder, local_files_only=True, trust_remote_code=False
            )
        except Exception as error:  # as above
            raise self._not_loaded("tokenizer", error) from error
        if arguments["chat_template"] is not None:
            tokenizer.chat_template = arguments["chat_template"]
        self._tokenizer = tokenizer
        return ChatCodec(
            tokenizer,
            on_rewrite=arguments["on_rewrite"],
            template_options=arguments["template_options"],
            tool_format=arguments["tool_format"],
        )

    def _not_loaded(self, what: str, error: Exception) -> BadArguments:
        return BadArguments(
            f"The {what} in {self._folder} cannot be loaded: {in_one_line(error, at_most=300)}. "
            "Check the folder and the options.",
            subject="path",
        )

    def _make_sampler(self, model: HFModel, codec: ChatCodec) -> _Sampler:
        arguments = self._arguments
        if arguments["sampler"] == "vllm":
            from gem_baselines.hf._vllm import VLLMSampler

            return VLLMSampler(
                self._write,  # answers of the engine end where the codec says, and nowhere else
                end_ids=sorted(codec.stop_ids),
                temperature=arguments["temperature"],
                options={
                    "dtype": arguments["dtype"],
                    "max_model_len": self.tokens.max_length,
                    "seed": arguments["seed"],
                    **(arguments["sampler_options"] or {}),
                },
            )
        from gem_baselines.hf._sampler import LocalSampler

        return LocalSampler(
            model,
            end_ids=sorted(codec.stop_ids),
            temperature=arguments["temperature"],
            rows_at_once=arguments["sample_at_once"],
            is_bf16=self._learning.precision == "bf16",
        )

    async def __call__(self, request: Request) -> Reply:
        return await self._player(request)

    async def _sampled(self, request: Request) -> Sampled:
        sampled: Sampled = await self._batches(request)
        return sampled

    async def _answers(self, requests: list[Request]) -> list[Sampled]:
        """Answer requests together. It computes on the event loop, which waits meanwhile."""
        questions = [
            Question(request.prompt_ids or (), request.token_budget or _MOST_TOKENS, request.seed)
            for request in requests
        ]
        with own_threads(self._threads):
            answers = self._sampler.sample(questions, is_greedy=self.is_greedy)
        ends = self._end_ids
        return [
            Sampled(answer.ids, answer.logprobs, "stop" if answer.ids[-1] in ends else "length")
            for answer in answers
        ]

    def update(self, batch: Batch) -> Mapping[str, float]:
        """Improve by one update, and return its figures: those of the transformer's."""
        with own_threads(self._threads):
            figures = learn_from(batch, self._learner)
            self._sampler.refresh()
        return figures

    def learnt_from(self, batch: Batch, episodes: Sequence[int]) -> Sequence[LearntRow]:
        """Return the rows that an update by this batch learns from, of these episodes alone."""
        with own_threads(self._threads):
            return learnt_rows(batch, episodes, self._learner)

    def values(self, episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
        """Return what the critic expects at the token before each turn's answer, or own token."""
        if not self._arguments["critic"]:
            raise BadArguments(
                "An HFPolicy was asked for values, and has no critic. Make it with critic=True.",
                subject="critic",
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

        restore_state(self._learner, folder)
        self._sampler.refresh()

    def export(self, folder: Path) -> None:
        """Write the model and its tokenizer as transformers, vLLM and `--policy hf:` load them.

        How others are to sample from it, as where an answer ends, stays what its folder said.
        """
        path = self._folder / _SAMPLING
        sampling = path.read_bytes() if path.is_file() else None  # before it may be written over
        self._write(folder)
        # That of `_write` is empty: with it a reader takes no end of an answer from `config.json`.
        (folder / _SAMPLING).unlink(missing_ok=True)
        if sampling is not None:
            (folder / _SAMPLING).write_bytes(sampling)

    def _write(self, folder: Path) -> None:
        """Write the model and its tokenizer, which then say nothing of how to sample."""
        model: Any = self._learner.model
        model.save_pretrained(folder)
        self._tokenizer.save_pretrained(folder)

    def describe(self) -> Mapping[str, Any]:
        return dict(self._arguments)

    async def aclose(self) -> None:
        """Cancel what waits for an answer."""
        await self._batches.aclose()


def _model_folder(path: str) -> Path:
    folder = Path(path)
    if not (folder / "config.json").is_file():
        raise BadArguments(
            f"The model {path!r} was asked for, and {folder} has no config.json. Give a folder as "
            "transformers writes one: nothing is looked up on a network.",
            subject="path",
        )
    return folder
