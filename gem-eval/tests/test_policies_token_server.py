"""Tokens from servers that speak as vLLM and SGLang do: real ones, on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import gem
from gem.content import ImagePart, Message, TextPart
from gem.errors import BadArguments
from gem_eval.errors import PolicyError, ServerAwayError

pytest.importorskip("gem_train", reason="gem-eval's extra `tokens` is not installed")

# What is absent is skipped before it is met.
from gem.tokens import ChatCodec, Sampled, TokenPolicy, Trajectory
from gem_eval.policies.token_server import TokenServer

GAME = "tokens:Guess"
BOTH = pytest.mark.parametrize("api", ["vllm", "sglang"])


class Tokenizer:
    """Bytes, and a few words that are one token each: the model never says those."""

    eos_token_id = 3
    all_special_ids = (3,)
    words = ("user", "assistant", "\\boxed", "higher", "lower")

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        ids: list[int] = []
        text = text.replace("<end>", "\x03")
        while text:
            word = next((each for each in self.words if text.startswith(each)), text[0])
            ids += [256 + self.words.index(word)] if word in self.words else [*word.encode()]
            text = text[len(word) :]
        return ids

    def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        pieces = [self.words[id - 256].encode() if id >= 256 else bytes([id]) for id in token_ids]
        return b"".join(pieces).decode(errors="replace").replace("\x03", "<end>")

    def apply_chat_template(self, conversation: Any, **options: Any) -> str:
        said = "".join(f"{each['role']}: {each['content']}<end>\n" for each in conversation)
        return said + ("assistant: " if options["add_generation_prompt"] else "")


TOKENIZER = Tokenizer()
CODEC = ChatCodec(TOKENIZER)  # type: ignore[arg-type]


def model(prompt_ids: Sequence[int], budget: int) -> Sampled:
    """Say a guess that the prompt alone decides, letter by letter."""
    guess = 1 + sum(prompt_ids) % 31
    ids = [*rf"I try \boxed{{{guess}}}".encode(), TOKENIZER.eos_token_id][:budget]
    is_whole = ids[-1] == TOKENIZER.eos_token_id
    logprobs = [-(id + len(prompt_ids)) / 64 for id in ids]
    return Sampled(ids, logprobs, "stop" if is_whole else "length")


def written(api: str, prompt_ids: Sequence[int], said: Sampled, reason: str | None = None) -> Any:
    """Return an answer as the server writes it."""
    reason = reason or said.finish_reason
    if api == "vllm":
        logprobs = {
            "tokens": [f"token_id:{id}" for id in said.ids],
            "token_logprobs": said.logprobs,
        }
        choice = {
            "text": TOKENIZER.decode(said.ids),
            "prompt_token_ids": list(prompt_ids),
            "token_ids": said.ids,
            "logprobs": logprobs,
            "finish_reason": reason,
        }
        return {"choices": [choice], "usage": {}}
    pairs = [[each, id, None] for each, id in zip(said.logprobs or (), said.ids, strict=True)]
    about = {
        "prompt_tokens": len(prompt_ids),
        "output_token_logprobs": pairs,
        "finish_reason": {"type": reason},
    }
    return {"text": TOKENIZER.decode(said.ids), "output_ids": said.ids, "meta_info": about}


def asked_for(api: str, body: Any) -> tuple[list[int], int]:
    """Return the prompt and the limit of a request."""
    if api == "vllm":
        return body["prompt"], body["max_tokens"]
    return body["input_ids"], body["sampling_params"]["max_new_tokens"]


class Engine:
    """An inference server of one API. It gives `first` answers in turn, and then the model's."""

    def __init__(self, api: str, server: Any, answers: Any) -> None:
        self.api = api
        self.first: list[Any] = []
        self._answers = answers
        self.asked: list[Any] = server.asked
        self.url = server.url if api == "vllm" else server.url.removesuffix("/v1")
        server.next = self._next

    def _next(self, asked: Any) -> Any:
        self.asked.append(asked)
        if self.first:
            answer = self.first.pop(0)
            return answer(asked.body) if callable(answer) else answer
        prompt, budget = asked_for(self.api, asked.body)
        return self.says(written(self.api, prompt, model(prompt, budget)))

    def says(self, plain: Any, status: int = 200, **more: Any) -> Any:
        body = plain if isinstance(plain, bytes) else json.dumps(plain).encode()
        return self._answers.Answer(status=status, body=body, **more)

    def sampler(self, **options: Any) -> TokenServer:
        options = {"codec": CODEC, "model": "m", "backoff_s": 0.001, **options}
        return TokenServer(self.url, api=self.api, **options)


