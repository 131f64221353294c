"""A causal language model of transformers, as a learner reads it. Needs torch and transformers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig
from transformers.utils import logging

__all__ = ["HFModel"]

_SEEDS = 2**64  # of torch's generators
_OTHER_WEIGHTS = (
    "*.safetensors.index.json",  # the list of parts that a download has not brought
    "pytorch_model*.bin*",
    "consolidated*.pth",
    "tf_model*.h5",
    "flax_model*.msgpack",
    "*.gguf",
)
"""The names of weights that are not read here."""


class HFModel(nn.Module):  # type: ignore[misc]  # torch is not read by the type checker
    """A model from a folder, and a critic on its last layer if one is asked for.

    Where the folder has no weights, they are drawn from `seed`, as the model's configuration says.
    Nothing is looked up on a network, and no code of the folder is run. Raises what transformers
    does, and ValueError for weights that are in part missing or in no `*.safetensors`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        dtype: Literal["float32", "bfloat16"],
        device: torch.device,
        with_critic: bool,
        seed: int,
    ) -> None:
        super().__init__()
        self.inner: Any = _loaded(folder, getattr(torch, dtype), seed)
        # Or what the folder says of sampling would fill in what a sampler does not say.
        self.inner.generation_config = GenerationConfig()
        text_config = self.inner.config.get_text_config()
        self.context: int | None = getattr(text_config, "max_position_embeddings", None)
        self.critic: nn.Linear | None = None
        if with_critic:
            # Without drawing weights: torch's global generator is not moved.
            self.critic = nn.utils.skip_init(nn.Linear, text_config.hidden_size, 1)
            # A critic that has seen nothing expects nothing.
            nn.init.zeros_(self.critic.weight)
            nn.init.zeros_(self.critic.bias)
        parameters = inspect.signature(self.inner.forward).parameters
        self._keeps_some_logits = "logits_to_keep" in parameters
        self.to(device)
        # Without dropout: in play and in learning the same tokens have the same probabilities.
        self.eval()

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        device: torch.device = next(self.inner.parameters()).device
        return device

    @property
    def has_critic(self) -> bool:
        """Whether it gives values."""
        return self.critic is not None

    def read(
        self, ids: Tensor, lengths: Tensor, logits_at: Tensor, values_at: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Read rows for a learner: see `CausalModel`."""
        num_tokens = ids.shape[1]
        mask = torch.arange(num_tokens, device=ids.device) < lengths[:, None]
        rows = logits_at // num_tokens
        # A vocabulary is large: logits are computed for the columns alone that some row asks for.
        columns, column_of = torch.unique(logits_at % num_tokens, return_inverse=True)
        options: dict[str, Any] = {"logits_to_keep": columns} if self._keeps_some_logits else {}
        output = self.inner(
            input_ids=ids,
            attention_mask=mask.long(),
            output_hidden_states=self.has_critic,
            use_cache=False,
            **options,
        )
        logits = output.logits[rows, column_of if options else columns[column_of]]
        if self.critic is None:
            return logits, None
        hidden = output.hidden_states[-1].flatten(0, 1)[values_at]
        values: Tensor = self.critic(hidden.to(self.critic.weight.dtype)).squeeze(-1)
        return logits, values

    def save_pretrained(self, folder: Path) -> None:
        """Write the model as transformers and other engines load it; the critic is left out."""
        with _without_bars():
            self.inner.save_pretrained(folder)


def _loaded(folder: Path, dtype: torch.dtype, seed: int) -> Any:
    own: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    # Weights that the folder lacks are drawn on the processor; the generator is left as it was.
    with _without_bars(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed % _SEEDS)
        if any(folder.glob("*.safetensors")):
            model, report = AutoModelForCausalLM.from_pretrained(
                folder, dtype=dtype, use_safetensors=True, output_loading_info=True, **own
            )
            # transformers draws those at random: the model would play, and be none that was meant.
            if missing := sorted(report["missing_keys"]):
                raise ValueError(f"{len(missing)} of its weights are in no file, as {missing[0]}")
            return model
        # Before anything is drawn: who has a model's weights there does not want others.
        if found := sorted(path.name for name in _OTHER_WEIGHTS for path in folder.glob(name)):
            raise ValueError(
                f"weights are read from *.safetensors alone, and there is {found[0]} in their place"
            )
        config = AutoConfig.from_pretrained(folder, **own)
        return AutoModelForCausalLM.from_config(config, dtype=dtype)


@contextmanager
def _without_bars() -> Iterator[None]:
    """Keep transformers from drawing bars into the line that says how far a training is."""
    were_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if were_shown:
            logging.enable_progress_bar()
