"""The rules of use, shown on small environments: phases, forms, one call at a time, seeds."""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.bridge import wait_for
from gem.content import Message
from gem.env import Env
from gem.errors import BadArguments, EnvBusy, EnvClosed, EnvUsageError, ResetNeeded
from gem.guards import reseed
from gem.step import Step
from gem.wrapper import Wrapper

Started = tuple[str, dict[str, Any]]


def going(observation: str = "") -> Step:
    return Step(observation, 0.0, False, False, {})


def over(observation: str = "") -> Step:
    return Step(observation, 1.0, True, False, {})


class Dice(Env):
    """Shows a number, echoes actions, and ends at "end" or "limit"; "raise" raises."""

    closed = 0

    def reset(self, seed: int | None = None) -> Started:
        return str(self.rng.random()), {}

    def step(self, action: str) -> Step:
        if action == "raise":
            raise RuntimeError("broken")
        return Step(action, 0.0, action == "end", action == "limit", {"turn": self.turn})

    def close(self) -> None:
        self.closed += 1


class AsyncDice(Env):
    """The same, and it waits."""

    closed = 0

    async def areset(self, seed: int | None = None) -> Started:
        await asyncio.sleep(0)
        return str(self.rng.random()), {}

    async def astep(self, action: str) -> Step:
        await asyncio.sleep(0)
        if action == "raise":
            raise RuntimeError("broken")
        return Step(action, 0.0, action == "end", action == "limit", {"turn": self.turn})

    async def aclose(self) -> None:
        self.closed += 1


@pytest.fixture(params=[Dice, AsyncDice, lambda: Wrapper(Dice()), lambda: Wrapper(AsyncDice())])
def env(request: pytest.FixtureRequest) -> Env:
    made: Env = request.param()
    return made


# phases


def test_a_step_before_the_first_reset_is_refused(env: Env) -> None:
    with pytest.raises(ResetNeeded, match="before the first reset"):
        env.step("a")


@pytest.mark.parametrize("last", ["end", "limit"])
def test_a_step_after_the_end_is_refused(env: Env, last: str) -> None:
    env.reset(seed=1)
    env.step(last)
    with pytest.raises(ResetNeeded, match="after the episode ended"):
        env.step("a")


def test_a_reset_starts_another_episode_at_turn_zero(env: Env) -> None:
    env.reset(seed=1)
    env.step("a")
    env.step("end")
    env.reset()
    assert env.step("a").info["turn"] == 0


def test_the_turn_counts_steps_taken(env: Env) -> None:
    env.reset(seed=1)
    assert [env.step("a").info["turn"] for _ in range(3)] == [0, 1, 2]
    assert env.turn == 3


def test_a_raise_ends_the_episode(env: Env) -> None:
    env.reset(seed=1)
    with pytest.raises(RuntimeError, match="broken"):
        env.step("raise")
    with pytest.raises(ResetNeeded, match="after the episode ended"):
        env.step("a")
    env.reset()
    assert env.step("a").observation == "a"


def test_a_raise_ends_the_episode_of_a_caller_that_awaits(env: Env) -> None:
    async def play() -> None:
        await env.areset(seed=1)
        with pytest.raises(RuntimeError, match="broken"):
            await env.astep("raise")
        with pytest.raises(ResetNeeded, match="after the episode ended"):
            await env.astep("a")
        await env.areset()
        assert (await env.astep("a")).observation == "a"

    asyncio.run(play())


def test_a_step_whose_flags_have_no_truth_ends_the_episode() -> None:
    class Odd(Dice):
        def step(self, action: str) -> Step:
            return Step("", 0.0, np.zeros(2), False, {})  # type: ignore[arg-type]

    env = Odd()
    env.reset()
    with pytest.raises(ValueError, match="truth value"):
        env.step("a")
    env.reset()


def test_a_raise_in_reset_needs_another_reset() -> None:
    class Fragile(Dice):
        fails = True

        def reset(self, seed: int | None = None) -> Started:
            if self.fails:
                raise OSError("no")
            return "", {}

    for env in (Fragile(), Wrapper(Fragile())):
        with pytest.raises(OSError, match="no"):
            env.reset()
        with pytest.raises(ResetNeeded):
            env.step("a")
        env.unwrapped.fails = False  # type: ignore[attr-defined]
        env.reset()
        env.step("a")


