"""Lines on saved state: a copy goes on exactly as the original does, here and elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from gem import registry
from gem.env._env import Env
from gem.env._snapshot import Snapshot
from gem.errors import OpaqueError, TargetError
from gem.testing import _elsewhere as elsewhere
from gem.testing._playing import Play, continued, play, repeating, require_same
from gem.testing._report import NotApplicableError, NotHeldError
from gem.testing._subject import Subject

__all__ = [
    "another_process_agrees",
    "forks_are_independent",
    "snapshots_continue_alike",
]

_PATIENCE_S = 120  # another process imports what this one has, on a machine that may be busy


def snapshots_continue_alike(subject: Subject) -> str:
    """Save at several points, as JSON; go on in a new instance, a used one, and the same one."""
    count = 0
    for whole, done in _points(subject):
        with _stopped_at(subject, whole, done) as env:
            saved = Snapshot.from_json(env.snapshot().to_json())
            rest = whole.actions[done:]
            expected = continued(env, rest)
            # `continued` has gone on from the saved point: restoring must undo that.
            env.restore(saved)
            require_same(f"{_at(whole, done)}, restored in place", expected, continued(env, rest))
        for name, other in (("new", subject.make()), ("used", _used(subject, whole))):
            with other:
                other.restore(saved)
                what = f"{_at(whole, done)}, restored in a {name} instance"
                require_same(what, expected, continued(other, rest))
        count += 1
    return f"{count} snapshots, each restored 3 times"


def forks_are_independent(subject: Subject) -> str:
    """Fork at several points, and take the same actions in the twin and then the original."""
    count = 0
    for whole, done in _points(subject):
        rest = whole.actions[done:]
        with _stopped_at(subject, whole, done) as plain:
            expected = continued(plain, rest)
        with _stopped_at(subject, whole, done) as env, env.fork() as twin:
            # The twin first: what it shares with the original by mistake then shows in that.
            require_same(f"{_at(whole, done)}, the fork", expected, continued(twin, rest))
            what = f"{_at(whole, done)}, the original after its fork went on"
            require_same(what, expected, continued(env, rest))
        count += 1
    return f"{count} forks equal their originals"


def _points(subject: Subject) -> Iterator[tuple[Play, int]]:
    for seed in subject.seeds[:3]:
        whole = subject.driven(seed)
        for done in sorted({0, 1, len(whole.actions) // 2}):
            if done < len(whole.actions):
                yield whole, done


def _stopped_at(subject: Subject, whole: Play, done: int) -> Env:
    env = subject.make()
    play(env, repeating(whole.actions[:done]), whole.seed)
    return env


def _used(subject: Subject, whole: Play) -> Env:
    env = subject.make()
    env.reset(seed=(whole.seed or 0) + 1)
    return env


def _at(whole: Play, done: int) -> str:
    return f"seed {whole.seed}, saved after {done} turns"


def another_process_agrees(subject: Subject) -> str:
    """Rebuild from the spec in a new process with other hashes; replay there, and restore."""
    whole = subject.driven(subject.seeds[0])
    done = len(whole.actions) // 2
    with _stopped_at(subject, whole, done) as env:
        request = {
            "spec": subject.spec.model_dump(mode="json"),
            "snapshot": env.snapshot().to_json(),
            "seed": whole.seed,
            "actions": whole.actions,
            "done": done,
        }
        expected = continued(env, whole.actions[done:])
    reply = _asked_elsewhere(request)
    if "error" in reply:
        _refuse(subject, reply)
    require_same("the same seed in another process", whole.moments, reply["played"])
    require_same("a snapshot restored in another process", expected, reply["continued"])
    return "an episode and a snapshot"


def _refuse(subject: Subject, reply: dict[str, Any]) -> None:
    # A target of this process's own, such as one in __main__, cannot be imported in another.
    is_local = registry.owner(subject.spec.id) is None
    if reply["kind"] == OpaqueError.__name__ or (
        is_local and reply["kind"] == TargetError.__name__
    ):
        raise NotApplicableError(f"it exists in this process only: {reply['error']}")
    raise NotHeldError(f"another process raised {reply['error']}")


def _asked_elsewhere(request: dict[str, Any]) -> dict[str, Any]:
    # Other hashes than here: an episode that follows the order of a set then differs.
    hashes = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    path = os.pathsep.join(filter(None, sys.path))
    answered = subprocess.run(
        [sys.executable, "-m", "gem.testing._elsewhere"],
        input=json.dumps(request).encode(),
        capture_output=True,
        timeout=_PATIENCE_S,
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": hashes, elsewhere.MARK: "1"},
        check=False,
    )
    if answered.returncode != 0:
        last = answered.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise NotHeldError(f"another process ended with {answered.returncode}: {''.join(last)}")
    reply: dict[str, Any] = json.loads(answered.stdout)
    return reply
