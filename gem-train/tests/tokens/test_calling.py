"""Tools as a chat template shows them, and calls as its model then writes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import gem
from gem import Message, Step, ToolCall
from gem.errors import BadArguments
from gem.parsing import FAMILIES
from gem.tokens import ChatCodec, Sampled, TokenPolicy, TokenSequence, Trajectory

HELLO = Message("user", "Hello.")
CODE = "print('<b>')\nprint(6 * 7)"
JSON = r'{"name": "python", "arguments": {"code": "print(\u0027<b>\u0027)\nprint(6 * 7)"}}'
HERMES = f"<tool_call>\n{JSON}\n</tool_call>"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "python",
            "parameters": {
                "type": "object",
                "properties": {"code": {"type": "string"}, "tries": {"type": "integer"}},
                "required": ["code"],
            },
        },
    }
]

CALLS = {
    "qwen2_5": f"Let me see.\n{HERMES}",
    "qwen3": f"<think>\nHm.\n</think>\n\n{HERMES}",
    "qwen3_5_think": (
        "Hm.\n</think>\n\n<tool_call>\n<function=python>\n<parameter=code>\n"
        f"{CODE}\n</parameter>\n</function>\n</tool_call>"
    ),
    "llama3_1": JSON.replace("arguments", "parameters"),
    "mistral_v3": f" [TOOL_CALLS] [{JSON}]",
    "mistral_nemo": f"[TOOL_CALLS][{JSON}]",
    "mistral_v13": r'[TOOL_CALLS]python[ARGS]{"code": "print(\u0027<b>\u0027)\nprint(6 * 7)"}',
    "glm4moe": (
        "\n<think>Hm.</think>\n<tool_call>python\n<arg_key>code</arg_key>\n"
        f"<arg_value>{CODE}</arg_value>\n</tool_call>"
    ),
    "lfm2_2_5": r"""[python(code="print('<b>')\nprint(6 * 7)")]""",
    "gemma3": f"I call it. {HERMES}",
    "deepseekv3": HERMES,
    "gptoss": HERMES,
    "llama2": HERMES,
    "llama3": HERMES,
    "mistral_v1": HERMES,
    "phi3": HERMES,
}
"""A call as the template asks for it; those of which none is asked are told by us how to call."""

ENDS = {"glm4moe": "<|observation|>"}  # of a call; its answers end otherwise
TOLD = ["deepseekv3", "gemma3", "gptoss", "llama2", "llama3", "mistral_v1", "phi3"]
LISTED = sorted({*CALLS} - {*TOLD})
KEPT = sorted({*CALLS} - {"deepseekv3", "gptoss"})  # whose templates show another beginning


@pytest.mark.parametrize("name", LISTED)
def test_what_a_template_lists_is_called_as_it_asks(
    name: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    codec = ChatCodec(tokenizer)
    asked = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hello."}],
        tools=TOOLS,
        tokenize=False,
        add_generation_prompt=True,
    )

    assert tokenizer.decode(codec.opening([HELLO], TOOLS)) == asked
    assert codec.calling.is_listed


@pytest.mark.parametrize("name", TOLD)
def test_what_no_template_lists_the_first_message_tells(
    name: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)

    opening = tokenizer.decode(ChatCodec(tokenizer).opening([HELLO], TOOLS))

    assert '"name": "python"' in opening
    assert '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}' in opening
    assert opening.index("# Tools") < opening.index("Hello.")


STRICT = (
    "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}"
    "{% if m.role == 'tool' %}{{ raise_exception('no results') }}{% endif %}"
    "{% for call in m.tool_calls or () %}<tool_call>{{ call.function | tojson }}</tool_call>"
    "{% endfor %}{{ m.content }}</s>{% endfor %}"
)
"""Lists tools and shows calls, and knows no results."""

DEAF = STRICT.replace("{{ tools | tojson }}", "{{ raise_exception('no tools') }}")


def test_results_that_a_template_refuses_are_a_users(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("strict", STRICT)
    messages = [HELLO, Message("assistant", HERMES), Message("tool", "42", call_id="a")]

    added = ChatCodec(tokenizer).following(messages, 1, 1, [], TOOLS)

    assert added is not None
    assert tokenizer.decode(added) == "</s><tool_response>\n42\n</tool_response></s>"


def test_a_template_that_refuses_tools_is_given_none(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("deaf to tools", DEAF)

    opening = tokenizer.decode(ChatCodec(tokenizer).opening([HELLO], TOOLS))

    assert opening.startswith("# Tools")


def test_it_is_told_below_what_the_system_says(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("phi3")

    opening = tokenizer.decode(
        ChatCodec(tokenizer).opening([Message("system", "Be brief."), HELLO], TOOLS)
    )

    assert opening.index("Be brief.") < opening.index("# Tools") < opening.index("<|user|>")


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_call_as_the_prompt_asks_for_it_is_read(
    name: str, tokenizer_of: Callable[..., Any]
) -> None:
    codec = ChatCodec(tokenizer_of(name))

    message = codec.message(codec.encode(CALLS[name]), TOOLS, turn=12)

    assert message == Message(
        "assistant", CALLS[name], (ToolCall("c00120000", "python", {"code": CODE}),)
    )


def test_without_tools_nothing_is_a_call(tokenizer_of: Callable[..., Any]) -> None:
    codec = ChatCodec(tokenizer_of("qwen3"))

    assert codec.message(codec.encode(HERMES)) == Message("assistant", HERMES)


@pytest.mark.parametrize(
    ("name", "said", "why"),
    [
        ("qwen3", '<tool_call>{"name": "python",}</tool_call>', "it is not JSON"),
        ("llama3_1", '{"name": "python", "parameters": {"code": }}', "it is not JSON"),
        ("mistral_v3", '[TOOL_CALLS] [{"name": ', "it is not JSON"),
        ("glm4moe", "<tool_call>python\n<arg_key>code</tool_call>", "An <arg_key> is not followed"),
        ("gemma3", "<tool_call>", "is not closed"),
    ],
)
def test_a_call_that_cannot_be_read_says_why(
    name: str, said: str, why: str, tokenizer_of: Callable[..., Any]
) -> None:
    codec = ChatCodec(tokenizer_of(name))

    [call] = codec.message(codec.encode(said), TOOLS).tool_calls

    assert why in call.arguments["$reason"]


class Adding(gem.Env):
    """Has a tool of its own, and ends at the first action without a call."""

    tools = tuple(TOOLS)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Hello.", {}

    def step(self, action: str) -> Step:
        calls = action.tool_calls if isinstance(action, gem.Action) else ()
        results = tuple(Message("tool", "42", call_id=call.id) for call in calls)
        right = sum(call.arguments.get("code") == CODE for call in calls)
        return Step(results or "Over.", float(right), not calls, False, {})


ADDING = gem.register("calling:Adding", Adding).id


def played(codec: ChatCodec, tokenizer: Any, call: str, end: str) -> tuple[TokenSequence, ...]:
    """Return the sequences of an episode of two calls and an answer."""

    def sample(request: gem.Request) -> Sampled:
        said = "It is 42." if request.turn == 2 else call
        return Sampled([*codec.encode(said), tokenizer.convert_tokens_to_ids(end)])

    async def episode() -> gem.Episode:
        [only] = [each async for each in gem.rollout(TokenPolicy(sample, codec), ADDING, seed=1)]
        assert only.total_reward == 2, only.error
        return only

    return Trajectory.of(asyncio.run(episode())).sequences


@pytest.mark.parametrize("name", KEPT)
def test_a_conversation_with_calls_is_one_sequence(
    name: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    end = ENDS.get(name, tokenizer.eos_token)
    codec = ChatCodec(tokenizer, on_rewrite="refuse", stop_ids=tokenizer.all_special_ids)

    [sequence] = played(codec, tokenizer, CALLS[name], end)

    text = tokenizer.decode(sequence.response_ids)
    assert text.count(CALLS[name] + end) == 2
    assert end * 2 not in text
    assert "# Tools" not in text
    assert sequence.response_mask.count(1) == sum(
        len(codec.encode(each)) + 1 for each in (CALLS[name], CALLS[name], "It is 42.")
    )


RESULTS = {
    "qwen3": "<|im_end|>\n<|im_start|>user\n<tool_response>\n42\n</tool_response><|im_end|>\n",
    "llama3_1": '<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n"42"<|eot_id|>',
    "mistral_v3": '</s>[TOOL_RESULTS] {"content": 42, "call_id": "c00000000"}[/TOOL_RESULTS]',
    "glm4moe": "<|observation|>\n<tool_response>\n42\n</tool_response>",
    "gemma3": (
        "<end_of_turn>\n<start_of_turn>user\n<tool_response>\n42\n</tool_response><end_of_turn>\n"
    ),
}


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_results_stand_where_the_template_has_them(
    name: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    codec = ChatCodec(tokenizer, on_rewrite="refuse", stop_ids=tokenizer.all_special_ids)

    [sequence] = played(codec, tokenizer, CALLS[name], ENDS.get(name, tokenizer.eos_token))

    assert CALLS[name] + RESULTS[name] in tokenizer.decode(sequence.response_ids)


def test_results_of_one_turn_are_one_message_of_the_user(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("gemma3")
    codec = ChatCodec(tokenizer)
    said = [Message("tool", "1", call_id="a"), Message("tool", "2", call_id="b")]
    messages = [HELLO, Message("assistant", "Two calls."), *said]

    added = codec.following(messages, 1, 1, codec.encode("Two calls."), TOOLS)

    tags = "<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>"
    assert tokenizer.decode(added) == (
        f"<end_of_turn>\n<start_of_turn>user\n{tags}<end_of_turn>\n<start_of_turn>model\n"
    )


SHOWN = {
    "qwen3": '<tool_call>\n{"name": "python", "arguments": {"code": "1 + 1"}}\n</tool_call>',
    "llama3_1": '{"name": "python", "parameters": {"code": "1 + 1"}}',
    "mistral_nemo": '[TOOL_CALLS][{"name": "python", "arguments": {"code": "1 + 1"}',
    "gemma3": '<tool_call>\n{"name": "python", "arguments": {"code": "1 + 1"}}\n</tool_call>',
}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_calls_that_an_environment_shows_as_an_example_are_in_the_prompt(
    name: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    call = ToolCall("c00000000", "python", {"code": "1 + 1"})
    example = [HELLO, Message("assistant", "", (call,)), Message("tool", "2", call_id=call.id)]

    prompt = tokenizer.decode(ChatCodec(tokenizer).opening(example, TOOLS))

    assert prompt.count("1 + 1") == 1
    assert SHOWN[name] in prompt


@pytest.mark.parametrize("name", ["qwen3", "gemma3"])
def test_calls_of_the_model_stand_once_in_the_prompt(
    name: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    codec = ChatCodec(tokenizer)
    said = codec.message(codec.encode(HERMES), TOOLS)

    prompt = tokenizer.decode(codec.opening([HELLO, said, HELLO], TOOLS))

    assert prompt.count("print") == HERMES.count("print")


# choices


def test_calls_can_be_left_to_the_environment(tokenizer_of: Callable[..., Any]) -> None:
    tokenizer = tokenizer_of("qwen3")
    codec = ChatCodec(tokenizer, tool_format="text")

    assert codec.opening([HELLO], TOOLS) == codec.opening([HELLO])
    assert codec.message(codec.encode(HERMES), TOOLS).tool_calls == ()


@pytest.mark.parametrize("name", ["qwen3", "gemma3"])
def test_another_format_can_be_read_than_the_template_asks_for(
    name: str, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of(name)
    codec = ChatCodec(tokenizer, tool_format="glm")

    [call] = codec.message(codec.encode(CALLS["glm4moe"]), TOOLS).tool_calls

    assert call.arguments == {"code": CODE}
    assert "# Tools" not in tokenizer.decode(codec.opening([HELLO], TOOLS)) or name == "qwen3"


def test_a_format_that_there_is_not_is_refused(tokenizer_of: Callable[..., Any]) -> None:
    with pytest.raises(BadArguments, match="tool_format is 'xml', and must be 'template'"):
        ChatCodec(tokenizer_of("qwen3"), tool_format="xml")


def test_each_family_has_a_word() -> None:
    assert [*FAMILIES] == ["hermes", "mistral", "glm", "qwen", "llama", "pythonic"]