def test_a_raise_in_areset_needs_another_reset() -> None:
    class Fragile(AsyncDice):
        async def areset(self, seed: int | None = None) -> Started:
            raise OSError("no")

    async def play(env: Env) -> None:
        with pytest.raises(OSError, match="no"):
            await env.areset()
        with pytest.raises(ResetNeeded):
            await env.astep("a")

    asyncio.run(play(Fragile()))
    asyncio.run(play(Wrapper(Fragile())))


@pytest.mark.parametrize("result", ["text", ("text",), ("text", None), ["text", {}]])
def test_a_reset_of_another_shape_is_refused(result: Any) -> None:
    class Odd(Dice):
        def reset(self, seed: int | None = None) -> Started:
            return result  # type: ignore[no-any-return]

    with pytest.raises(TypeError, match=f"reset returned {type(result).__name__}"):
        Odd().reset()


def test_a_plain_tuple_becomes_a_step() -> None:
    class Plain(Dice):
        def step(self, action: str) -> Step:
            return "seen", 1, True, False, {}  # type: ignore[return-value]

    class AsyncPlain(AsyncDice):
        async def astep(self, action: str) -> Step:
            return "seen", 1, True, False, {}  # type: ignore[return-value]

    for env in (Plain(), AsyncPlain(), Wrapper(Plain())):
        env.reset()
        assert env.step("a") == Step("seen", 1, True, False, {})
        env.reset()
        assert type(env.step("a")) is Step


def test_a_step_of_another_shape_is_refused_and_ends_the_episode() -> None:
    class Four(Dice):
        def step(self, action: str) -> Step:
            return "", 0.0, False, {}  # type: ignore[return-value]

    env = Four()
    env.reset()
    with pytest.raises(TypeError, match="must return a Step, or a tuple of observation, reward"):
        env.step("a")
    with pytest.raises(ResetNeeded):
        env.step("a")


# close


def test_only_the_first_close_counts(env: Env) -> None:
    env.close()
    env.close()
    assert env.unwrapped.closed == 1  # type: ignore[attr-defined]


def test_only_the_first_aclose_counts(env: Env) -> None:
    async def close_twice() -> None:
        await env.aclose()
        await env.aclose()

    asyncio.run(close_twice())
    env.close()
    assert env.unwrapped.closed == 1  # type: ignore[attr-defined]


def test_a_closed_environment_takes_no_calls(env: Env) -> None:
    env.reset()
    snapshot = env.snapshot()
    env.close()
    with pytest.raises(EnvClosed):
        env.step("a")
    with pytest.raises(EnvClosed):
        env.reset()
    with pytest.raises(EnvClosed):
        env.snapshot()
    with pytest.raises(EnvClosed):
        env.restore(snapshot)
    with pytest.raises(EnvClosed):
        env.fork()


def test_with_closes(env: Env) -> None:
    with env as entered:
        assert entered is env
    with pytest.raises(EnvClosed):
        env.reset()


def test_a_subclass_and_its_base_both_close() -> None:
    class Base(Dice):
        def close(self) -> None:
            self.order = ["base"]

    class Sub(Base):
        def close(self) -> None:
            super().close()
            self.order.append("sub")

    class AsyncSub(AsyncDice):
        async def aclose(self) -> None:
            await super().aclose()
            self.closed += 10

    env = Sub()
    env.close()
    assert env.order == ["base", "sub"]
    waits = AsyncSub()
    waits.close()
    assert waits.closed == 11


def test_a_layer_that_forgets_to_close_what_it_wraps_still_does() -> None:
    class Forgetful(Wrapper):
        def close(self) -> None:
            raise OSError("own file")

    class AsyncForgetful(Wrapper):
        async def aclose(self) -> None:
            """Do nothing."""

    inner = Dice()
    with pytest.raises(OSError, match="own file"):
        Forgetful(inner).close()
    assert inner.closed == 1
    inner = Dice()
    asyncio.run(AsyncForgetful(inner).aclose())
    assert inner.closed == 1


def test_a_close_from_inside_a_step_is_final() -> None:
    class Quitter(Dice):
        def step(self, action: str) -> Step:
            self.close()
            return going()

    class AsyncQuitter(AsyncDice):
        async def astep(self, action: str) -> Step:
            await self.aclose()
            if action == "raise":
                raise OSError
            return going()

    for action in ("a", "raise"):
        for env in (Quitter(), AsyncQuitter()):
            env.reset()
            try:
                env.step(action)
            except OSError:
                assert action == "raise"
            with pytest.raises(EnvClosed):
                env.step("a")


# forms


def test_a_synchronous_environment_can_be_awaited() -> None:
    async def play() -> Step:
        env = Dice()
        observation, _ = await env.areset(seed=3)
        assert observation == Dice().reset(seed=3)[0]
        step = await env.astep("end")
        await env.aclose()
        assert env.closed == 1
        return step

    assert asyncio.run(play()).terminated