@pytest.fixture
def engine(api: str, server: Any, answers: Any) -> Engine:
    return Engine(api, server, answers)


@pytest.fixture(autouse=True)
def _game() -> Iterator[None]:
    from gem.testing import registrations_undone

    with registrations_undone():
        gem.register(GAME, "gem.testing.envs:Guess", highest=31)
        yield


def sampled(
    sampler: TokenServer,
    prompt: str = "user: Hm.",
    budget: int | None = 64,
    messages: Sequence[Message] = (),
) -> Sampled:
    """Ask once."""
    ids = tuple(TOKENIZER.encode(prompt, add_special_tokens=False))

    async def ask() -> Sampled:
        try:
            return await sampler(gem.Request(messages, None, (), ids, budget, seed=7))
        finally:
            await sampler.aclose()

    return asyncio.run(ask())


def played(sample: Callable[[gem.Request], Any], episodes: int) -> list[Any]:
    """Return what a trainer takes of episodes, all of them in flight at once."""

    async def run() -> list[gem.Episode]:
        policy = TokenPolicy(sample, CODEC, max_turn_tokens=16)
        rollout = gem.rollout(policy, GAME, episodes=episodes, concurrency=episodes, seed=1)
        done = [each async for each in rollout]
        await policy.aclose()
        return sorted(done, key=lambda each: each.seed)

    trajectories = [Trajectory.of(each) for each in asyncio.run(run())]
    return [(each.sequences, each.rewards) for each in trajectories]


@BOTH
def test_episodes_are_those_of_a_model_in_this_process(engine: Engine) -> None:
    def here(request: gem.Request) -> Sampled:
        return model(request.prompt_ids or (), request.token_budget or 0)

    there = played(engine.sampler(), 24)

    assert there == played(here, 24)
    assert len(engine.asked) > 24


@BOTH
def test_a_request_has_ids_a_limit_the_ends_of_a_turn_and_a_seed(engine: Engine) -> None:
    said = sampled(engine.sampler(options={"top_k": 5}), budget=9)

    [asked] = engine.asked
    params = asked.body if engine.api == "vllm" else asked.body["sampling_params"]
    prompt, limit = asked_for(engine.api, asked.body)
    seed = params["seed" if engine.api == "vllm" else "sampling_seed"]
    assert prompt == TOKENIZER.encode("user: Hm.", add_special_tokens=False)
    assert (limit, params["stop_token_ids"], seed) == (9, [3], 7)
    assert (params["temperature"], params["top_k"]) == (1.0, 5)
    assert len(said.ids) == 9
    assert said.finish_reason == "length"


@BOTH
def test_a_server_may_draw_its_own_seeds(engine: Engine) -> None:
    sampled(engine.sampler(sends_seed=False))

    assert "seed" not in json.dumps(engine.asked[0].body)


@BOTH
def test_the_smaller_limit_counts(engine: Engine) -> None:
    said = sampled(engine.sampler(max_tokens=5), budget=None)

    assert len(said.ids) == 5


@BOTH
def test_a_server_that_is_busy_is_asked_again(engine: Engine) -> None:
    engine.first = [
        engine.says({}, 500),
        engine.says({}, 429, headers=(("Retry-After", "0"),)),
    ]

    said = sampled(engine.sampler())

    assert said.finish_reason == "stop"
    assert len(engine.asked) == 3


