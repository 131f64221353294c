"""The tool `python` under chat templates of models in wide use, played by tokens.

A model that calls as its prompt says is understood, and nothing of it is tokenised again.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
from typing import Any

import pytest

import gem

pytest.importorskip("gem_train", reason="gem-train is not installed")

from gem.tokens import (
    ChatCodec,
    Sampled,
    TokenPolicy,
    TokenSequence,
    Trajectory,
)

pytestmark = pytest.mark.usefixtures("bwrap")

JSON = '{"name": "python", "arguments": {"code": "print(6 * 7)"}}'
HERMES = f"<tool_call>\n{JSON}\n</tool_call>"
GLM = (
    "\n<think>Hm.</think>\n<tool_call>python\n<arg_key>code</arg_key>\n"
    "<arg_value>print(6 * 7)</arg_value>\n</tool_call>"
)
TEMPLATES = {
    "qwen2_5": ("<|im_end|>", "return a json object with function name", HERMES),
    "qwen3": ("<|im_end|>", "return a json object with function name", HERMES),
    "llama3_1": (
        "<|eot_id|>",
        '{"name": function name, "p',
        JSON.replace("arguments", "parameters"),
    ),
    "mistral_v3": ("</s>", "[AVAILABLE_TOOLS]", f" [TOOL_CALLS] [{JSON}]"),
    "gemma3": ("<end_of_turn>", "as JSON within <tool_call></tool_call>", HERMES),
    "glm4moe": ("<|observation|>", "<arg_key>{arg-key-1}</arg_key>", GLM),
}
"""What ends a call, what the prompt says of calls, and one as it says."""

ANSWERS = {"glm4moe": r"\boxed{7}", "mistral_v3": r" \boxed{7}"}


def template(name: str) -> str:
    """Read a template as a package carries it, which need not be imported or whole."""
    if name == "mistral_v3":
        generator = pytest.importorskip(
            "mistral_common.integrations.chat_templates.template_generator"
        )
        version = generator.TokenizerVersion("v3")
        config = generator.TemplateConfig(
            version=version, spm=True, use_special_token_variables=True
        )
        return str(generator.build_chat_template(config))
    try:
        files = importlib.metadata.files("trl") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("TRL, which carries the templates, is not installed")
    return str(
        next(path for path in files if path.match(f"chat_templates/{name}.jinja")).read_text()
    )


def tokenizer_with(name: str, end: str) -> Any:
    """Return a tokenizer of bytes that merges a few of them, with a template."""
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merged = [*letters, '{"', '"}', "pr", "int", "in"]
    merges = [("{", '"'), ('"', "}"), ("p", "r"), ("i", "n"), ("in", "t")]
    vocabulary = {token: at for at, token in enumerate(merged)}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token=end
    )
    tokenizer.chat_template = template(name)
    return tokenizer


def played(name: str, wrapper: str) -> tuple[Any, gem.Episode]:
    """Play a game in which the model calls twice, and then guesses."""
    end, asks, call = TEMPLATES[name]
    tokenizer = tokenizer_with(name, end)
    codec = ChatCodec(tokenizer, on_rewrite="refuse")

    def sample(request: gem.Request) -> Sampled:
        assert asks in tokenizer.decode(list(request.prompt_ids or ()))
        said = call if request.turn < 2 else ANSWERS.get(name, r"\boxed{7}")
        return Sampled([*letter_by_letter(tokenizer, said), tokenizer.eos_token_id])

    async def episode() -> gem.Episode:
        run = gem.rollout(
            TokenPolicy(sample, codec), "test:Guess", wrappers=[wrapper], max_turns=3, seed=0
        )
        [only] = [episode async for episode in run]
        return only

    return tokenizer, asyncio.run(episode())


def letter_by_letter(tokenizer: Any, text: str) -> list[int]:
    """Tokenise as no tokenizer does, so that tokenising what was said again would show."""
    return [id for letter in text for id in tokenizer.encode(letter, add_special_tokens=False)]


@pytest.fixture(autouse=True)
def _guess() -> Any:
    from gem.testing import registrations_undone

    with registrations_undone():
        gem.register("test:Guess", "gem.testing.envs:Guess", highest=31)
        yield


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_a_model_that_calls_as_its_prompt_says_is_understood(name: str) -> None:
    tokenizer, episode = played(name, "python_tool")

    assert [turn.reward for turn in episode.turns[:2]] == pytest.approx([0.1, 0.1])
    assert [result.content for turn in episode.turns[:2] for result in turn.tool_results] == [
        "42",
        "42",
    ]
    [sequence] = Trajectory.of(episode).sequences
    assert said(sequence) == [
        id
        for text in (TEMPLATES[name][2], TEMPLATES[name][2], ANSWERS.get(name, r"\boxed{7}"))
        for id in [*letter_by_letter(tokenizer, text), tokenizer.eos_token_id]
    ]


def test_with_a_format_of_ones_own_nobody_else_tells_how_to_call() -> None:
    tokenizer = tokenizer_with("qwen3", "<|im_end|>")
    tools = {"id": "tools", "tools": [{"id": "python"}], "format": "tags"}
    seen: list[str] = []

    def sample(request: gem.Request) -> Sampled:
        seen.append(tokenizer.decode(list(request.prompt_ids or ())))
        return Sampled([*letter_by_letter(tokenizer, "<python>print(6 * 7)</python>")])

    async def episode() -> gem.Episode:
        policy = TokenPolicy(sample, ChatCodec(tokenizer))
        run = gem.rollout(policy, "test:Guess", wrappers=[tools], max_turns=2, seed=0)
        [only] = [episode async for episode in run]
        return only

    asyncio.run(episode())

    env: Any = gem.make("test:Guess", wrappers=[tools])
    assert env.tools == ()
    assert [schema["function"]["name"] for schema in env.callable_tools] == ["python"]
    assert "tool_call" not in seen[0]
    assert "<tool_response>\n42\n</tool_response>" in seen[1]


def said(sequence: TokenSequence) -> list[int]:
    """Return the tokens that the model said."""
    pairs = zip(sequence.response_ids, sequence.response_mask, strict=True)
    return [id for id, is_said in pairs if is_said]