def test_an_asynchronous_environment_can_be_called() -> None:
    env = AsyncDice()
    assert env.reset(seed=3)[0] == Dice().reset(seed=3)[0]
    assert env.step("end").terminated
    env.close()
    assert env.closed == 1


@pytest.mark.parametrize("name", ["reset", "step", "close"])
def test_writing_both_forms_is_refused(name: str) -> None:
    def form(self: Env) -> None: ...

    async def async_form(self: Env) -> None: ...

    with pytest.raises(TypeError, match=f"Both defines both {name} and a{name}"):
        type("Both", (Env,), {name: form, f"a{name}": async_form})


@pytest.mark.parametrize("name", ["reset", "step", "close"])
def test_a_coroutine_under_the_synchronous_name_is_refused(name: str) -> None:
    async def form(self: Env) -> None: ...

    with pytest.raises(TypeError, match=f"{name} is a coroutine function. Call it a{name}"):
        type("Mistaken", (Env,), {name: form})


def test_the_nearest_form_wins_in_a_diamond() -> None:
    class Left(Env):
        def reset(self, seed: int | None = None) -> Started:
            return "", {}

        def step(self, action: str) -> Step:
            return over("left")

    class Right(Env):
        def reset(self, seed: int | None = None) -> Started:
            return "", {}

        async def astep(self, action: str) -> Step:
            return over("right")

    class LeftFirst(Left, Right):
        pass

    class RightFirst(Right, Left):
        pass

    async def awaited(env: Env) -> Any:
        await env.areset()
        return (await env.astep("a")).observation

    for cls, seen in ((LeftFirst, "left"), (RightFirst, "right")):
        env = cls()
        env.reset()
        assert env.step("a").observation == seen
        assert asyncio.run(awaited(cls())) == seen


def test_a_subclass_may_write_the_other_form() -> None:
    class Waits(Dice):
        async def astep(self, action: str) -> Step:
            return (await super().astep(action))._replace(reward=5.0)

    class Waits2(Dice):
        async def astep(self, action: str) -> Step:
            return super().step(action)._replace(reward=5.0)

    class Calls(AsyncDice):
        def step(self, action: str) -> Step:
            return super().step(action)._replace(reward=5.0)

    for env in (Waits(), Waits2(), Calls()):
        env.reset()
        assert env.step("a") == Step("a", 5.0, False, False, {"turn": 0})
        assert env.turn == 1

    async def play(env: Env) -> Step:
        await env.areset()
        return await env.astep("a")

    for env in (Waits(), Waits2(), Calls()):
        assert asyncio.run(play(env)).reward == 5.0


def test_a_mixin_that_is_no_environment_is_guarded_too() -> None:
    class Endless:
        def step(self, action: str) -> Step:
            return going("mixin")

    class Game(Endless, Dice):
        pass

    class Heir(Game):
        pass

    for env in (Game(), Heir()):
        with pytest.raises(ResetNeeded):
            env.step("a")
        env.reset()
        assert env.step("a").observation == "mixin"
        assert env.turn == 1


def test_a_mixin_may_call_super() -> None:
    class Doubling:
        def step(self, action: str) -> Step:
            step: Step = super().step(action)  # type: ignore[misc]
            return step._replace(reward=2.0)

    class Game(Doubling, Dice):
        pass

    env = Game()
    env.reset()
    assert env.step("a") == Step("a", 2.0, False, False, {"turn": 0})
    assert env.turn == 1


def test_super_gives_a_step_where_the_base_returns_a_plain_tuple() -> None:
    class Base(Dice):
        def step(self, action: str) -> Step:
            return "plain", 0.0, False, False, {}  # type: ignore[return-value]

    class Sub(Base):
        def step(self, action: str) -> Step:
            return super().step(action)._replace(reward=1.0)

    class AsyncBase(AsyncDice):
        async def astep(self, action: str) -> Step:
            return "plain", 0.0, False, False, {}  # type: ignore[return-value]

    class AsyncSub(AsyncBase):
        async def astep(self, action: str) -> Step:
            return (await super().astep(action))._replace(reward=1.0)

    for env in (Sub(), AsyncSub()):
        env.reset()
        assert env.step("a").reward == 1.0


def test_an_alias_of_another_class_s_method_is_what_runs() -> None:
    class Other(Env):
        def step(self, action: str) -> Step:
            return over("other")

    class Game(Dice, Other):
        step = Other.step

    class Heir(Game):
        pass

    for env in (Game(), Heir()):
        env.reset()
        assert env.step("a").observation == "other"
        assert env.turn == 1


