"""`gem-env replay` of ATIF: what the exporter wrote, and what others may have written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_eval
from gem import Message, TextPart, ToolCall, ToolResult
from gem.cli._main import main
from gem.content import ImagePart
from gem.testing.envs import Guess

atif = pytest.importorskip("atif")

Output = pytest.CaptureFixture[str]
PLACED = ("--env", "atif:Guess", "--seed", "3")


class Shows(gem.Env):
    """Shows all that an observation may have, and answers calls of its tool anew each time."""

    tools = ({"type": "function", "function": {"name": "add"}},)
    calls = 0

    def reset(self, seed: int | None = None) -> Any:
        told = (Message("system", "Be brief."), Message("user", "1+1?"), Message("assistant", "2"))
        parts = (TextPart("Add"), ImagePart(b"P"), ImagePart(b"BM", "image/bmp"))
        return (*told, Message("user", parts)), {"suffix": "Now."}

    def step(self, action: str) -> gem.Step:
        assert isinstance(action, gem.Action)
        if not action.tool_calls:
            return gem.Step("", 1.0, True, info={"suffix": "Over."})
        Shows.calls += 1
        results = action.tool_results or (ToolResult("c", f"made {Shows.calls} times"),)
        said = (Message("system", "Seen."), Message("tool", results[0].content, call_id="c"))
        return gem.Step(said, 0.0, info={"tool_results": results})


def calls_then_answers(request: gem.Request) -> Message:
    if request.turn:
        return Message("assistant", "5 \x1b[2J \ud800")
    return Message("assistant", "", (ToolCall("c", "add", {"a": [2, {"b": 3}]}),))


@pytest.fixture(autouse=True)
def _envs() -> None:
    gem.register("atif:Guess", Guess)
    gem.register("atif:Shows", Shows)


@pytest.fixture
def exported(tmp_path: Path) -> Callable[..., list[str]]:
    """Return a function that evaluates and exports, and returns the files."""

    def run(env: str, policy: Any, **options: Any) -> list[str]:
        played = gem_eval.evaluate(env, policy, out=tmp_path / "run", episodes=3, **options)
        folder = Path(gem_eval.export(played.path, to="atif", out=tmp_path / "atif").path)
        return sorted(map(str, folder.glob("*.json")))

    return run


@pytest.mark.parametrize(
    ("env", "policy", "options"),
    [
        ("atif:Guess", "solver", {}),
        ("atif:Guess", "noop", {"env_kwargs": {"highest": 9}}),
        (
            "atif:Guess",
            "random",
            {"wrappers": ["concat", {"id": "time_limit", "max_turns": 2}]},
        ),
        ("atif:Guess", "random", {"max_turns": 1}),
        ("atif:Shows", calls_then_answers, {}),
    ],
)
def test_what_was_exported_replays_the_same(
    env: str,
    policy: Any,
    options: dict[str, Any],
    exported: Callable[..., list[str]],
    capsys: Output,
) -> None:
    for file in exported(env, policy, **options):
        assert main(["replay", file]) == 0, capsys.readouterr()
        assert capsys.readouterr().out.startswith("same ")


def test_what_an_error_ended_is_partial(exported: Callable[..., list[str]], capsys: Output) -> None:
    def fails(request: gem.Request) -> str:
        if request.turn:
            raise RuntimeError("gone")
        return r"\boxed{1}"

    assert main(["replay", exported("atif:Guess", fails)[0]]) == 0
    assert capsys.readouterr().out.startswith("partial ")


def test_an_action_that_was_not_answered_is_not_taken(
    exported: Callable[..., list[str]], capsys: Output
) -> None:
    class Breaks(Guess):
        is_whole = False

        def step(self, action: str) -> gem.Step:
            if not self.is_whole:
                raise RuntimeError("broken")
            return super().step(action)

    gem.register("atif:Breaks", Breaks)
    file = exported("atif:Breaks", "solver")[0]
    Breaks.is_whole = True

    assert main(["replay", file]) == 0
    assert "0 turns" in capsys.readouterr().out


def test_an_export_that_was_edited_is_different(
    exported: Callable[..., list[str]], capsys: Output
) -> None:
    file = Path(exported("atif:Guess", "solver")[0])
    plain = json.loads(file.read_bytes())
    plain["steps"][1]["extra"]["reward"] = 0.5
    file.write_text(json.dumps(plain))

    assert main(["replay", str(file), "--json"]) == 1
    difference = json.loads(capsys.readouterr().out)["first_difference"]
    assert (difference["step"], difference["field"], difference["recorded"]) == (2, "reward", 0.5)


def step(number: int, source: str, message: Any, **more: Any) -> Any:
    return atif.Step(step_id=number, source=source, message=message, **more)


def written(folder: Path, *steps: Any, **more: Any) -> str:
    """Write the trajectory of another agent and return its path."""
    agent = atif.Agent(name="terminus\x1b[2J", version="2", model_name="m")
    given = {"schema_version": "ATIF-v1.6", "agent": agent, "steps": list(steps), **more}
    path = folder / "agent.json"
    path.write_text(atif.Trajectory(**given).model_dump_json(exclude_none=True))
    return str(path)


def observed(text: Any, call: str | None = None) -> Any:
    result = atif.ObservationResult(content=text, source_call_id=call)
    return atif.Observation(results=[result])


def solved() -> list[Any]:
    """The steps of an agent that solves atif:Guess of seed 3, in two ways to write what it saw."""
    env = Guess()
    observation, _ = env.reset(seed=3)
    steps = [step(1, "system", "You are terminus."), step(2, "user", observation)]
    is_over = False
    while not is_over:
        action = env.solve()
        taken = env.step(action)
        is_over = taken.terminated
        number = len(steps) + 1
        if number % 2:
            told = observed(taken.observation)
            steps.append(step(number, "agent", action, observation=told))
        else:
            steps.append(step(number, "agent", action, extra={"reward": taken.reward}))
            steps.append(step(number + 1, "user", taken.observation))
    return steps


def test_another_agents_file_is_taken_again(tmp_path: Path, capsys: Output) -> None:
    steps = solved()
    last = step(len(steps) + 1, "agent", "Done.")

    assert main(["replay", written(tmp_path, *steps, last), *PLACED]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("same      atif:Guess terminus\\x1b[2J seed 3: ")
    assert f"success\nLeft over: 1 action from step {last.step_id} on." in shown


def test_steps_that_were_copied_are_no_actions(tmp_path: Path, capsys: Output) -> None:
    copied = step(1, "agent", r"\boxed{1}", is_copied_context=True)
    later = [one.model_copy(update={"step_id": one.step_id + 1}) for one in solved()[1:]]
    later = [one.model_copy(update={"step_id": place}) for place, one in enumerate(later, 2)]

    main(["replay", written(tmp_path, copied, *later), *PLACED, "--json"])

    facts = json.loads(capsys.readouterr().out)
    assert (facts["success"], facts["turns_left"]) == (True, 0)


@pytest.mark.parametrize(("options", "status"), [((), 0), (("--live-tools",), 1)])
def test_another_agents_tools_answer_as_recorded_unless_live(
    options: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    call = atif.ToolCall(tool_call_id="c", function_name="add", arguments={"a": 2})
    answer = [atif.ContentPart(type="text", text="5"), atif.ContentPart(type="text", text="6")]
    first = step(1, "agent", "", tool_calls=[call], observation=observed(answer, "c"))
    file = written(tmp_path, first, step(2, "agent", "5"))

    assert main(["replay", file, "--env", "atif:Shows", "--seed", "1", *options]) == status


def test_a_file_that_does_not_fit_is_one_line(tmp_path: Path, capsys: Output) -> None:
    call = atif.ToolCall(tool_call_id="c", function_name="bash", arguments={})
    file = written(tmp_path, step(1, "agent", "", tool_calls=[call]))

    assert main(["replay", file, *PLACED]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "does not fit atif:Guess: its actions call 'bash'" in line


@pytest.mark.parametrize("reward", [float("nan"), 10**400, "1", True, None, {}])
def test_a_reward_that_is_no_number_is_not_compared(
    reward: Any, tmp_path: Path, capsys: Output
) -> None:
    plain = {"schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1"}}
    one = {"step_id": 1, "source": "agent", "message": "x", "extra": {"reward": reward}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**plain, "steps": [one]}))

    assert main(["replay", str(path), *PLACED]) == 0
    assert capsys.readouterr().out.startswith("played ")


def plain_file(**changed: Any) -> bytes:
    one = {"step_id": 1, "source": "agent", "message": "x"}
    plain = {"schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1"}, "steps": [one]}
    return json.dumps({**plain, **changed}).encode()


FACTS = {"env_id": "atif:Guess", "seed": 1}
HOSTILE = {
    "nothing but brackets": (b"[" * 100_000, "is no ATIF trajectory"),
    "no JSON": (b"\x00\xff", "is no ATIF trajectory"),
    "empty object": (b"{}", "its schema_version is None"),
    "a list": (b"[]", "it is no JSON object"),
    "another format": (plain_file(schema_version="2.0"), "its schema_version is '2.0'"),
    "no agent": (plain_file(agent=None), "agent: "),
    "no steps": (plain_file(steps={}), "its `steps` are no list"),
    "nothing done": (plain_file(steps=[]), "no step in it is an agent's"),
    "a hundred thousand wrong steps": (plain_file(steps=[{}] * 100_000), "step 1: "),
    "steps out of order": (
        plain_file(steps=[{"step_id": 10**100, "source": "user", "message": ""}]),
        "its step 1 has the step_id 1000",
    ),
    "extra of another kind": (plain_file(extra=[1]), "its `extra` is no object"),
    "ours, and not whole": (
        plain_file(agent={"name": "gem-env", "version": "1"}, extra=FACTS),
        "extra: env_kwargs",
    ),
    "deep arguments": (
        b'{"schema_version":"ATIF-v1.8","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,'
        b'"source":"agent","message":"","tool_calls":[{"tool_call_id":"c","function_name":"'
        + b"x" * 100_000
        + b'","arguments":{"a":'
        + b"[" * 400
        + b"]" * 400
        + b"}}]}]}",
        "has no tools",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_one_line(kind: str, tmp_path: Path, capsys: Output) -> None:
    content, why = HOSTILE[kind]
    path = tmp_path / "hostile.json"
    path.write_bytes(content)

    assert main(["replay", str(path), *PLACED]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert why in line
    assert len(line) < 600


def test_beside_the_log_of_a_run_its_folder_is_what_to_give(tmp_path: Path, capsys: Output) -> None:
    run = gem_eval.evaluate("atif:Guess", "random", episodes=1, out=tmp_path / "run")

    assert main(["replay", str(run.path / "run.json")]) == 2
    assert f"Give the folder of the run, {run.path}." in capsys.readouterr().err


def test_a_huge_file_is_not_read(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(2**33)

    assert main(["replay", str(path), *PLACED]) == 2
    assert "more than 64 MB" in capsys.readouterr().err


def test_a_file_of_another_name_is_left_to_other_readers(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "agent.txt"
    path.write_bytes(plain_file())

    assert main(["replay", str(path), *PLACED]) == 2
    assert "no installed pack reads logs of its format" in capsys.readouterr().err
