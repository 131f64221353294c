"""The other process of a check, called in this one."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import gem
from gem.testing._elsewhere import answer, main
from gem.testing._playing import play, repeating


@pytest.fixture
def request_for_lamps() -> dict[str, Any]:
    spec = gem.EnvSpec(id="fine:Lamps", target="gem.testing.envs:Lamps")
    env = gem.make(spec)
    play(env, repeating(["1"]), 5)
    return {
        "spec": spec.model_dump(mode="json"),
        "snapshot": env.snapshot().to_json(),
        "seed": 5,
        "actions": ["1", "2", "3"],
        "done": 1,
    }


def test_it_replays_the_whole_episode(request_for_lamps: dict[str, Any]) -> None:
    reply = answer(request_for_lamps)

    assert len(reply["played"]) == 4


def test_it_continues_from_the_snapshot_as_the_episode_went_on(
    request_for_lamps: dict[str, Any],
) -> None:
    reply = answer(request_for_lamps)

    assert reply["continued"][:2] == reply["played"][2:]


def test_an_error_is_a_reply_too(request_for_lamps: dict[str, Any]) -> None:
    request_for_lamps["spec"]["target"] = "no_such_module:Env"

    reply = answer(request_for_lamps)

    assert reply["kind"] == "TargetError"


def test_only_the_reply_is_written_whatever_the_environment_prints(
    request_for_lamps: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    request_for_lamps["spec"]["target"] = f"{__name__}:no_such_thing"
    replies = io.StringIO()

    main(io.StringIO(json.dumps(request_for_lamps)), replies)

    assert set(json.loads(replies.getvalue())) == {"error", "kind"}
    assert capsys.readouterr().out == ""
