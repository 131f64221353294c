"""Customer service by the commands: every kind of user, every backend, rows beside a score."""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_eval
from gem.cli._main import main
from gem_envs_agents.service.sensitivity import phrase_sensitivity
from gem_eval.references import any_references, declared_references

ONE = "agents:Service-v0"
TWO = "agents:ServiceOfTwo-v0"
_FOLDERS = {"Retail-2024": "tau_retail", "Airline-2024": "tau_airline"}


class _Customer(BaseHTTPRequestHandler):
    """A model that plays the customer: it says what it was told to, whatever the agent says."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(length))
        self.server.asked.append(asked)  # type: ignore[attr-defined]
        told = str(asked["messages"][0]["content"])
        turn = sum(message["role"] == "assistant" for message in asked["messages"])
        [wish] = re.findall(r"You say: (.+?[.?]) When", told)[:1]
        email = re.findall(r"\S+@\S+com", told)[0]
        words = (f"Hello. {wish}", f"My email: {email}.", "Yes, please go ahead.", "###STOP###")
        message = {"role": "assistant", "content": words[min(turn, 3)]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 5}
        body = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[Any]:
    """A server on this machine, with what it was asked."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Customer)
    server.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def asks_first(request: gem.Request) -> str:
    """An agent that asks who the customer is, proposes, and is done."""
    words = ("What is your email?", "I would do that. Shall I go ahead (yes/no)?", "That is done.")
    return words[min(request.turn, 2)]


def test_a_recorded_user_behind_an_endpoint_replays_without_it(
    endpoint: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    user = f"openai:any@http://127.0.0.1:{endpoint.server_port}/v1"
    log = tmp_path / "log.jsonl"
    episodes = gem.run(
        {"agent": asks_first, "user": user},
        TWO,
        env_kwargs={"difficulty": "easy"},
        episodes=3,
        seed=2,
        wrappers=(),
    )
    with gem.EpisodeLog(log) as kept:
        for episode in episodes:
            assert not episode.is_error, episode.error
            assert episode.seats[1].policy == user
            kept.append(episode)
    requests = len(endpoint.asked)
    assert requests == sum(turn.seat == 1 for episode in episodes for turn in episode.turns)
    assert all(episode.turns[0].usage == gem.Usage(9, 5) for episode in episodes)

    assert main(["replay", str(log), "--verify"]) == 0
    assert "3" in capsys.readouterr().out
    assert len(endpoint.asked) == requests


def typed(lines: list[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*lines, ""])))
    return main(list(arguments))