@BOTH
def test_a_server_that_goes_on_to_fail_is_an_error(engine: Engine) -> None:
    looked_for = engine.says({})
    engine.first = [engine.says({"error": "broken"}, 500), looked_for] * 9

    with pytest.raises(PolicyError, match=r"answered 500: .*broken.* \(after 3 attempts\)"):
        sampled(engine.sampler(max_retries=2))


@BOTH
def test_a_server_that_is_away_is_waited_for(engine: Engine, answers: Any) -> None:
    engine.first = [
        engine.says({"error": "loading"}, 503),
        answers.Answer(drops=True),  # of the request that looks for it
    ]

    said = sampled(engine.sampler(max_retries=0))

    limits = [asked_for(engine.api, each.body)[1] for each in engine.asked]
    assert said.finish_reason == "stop"
    assert limits == [64, 1, 1, 64]


@BOTH
def test_a_server_that_stays_away_is_an_error(engine: Engine) -> None:
    engine.first = [engine.says({"error": "loading"}, 503)] * 9
    sampler = engine.sampler(wait_for_server_s=0.0)

    with pytest.raises(ServerAwayError, match=r"answered 503: .*loading.*See that it runs"):
        sampled(sampler)
    assert sampler.state == ""


@BOTH
def test_an_answer_that_is_broken_off_goes_on_where_it_was(engine: Engine) -> None:
    prompt = TOKENIZER.encode("user: Hm.", add_special_tokens=False)
    whole = model(prompt, 64)
    begun = Sampled(whole.ids[:4], (whole.logprobs or ())[:4])
    rest = Sampled(whole.ids[4:], (whole.logprobs or ())[4:])
    engine.first = [
        engine.says(written(engine.api, prompt, begun, "abort")),
        engine.says(written(engine.api, [*prompt, *begun.ids], Sampled([], []), "abort")),
        engine.says(written(engine.api, [*prompt, *begun.ids], rest, "stop")),
    ]

    said = sampled(engine.sampler())

    assert (said.ids, said.logprobs) == (whole.ids, whole.logprobs)
    asked = [asked_for(engine.api, each.body) for each in engine.asked]
    assert asked == [(prompt, 64), ([*prompt, *begun.ids], 60), ([*prompt, *begun.ids], 60)]


@BOTH
def test_tokens_make_the_attempts_count_anew(engine: Engine) -> None:
    prompt = TOKENIZER.encode("user: Hm.", add_special_tokens=False)
    whole = model(prompt, 64)
    begun = Sampled(whole.ids[:4], (whole.logprobs or ())[:4])
    rest = Sampled(whole.ids[4:], (whole.logprobs or ())[4:])
    engine.first = [
        engine.says({}, 500),
        engine.says({}),  # to the request that looks for it
        engine.says(written(engine.api, prompt, begun, "abort")),
        engine.says({}, 500),
        engine.says({}),  # to the request that looks for it
        engine.says(written(engine.api, [*prompt, *begun.ids], rest, "stop")),
    ]

    assert sampled(engine.sampler(max_retries=1)).ids == whole.ids


@BOTH
def test_one_that_is_broken_off_at_its_limit_is_whole(engine: Engine) -> None:
    prompt = TOKENIZER.encode("user: Hm.", add_special_tokens=False)
    engine.first = [engine.says(written(engine.api, prompt, model(prompt, 4), "abort"))]

    said = sampled(engine.sampler(), budget=4)

    assert (len(said.ids), said.finish_reason) == (4, "length")


@BOTH
def test_a_server_that_breaks_everything_off_is_an_error(engine: Engine) -> None:
    prompt = TOKENIZER.encode("user: Hm.", add_special_tokens=False)
    broken = engine.says(written(engine.api, prompt, Sampled([], []), "abort"))
    engine.first = [broken] * 9

    with pytest.raises(PolicyError, match=r"broke an answer off \(after 2 attempts\)"):
        sampled(engine.sampler(max_retries=1))


