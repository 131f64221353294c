"""Rows of several seats: which seat a row is of, and one episode for the rows of its seats."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import gem
from gem.errors import BadArguments
from gem.testing.envs import Kuhn, Lamps
from gem_integrations.episodes import EnvOptions
from gem_integrations.roll_env import RollEnv
from gem_integrations.rows import Start, rows, start_of
from gem_integrations.seats import SharedEpisodes, seat_of
from gem_integrations.trl_tools import environment

KUHN = gem.register("seats:Kuhn", Kuhn).id
LAMPS = gem.register("seats:Lamps", Lamps).id
VIEW = {"id": "seat_view", "seat": "first", "opponents": f"{__name__}:passes"}


def passes(request: gem.Request) -> str:
    """Sit opposite, in a view of one seat."""
    return r"\boxed{pass}"


def test_there_is_a_row_for_each_seat_and_its_label_gives_both_back() -> None:
    made = list(rows(KUHN, count=2, seed=3))

    assert [row["seat"] for row in made] == ["first", "second", "first", "second"]
    assert made[0]["seed"] == made[1]["seed"] != made[2]["seed"]
    assert start_of(made[1]) == Start(made[1]["seed"], None, "second")
    assert '"seat": "second"' in made[1]["label"]


def test_a_view_of_one_seat_has_a_row_an_episode_and_is_refused_by_no_adapter() -> None:
    made = list(rows(KUHN, count=2, seed=3, wrappers=[VIEW]))

    assert [row.get("seat") for row in made] == [None, None]
    assert not EnvOptions(env_id=KUHN, wrappers=(VIEW,)).try_out("RL2")


@pytest.mark.parametrize(("given", "number"), [("second", 1), (0, 0)])
def test_a_row_names_its_seat_by_name_or_number(given: int | str, number: int) -> None:
    assert seat_of(given, ("first", "second"), env_id=KUHN) == number


def test_a_row_need_not_name_the_only_seat_and_must_name_one_of_several() -> None:
    assert seat_of(None, ("agent",), env_id=LAMPS) == 0
    with pytest.raises(BadArguments, match="names no seat, and 'seats:Kuhn' has the seats first"):
        seat_of(None, ("first", "second"), env_id=KUHN)
    with pytest.raises(BadArguments, match="names the seat 2"):
        seat_of(2, ("first", "second"), env_id=KUHN)


def test_adapters_of_one_conversation_refuse_several_seats_and_name_the_view() -> None:
    said = r"plays one conversation an episode, and it has the seats first, second\. Train one of"
    with pytest.raises(BadArguments, match=said):
        EnvOptions(env_id=KUHN).try_out("RL2")
    with pytest.raises(BadArguments, match=said):
        environment(KUHN)
    with pytest.raises(BadArguments, match=said):
        RollEnv(gem.make(KUHN))


def test_options_know_the_seats_once_their_environment_was_tried() -> None:
    options = EnvOptions(env_id=KUHN)

    options.try_out("verl", takes_seats=True)

    assert options.seats == ("first", "second")


def asked_for(places: list[int], play: Callable[[], Awaitable[Any]]) -> list[Any]:
    """Ask for these seats of one start at once."""

    async def run() -> list[Any]:
        shared: SharedEpisodes[Any] = SharedEpisodes()
        asked = (shared.play("start", seat, play) for seat in places)
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert not shared._playing
        return found

    return asyncio.run(run())


def test_rows_of_different_seats_are_of_one_episode_and_those_of_one_seat_are_not() -> None:
    numbers = iter(range(9))

    async def play() -> int:
        await asyncio.sleep(0)
        return next(numbers)

    assert asked_for([0, 1], play) == [0, 0]
    assert asked_for([0, 0, 1, 1], play) == [1, 2, 1, 2]


def test_what_an_episode_raises_is_raised_for_each_of_its_rows() -> None:
    async def play() -> int:
        raise ConnectionResetError("the engine is gone")

    found = asked_for([0, 1], play)

    assert [str(error) for error in found] == ["the engine is gone"] * 2


def test_a_row_that_is_cancelled_leaves_the_episode_to_the_others_and_the_last_ends_it() -> None:
    events: list[str] = []

    async def run() -> None:
        shared: SharedEpisodes[str] = SharedEpisodes()
        over = asyncio.Event()

        async def play() -> str:
            try:
                await over.wait()
            except asyncio.CancelledError:
                events.append("ended")
                raise
            return "played"

        def ask(key: str, seat: int) -> asyncio.Future[str]:
            return asyncio.ensure_future(shared.play(key, seat, play))

        kept = ask("kept", 1)
        left = [ask("kept", 0), ask("left", 0)]
        await asyncio.sleep(0)
        for each in left:
            each.cancel()
        await asyncio.wait(left)
        over.set()
        events.append(await kept)

    asyncio.run(run())
    assert sorted(events) == ["ended", "played"]
