"""The corrected tasks are graded by a model behind an endpoint, as the command line names it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.cli._main import main

ONE = "tau:Retail-v1.0.1"
TWO = "tau:Retail-v1.0.1-OfTwo"
ADDRESS = dict.fromkeys(("address1", "address2", "city", "state", "country"), "") | {"zip": "1"}
TABLES: dict[str, Any] = {
    "users": {
        "ada_1": {
            "name": {"first_name": "Ada", "last_name": "Berg"},
            "address": ADDRESS,
            "email": "ada@example.com",
            "payment_methods": {"paypal_1": {"source": "paypal", "id": "paypal_1"}},
            "orders": ["#W1"],
        }
    },
    "orders": {
        "#W1": {
            "order_id": "#W1",
            "user_id": "ada_1",
            "address": ADDRESS,
            "items": [],
            "status": "pending",
            "payment_history": [],
        }
    },
    "products": {},
}
TASK = {
    "id": "7",
    "user_scenario": {
        "instructions": {
            "task_instructions": ".",
            "unknown_info": None,
            "reason_for_call": "You want to cancel #W1.",
            "known_info": "You are Ada Berg, ada@example.com.",
        }
    },
    "evaluation_criteria": {
        "actions": [
            {
                "name": "cancel_pending_order",
                "arguments": {"order_id": "#W1", "reason": "no longer needed"},
            }
        ],
        "communicate_info": None,
        "nl_assertions": ["The agent is kind.", "The agent is brief."],
    },
}


class _Judge(BaseHTTPRequestHandler):
    """A model that finds every agent kind, and brief, as long as its server says so."""

    def do_POST(self) -> None:
        server: Any = self.server
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append(asked)
        question = str(asked["messages"][-1]["content"])
        answer = "Yes." if "is kind" in question else server.second
        message = {"role": "assistant", "content": answer}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[Any]:
    """A server on this machine, with what it was asked, and what it says to a second question."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Judge)
    server.asked = []
    server.second = "Yes, it is."
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def kwargs(endpoint: Any, tmp_path: Path) -> dict[str, Any]:
    """Return the arguments of an environment with that judge, over a shop with one task."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "db.json").write_text(json.dumps(TABLES), encoding="utf-8")
    (folder / "tasks.json").write_text(json.dumps([TASK]), encoding="utf-8")
    (folder / "split_tasks.json").write_text('{"base": ["7"]}', encoding="utf-8")
    (folder / "policy.md").write_text("Be kind.", encoding="utf-8")
    judge = f"openai:any@http://127.0.0.1:{endpoint.server_port}/v1"
    return {"data": str(folder), "reward": "official", "judge": judge}


def evaluated(run: Path, id: str, kwargs: dict[str, Any], *options: str) -> list[gem.Episode]:
    """Evaluate the solution by the command, and return its episodes."""
    command = ("eval", id, *options, "--episodes", "2", "--env-kwargs", json.dumps(kwargs))
    main([*command, "--out", str(run)])
    return list(gem.read_episodes(run / "episodes.jsonl"))


SEATS = {
    ONE: ("--policy", "solver"),
    TWO: ("--policy", "agent=solver", "--policy", "user=customer"),
}


@pytest.mark.parametrize("id", SEATS)
def test_the_command_line_names_a_judge_and_a_replay_needs_none(
    id: str, kwargs: dict[str, Any], endpoint: Any, tmp_path: Path
) -> None:
    episodes = evaluated(tmp_path / "run", id, kwargs, *SEATS[id])
    assert [episode.success for episode in episodes] == [True, True]
    for episode in episodes:
        answers = [result.content for result in episode.turns[-1].tool_results]
        assert answers == ["Yes.", "Yes, it is."]

    asked = len(endpoint.asked)
    assert asked
    endpoint.second = "No."  # who asked it again would see a difference
    assert main(["replay", str(tmp_path / "run"), "--verify"]) == 0
    assert len(endpoint.asked) == asked


def test_what_the_judge_says_counts(kwargs: dict[str, Any], endpoint: Any, tmp_path: Path) -> None:
    endpoint.second = "No, it is not."
    episodes = evaluated(tmp_path / "run", ONE, kwargs, *SEATS[ONE])
    assert [episode.success for episode in episodes] == [False, False]
    assert episodes[0].turns[-1].reward_parts == {"db": 1.0, "judge": 0.0}


@pytest.mark.parametrize("id", SEATS)
@pytest.mark.parametrize("verdict", ["", "It depends."])
def test_a_model_that_gives_no_verdict_passes_nobody(
    verdict: str, id: str, kwargs: dict[str, Any], endpoint: Any, tmp_path: Path
) -> None:
    endpoint.second = verdict
    for episode in evaluated(tmp_path / "run", id, kwargs, *SEATS[id]):
        assert (episode.stop_reason, episode.success) == ("env_error", None)
        assert "passes nobody" in str(episode.error)


@pytest.mark.parametrize("id", SEATS)
def test_a_judge_is_made_in_the_process_that_plays(
    id: str, kwargs: dict[str, Any], endpoint: Any
) -> None:
    policies: Any = {"agent": Solver(), "user": "customer"} if id == TWO else Solver()
    logs = []
    backends: tuple[dict[str, Any], ...] = ({}, {"backend": "process", "num_workers": 1})
    for options in backends:
        episodes = gem.run(policies, id, env_kwargs=kwargs, episodes=2, **options)
        logs.append({episode.seed: episode.fingerprint() for episode in episodes})
        assert all(episode.success for episode in episodes)
    assert logs[0] == logs[1]
    questions = [tuple(map(str, (asked["messages"], asked["seed"]))) for asked in endpoint.asked]
    assert len(set(questions)) == 2  # of one dialogue: both statements, under a seed each


class Solver:
    """An agent that is told the solution."""

    wants = frozenset({"solution"})

    def __call__(self, request: gem.Request) -> str:
        return str(request.solution)
