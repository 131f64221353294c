"""`python_tool`, `search_tool` and their forms without rewards of their own."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem._python.signatures import parameters
from gem.errors import BadArguments
from gem.registry import load_target, wrapper_spec

pytestmark = pytest.mark.usefixtures("demo_guess")


def begun(id: str, **options: Any) -> gem.Env:
    env = gem.make("demo:Guess", wrappers=[{"id": id, **options}])
    env.reset(seed=0)
    return env


@pytest.mark.usefixtures("bwrap")
@pytest.mark.parametrize(
    "text",
    [
        "I count. <python>print(6 * 7)</python>",
        "I count.\n```python\nprint(6 * 7)\n```\n",
        '<tool_call>{"name": "python", "arguments": {"code": "print(6 * 7)"}}</tool_call>',
    ],
)
def test_python_is_run_from_tags_from_fences_and_from_json(text: str) -> None:
    step = begun("python_tool").step(text)

    assert step.observation == "<tool_response>\n42\n</tool_response>"
    assert step.reward == pytest.approx(0.1)


@pytest.mark.usefixtures("bwrap")
def test_a_program_that_fails_earns_less() -> None:
    step = begun("python_tool").step("<python>1 / 0</python>")

    assert "ZeroDivisionError" in str(step.observation)
    assert step.reward == pytest.approx(0.05)


@pytest.mark.usefixtures("bwrap")
def test_without_rewards_a_call_earns_nothing() -> None:
    step = begun("python_tool_no_int_reward").step("<python>print(1)</python>")

    assert (step.observation, step.reward) == ("<tool_response>\n1\n</tool_response>", 0.0)


@pytest.mark.parametrize("name", ["python_tool", "search_tool"])
def test_the_form_without_rewards_takes_what_the_other_takes(name: str) -> None:
    taken = [
        [parameter.name for parameter in parameters(load_target(wrapper_spec(id).target), skip=1)]
        for id in (name, f"{name}_no_int_reward")
    ]

    assert taken[0] == taken[1]


@pytest.mark.usefixtures("bwrap")
def test_variables_are_kept_if_asked_for() -> None:
    env = begun("python_tool_no_int_reward", stateful=True)
    env.step("<python>x = 6</python>")

    step = env.step("<python>print(7 * x)</python>")
    env.close()

    assert "42" in str(step.observation)


@pytest.mark.usefixtures("bwrap")
def test_after_ten_calls_an_answer_is_asked_for() -> None:
    env = begun("python_tool", program_timeout_s=5.0)

    steps = [env.step("<python>print(1)</python>") for _ in range(11)]

    assert "all 10 calls of this episode are used" in str(steps[10].observation)


def test_without_a_sandbox_the_error_says_so() -> None:
    with pytest.raises(BadArguments, match="no-such-backend"):
        begun("python_tool", backend="no-such-backend")


@pytest.mark.parametrize(("id", "reward"), [("search_tool", 0.1), ("search_tool_no_int_reward", 0)])
def test_an_index_is_searched(index_folder: str, id: str, reward: float) -> None:
    step = begun(id, index=index_folder, k=1).step("<search>planets</search>")

    assert "[1] document a1: Orrery" in str(step.observation)
    assert step.reward == pytest.approx(reward)


@pytest.mark.parametrize(
    ("options", "why"),
    [({}, "no index to search"), ({"index": "a", "url": "http://a"}, "both index and url")],
)
@pytest.mark.parametrize("id", ["search_tool", "search_tool_no_int_reward"])
def test_a_search_of_nothing_is_refused(id: str, options: dict[str, Any], why: str) -> None:
    with pytest.raises(BadArguments, match=why):
        begun(id, **options)


def test_the_record_of_a_stack_has_the_wrapper_by_its_name(index_folder: str) -> None:
    env = begun("search_tool", index=index_folder)

    assert env.spec is not None
    [ref] = env.spec.wrappers
    assert (ref.id, ref.kwargs) == ("search_tool", {"index": index_folder})


def test_such_a_stack_forks(index_folder: str) -> None:
    env = begun("search_tool", index=index_folder)
    env.step("<search>planets</search>")

    twin = env.fork()

    assert twin.step("<search>orrery</search>").info["tools"]["uses"] == 2
