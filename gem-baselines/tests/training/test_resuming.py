"""What goes on after an end: a folder that is whole, and one that was changed or damaged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gem_baselines.baseline import load
from gem_baselines.errors import ExperimentError, FolderError
from gem_baselines.training import Experiment, train
from gem_baselines.training.checkpoints import prune
from gem_baselines.training.files import claim_json
from gem_baselines.training.training import Training

from .logs import texts

MakeExperiment = Callable[..., Experiment]
Acted = Callable[[str], str]


def test_a_training_that_goes_on_for_longer_is_the_longer_one(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(updates=2), tmp_path / "extended")
    Training.resumed(tmp_path / "extended", {"updates": 4}).run()
    train(experiment(updates=4), tmp_path / "longer")

    assert texts(tmp_path / "extended") == texts(tmp_path / "longer")


def test_a_training_that_is_done_has_nothing_left_to_do(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(), tmp_path)
    before = texts(tmp_path)

    Training.resumed(tmp_path).run()

    assert texts(tmp_path) == before


def test_what_decides_a_training_cannot_change(experiment: MakeExperiment, tmp_path: Path) -> None:
    train(experiment(updates=0), tmp_path)

    with pytest.raises(ExperimentError, match="another 'gamma'"):
        Training.resumed(tmp_path, {"gamma": 1.0})


def test_a_setting_that_is_given_as_it_is_changes_nothing(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    stored = experiment(wrappers=["concat"])
    train(stored, tmp_path)
    before = texts(tmp_path)
    same = {"gamma": stored.gamma, "seed": 0, "wrappers": ("concat",), "policy": "tabular"}

    Training.resumed(tmp_path, same).run()

    assert texts(tmp_path) == before


CHANGED = {"gamma": 0.5, "estimator": "raw", "seed": 1, "policy_kwargs": {"view": "last"}}


@pytest.mark.parametrize("setting", CHANGED)
def test_a_checkpoint_of_other_settings_is_refused(
    experiment: MakeExperiment, tmp_path: Path, setting: str
) -> None:
    train(experiment(), tmp_path)
    before = texts(tmp_path)
    path = tmp_path / "experiment.json"
    record = json.loads(path.read_text())
    record["experiment"][setting] = CHANGED[setting]
    path.write_text(json.dumps(record))

    with pytest.raises(FolderError, match=f"a checkpoint of another one: {setting} was "):
        Training.resumed(tmp_path, {"updates": 5})
    assert texts(tmp_path) == before


def test_a_checkpoint_of_before_settings_were_kept_is_gone_on_from(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(updates=2), tmp_path / "older")
    path = tmp_path / "older/checkpoints/last/checkpoint.json"
    record = json.loads(path.read_text())
    del record["experiment"]
    path.write_text(json.dumps(record))

    Training.resumed(tmp_path / "older", {"updates": 4}).run()

    train(experiment(updates=4), tmp_path / "longer")
    assert texts(tmp_path / "older") == texts(tmp_path / "longer")


def test_a_training_does_not_end_before_what_it_has_done(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(), tmp_path)
    before = [*texts(tmp_path), (tmp_path / "experiment.json").read_bytes()]

    with pytest.raises(ExperimentError, match="updates=2, and 4 of them are done"):
        Training.resumed(tmp_path, {"updates": 2})
    assert [*texts(tmp_path), (tmp_path / "experiment.json").read_bytes()] == before


def test_two_do_not_train_in_one_folder(experiment: MakeExperiment, tmp_path: Path) -> None:
    first = Training.begun(experiment(), tmp_path)

    with pytest.raises(FolderError, match="another process is training"):
        Training.resumed(tmp_path)
    first.folder.close()


def test_metrics_that_are_lost_stop_it(experiment: MakeExperiment, tmp_path: Path) -> None:
    train(experiment(), tmp_path)
    (tmp_path / "metrics.jsonl").write_text("")

    with pytest.raises(FolderError, match="has 0 lines"):
        Training.resumed(tmp_path)


def test_what_follows_a_damaged_line_is_not_removed(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(), tmp_path)
    path = tmp_path / "metrics.jsonl"
    damaged = [b"{}\n", *path.read_bytes().splitlines(keepends=True)[1:]]
    path.write_bytes(b"".join(damaged))

    with pytest.raises(FolderError, match="has 0 lines that fit it"):
        Training.resumed(tmp_path)
    assert path.read_bytes() == b"".join(damaged)


def test_a_checkpoint_that_somebody_copied_stays(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    mine = tmp_path / "checkpoints" / "update-000002-mine"
    mine.mkdir(parents=True)
    note = tmp_path / "checkpoints" / "update-000003"
    note.touch()

    prune(tmp_path / "checkpoints")

    assert mine.is_dir()
    assert note.is_file()


def test_one_of_two_that_begin_in_one_folder_is_refused(tmp_path: Path) -> None:
    claim_json(tmp_path / "experiment.json", {"of": "the first"})

    with pytest.raises(FileExistsError):
        claim_json(tmp_path / "experiment.json", {"of": "the second"})
    [record] = tmp_path.iterdir()
    assert json.loads(record.read_text()) == {"of": "the first"}


def test_a_damaged_checkpoint_is_named(experiment: MakeExperiment, tmp_path: Path) -> None:
    train(experiment(), tmp_path)
    (tmp_path / "checkpoints/last/policy/table.npz").write_bytes(b"PK no longer")

    with pytest.raises(FolderError, match="cannot be restored"):
        Training.resumed(tmp_path)


def cut(content: bytes) -> bytes:
    return content[:200]


def emptied(_: bytes) -> bytes:
    return b""


def number(_: bytes) -> bytes:
    return b"5"


def numbers(_: bytes) -> bytes:
    return b"[[1], [2]]"


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("policy/table.npz", cut),
        ("policy/table.npz", emptied),
        ("policy/states.json", emptied),
        ("policy/states.json", number),
        ("policy/states.json", numbers),
    ],
)
def test_a_damaged_table_is_one_line(
    experiment: MakeExperiment, tmp_path: Path, file: str, damage: Callable[[bytes], bytes]
) -> None:
    train(experiment(updates=1), tmp_path)
    path = tmp_path / "checkpoints/last" / file
    path.write_bytes(damage(path.read_bytes()))

    with pytest.raises(FolderError, match=r"The policy in .* cannot be restored \(BadArguments"):
        Training.resumed(tmp_path)
    with pytest.raises(FolderError, match="The checkpoint may be damaged"):
        load(str(tmp_path))


def test_a_policy_of_somebodys_own_may_raise_anything_of_a_damaged_file(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    train(experiment(policy=acted("Careless"), policy_kwargs={}, updates=1), tmp_path)

    with pytest.raises(FolderError, match=r"cannot be restored \(TypeError: object of"):
        Training.resumed(tmp_path)


def test_damaged_self_play_is_one_line(experiment: MakeExperiment, tmp_path: Path) -> None:
    seats = {"env": "gem.testing.envs:Kuhn", "env_kwargs": {}, "self_play": {}}
    train(experiment(**seats, estimator="seat_average", updates=1), tmp_path)
    (tmp_path / "checkpoints/last/self_play/state.json").write_text("5")

    with pytest.raises(FolderError, match=r"The self-play in .* cannot be restored"):
        Training.resumed(tmp_path)


def as_folder(name: Path) -> None:
    """Put what a link names in its place, as a copy that follows links does."""
    named = name.resolve()
    name.unlink()
    shutil.copytree(named, name)


def remove(name: Path) -> None:
    name.unlink()


LOST = [as_folder, remove]


@pytest.mark.parametrize("lose", LOST)
def test_a_copy_that_lost_its_links_goes_on(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    steady = {"env": acted("Once"), "env_kwargs": {}, "policy": acted("Steady")}
    counting = experiment(**steady, policy_kwargs={}, eval_every=1)
    train(counting, tmp_path / "copied")  # the best of whose four updates is the third
    for name in ("last", "best"):
        lose(tmp_path / "copied" / "checkpoints" / name)

    resumed = Training.resumed(tmp_path / "copied", {"updates": 6})

    assert resumed.progress.update == 4  # and not anew
    resumed.run()
    train(counting.model_copy(update={"updates": 6}), tmp_path / "whole")
    assert texts(tmp_path / "copied") == texts(tmp_path / "whole")
    for name in ("last", "best"):
        own = (tmp_path / "copied" / "checkpoints" / name).resolve() / "checkpoint.json"
        other = tmp_path / "whole" / "checkpoints" / name / "checkpoint.json"
        assert json.loads(own.read_text()) == json.loads(other.read_text())


def test_links_to_what_is_not_there_are_mended(experiment: MakeExperiment, tmp_path: Path) -> None:
    train(experiment(eval_every=0), tmp_path)
    last = tmp_path / "checkpoints" / "last"
    last.unlink()
    last.symlink_to("update-000009")

    resumed = Training.resumed(tmp_path)

    assert resumed.progress.update == 4  # and not anew
    resumed.run()
    assert last.readlink() == Path("update-000004")


def test_a_training_whose_checkpoints_are_lost_keeps_its_metrics(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(), tmp_path)
    before = texts(tmp_path)
    shutil.rmtree(tmp_path / "checkpoints")

    with pytest.raises(FolderError, match="has 4 updates and none of its checkpoints"):
        Training.resumed(tmp_path)

    assert texts(tmp_path) == before
