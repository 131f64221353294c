"""The form that was not written, synchronous or not, is derived from the other."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from gem._python.sync_async import wait_for
from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import EnvUsageError, ResetNeeded

from .envs import AsyncDice, Dice, Started, going, over


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


class Twice(Env, both_forms=True):
    """Writes both forms, and says which one was called."""

    def reset(self, seed: int | None = None) -> Started:
        return "reset", {}

    async def areset(self, seed: int | None = None) -> Started:
        return "areset", {}

    def step(self, action: str) -> Step:
        return over("step")

    async def astep(self, action: str) -> Step:
        return over("astep")


def test_a_class_may_promise_that_its_two_forms_do_the_same() -> None:
    async def play(env: Env) -> tuple[Any, Any]:
        observation, _ = await env.areset()
        return observation, (await env.astep("a")).observation

    env = Twice()
    assert (env.reset()[0], env.step("a").observation) == ("reset", "step")
    assert asyncio.run(play(Twice())) == ("areset", "astep")


def test_a_subclass_promises_for_itself() -> None:
    async def astep(self: Env, action: str) -> Step:
        return over("other")

    def step(self: Env, action: str) -> Step:
        return over("other")

    class Thrice(Twice):
        """Changes nothing."""

    assert Thrice().reset() == ("reset", {})
    with pytest.raises(TypeError, match=r"Changed defines both step and astep.*both_forms=True"):
        type("Changed", (Twice,), {"step": step, "astep": astep})


def test_a_copied_class_body_keeps_the_promise() -> None:
    @dataclass(slots=True)
    class Copied(Twice, both_forms=True):
        side: str = ""

        def step(self, action: str) -> Step:
            return over("step again")

        async def astep(self, action: str) -> Step:
            return over("step again")

    env = Copied()
    env.reset()
    assert env.step("a").observation == "step again"


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
    assert AsyncDice.step.__module__ == AsyncDice.__module__
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
    with pytest.raises(NotImplementedError, match=r"Stepless was stepped, .* Write the first"):
        env.step("a")
    env.close()


def test_a_synchronous_form_on_the_background_loop_is_refused() -> None:
    async def play() -> None:
        AsyncDice().reset()

    with pytest.raises(EnvUsageError, match="Await the asynchronous form"):
        wait_for(play())
