"""A fault that all episodes share stops a training; one that costs an episode does not."""

from __future__ import annotations

import asyncio
import copy
import pickle
import random
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import gem
from gem.content import ImagePart, Message, TextPart
from gem.errors import BadArguments, MissingRequirement
from gem.specs import EnvSpec
from gem.tokens import Sampled
from gem_integrations.episodes import EnvOptions, play
from gem_integrations.faults import EPISODES, TRIES, Faults, UnplayableError
from gem_integrations.stepping import SteppedEpisode
from gem_integrations.trl_tools import environment

END = 1
IMAGE = ImagePart(b"not looked at")


class Letters:
    """Letters as tokens, and a template of ChatML's form."""

    eos_token_id = END
    all_special_ids = (END,)

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return list(text.replace("<end>", "\x01").encode())

    def decode(self, ids: list[int], *, skip_special_tokens: bool) -> str:
        return bytes(ids).decode()

    def apply_chat_template(self, chat: list[Any], *, add_generation_prompt: bool, **_: Any) -> str:
        shown = "".join(f"{each['role']}:{each['content']}<end>" for each in chat)
        return shown + "assistant:" if add_generation_prompt else shown


class Boards(gem.Env):
    """Ends at the first answer. Every episode, or those of some seeds, fail as it is told."""

    resets = 0
    closed = 0
    is_over = threading.Event()

    def __init__(self, board: str = "here", shows: Any = "Go on.") -> None:
        self.board = board
        self.shows = shows

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        type(self).resets += 1
        if self.board == "late":
            type(self).is_over.wait(30)
        if self.board == "exit":
            raise SystemExit("no board")
        if self.board == "lost" or (self.board == "often" and type(self).resets < TRIES):
            raise OSError(f"board {self.episode_seed} is lost")
        if self.board == "sometimes" and (self.episode_seed or 0) % 2:
            raise OSError(f"board {self.episode_seed} is lost")
        return self.shows, {}

    def step(self, action: str) -> gem.Step:
        if self.board == "lost at a step":
            raise OSError("the board is lost")
        return gem.Step("", 1.0, True, False, {})

    def close(self) -> None:
        type(self).closed += 1
        if self.board == "stays open":
            raise OSError("it cannot be closed")


BOARDS = gem.register("faults:Boards", Boards).id


@pytest.fixture(autouse=True)
def _counts() -> Iterator[None]:
    yield
    Boards.is_over.set()  # for the thread that waits for a late board
    Boards.resets = Boards.closed = 0
    Boards.is_over = threading.Event()


def options(board: str = "here", **others: Any) -> EnvOptions:
    return EnvOptions.of({"env_id": BOARDS, "env_kwargs": {"board": board}, **others})


# the first environment


@pytest.mark.parametrize("board", ["here", "stays open"])
def test_one_environment_is_made_and_reset_and_closed(board: str) -> None:
    options(board).try_out("Anything")

    assert (Boards.resets, Boards.closed) == (1, 1)


@pytest.mark.parametrize("board", ["lost", "exit"])
def test_what_every_first_prompt_raises_is_raised_with_what_to_do(board: str) -> None:
    with pytest.raises(UnplayableError, match="and none can begin: 3 were tried") as caught:
        options(board).try_out("Anything")

    assert f"gem-env check {BOARDS}" in str(caught.value)
    assert isinstance(caught.value.__cause__, (OSError, SystemExit))
    assert (Boards.resets, Boards.closed) == (TRIES, TRIES)


def test_a_first_prompt_that_fails_once_or_twice_ends_nothing() -> None:
    options("often").try_out("Anything")

    assert Boards.resets == TRIES


def test_a_first_prompt_that_never_comes_is_waited_for_no_longer_than_a_step() -> None:
    with pytest.raises(UnplayableError, match=r"there was no first prompt after 0\.01"):
        options("late", step_timeout_s=0.01).try_out("Anything")


def test_a_misspelt_argument_is_the_error_of_make_at_once() -> None:
    with pytest.raises(BadArguments, match="bord"):
        EnvOptions.of({"env_id": BOARDS, "env_kwargs": {"bord": "here"}}).try_out("Anything")


def test_a_missing_package_is_the_error_of_make_with_its_command() -> None:
    spec = EnvSpec(id="faults:Needs", target=f"{__name__}:Boards", requires=("no-such-package",))
    gem.register(spec)

    with pytest.raises(MissingRequirement, match="no-such-package"):
        EnvOptions.of({"env_id": "faults:Needs"}).try_out("Anything")


def test_it_is_tried_where_a_loop_runs_as_well() -> None:
    async def scenario() -> None:
        options().try_out("Anything")

    asyncio.run(scenario())
    assert Boards.resets == 1


@pytest.mark.parametrize(
    "shows",
    [
        [TextPart("Look:"), IMAGE],
        Message("user", (IMAGE,)),
        [Message("system", "Look."), Message("user", (TextPart("Here:"), IMAGE))],
    ],
)
def test_images_are_refused_where_the_adapter_takes_text_alone(shows: Any) -> None:
    made = EnvOptions.of({"env_id": BOARDS, "env_kwargs": {"shows": shows}})

    with pytest.raises(BadArguments, match="through Anything, and its observations hold images"):
        made.try_out("Anything")
    made.try_out("Anything", takes_images=True)


