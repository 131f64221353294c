"""The loop: one experiment has the same metrics each time, and errors are left out of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import GemError
from gem_baselines.baseline import load
from gem_baselines.errors import ExperimentError, FolderError, TrainingStopped
from gem_baselines.training import Experiment, train
from gem_baselines.training.checkpoints import prune
from gem_baselines.training.files import claim_json
from gem_baselines.training.training import Training, run_seed

MakeExperiment = Callable[..., Experiment]
Acted = Callable[[str], str]


def lines(folder: Path, name: str = "metrics") -> list[dict[str, Any]]:
    text = (folder / f"{name}.jsonl").read_text(encoding="ascii")
    return [json.loads(line) for line in text.splitlines()]


def texts(folder: Path) -> list[bytes]:
    """What two trainings of one experiment have in common, byte for byte."""
    return [(folder / f"{name}.jsonl").read_bytes() for name in ("metrics", "evaluations")]


def test_the_metrics_are_the_same_at_any_concurrency(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    for concurrency in (1, 64):
        train(experiment(concurrency=concurrency, episodes=16), tmp_path / str(concurrency))

    assert texts(tmp_path / "1") == texts(tmp_path / "64")


def test_another_seed_has_other_metrics(experiment: MakeExperiment, tmp_path: Path) -> None:
    for seed in (0, 1):
        train(experiment(seed=seed), tmp_path / str(seed))

    assert texts(tmp_path / "0") != texts(tmp_path / "1")


def test_no_two_rollouts_have_one_seed() -> None:
    seeds = {
        run_seed(seed, purpose, update)
        for seed in (0, 1, 11)
        for update in (1, 11)
        for purpose in ("update", "evaluation")
    }

    assert len(seeds) == 12


def test_a_line_says_what_the_episodes_were(experiment: MakeExperiment, tmp_path: Path) -> None:
    train(experiment(), tmp_path)

    updates = lines(tmp_path)
    turns = [4 * line["turns"] for line in updates]
    assert [line["update"] for line in updates] == [1, 2, 3, 4]
    assert [line["total_turns"] for line in updates] == [
        sum(turns[: place + 1]) for place in range(4)
    ]
    assert all(line["reward"] == line["success"] for line in updates)
    assert {line["episodes"] for line in updates} == {4}
    assert set(updates[0]["learning"]) >= {"loss", "entropy", "clip_share"}


def test_an_evaluation_is_of_the_same_seeds_each_time(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(), tmp_path)

    logs = sorted((tmp_path / "evaluations").iterdir())
    seeds = [[episode.seed for episode in gem.read_episodes(log)] for log in logs]
    assert [log.name for log in logs] == [
        f"{update:06}-{mode}.jsonl" for update in (0, 2, 4) for mode in ("greedy", "sampled")
    ]
    assert all(own == seeds[0] and len(own) == 3 for own in seeds)
    assert [line["update"] for line in lines(tmp_path, "evaluations")] == [0, 2, 4]


def test_no_update_plays_the_seeds_of_an_evaluation_or_of_another_update(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    watching = experiment(
        env=acted("Once"), env_kwargs={}, policy=acted("Watching"), policy_kwargs={}
    )

    policy: Any = train(watching, tmp_path).policy

    held_out = {seed for seed, is_greedy in policy.seeds if is_greedy}
    drawn = [seed for seed, is_greedy in policy.seeds if not is_greedy]
    of_updates = [seed for seed in drawn if seed not in held_out]
    assert len(held_out) == 3
    assert len(drawn) == 4 * 4 + 3 * 3  # four updates of four episodes, three evaluations of three
    assert len(of_updates) == len(set(of_updates)) == 4 * 4


def test_without_evaluations_there_is_no_best(experiment: MakeExperiment, tmp_path: Path) -> None:
    train(experiment(eval_every=0), tmp_path)

    assert (tmp_path / "checkpoints" / "last").is_dir()
    assert not (tmp_path / "checkpoints" / "best").exists()
    assert lines(tmp_path, "evaluations") == []


def test_the_best_is_of_the_highest_score(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    # It answers the right "1" before its first update and after its third.
    counting = experiment(
        env=acted("Once"),
        env_kwargs={},
        policy=acted("Steady"),
        policy_kwargs={"seed": 0},
        updates=5,
        eval_every=1,
    )

    training = train(counting, tmp_path)

    scores = [line["sampled"]["discounted_return"] for line in training.folder.evaluations]
    assert scores == [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    assert training.progress.best_update == 3
    best = json.loads((tmp_path / "checkpoints/best/policy/updates.json").read_text())
    last = json.loads((tmp_path / "checkpoints/last/policy/updates.json").read_text())
    assert (best, last) == (3, 5)


def test_the_baseline_is_of_earlier_batches(experiment: MakeExperiment, tmp_path: Path) -> None:
    training = train(experiment(estimator="constant", eval_every=0), tmp_path)

    progress = training.progress
    assert progress.turns == lines(tmp_path)[-1]["total_turns"]
    assert 0 < progress.return_sum < progress.turns


def test_episodes_that_an_error_ended_are_left_out_and_counted(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    failing = experiment(
        policy=acted("Failing"), policy_kwargs={}, episodes=16, updates=2, eval_every=0
    )

    train(failing, tmp_path)

    errors = [line["errors"] for line in lines(tmp_path)]
    assert all(0 < count < 16 for count in errors)
    assert {line["episodes"] for line in lines(tmp_path)} == {16}


def test_a_training_of_errors_alone_stops_and_says_which(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    failing = experiment(policy=acted("Failing"), policy_kwargs={}, episodes=16, eval_every=0)

    with pytest.raises(
        TrainingStopped, match=r"each of the 16 .* RuntimeError: No answer\. Mend that and"
    ):
        train(failing, tmp_path)
    assert len(lines(tmp_path)) == 2


def test_a_policy_that_diverges_stops_and_the_checkpoint_is_from_before(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    diverging = experiment(policy=acted("Diverging"), policy_kwargs={}, eval_every=0)

    with pytest.raises(TrainingStopped, match="Update 3 gave loss=nan"):
        train(diverging, tmp_path)
    assert (tmp_path / "checkpoints/last/policy/updates.json").read_text() == "2"


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


def test_what_a_callback_raises_is_not_called_a_full_disk(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    def fail(_: Mapping[str, Any]) -> None:
        raise ConnectionError("the reporter is gone")

    with pytest.raises(ConnectionError, match="the reporter is gone"):
        train(experiment(), tmp_path, on_update=fail)


def test_ctrl_c_is_raised_also_where_nothing_can_be_written(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    interrupted = experiment(
        policy=acted("InterruptedAnswer"), policy_kwargs={}, eval_every=0, checkpoint_every=9
    )

    def spoil(figures: Mapping[str, Any]) -> None:
        if figures["update"] == 1:
            (tmp_path / "checkpoints").rename(tmp_path / "moved")
            (tmp_path / "checkpoints").touch()

    with pytest.raises(KeyboardInterrupt) as raised:
        train(interrupted, tmp_path, on_update=spoil)
    assert isinstance(raised.value.__cause__, FolderError)


def test_two_do_not_train_in_one_folder(experiment: MakeExperiment, tmp_path: Path) -> None:
    first = Training.begun(experiment(), tmp_path)

    with pytest.raises(FolderError, match="another process is training"):
        Training.resumed(tmp_path)
    first.folder.close()


def test_settings_that_cannot_be_leave_no_folder(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    with pytest.raises(ExperimentError, match="repeats=1"):
        train(experiment(estimator="grpo"), tmp_path / "run")

    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"gama": 1}, "Did you mean 'gamma'"),
        ({"gamma": 2.0}, "sets gamma to 2.0, and it has to be less than or equal to 1"),
        ({"self_play": {"oponents": "pool"}}, "Did you mean 'opponents'"),
    ],
)
def test_the_constructor_names_what_cannot_be(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ExperimentError, match=problem):
        Experiment(env="gem.testing.envs:Guess", **settings)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), date(2026, 1, 2), [{"x": {1: 2}}]])
def test_settings_that_json_cannot_hold_are_refused(
    experiment: MakeExperiment, value: object
) -> None:
    with pytest.raises(ExperimentError, match=r"policy_kwargs.*clip.* is .*which JSON cannot hold"):
        experiment(policy_kwargs={"clip": value})


def test_a_policy_that_json_cannot_describe_is_refused_before_its_first_update(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    vague = experiment(policy=acted("Vague"), policy_kwargs={}, eval_every=0)

    with pytest.raises(ExperimentError, match=r"describe\(\)\.clip is inf"):
        train(vague, tmp_path)
    assert lines(tmp_path) == []


def test_an_estimator_with_a_critic_asks_for_one(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    with pytest.raises(ExperimentError, match="'ppo' asks the policy for values"):
        train(experiment(estimator="ppo"), tmp_path)
    with pytest.raises(ExperimentError, match=r"'ppo_token' asks .* it has no tokens"):
        train(experiment(estimator="ppo_token"), tmp_path)


def test_an_estimator_of_ones_own_trains_and_goes_on(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    own = {"estimator": acted("halved"), "estimator_kwargs": {"share": 1.0}}
    train(experiment(**own, updates=2), tmp_path / "own")
    Training.resumed(tmp_path / "own", {"updates": 4}).run()

    train(experiment(estimator="raw"), tmp_path / "raw")

    assert texts(tmp_path / "own") == texts(tmp_path / "raw")


@pytest.mark.parametrize(
    ("name", "kwargs", "problem"),
    [
        ("halved", {"part": 1.0}, "it takes no 'part'"),
        ("compared", {}, "repeats=1 gives it one of each"),
        ("ACTED", {}, "the file has no such name"),
        ("np", {}, "and that is <module 'numpy'"),
    ],
)
def test_an_estimator_of_ones_own_that_does_not_fit_is_refused(
    experiment: MakeExperiment,
    acted: Acted,
    tmp_path: Path,
    name: str,
    kwargs: dict[str, float],
    problem: str,
) -> None:
    with pytest.raises(GemError, match=problem):
        train(experiment(estimator=acted(name), estimator_kwargs=kwargs), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("CallableAlone", "CallableAlone has no method update, values, save, restore, describe"),
        ("Once", "Once has no method __call__, update"),
        ("ACTED", "the file has no such name"),
        ("np", "and that is <module 'numpy'"),
    ],
)
def test_a_policy_without_its_methods_is_refused_and_leaves_no_folder(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path, name: str, problem: str
) -> None:
    with pytest.raises(GemError, match=problem):
        train(experiment(policy=acted(name), policy_kwargs={}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"figures": None}, "Reporting.update returned None, and has to return its figures"),
        ({"figures": {"x": "hello"}}, "Reporting.update returned x='hello', no number"),
        ({"expected": None}, "Reporting.values returned None, and has to return an array"),
        ({"expected": [[1.0]]}, "Reporting.values returned 1 arrays for 4 episodes"),
        ({"expected": [[0.0] * 9] * 4}, "Reporting.values returned 9 numbers for an episode of"),
    ],
)
def test_what_a_policy_returns_amiss_is_one_line(
    experiment: MakeExperiment,
    acted: Acted,
    tmp_path: Path,
    arguments: dict[str, Any],
    problem: str,
) -> None:
    estimator = "ppo" if "expected" in arguments else "raw"
    misfit = experiment(
        policy=acted("Reporting"), policy_kwargs=arguments, estimator=estimator, eval_every=0
    )

    with pytest.raises(TrainingStopped, match=f"Update 1 cannot go on: {problem}"):
        train(misfit, tmp_path)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("uncredited", r"uncredited' returned \[.*, and has to return a Credit"),
        ("misfit", r"misfit' returned 1 numbers for an episode of \d turns"),
    ],
)
def test_what_an_estimator_returns_amiss_is_one_line(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path, name: str, problem: str
) -> None:
    with pytest.raises(TrainingStopped, match=problem):
        train(experiment(estimator=acted(name), episodes=16), tmp_path)


def test_a_policy_that_describes_itself_by_nothing_is_refused(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    with pytest.raises(ExperimentError, match=r"Nameless\.describe\(\) is None, and no object"):
        train(experiment(policy=acted("Nameless"), policy_kwargs={}), tmp_path)


def test_a_critic_learns(experiment: MakeExperiment, tmp_path: Path) -> None:
    plain = experiment()
    kwargs = {**plain.policy_kwargs, "critic_rate": 0.5}

    train(experiment(estimator="ppo", policy_kwargs=kwargs), tmp_path)

    assert all("value_error" in line["learning"] for line in lines(tmp_path))


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