def test_a_decorator_around_an_inherited_method_is_kept() -> None:
    import functools

    def praised(function: Any) -> Any:
        @functools.wraps(function)
        def inner(self: Env, action: str) -> Step:
            step: Step = function(self, action)
            return step._replace(observation=f"{step.observation}!")

        return inner

    class Game(Dice):
        step = praised(Dice.step)

    class Heir(Game):
        pass

    for env in (Game(), Heir()):
        env.reset()
        assert env.step("a").observation == "a!"
        assert env.turn == 1


def test_a_class_copied_by_a_slotted_dataclass_keeps_its_methods() -> None:
    @dataclass(slots=True)
    class Copied(Env):
        limit: int = 2

        def reset(self, seed: int | None = None) -> Started:
            return "", {}

        def step(self, action: str) -> Step:
            return Step("copied", 0.0, False, self.turn + 1 == self.limit, {})

    env = Copied()
    env.reset()
    assert not env.step("a").truncated
    assert env.step("a").truncated
    assert asyncio.run(env.areset()) == ("", {})


def test_forms_look_like_what_their_author_wrote() -> None:
    assert Dice.step.__name__ == "step"
    assert Dice.astep.__name__ == "astep"
    assert Dice.astep.__qualname__ == "Dice.astep"
    assert Dice.astep.__doc__ == "`step`, awaited."
    assert AsyncDice.step.__doc__ == "`astep`, waited for."
    assert AsyncDice.step.__module__ == __name__
    for cls in (Dice, AsyncDice):
        for step in (cls.step, cls.astep):
            assert list(inspect.signature(step).parameters) == ["self", "action"]
        for reset in (cls.reset, cls.areset):
            assert list(inspect.signature(reset).parameters) == ["self", "seed"]
        assert inspect.iscoroutinefunction(cls.astep)
        assert not inspect.iscoroutinefunction(cls.step)


class Misspelt(Env):
    def rest(self, seed: int | None = None) -> Started:
        return "", {}


@pytest.mark.parametrize("make", [Env, Misspelt, lambda: Wrapper(Misspelt())])
def test_an_environment_that_defines_no_reset_says_so(make: Callable[[], Env]) -> None:
    with pytest.raises(NotImplementedError, match="defines neither reset nor areset"):
        make().reset()
    with pytest.raises(NotImplementedError, match="defines neither reset nor areset"):
        asyncio.run(make().areset(seed=2))


def test_an_environment_that_defines_no_step_says_so() -> None:
    class Stepless(Env):
        async def areset(self, seed: int | None = None) -> Any:
            return await super().areset(seed=seed)

    env = Stepless()

    assert env.reset(seed=2) == ("", {})
    with pytest.raises(NotImplementedError, match="Stepless defines neither step nor astep"):
        env.step("a")
    env.close()


def test_a_synchronous_form_on_the_background_loop_is_refused() -> None:
    async def play() -> None:
        AsyncDice().reset()

    with pytest.raises(EnvUsageError, match="Await the asynchronous form"):
        wait_for(play())


# one call at a time


class Slow(Env):
    """Waits inside each step until it is told to go on."""

    shared = ("entered", "go_on")

    def __init__(self) -> None:
        self.entered, self.go_on = threading.Event(), threading.Event()

    def reset(self, seed: int | None = None) -> Started:
        return "", {}

    def step(self, action: str) -> Step:
        self.entered.set()
        assert self.go_on.wait(20)
        return going()


@pytest.fixture
def slow() -> Iterator[Slow]:
    env = Slow()
    yield env
    env.go_on.set()


@pytest.mark.parametrize("wrap", [lambda env: env, Wrapper, lambda env: Wrapper(Wrapper(env))])
def test_a_second_call_from_another_thread_is_refused(slow: Slow, wrap: Any) -> None:
    env: Env = wrap(slow)
    env.reset()
    snapshot = env.snapshot()
    thread = threading.Thread(target=env.step, args=("a",))
    thread.start()
    assert slow.entered.wait(20)
    for call in (lambda: env.step("b"), env.reset, env.snapshot, env.fork):
        with pytest.raises(EnvBusy, match="one call at a time"):
            call()
    with pytest.raises(EnvBusy):
        env.restore(snapshot)
    slow.go_on.set()
    thread.join()
    env.step("c")
    assert env.turn == 2