def test_a_person_plays_the_user(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    env = gem.make(TWO, difficulty="easy")
    env.reset(seed=3)
    lines = []
    while True:
        action = str(env.hint("solve", env.seat))
        if env.seat == 1:
            lines.append(action)
        if env.step(action).terminated:
            break
    kwargs = '{"difficulty": "easy"}'
    command = ("play", TWO, "--seed", "3", "--seat", "user", "--policy", "solver")
    assert typed(lines, monkeypatch, *command, "--env-kwargs", kwargs) == 0
    shown = capsys.readouterr().out
    assert "You are a customer" in shown
    assert "Agent: " in shown
    assert "log_refusal(" not in shown  # the policy and the tools of the agent are not the user's


def test_a_person_plays_the_agent_in_an_evaluation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    env = gem.make(ONE, difficulty="easy", wording=0)
    env.reset(seed=7)
    lines = []
    while True:
        lines.append(" ".join(str(env.solve()).split()))
        if env.step(lines[-1]).terminated:
            break
    run = tmp_path / "run"
    kwargs = '{"difficulty": "easy", "wording": 0}'
    command = ("eval", ONE, "--policy", "human", "--seed-range", "7", "--env-kwargs", kwargs)
    assert typed(lines, monkeypatch, *command, "--out", str(run)) == 0
    [episode] = gem.read_episodes(run / "episodes.jsonl")
    assert episode.success
    assert main(["replay", str(run), "--verify"]) == 0


def test_a_person_plays_the_user_in_an_evaluation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    env = gem.make(TWO, difficulty="easy", wording=0)
    env.reset(seed=7)
    lines = []
    while True:
        action = str(env.hint("solve", env.seat))
        if env.seat == 1:
            lines.append(" ".join(action.split()))
        if env.step(action).terminated:
            break
    run = tmp_path / "run"
    kwargs = '{"difficulty": "easy", "wording": 0}'
    command = ("eval", TWO, "--policy", "agent=solver", "--policy", "user=human")
    options = ("--seed-range", "7", "--env-kwargs", kwargs, "--out", str(run))
    assert typed(lines, monkeypatch, *command, *options) == 0
    [episode] = gem.read_episodes(run / "episodes.jsonl")
    assert [seat.policy for seat in episode.seats] == ["solver", "human"]
    assert [turn.action for turn in episode.turns if turn.seat == 1] == lines
    assert episode.success
    assert main(["replay", str(run), "--verify"]) == 0


@pytest.mark.slow
def test_runs_of_one_seed_are_alike_on_every_backend_and_replay(tmp_path: Path) -> None:
    found = {}
    for name, options in {
        "inline": {},
        "one at a time": {"concurrency": 1},
        "thread": {"backend": "thread"},
        "process": {"backend": "process", "num_workers": 1},
    }.items():
        run = gem_eval.evaluate(
            ONE,
            ["first-reading", "random"],
            episodes=6,
            seed=4,
            out=tmp_path / name,
            **options,  # type: ignore[arg-type]
        )
        found[name] = {
            (episode.policy, episode.seed): episode.fingerprint() for episode in run.episodes()
        }
        assert main(["replay", str(run.path), "--verify"]) == 0
        references = gem.read_episodes(run.folder.references_path)
        found[name] |= {(each.policy, each.seed): each.fingerprint() for each in references}
    assert len(found["inline"]) == 4 * 6  # two policies, and two references that are not among them
    assert all(each == found["inline"] for each in found.values())


DESKS = (ONE, TWO, *(f"tau:{name}{form}" for form in ("", "-OfTwo") for name in _FOLDERS))


def made_with(id: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """Return the arguments of a desk. One of published tasks skips where their files are not."""
    if not id.startswith("tau:"):
        return {}
    data = request.getfixturevalue("local_data")
    return {"data": str(data / _FOLDERS[id.removeprefix("tau:").removesuffix("-OfTwo")])}


def logs(id: str, kwargs: dict[str, str], **options: Any) -> dict[int | None, str]:
    """Play a few episodes of a fixed seed, and return the fingerprint of each."""
    agent = "random"
    policies: Any = {"agent": agent, "user": "customer"} if "OfTwo" in id else agent
    episodes = gem.run(policies, id, env_kwargs=kwargs, episodes=3, seed=4, **options)
    assert [episode.error for episode in episodes] == [None] * 3
    assert all(gem.replay(episode).state == "same" for episode in episodes)
    return {episode.seed: episode.fingerprint() for episode in episodes}


@pytest.mark.slow
@pytest.mark.parametrize("id", DESKS)
def test_two_runs_of_one_seed_have_the_same_logs_wherever_they_are_played(
    id: str, request: pytest.FixtureRequest
) -> None:
    kwargs = made_with(id, request)
    first = logs(id, kwargs)
    assert len(set(first.values())) == 3
    assert logs(id, kwargs) == first
    assert logs(id, kwargs, concurrency=1) == first
    assert logs(id, kwargs, backend="thread") == first
    assert logs(id, kwargs, backend="process", num_workers=1) == first


@pytest.mark.slow
@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize("id", [ONE, "tau:Retail-2024", "tau:Airline-2024-OfTwo"])
def test_ray_has_the_logs_of_this_process(id: str, request: pytest.FixtureRequest) -> None:
    kwargs = made_with(id, request)
    assert logs(id, kwargs, backend="ray", num_workers=1) == logs(id, kwargs)


def test_every_desk_has_its_references() -> None:
    for spec in (*gem.list_envs("tau:*"), *gem.list_envs("agents:*")):
        found = declared_references(spec.id)
        assert [each.name for each in found] == ["do-nothing", "random", "solver"]
        seats = {"agent": "solver", "user": "customer"}
        assert found[2].line_up(["agent", "user"]) == seats
    names = [each.name for each in any_references("game:Wordle-v0")]
    assert names == ["noop", "random", "solver"]


def test_the_references_of_two_seats_sit_where_the_agent_sits(tmp_path: Path) -> None:
    run = gem_eval.evaluate(
        TWO, {"agent": asks_first, "user": "customer"}, episodes=4, out=tmp_path / "run"
    )
    rates = {each.policy: each.success_rate for each in run.summary.references}
    assert (rates["do-nothing"], rates["solver"]) == (0.0, 1.0)
    for episode in gem.read_episodes(run.folder.references_path):
        assert [seat.policy for seat in episode.seats] == [episode.policy, "customer"]
        assert gem.replay(episode).state == "same"
    again = gem_eval.resume(run.path, policies={"agent": asks_first, "user": "customer"})
    assert again.summary.references == run.summary.references


def test_a_score_stands_beside_doing_nothing_chance_and_the_solution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["eval", ONE, "--policy", "first-reading", "--episodes", "8", "--repeats", "2"]
    assert main([*command, "--out", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr().out
    rows = dict(re.findall(r"(\S+) \(reference\) +8 +(\d\.\d+)", shown))
    assert rows["do-nothing"] == "0.000"
    assert rows["solver"] == "1.000"
    assert "pass^2" in shown


def test_a_scripted_user_and_no_judge_have_no_noise() -> None:
    found = gem_eval.noise(ONE, "first-reading", episodes=3, agents=2)
    assert {part.variance for part in found.parts.values()} == {0.0}
    assert found.parts["user"].why_zero
    assert found.parts["environment (judge)"].why_zero
    of_two = gem_eval.noise(
        TWO, {"agent": asks_first, "user": "customer"}, episodes=2, agents=2, users=2
    )
    assert {part.variance for part in of_two.parts.values()} == {0.0}


def test_phrase_sensitivity_is_a_figure_of_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    command = ["eval", ONE, "--policy", "first-reading", "--seed-range", "0:12", "--vary"]
    hard = ["--env-kwargs", '{"difficulty": "hard"}']
    assert main([*command, "wording=[0, 7, 13]", *hard, "--out", str(run)]) == 0
    assert "Sensitivity to wording: 0." in capsys.readouterr().out
    scores: dict[int, dict[int, float]] = {}
    for episode in gem.read_episodes(run / "episodes.jsonl"):
        own = scores.setdefault(int(episode.env_kwargs["wording"]), {})
        own[episode.seed] = episode.total_reward
    by_wording = {word: [own[seed] for seed in range(12)] for word, own in scores.items()}
    expected = phrase_sensitivity(by_wording)
    [found] = json.loads((run / "summary.json").read_text())["sensitivities"]
    assert found["sensitivity"] == pytest.approx(expected.sensitivity)
    assert found["worst"]["mean_return"] == pytest.approx(expected.worst)
    assert (found["best"]["value"], found["best"]["mean_return"]) == (0, 1.0)


def test_the_noise_of_a_desk_is_split_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    players = ["--policy", "agent=solver", "--policy", "user=customer"]
    design = ["--episodes", "2", "--agents", "2", "--users", "2", "--out", str(run)]
    assert main(["noise", TWO, *players, *design]) == 0
    shown = capsys.readouterr().out
    assert "agent: no noise, for it plays alike under every seed" in shown
    assert "user: no noise, for it plays alike under every seed" in shown
    assert "environment (judge): no noise, for every grading of an episode is the same" in shown
    assert main(["replay", str(run), "--verify"]) == 0