def test_messages_of_text_are_no_images() -> None:
    shown = [Message("user", "Look."), Message("user", (TextPart("Here."),))]

    EnvOptions.of({"env_id": BOARDS, "env_kwargs": {"shows": shown}}).try_out("Anything")


# all that follow


async def played(made: EnvOptions, *seeds: int) -> list[Any]:
    """Play episodes at once, and return each, or what it raised."""
    codec = made.codec(Letters())  # type: ignore[arg-type]

    async def engine(request: gem.Request) -> Sampled:
        return Sampled([*b"x", END])

    plays = (play(made, engine, codec, seed=seed) for seed in seeds)
    return await asyncio.gather(*plays, return_exceptions=True)


def errors(outcomes: list[Any]) -> list[UnplayableError]:
    return [each for each in outcomes if isinstance(each, UnplayableError)]


@pytest.mark.parametrize("board", ["lost", "lost at a step"])
def test_a_batch_in_which_all_end_by_one_kind_of_error_raises(board: str) -> None:
    outcomes = asyncio.run(played(options(board), *range(EPISODES)))

    [error] = errors(outcomes)
    assert f"the last {EPISODES} in this process all ended by the same kind of error" in str(error)
    assert "is lost" in str(error)


def test_so_do_small_batches_in_a_row() -> None:
    made = options("lost")
    outcomes = [asyncio.run(played(made, at, at + 1)) for at in range(EPISODES // 2)]

    assert [len(errors(each)) for each in outcomes] == [0] * (EPISODES // 2 - 1) + [1]


def test_a_smaller_batch_of_failures_ends_nothing() -> None:
    assert errors(asyncio.run(played(options("lost"), *range(EPISODES - 1)))) == []


def test_one_that_ends_well_begins_the_count_anew() -> None:
    made = options("sometimes")
    odd = range(1, 2 * EPISODES, 2)
    outcomes = [asyncio.run(played(made, *batch)) for batch in (odd[1:], [2], odd[1:])]

    assert [len(errors(each)) for each in outcomes] == [0, 0, 0]


def test_those_that_fail_fastest_do_not_speak_for_their_batch() -> None:
    """Half the seeds fail at their reset, long before any other episode ends."""
    assert errors(asyncio.run(played(options("sometimes"), *range(6 * EPISODES)))) == []


def test_a_group_of_one_broken_task_ends_nothing() -> None:
    assert errors(asyncio.run(played(options("lost"), *[7] * 4 * EPISODES))) == []


def test_whatever_the_order_a_shared_fault_is_told_once_all_have_ended() -> None:
    faults = Faults()
    order = random.Random(0)
    numbers = [faults.begin() for _ in range(3 * EPISODES)]
    order.shuffle(numbers)
    told = [
        faults.end(number, env_id=BOARDS, start=number, error=f"OSError: {number}")
        for number in numbers
    ]

    assert [each is not None for each in told] == [False] * (3 * EPISODES - 1) + [True]


def test_errors_of_other_types_are_no_fault_of_all() -> None:
    faults = Faults()
    told = [
        faults.end(faults.begin(), env_id=BOARDS, start=at, error=f"{kind}: x")
        for at in range(EPISODES)
        for kind in ("OSError", "ValueError")
    ]

    assert not any(told)


def test_an_episode_that_is_given_up_holds_nothing_up() -> None:
    faults = Faults()
    left = faults.begin()
    numbers = [faults.begin() for _ in range(EPISODES)]
    faults.leave(left)
    told = [faults.end(each, env_id=BOARDS, start=each, error="OSError: x") for each in numbers]

    assert told[-1] is not None


def test_copies_of_options_count_together_and_another_process_by_itself() -> None:
    made = options()

    assert made.model_copy(update={"max_turns": 3}).faults is made.faults
    assert pickle.loads(pickle.dumps(made)).faults is not made.faults  # noqa: S301 - our own
    assert copy.deepcopy(made).env_id == BOARDS


def test_stepped_episodes_count_too() -> None:
    made = options("lost")

    async def scenario() -> None:
        codec = made.codec(Letters())  # type: ignore[arg-type]
        for seed in range(EPISODES):
            assert await SteppedEpisode(made, codec, seed=seed).request() is None

    with pytest.raises(UnplayableError, match=f"the last {EPISODES} in this process"):
        asyncio.run(scenario())


# environments as classes of tools


def test_a_class_of_tools_is_not_made_of_what_cannot_begin() -> None:
    with pytest.raises(UnplayableError, match="none can begin"):
        environment(BOARDS, env_kwargs={"board": "lost"})


def test_a_class_of_tools_raises_at_a_reset_once_all_end_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tools = environment(BOARDS)

    def fail(self: Any, action: str) -> gem.Step:
        raise OSError("the board is lost")

    monkeypatch.setattr(Boards, "step", fail)
    some = [tools() for _ in range(EPISODES)]
    for seed, each in enumerate(some):
        each.reset(seed=seed)
    for each in some:
        with pytest.raises(OSError, match="the board is lost"):  # which TRL shows to the model
            each.act("x")

    with pytest.raises(UnplayableError, match="the board is lost"):
        some[0].reset(seed=99)


def test_a_class_of_tools_goes_on_where_some_end_well() -> None:
    made = environment(BOARDS)()
    for seed in range(2 * EPISODES):
        made.reset(seed=seed)  # which TRL cut short, all but the last
    made.act("x")

    assert made.get_reward() == 1.0