def test_another_thread_may_close_an_environment_that_hangs(slow: Slow) -> None:
    slow.reset()
    thread = threading.Thread(target=slow.step, args=("a",))
    thread.start()
    assert slow.entered.wait(20)
    slow.close()
    slow.go_on.set()
    thread.join()
    with pytest.raises(EnvClosed):
        slow.step("b")


class Waiting(Env):
    async def areset(self, seed: int | None = None) -> Started:
        await asyncio.sleep(0)
        return "", {}

    async def astep(self, action: str) -> Step:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("wrap", [lambda env: env, Wrapper])
def test_a_second_task_is_refused_and_a_cancellation_ends_the_episode(wrap: Any) -> None:
    async def play() -> None:
        env: Env = wrap(Waiting())
        resets = [asyncio.create_task(env.areset(seed=1)) for _ in range(2)]
        assert await resets[0] == ("", {})
        with pytest.raises(EnvBusy):
            await resets[1]
        task = asyncio.create_task(env.astep("a"))
        await asyncio.sleep(0)
        with pytest.raises(EnvBusy):
            await env.astep("b")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ResetNeeded):
            await env.astep("c")
        await env.areset()

    asyncio.run(play())


def test_a_second_call_of_a_layer_that_waits_in_a_hook_is_refused() -> None:
    class Asks(Wrapper):
        async def on_action(self, action: str) -> str:
            await asyncio.sleep(0)
            return action

    async def play() -> None:
        env = Asks(Dice())
        await env.areset()
        task = asyncio.create_task(env.astep("a"))
        await asyncio.sleep(0)
        with pytest.raises(EnvBusy):
            await env.astep("b")
        with pytest.raises(EnvBusy):
            env.snapshot()
        assert (await task).observation == "a"
        assert env.turn == 1

    asyncio.run(play())


def test_a_call_of_itself_from_inside_a_step_is_refused() -> None:
    class Recursive(Dice):
        def step(self, action: str) -> Step:
            return self.step(action)

    env = Recursive()
    env.reset()
    with pytest.raises(EnvBusy):
        env.step("a")


# wrappers that write their own forms


class OldStyle(Wrapper):
    """Calls `self.env` by hand, as wrappers of Gymnasium do."""

    def reset(self, seed: int | None = None, **options: Any) -> Started:
        observation, _ = self.env.reset(seed=seed, **options)
        return f"<{observation}>", {}

    def step(self, action: str) -> Step:
        return self.env.step(action)._replace(reward=7.0)

    def close(self) -> None:
        self.env.close()


class SuperStyle(Wrapper):
    """Calls `super()`."""

    def reset(self, seed: int | None = None, **options: Any) -> Started:
        observation, _ = super().reset(seed=seed, **options)
        return f"<{observation}>", {}

    def step(self, action: str) -> Step:
        return super().step(action)._replace(reward=7.0)


class AsyncStyle(Wrapper):
    async def areset(self, seed: int | None = None, **options: Any) -> Started:
        observation, _ = await super().areset(seed=seed, **options)
        return f"<{observation}>", {}

    async def astep(self, action: str) -> Step:
        return (await super().astep(action))._replace(reward=7.0)

    async def aclose(self) -> None:
        await super().aclose()


class Heir(SuperStyle):
    """Inherits what another layer wrote."""


@pytest.mark.parametrize("style", [OldStyle, SuperStyle, AsyncStyle, Heir])
@pytest.mark.parametrize("inner", [Dice, AsyncDice])
def test_a_wrapper_may_write_its_own_forms(style: type[Wrapper], inner: type[Env]) -> None:
    env = style(inner())
    assert env.reset(seed=4)[0] == f"<{Dice().reset(seed=4)[0]}>"
    assert env.step("a") == Step("a", 7.0, False, False, {"turn": 0})
    assert env.step("end").terminated
    with pytest.raises(ResetNeeded):
        env.step("a")
    env.close()
    assert env.unwrapped.closed == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("style", [OldStyle, SuperStyle, AsyncStyle, Heir])
def test_a_wrapper_s_own_forms_can_be_awaited(style: type[Wrapper]) -> None:
    async def play() -> None:
        env = style(Dice())
        await env.areset(seed=4)
        assert (await env.astep("a")).reward == 7.0
        await env.aclose()

    asyncio.run(play())


def test_a_layer_may_end_the_episode() -> None:
    class Impatient(Wrapper):
        def on_step(self, action: str, step: Step) -> Step:
            return step._replace(truncated=True)

    env = Impatient(Dice())
    env.reset()
    assert env.step("a").truncated
    with pytest.raises(ResetNeeded):
        env.step("a")


