"""A training that is killed or interrupted, at any moment, goes on as if it had not been."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gem_baselines.training import Experiment, train
from gem_baselines.training.training import Training

MakeExperiment = Callable[..., Experiment]

# Plays the same training again and again, each in a child that is killed where it touches its
# folder for the n-th time: before a file is opened, renamed, linked, removed or cut off.
KILLED = """
import json, os, signal, sys
from gem_baselines.training import Experiment, train

plain, folder, step = sys.argv[1:]
experiment = Experiment.of(json.loads(plain))

def killed_at(number):
    out = f"{folder}/{number}"
    left = number

    def watch(event, arguments):
        nonlocal left
        if event.startswith(("open", "os.")) and any(str(one).startswith(out) for one in arguments):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    train(experiment, out)

number = 1
while True:
    child = os.fork()
    if child == 0:
        killed_at(number)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
    number += int(step)
"""


def outcome(folder: Path) -> list[bytes | str]:
    """Return what a training leaves: its lines, byte for byte, and its two checkpoints."""
    left: list[bytes | str] = [
        (folder / "metrics.jsonl").read_bytes(),
        (folder / "evaluations.jsonl").read_bytes(),
    ]
    for name in ("last", "best"):
        checkpoint = folder / "checkpoints" / name
        left.append((checkpoint / "policy" / "updates.json").read_bytes())
        # As its text shows it: a float is written with every digit that it has.
        left.append(repr(json.loads((checkpoint / "checkpoint.json").read_text())["progress"]))
    return left


@pytest.fixture
def counting(experiment: MakeExperiment, acted: Callable[[str], str]) -> Callable[..., Experiment]:
    """Return a function that makes a quick training of a policy in `acted.py`."""

    def make(policy: str = "Counter") -> Experiment:
        return experiment(
            env=acted("Once"),
            env_kwargs={},
            policy=acted(policy),
            policy_kwargs={"seed": 1},
            estimator="constant",
        )

    return make


@pytest.fixture
def undisturbed(counting: Callable[..., Experiment], tmp_path: Path) -> list[bytes | str]:
    """Return what the training leaves that nobody disturbs."""
    train(counting(), tmp_path / "undisturbed")
    return outcome(tmp_path / "undisturbed")


@pytest.mark.slow
def test_it_is_killed_wherever_it_writes(
    counting: Callable[..., Experiment], undisturbed: list[bytes | str], tmp_path: Path
) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    plain = json.dumps(counting().model_dump(mode="json"))
    command = [sys.executable, "-c", KILLED, plain, str(killed), "7"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    folders = sorted(killed.iterdir())
    assert len(folders) > 15
    begun = [folder for folder in folders if (folder / "experiment.json").is_file()]
    assert len(begun) >= len(folders) - 2  # those before had nothing to go on with
    for folder in begun:
        Training.resumed(folder).run()
        assert outcome(folder) == undisturbed, folder.name
        assert not list(folder.glob("checkpoints/.draft-*"))


@pytest.mark.parametrize("rest", [b'{"update": 4, "epi', b"\0\0\0", b'{"update": 9}\n{"u', b"{}\n"])
def test_a_last_line_that_is_half_written_is_cut_off(
    counting: Callable[..., Experiment], undisturbed: list[bytes | str], tmp_path: Path, rest: bytes
) -> None:
    train(counting(), tmp_path / "cut")
    for name in ("metrics", "timings", "evaluations"):
        with (tmp_path / "cut" / f"{name}.jsonl").open("ab") as file:
            file.write(rest)

    Training.resumed(tmp_path / "cut").run()

    assert outcome(tmp_path / "cut") == undisturbed


@pytest.mark.parametrize(
    ("policy", "update"),
    [("InterruptedUpdate", 2), ("InterruptedAnswer", 2), ("InterruptedEvaluation", 2)],
)
def test_ctrl_c_keeps_whole_updates(
    counting: Callable[..., Experiment],
    undisturbed: list[bytes | str],
    acted: Callable[[str], str],
    tmp_path: Path,
    policy: str,
    update: int,
) -> None:
    folder = tmp_path / "interrupted"

    with pytest.raises(KeyboardInterrupt):
        train(counting(policy), folder)

    checkpoint = folder / "checkpoints/last/checkpoint.json"
    assert json.loads(checkpoint.read_text())["progress"]["update"] == update
    # Gone on with by a policy that is the same but for its interrupts, in all that names it.
    for path in (checkpoint, folder / "experiment.json"):
        path.write_text(path.read_text().replace(policy, "Counter"))
    Training.resumed(folder).run()
    assert outcome(folder) == undisturbed