@BOTH
def test_a_prompt_over_the_context_says_what_to_set(engine: Engine) -> None:
    said = "This model's maximum context length is 8 tokens."
    engine.first = [engine.says({"error": {"message": said}}, 400)]

    with pytest.raises(
        PolicyError, match=r"prompt has 6 tokens.* set the TokenPolicy's max_length"
    ):
        sampled(engine.sampler())
    assert len(engine.asked) == 1


@BOTH
def test_any_other_refusal_is_final(engine: Engine) -> None:
    engine.first = [engine.says(b"no such model", 404)]

    with pytest.raises(PolicyError, match=r"answered 404: no such model\. Check the address"):
        sampled(engine.sampler())


@BOTH
def test_the_deadline_is_of_all_attempts(engine: Engine, answers: Any) -> None:
    engine.first = [answers.Answer(hangs=True)]

    with pytest.raises(PolicyError, match=r"did not finish an answer within 0\.2 s"):
        sampled(engine.sampler(total_timeout_s=0.2))


@BOTH
def test_who_stops_waiting_makes_the_server_stop(engine: Engine, answers: Any) -> None:
    engine.first = [answers.Answer(hangs=True), engine.says({})]
    sampler = engine.sampler()

    async def leave() -> None:
        asking = asyncio.ensure_future(sampler(gem.Request(prompt_ids=(1, 2), token_budget=4)))
        while not engine.asked:
            await asyncio.sleep(0.001)
        asking.cancel()
        await asyncio.wait([asking])
        await sampler.aclose()
        assert asking.cancelled()

    asyncio.run(leave())

    given_up = [each.body for each in engine.asked if each.path.endswith("/abort_request")]
    assert given_up == ([{"rid": engine.asked[0].body["rid"]}] if engine.api == "sglang" else [])


@pytest.mark.parametrize("api", ["sglang"])
def test_it_does_not_matter_whether_the_server_hears_of_that(engine: Engine, answers: Any) -> None:
    engine.first = [answers.Answer(hangs=True), answers.Answer(drops=True)]

    with pytest.raises(PolicyError, match="did not finish"):
        sampled(engine.sampler(total_timeout_s=0.2))


@BOTH
def test_one_engine_serves_one_event_loop_after_another(engine: Engine) -> None:
    sampler = engine.sampler()

    assert sampled(sampler) == sampled(sampler)


@pytest.mark.parametrize("api", ["vllm"])
def test_versions_without_ids_name_tokens_by_them(engine: Engine) -> None:
    prompt = TOKENIZER.encode("user: Hm.", add_special_tokens=False)
    whole = model(prompt, 64)
    older = written("vllm", prompt, whole)
    del older["choices"][0]["token_ids"], older["choices"][0]["prompt_token_ids"]
    engine.first = [engine.says(older)]

    assert sampled(engine.sampler()) == whole


def vllm(**choice: Any) -> Any:
    logprobs = {"token_logprobs": [-1.0], "tokens": ["token_id:4"]}
    return {"choices": [{"token_ids": [4], "logprobs": logprobs, **choice}]}


def sglang(**about: Any) -> Any:
    return {"meta_info": {"output_token_logprobs": [[-1.0, 4, None]], **about}}