def test_a_layer_may_reset_what_it_wraps_inside_a_hook() -> None:
    class TwoRounds(Wrapper):
        rounds = 0

        def on_step(self, action: str, step: Step) -> Step:
            self.rounds += step.terminated
            if step.terminated and self.rounds < 2:
                self.env.reset()
                return step._replace(terminated=False)
            return step

    env = TwoRounds(Dice())
    env.reset()
    assert not env.step("end").terminated
    assert env.turn == 0
    assert env.step("end").terminated
    with pytest.raises(ResetNeeded):
        env.step("a")


def test_a_raise_in_a_hook_ends_the_episode() -> None:
    class Broken(Wrapper):
        def on_step(self, action: str, step: Step) -> Step:
            raise RuntimeError("hook")

    env = Broken(Dice())
    env.reset()
    with pytest.raises(RuntimeError, match="hook"):
        env.step("a")
    with pytest.raises(ResetNeeded):
        env.step("a")
    env.reset()


def test_a_raise_in_a_hook_that_is_awaited_ends_the_episode() -> None:
    class Broken(Wrapper):
        async def on_step(self, action: str, step: Step) -> Step:
            raise RuntimeError("hook")

    async def play() -> None:
        env = Broken(Dice())
        await env.areset()
        with pytest.raises(RuntimeError, match="hook"):
            await env.astep("a")
        with pytest.raises(ResetNeeded):
            await env.astep("a")

    asyncio.run(play())


def test_a_hook_that_closes_leaves_the_environment_closed() -> None:
    class Closes(Wrapper):
        def on_step(self, action: str, step: Step) -> Step:
            self.env.close()
            return step

    env = Closes(Dice())
    env.reset()
    assert env.step("end").terminated
    with pytest.raises(EnvClosed):
        env.reset()


def test_a_raise_in_a_reset_hook_needs_another_reset() -> None:
    class Broken(Wrapper):
        def on_reset(self, observation: Any, info: dict[str, Any]) -> Any:
            raise RuntimeError("hook")

    env = Broken(Dice())
    with pytest.raises(RuntimeError, match="hook"):
        env.reset()
    with pytest.raises(ResetNeeded):
        env.step("a")

    async def play() -> None:
        with pytest.raises(RuntimeError, match="hook"):
            await env.areset()
        with pytest.raises(ResetNeeded):
            await env.astep("a")

    asyncio.run(play())


# seeds


class Forgets(Wrapper):
    """Its reset takes a seed and does not hand it on."""

    def reset(self, seed: int | None = None) -> Started:
        return self.env.reset()  # type: ignore[return-value]


class Seedless(Wrapper):
    """Its reset takes no seed at all."""

    def reset(self) -> Started:  # type: ignore[override]
        return self.env.reset()  # type: ignore[return-value]


class AsyncSeedless(Wrapper):
    async def areset(self) -> Started:  # type: ignore[override]
        return await self.env.areset()  # type: ignore[return-value]


@pytest.mark.parametrize("style", [Wrapper, OldStyle, Forgets, Seedless, AsyncSeedless])
def test_a_seed_reaches_the_base_through_every_layer(style: type[Wrapper]) -> None:
    env = style(Wrapper(Dice()))
    expected = Dice().reset(seed=9)[0]
    assert env.reset(seed=9)[0].strip("<>") == expected  # type: ignore[union-attr]
    assert env.reset()[0].strip("<>") != expected  # type: ignore[union-attr]
    assert asyncio.run(env.areset(seed=9))[0].strip("<>") == expected  # type: ignore[union-attr]


class Lazy(Wrapper):
    """Its reset leaves what it wraps alone."""

    def reset(self, seed: int | None = None) -> Started:
        return "", {}


class AsyncLazy(Wrapper):
    async def areset(self, seed: int | None = None) -> Started:
        return "", {}


@pytest.mark.parametrize("style", [Lazy, AsyncLazy])
def test_a_seed_that_no_layer_used_is_not_used_later(style: type[Wrapper]) -> None:
    inner = Dice()
    inner.reset(seed=1)
    expected = inner.fork().reset()
    style(inner).reset(seed=5)
    assert inner.reset() == expected


def test_the_first_seed_waits_for_the_first_reset_and_serves_once() -> None:
    inner = Dice()
    inner._first_seed = 5
    Lazy(inner).reset()
    assert inner.reset() == Dice().reset(seed=5)
    assert inner.reset() != Dice().reset(seed=5)


