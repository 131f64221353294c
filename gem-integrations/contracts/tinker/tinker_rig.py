"""What stands for Tinker's sampler: a completer that follows the script."""

from __future__ import annotations

from typing import Any

import tinker
from harness import scripted
from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs


class Scripted(TokenCompleter):
    """Answers as the script says, which begins with `first`."""

    def __init__(self, tokenizer: Any, *, first: str = "") -> None:
        self._tokenizer = tokenizer
        self._first = first

    async def __call__(
        self, model_input: tinker.ModelInput, stop: Any, *, max_tokens: int | None = None
    ) -> TokensWithLogprobs:
        said = scripted(self._tokenizer, model_input.to_ints(), max_tokens, first=self._first)
        return TokensWithLogprobs([*said.ids], [*(said.logprobs or ())], stop_reason="stop")
