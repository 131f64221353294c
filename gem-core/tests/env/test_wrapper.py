"""Wrappers: hooks, reading through, the stack as data, and its state as one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

import gem
from gem._python.sync_async import wait_for
from gem.content import Observation
from gem.env import Env
from gem.env._snapshot import Snapshot
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import EnvBusy, OpaqueError, ResetNeeded, SnapshotError
from gem.specs import EnvSpec, WrapperRef

Started = tuple[Observation, dict[str, Any]]


class Echo(Env):
    max_turns = 9
    reward_range = (0.0, 1.0)
    num_tasks = 4
    single_turn = rewrites_history = prompt_is_finished = True
    tools = ({"name": "search"},)
    public = "read me"
    _private = "read me too"

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.said = ["start"]
        return f"start {self.rng.randrange(10**9)}", {}

    def step(self, action: str) -> Step:
        self.said.append(action)
        return Step(f"heard {action}", 0.5, action == "end", False, {})

    def sample_action(self) -> str:
        return "sampled"

    def solve(self) -> str | None:
        return "solved"


class Loud(Wrapper):
    """Every hook, at once."""

    def on_reset(self, observation: Observation, info: dict[str, Any]) -> Started:
        return f"{observation}!", {**info, "loud": True}

    def on_action(self, action: str) -> str | Step:
        return action.upper()

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(observation=f"{step.observation} after {action}!")


class LateLoud(Wrapper):
    """Every hook, later."""

    async def on_reset(self, observation: Observation, info: dict[str, Any]) -> Started:
        await asyncio.sleep(0)
        return f"{observation}!", {**info, "loud": True}

    async def on_action(self, action: str) -> str | Step:
        await asyncio.sleep(0)
        return action.upper()

    async def on_step(self, action: str, step: Step) -> Step:
        await asyncio.sleep(0)
        return step._replace(observation=f"{step.observation} after {action}!")


def both_ways(env: Env) -> list[tuple[Started, Step]]:
    async def awaited() -> tuple[Started, Step]:
        return await env.areset(seed=1), await env.astep("a")

    return [(env.reset(seed=1), env.step("a")), asyncio.run(awaited()), wait_for(awaited())]


# hooks


def test_a_wrapper_without_hooks_changes_nothing() -> None:
    plain = both_ways(Echo())
    assert both_ways(Wrapper(Echo())) == both_ways(Wrapper(Wrapper(Echo()))) == plain


def test_a_wrapper_that_was_not_given_its_environment_says_how() -> None:
    class Forgetful(Wrapper):
        def __init__(self, env: Env) -> None:
            self.limit = 3

    with pytest.raises(AttributeError, match=r"Forgetful has no environment yet\. .* super\(\)"):
        Forgetful(gem.make("gem.testing.envs:Echo")).reset(seed=0)


@pytest.mark.parametrize("wrapper", [Loud, LateLoud])
def test_hooks_change_what_passes_in_every_form(wrapper: type[Wrapper]) -> None:
    observation = Echo().reset(seed=1)[0]
    expected = (
        (f"{observation}!", {"loud": True}),
        Step("heard A after a!", 0.5, False, False, {}),
    )
    assert both_ways(wrapper(Echo())) == [expected] * 3


def test_layers_apply_from_the_outside_in_and_back() -> None:
    class Tag(Wrapper):
        def __init__(self, env: Env, tag: str) -> None:
            super().__init__(env)
            self.tag = tag

        def on_action(self, action: str) -> str:
            return f"{action}{self.tag}"

        def on_step(self, action: str, step: Step) -> Step:
            return step._replace(observation=f"{step.observation}{self.tag}")

    env = Tag(Tag(Echo(), "1"), "2")
    env.reset()
    assert env.step("a").observation == "heard a2112"


class Answers(Wrapper):
    """Answers "ask" itself, as a tool would."""

    def on_action(self, action: str) -> str | Step:
        if action == "ask":
            return Step("answered", 0.0, False, False, {})
        if action == "plain":
            return ("plainly", 0.0, False, False, {})  # type: ignore[return-value]
        return Step("stop", 0.0, True, False, {}) if action == "stop" else action


class LateAnswers(Answers):
    def on_action(self, action: str) -> Awaitable[str | Step]:  # type: ignore[override]
        async def answer() -> str | Step:
            return Answers.on_action(self, action)

        return answer()


@pytest.mark.parametrize("wrapper", [Answers, LateAnswers])
def test_a_step_from_on_action_leaves_the_inner_turn_where_it_is(wrapper: type[Wrapper]) -> None:
    env = wrapper(Echo())
    env.reset()
    assert env.step("ask").observation == "answered"
    assert env.step("plain") == Step("plainly", 0.0, False, False, {})
    assert asyncio.run(env.astep("ask")).observation == "answered"
    assert asyncio.run(env.astep("plain")).observation == "plainly"
    assert env.turn == 0
    assert env.said == ["start"]
    env.step("go")
    assert env.turn == 1


def test_a_step_from_on_action_may_end_the_episode() -> None:
    env = Answers(Echo())
    env.reset()
    assert env.step("stop").terminated
    with pytest.raises(ResetNeeded):
        env.step("go")


@pytest.mark.parametrize(
    ("hook", "complaint"),
    [
        ("on_action", "Silent.on_action returned NoneType. It must return the text of the action"),
        ("on_step", "Silent.on_step returned NoneType. It must return a Step"),
        ("on_reset", "Silent.reset returned NoneType. It must return an observation and a dict"),
    ],
)
def test_a_hook_that_returns_nothing_is_named(hook: str, complaint: str) -> None:
    class Silent(Wrapper):
        pass

    setattr(Silent, hook, lambda self, *given: None)

    def play() -> None:
        env = Silent(Echo())
        env.reset()
        env.step("a")

    async def play_in_coroutines() -> None:
        env = Silent(Echo())
        await env.areset()
        await env.astep("a")

    with pytest.raises(TypeError, match=complaint):
        play()
    with pytest.raises(TypeError, match=complaint):
        asyncio.run(play_in_coroutines())


def test_on_step_sees_the_action_that_this_layer_was_given() -> None:
    seen: list[str] = []

    class Watches(Loud):
        def on_step(self, action: str, step: Step) -> Step:
            seen.append(action)
            return step

    env = Watches(Echo())
    env.reset()
    env.step("a")
    assert seen == ["a"]


def test_a_hook_that_waits_cannot_be_called_on_the_background_loop() -> None:
    async def play() -> None:
        LateLoud(Echo()).reset()

    with pytest.raises(gem.GemError, match="background event loop"):
        wait_for(play())


# reading through


@pytest.mark.parametrize(
    "name",
    [
        "max_turns",
        "reward_range",
        "num_tasks",
        "single_turn",
        "tools",
        "rewrites_history",
        "prompt_is_finished",
        "turn",
        "rng",
        "sample_rng",
        "public",
        "_private",
        "said",
    ],
)
def test_reading_goes_through_to_the_inner_environment(name: str) -> None:
    inner = Echo()
    inner.reset()
    env = Wrapper(Wrapper(inner))
    assert getattr(env, name) is getattr(inner, name)


def test_reading_is_live() -> None:
    inner = Echo()
    env = Wrapper(inner)
    inner.max_turns, inner.public = 20, "changed"
    assert (env.max_turns, env.public) == (20, "changed")


def test_methods_go_through() -> None:
    env = Wrapper(Echo())
    env.reset(seed=1)
    assert (env.sample_action(), env.sample_random_action(), env.solve()) == (
        "sampled",
        "sampled",
        "solved",
    )
    assert env.pick_task(2) == 2
    assert env.unwrapped is env.env


def test_writing_stays_on_the_wrapper() -> None:
    inner = Echo()
    env: Any = Wrapper(inner)
    env.max_turns = 3
    env.public = "mine"
    assert (env.max_turns, env.public) == (3, "mine")
    assert (inner.max_turns, inner.public) == (9, "read me")


def test_a_wrapper_class_may_state_its_own() -> None:
    class Short(Wrapper):
        max_turns = 2

    assert Short(Echo()).max_turns == 2
    assert Wrapper.max_turns is None


def test_what_nobody_has_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="missing"):
        Wrapper(Echo()).missing  # noqa: B018
    with pytest.raises(AttributeError, match="'Wrapper' object has no attribute '__len__'"):
        Wrapper(Echo()).__len__  # noqa: B018
    with pytest.raises(AttributeError, match="has no environment yet"):
        Wrapper.__new__(Wrapper).anything  # noqa: B018


# the stack as data


SPEC = EnvSpec(id="demo:Echo", target="a:b", blocking=False)


class Limit(Wrapper):
    def __init__(self, env: Env, limit: int = 1, *, name: str = "x", **rest: Any) -> None:
        super().__init__(env)


def made() -> Echo:
    env = Echo()
    env.spec = SPEC
    return env


def test_a_stack_says_what_it_is_made_of() -> None:
    gem.register("demo:Echo", Echo)
    assert repr(gem.make("demo:Echo", wrappers=[Loud])) == "<Loud <Echo demo:Echo>>"
    assert repr(Loud(Echo())) == "<Loud <Echo made by hand>>"


def test_a_stack_of_something_made_by_hand_has_no_spec() -> None:
    assert Wrapper(Echo()).spec is None


@pytest.mark.parametrize(
    ("wrap", "kwargs"),
    [
        (Limit, {}),
        (lambda env: Limit(env, 3), {"limit": 3}),
        (lambda env: Limit(name="y", env=env, colour="red"), {"name": "y", "colour": "red"}),
        (lambda env: Limit(env, rest=1), {"rest": 1}),
        (lambda env: Limit(env, name=object()), {"name": {"$opaque": "builtins.object"}}),  # type: ignore[arg-type]
    ],
)
def test_the_outermost_spec_carries_the_stack(wrap: Any, kwargs: dict[str, Any]) -> None:
    env = wrap(Loud(made()))
    assert env.spec.wrappers == (
        WrapperRef(id=f"{__name__}:Loud"),
        WrapperRef(id=f"{__name__}:Limit", kwargs=kwargs),
    )
    assert env.env.spec.wrappers == env.spec.wrappers[:1]
    assert env.unwrapped.spec is SPEC


def test_the_spec_is_built_once_for_each_inner_spec() -> None:
    env = Limit(made())
    first = env.spec
    assert env.spec is first
    env.env.spec = SPEC.model_copy(update={"summary": "Another."})
    assert env.spec is not None
    assert env.spec.summary == "Another."


def test_a_stack_blocks_if_any_layer_does() -> None:
    env = Wrapper(made())
    assert env.spec is not None
    assert env.spec.blocking
    other = Wrapper(made())
    other._blocks = False
    assert other.spec is not None
    assert not other.spec.blocking
    assert Wrapper(other).spec.blocking  # type: ignore[union-attr]


def test_a_spec_may_be_set_for_a_stack_that_one_target_made() -> None:
    env = Wrapper(Echo())
    env.spec = SPEC
    assert env.spec is SPEC
    assert Loud(env).spec.wrappers == (WrapperRef(id=f"{__name__}:Loud"),)  # type: ignore[union-attr]
    assert env.fork().spec is SPEC


# the stack's state


class History(Wrapper):
    """Keeps what it saw."""

    def __init__(self, env: Env, extra: Any = None) -> None:
        super().__init__(env)
        self.history: list[str] = []
        self.extra = extra

    def on_step(self, action: str, step: Step) -> Step:
        self.history.append(action)
        return step._replace(info={"history": " ".join(self.history)})


def stack() -> History:
    return History(Loud(History(Echo())))


def test_a_snapshot_holds_every_layer() -> None:
    env = stack()
    env.reset(seed=2)
    env.step("a")
    saved = Snapshot.from_json(env.snapshot().to_json())
    other = stack()
    other.restore(saved)
    assert [other.step("b"), other.step("end")] == [env.step("b"), env.step("end")]
    assert other.history == ["a", "b", "end"]
    assert other.reset() == env.reset()


def test_a_fork_is_independent_in_every_layer() -> None:
    env = stack()
    env.reset(seed=2)
    env.step("a")
    twin = env.fork()
    layers = zip(layers_of(env), layers_of(twin), strict=True)
    assert all(left is not right for left, right in layers)
    twin.step("b")
    assert (env.history, twin.history) == (["a"], ["a", "b"])
    assert (env.turn, twin.turn) == (1, 2)


def layers_of(env: Env) -> list[Env]:
    return [env, *(layers_of(env.env) if isinstance(env, Wrapper) else [])]


def test_a_fork_works_from_inside_a_hook_of_an_outer_layer() -> None:
    class Peeks(Wrapper):
        def on_action(self, action: str) -> str:
            twin = self.env.fork()
            self.seen = twin.step(action).observation
            return action

    env = Peeks(Echo())
    env.reset()
    assert env.step("a").observation == env.seen
    assert env.turn == 1


@pytest.mark.parametrize("method", ["snapshot", "fork", "restore"])
def test_a_layer_s_own_state_is_closed_inside_its_own_hooks(method: str) -> None:
    class Peeks(Wrapper):
        def on_action(self, action: str) -> str:
            arguments = () if method != "restore" else (saved,)
            with pytest.raises(EnvBusy):
                getattr(self, method)(*arguments)
            return action

    env = Peeks(Echo())
    env.reset()
    saved = env.snapshot()
    assert env.step("a").observation == "heard a"


def test_an_overridden_fork_inside_is_respected() -> None:
    class Special(Echo):
        forks = 0

        def fork(self) -> Any:
            self.forks += 1
            return super().fork()

    inner = Special()
    Wrapper(Wrapper(inner)).fork()
    assert inner.forks == 1


def test_a_layer_that_cannot_be_saved_is_refused_by_name() -> None:
    env = History(Echo(), extra=object())
    env.reset()
    for save in (env.snapshot, env.fork):
        with pytest.raises(SnapshotError, match="'extra'"):
            save()


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_bad_snapshot_of_any_layer_changes_no_layer(depth: int) -> None:
    env = History(History(Echo()))
    env.reset(seed=1)
    env.step("a")
    before, spoilt = env.snapshot(), env.fork()
    spoilt.step("b")
    layer = spoilt.snapshot()
    levels = [layer, layer.inner, layer.inner and layer.inner.inner]
    for level, snapshot in enumerate(levels):
        assert snapshot is not None
        if level == depth:
            snapshot.state["turn"] = {"$": "rng", "v": "x"}  # type: ignore[index]
    with pytest.raises(SnapshotError):
        env.restore(layer)
    assert env.snapshot() == before


def test_a_snapshot_with_fewer_layers_is_refused() -> None:
    env = Wrapper(Echo())
    with pytest.raises(SnapshotError, match="fewer layers"):
        env.restore(Echo().snapshot())


def test_a_snapshot_of_a_stack_in_another_order_is_refused() -> None:
    with pytest.raises(SnapshotError, match="with other wrappers"):
        Loud(History(made())).restore(History(Loud(made())).snapshot())


def test_a_snapshot_of_a_layer_with_other_arguments_is_refused() -> None:
    with pytest.raises(SnapshotError, match="with other wrappers"):
        Limit(made(), 3).restore(Limit(made(), 4).snapshot())


def test_making_from_a_spec_with_a_live_object_is_refused_by_name() -> None:
    gem.register("demo:Stacked", Echo)
    env = History(gem.make("demo:Stacked"), extra=object())
    assert env.spec is not None
    with pytest.raises(OpaqueError, match="'extra'"):
        gem.make(env.spec)


def test_the_seed_of_the_episode_can_be_read_through_every_layer() -> None:
    env = Wrapper(Echo())
    assert env.episode_seed is None
    env.reset(seed=7)
    assert env.episode_seed == 7