def test_a_reset_is_given_the_seed_that_it_takes() -> None:
    class Named(Dice):
        def reset(self, seed: int | None = None) -> Started:
            return str(seed), {}

    class Optional(Dice):
        def reset(self, **options: Any) -> Started:  # type: ignore[override]
            return str(options), {}

    assert Named().reset(seed=3)[0] == Named().reset(3)[0] == "3"
    assert Optional().reset(seed=3, task=4)[0] == "{'seed': 3, 'task': 4}"


def test_a_seed_that_a_subclass_hands_on_is_checked_too() -> None:
    class Careless(Env):
        def reset(self, seed: int | None = None) -> Started:
            return super().reset(seed="text")  # type: ignore[arg-type,return-value]

    with pytest.raises(BadArguments, match="A seed is an int"):
        Careless().reset(seed=3)


@pytest.mark.parametrize("wrap", [lambda env: env, Wrapper])
@given(seed=st.integers())
def test_any_int_is_a_seed(wrap: Any, seed: int) -> None:
    assert wrap(Dice()).reset(seed=seed) == wrap(Dice()).reset(seed=seed)


def test_seeds_of_every_size_and_sign_differ() -> None:
    seeds = [0, 1, -1, 2**64, -(2**64), 10**5000, 10**5000 + 1]
    assert len({Dice().reset(seed=seed)[0] for seed in seeds}) == len(seeds)


@pytest.mark.parametrize("seed", [np.int64(5), np.uint8(5), np.int32(5)])
def test_an_integer_of_numpy_is_the_same_seed(seed: Any) -> None:
    assert Dice().reset(seed=seed) == Dice().reset(seed=5)


@pytest.mark.parametrize("seed", [True, np.True_, "5", 5.0, b"5", [5], np.zeros(2, int)])
@pytest.mark.parametrize("wrap", [lambda env: env, Wrapper])
def test_anything_else_is_refused_and_the_episode_goes_on(wrap: Any, seed: Any) -> None:
    env: Env = wrap(Dice())
    env.reset(seed=1)
    with pytest.raises(BadArguments, match="A seed is an int"):
        env.reset(seed=seed)
    env.step("a")
    with pytest.raises(BadArguments):
        asyncio.run(env.areset(seed=seed))
    env.step("a")


def test_a_seed_may_be_given_by_position() -> None:
    assert Dice().reset(6) == Dice().reset(seed=6)
    assert Wrapper(Dice()).reset(6) == Dice().reset(seed=6)


def test_a_reset_without_a_seed_continues_the_stream() -> None:
    first, second = Dice(), Dice()
    assert [first.reset(seed=2), first.reset(), first.reset()] == [
        second.reset(seed=2),
        second.reset(),
        second.reset(),
    ]
    assert len({first.reset(seed=2)[0], first.reset()[0], first.reset()[0]}) == 3


def test_a_reset_that_takes_no_seed_is_seeded_all_the_same() -> None:
    class Seedless(Dice):
        def reset(self) -> Started:  # type: ignore[override]
            return str(self.rng.random()), {}

    class AsyncSeedless(AsyncDice):
        async def areset(self) -> Started:  # type: ignore[override]
            return str(self.rng.random()), {}

    expected = Dice().reset(seed=8)
    assert Seedless().reset(seed=8) == AsyncSeedless().reset(seed=8) == expected  # type: ignore[call-arg]


def test_super_reset_works_for_a_plain_subclass() -> None:
    class Polite(Env):
        def reset(self, seed: int | None = None) -> Started:
            super().reset(seed=seed)
            return str(self.rng.random()), {}

        def step(self, action: str) -> Step:
            return over()

    class AsyncPolite(Env):
        async def areset(self, seed: int | None = None) -> Started:
            await super().areset(seed=seed)
            return str(self.rng.random()), {}

    class Heir(Polite):
        def reset(self, seed: int | None = None) -> Started:
            observation, _ = super().reset(seed=seed)
            return observation, {"heir": True}

    class AsyncHeir(AsyncPolite):
        async def areset(self, seed: int | None = None) -> Started:
            observation, _ = await super().areset(seed=seed)
            return observation, {"heir": True}

    expected = Dice().reset(seed=3)[0]
    for cls in (Polite, AsyncPolite, Heir, AsyncHeir):
        env = cls()
        assert env.reset(seed=3)[0] == expected
        assert env.reset()[0] != expected