@pytest.mark.parametrize(
    ("api", "plain", "why"),
    [
        ("vllm", b"{", "it is not JSON"),
        ("vllm", [], "it has no 'choices.0'"),
        ("vllm", {"choices": []}, "it has no 'choices.0'"),
        ("vllm", {"choices": ["x"]}, "it has no 'logprobs.token_logprobs'"),
        ("vllm", vllm(logprobs=None), "it has no 'logprobs.token_logprobs'"),
        ("vllm", vllm(prompt_token_ids=[1]), "it is about another prompt than was sent"),
        ("vllm", vllm(token_ids="4"), "it has no list where tokens belong"),
        ("vllm", vllm(token_ids=[True]), "its token ids are not numbers"),
        ("vllm", vllm(token_ids=[4, 5]), "it has 2 tokens and 1 logprobs"),
        ("vllm", vllm(logprobs={"token_logprobs": [None]}), "its logprobs are not numbers"),
        (
            "vllm",
            vllm(token_ids=None, logprobs={"token_logprobs": [-1], "tokens": ["four"]}),
            "its tokens are not named by their ids",
        ),
        ("sglang", {"text": "4"}, "it has no 'meta_info'"),
        ("sglang", sglang(prompt_tokens=99), "it is about a prompt of another length"),
        ("sglang", sglang(output_token_logprobs=[4]), "its 'output_token_logprobs' are no pairs"),
        ("sglang", sglang(), "it has no 'finish_reason.type'"),
        (
            "sglang",
            sglang(output_token_logprobs=[[-1.0, 4]] * 65, finish_reason={"type": "stop"}),
            "it has 65 tokens, and 64 were asked for at most",
        ),
    ],
)
def test_an_answer_of_another_shape_is_an_error(engine: Engine, plain: Any, why: str) -> None:
    engine.first = [engine.says(plain)]

    with pytest.raises(PolicyError, match=f"sent a reply that cannot be read: {why}"):
        sampled(engine.sampler())


@BOTH
def test_a_reason_that_is_not_known_is_another(engine: Engine) -> None:
    prompt = TOKENIZER.encode("user: Hm.", add_special_tokens=False)
    engine.first = [engine.says(written(engine.api, prompt, model(prompt, 9), "tired"))]

    assert sampled(engine.sampler()).finish_reason == "other"


@BOTH
def test_the_key_goes_to_the_server_and_into_no_error(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGINE_KEY", "secret-77")
    engine.first = [engine.says(b"bad key secret-77", 401)]

    with pytest.raises(PolicyError, match=r"answered 401: bad key \*\*\*\."):
        sampled(engine.sampler(api_key_env="ENGINE_KEY"))
    assert "Bearer secret-77" in engine.asked[0].headers.values()


# arguments


@BOTH
def test_an_answer_needs_a_limit(engine: Engine) -> None:
    with pytest.raises(BadArguments, match="was to answer without a limit"):
        sampled(engine.sampler(), budget=None)


@BOTH
def test_a_request_with_an_image_is_refused_and_never_sent_without_it(engine: Engine) -> None:
    seen = (Message("user", (TextPart("Look:"), ImagePart(b"a picture"))),)

    with pytest.raises(BadArguments, match="a TokenServer sends tokens alone"):
        sampled(engine.sampler(), messages=seen)
    assert engine.asked == []
    assert sampled(engine.sampler(), messages=(Message("user", (TextPart("Hm."),)),)).ids


def test_an_api_that_there_is_not_is_refused() -> None:
    with pytest.raises(BadArguments, match=r"api='tgi'\. There are: vllm, sglang"):
        TokenServer("http://127.0.0.1:1", api="tgi")


@pytest.mark.parametrize("stop_ids", ["<end>", ["<end>"], [2, 1.5], [None], [True]])
def test_what_ends_a_turn_is_named_by_ids(stop_ids: Any) -> None:
    with pytest.raises(BadArguments, match=r"stop_ids with .* in them, and they are ids"):
        TokenServer("http://127.0.0.1:1", api="sglang", stop_ids=stop_ids)


def test_vllm_needs_the_models_name() -> None:
    with pytest.raises(BadArguments, match="without a model"):
        TokenServer("http://127.0.0.1:1/v1", api="vllm")


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "http://", "http://me:key@host/v1", "http://host:port"]
)
def test_an_address_that_cannot_work_is_refused(url: str) -> None:
    with pytest.raises(BadArguments, match="The address of a TokenServer"):
        TokenServer(url, api="sglang")


def test_a_proxy_of_the_environment_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")

    assert TokenServer("http://engine:8000/", api="sglang").url == "http://engine:8000"
