"""A key that is planted in the environment is in nothing that is written or printed."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gem.cli._main import main

KEY = "sk-planted-5d1c8e"
FORMATS = {
    "sft": None,
    "dpo": None,
    "inspect": None,
    "parquet": "pyarrow",
    "hf": "datasets",
    "atif": "atif",
}


def installed(commands: dict[str, tuple[list[str], str | None]]) -> list[list[str]]:
    return [command for command, needed in commands.values() if not needed or find_spec(needed)]


@pytest.mark.slow
def test_a_key_is_in_no_file_and_no_output(
    server: Any,
    answers: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # A server that echoes what it was sent, as proxies do, in an answer that is an error.
    echo = json.dumps({"error": {"message": f"Bearer {KEY} may not do this"}}).encode()
    refusal = answers.Answer(status=400, body=echo)
    hello = answers.chat("hello")  # the first answers the look before the first episode
    server.answers = [hello, hello, refusal, hello, refusal, hello]
    policy = f"openai:my-model@{server.url}"
    for_all = {"max_retries": 0, "logprobs": True}
    evaluation = ["eval", "tiny:Guess", "--episodes", "6", "--out", "run", "--cache", "answers"]
    models = ["--policy", policy, "--policy", "solver", "--concurrency", "1"]
    arguments = ["--policy-kwargs", json.dumps({"openai": for_all}), "--track", "recorder"]

    assert main([*evaluation, *models, *arguments]) == 0
    commands: dict[str, tuple[list[str], str | None]] = {
        "report": (["report", "run", "--json"], None),
        "compare": (["compare", "run"], None),
        "find": (["find", "run", "--json"], None),
        "view": (["view", "run", "--export", "run.html"], "starlette"),
        "plot": (["plot", "run", "--out", "run.svg"], "matplotlib"),
        "dry run": ([*evaluation[:4], "--dry-run", "--json", *models, *arguments], None),
    }
    for name, needed in FORMATS.items():
        commands[name] = (["export", "run", "--to", name, "--out", f"exported.{name}"], needed)
    statuses = [main(command) for command in installed(commands)]

    assert set(statuses) <= {0, 3}  # of a comparison that is undecided
    assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"  # it was there to be lost
    told = capsys.readouterr()
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"run", "answers", "exported.inspect", "recorded.jsonl"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
    assert KEY not in told.out + told.err
    log = Path("run", "episodes.jsonl").read_text(encoding="utf-8")
    assert log.count("may not do this") == 2  # what the server said is there, but for the key