def test_options_reach_a_reset_that_takes_them() -> None:
    class Choosy(Dice):
        def reset(self, seed: int | None = None, task: int | None = None) -> Started:
            return str(task), {}

    assert Wrapper(Choosy()).reset(task=4) == ("4", {})
    with pytest.raises(BadArguments, match=r"reset with colour\. It takes seed and task"):
        Choosy().reset(colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize("options", [None, {}, {"task": 4}])
def test_gymnasiums_options_are_options_by_name(options: dict[str, int] | None) -> None:
    class Choosy(Dice):
        def reset(self, seed: int | None = None, task: int | None = None) -> Started:
            return str(task), {}

    reset: Any = Wrapper(Choosy()).reset

    assert reset(options=options) == (str((options or {}).get("task")), {})
    assert asyncio.run(Choosy().areset(options=options)) == reset(options=options)


def test_an_environment_that_takes_options_as_a_dict_is_given_the_dict() -> None:
    class Gymnastic(Dice):
        def reset(self, seed: int | None = None, options: Any = None) -> Started:
            return str(options), {}

    assert Gymnastic().reset(options={"task": 4}) == ("{'task': 4}", {})
    assert Wrapper(Gymnastic()).reset(options={"task": 4}) == ("{'task': 4}", {})


@pytest.mark.parametrize("options", [{"task": 4}, {"options": {"task": 4}}])
@pytest.mark.parametrize("around", [lambda env: env, Wrapper])
def test_a_reset_that_takes_any_option_is_given_each_by_its_name(
    options: dict[str, Any], around: Callable[[Env], Env]
) -> None:
    class Anything(Dice):
        def reset(self, seed: int | None = None, **options: Any) -> Started:
            return str(options), {}

    assert around(Anything()).reset(**options) == ("{'task': 4}", {})
    assert around(Anything()).reset(options=None) == ("{}", {})


def test_a_layer_that_takes_options_as_a_dict_is_given_the_dict() -> None:
    class Gymnastic(Wrapper):
        def reset(self, seed: int | None = None, options: Any = None) -> Started:
            return str(options), {}

    assert Wrapper(Gymnastic(Dice())).reset(options={"task": 4}) == ("{'task': 4}", {})


@pytest.mark.parametrize("around", [lambda env: env, Wrapper])
def test_an_option_by_its_place_is_refused(around: Callable[[Env], Env]) -> None:
    env: Any = around(Dice())

    for reset in (env.reset, lambda *given: asyncio.run(env.areset(*given))):
        with pytest.raises(BadArguments, match=r"reset was given 2 after the seed.*name each"):
            reset(None, 2)
    assert env.reset(3) == Dice().reset(seed=3)


def test_an_environment_that_waits_is_guarded_alike() -> None:
    class Awaited(Env):
        async def areset(self, seed: int | None = None, task: int | None = None) -> Started:
            return str(task), {}

        async def astep(self, action: str) -> Step:
            return going(action)

    env: Any = Awaited()

    assert env.reset(options={"task": 4}) == ("4", {})
    with pytest.raises(BadArguments, match="An action is a string"):
        env.step(5)
    assert env.step("5").observation == "5"


def test_options_that_are_no_dict_are_refused() -> None:
    reset: Any = Dice().reset

    with pytest.raises(BadArguments, match=r"options=\[1\].*Options are a dict by name"):
        reset(options=[1])


@pytest.mark.parametrize("action", [None, 5, b"x", ["a"], Message("assistant", "x")])
@pytest.mark.parametrize("around", [lambda env: env, Wrapper])
def test_an_action_that_is_no_string_is_refused_and_the_episode_goes_on(
    action: Any, around: Callable[[Env], Env]
) -> None:
    env = around(Dice())
    env.reset(seed=1)

    with pytest.raises(BadArguments, match=rf"of type {type(action).__name__}\. An action is a"):
        env.step(action)
    with pytest.raises(BadArguments, match="An action is a string"):
        asyncio.run(env.astep(action))

    assert env.turn == 0
    env.step("1")


def test_no_global_chance_is_read_or_written() -> None:
    random.seed(1)
    before = random.getstate()
    env = Dice()
    first = env.reset(seed=1)
    assert random.getstate() == before
    random.seed(2)
    assert env.reset(seed=1) == first


def test_reseed_without_a_seed_leaves_the_stream_running() -> None:
    env = Dice()
    reseed(env, 3)
    first = env.rng.random()
    reseed(env, None)
    assert env.rng.random() != first


def test_a_step_and_a_reset_leave_the_instance_dictionary_alone() -> None:
    class Watched(Dice):
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise AssertionError("vars() on the hot path")

    env = Watched()
    for _ in range(2):
        env.reset(seed=1)
        env.step("end")
    with pytest.raises(AssertionError):
        env.snapshot()
