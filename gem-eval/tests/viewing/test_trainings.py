"""Trainings as pages: curves over seeds, evaluations by update, and files that still grow."""

from __future__ import annotations

import html
import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

from gem_eval.errors import RunFolderError, ViewError
from gem_eval.training_folder import TrainingFiles
from gem_eval.viewing.trainings.arms import arms_of
from gem_eval.viewing.trainings.curves import MOST_POINTS, Points, curve_of, grid_of, on_grid
from gem_eval.viewing.trainings.export import export_trainings
from gem_eval.viewing.trainings.opening import found_in, open_trainings
from gem_eval.viewing.trainings.training import ViewedTraining

from .conftest import Client, episode, write
from .reading import words
from .training_folders import append, evaluation, made, metrics, written_again

HOSTILE = "</svg><script>window.hacked = 1</script>"


def opened(*folders: Path) -> list[ViewedTraining]:
    trainings = open_trainings(folders)
    for training in trainings:
        while training.refresh():
            pass
    return trainings


def page(trainings: list[ViewedTraining], address: str = "/trainings") -> str:
    answer = Client(trainings=trainings).get(address)
    assert answer.status_code == 200
    return answer.text


def readings(text: str) -> dict[str, list[str]]:
    """What each plot says that its arms come to at the end."""
    plots = re.findall(r'<figure class="curve">(.*?)</figure>', text, re.DOTALL)
    return {
        words(plot.partition("</h3>")[0]): [
            words(found) for found in re.findall(r'<span class="read">(.*?)</span>', plot)
        ]
        for plot in plots
    }


def test_trainings_that_differ_in_their_seed_are_one_curve_with_a_band(tmp_path: Path) -> None:
    for seed, success in enumerate((0.25, 0.5, 1.0)):
        made(tmp_path / f"s{seed}", metrics(1, success=success), seed=seed, updates=1)

    text = page(opened(*sorted(tmp_path.iterdir())))

    assert readings(text)["Success, training"] == ["0.583 [0.250, 1.000]"]
    assert "Band: the lowest and the highest seed." in words(text)
    assert "seeds 0, 1, 2" in words(text)


def test_arms_are_named_by_what_they_differ_in(tmp_path: Path) -> None:
    raw = made(tmp_path / "a", metrics(1, turns=5.0), estimator="raw", seed=3)
    rebn = made(tmp_path / "b", metrics(1, turns=4.0), gamma=0.5)

    trainings = opened(raw, rebn)

    assert [arm.name for arm in arms_of(trainings)] == ["raw, gamma 0.9", "rebn, gamma 0.5"]
    assert readings(page(trainings))["Turns, training"] == ["5.000", "4.000"]


def test_arms_are_not_named_by_what_neither_has_set(tmp_path: Path) -> None:
    unset = dict.fromkeys(("self_play", "max_turns", "judge", "draws"))
    newer = made(tmp_path / "a", estimator="raw", **unset)
    older = made(tmp_path / "b", gamma=None)

    arms = arms_of(opened(newer, older))

    assert [arm.name for arm in arms] == ["raw, gamma 0.9", "rebn, gamma not set"]


def test_what_changes_no_figure_makes_no_arm(tmp_path: Path) -> None:
    usual = made(tmp_path / "a", seed=0, sample_every=None, self_play=None)
    sampled = made(tmp_path / "b", seed=1, sample_every=5, checkpoint_every=50, concurrency=1)

    [arm] = arms_of(opened(usual, sampled))

    assert [training.seed for training in arm.trainings] == ["0", "1"]


def test_a_seed_counts_once_by_its_longest_training(tmp_path: Path) -> None:
    short = made(tmp_path / "short", metrics(1))
    long = made(tmp_path / "long")

    trainings = opened(short, long)

    [arm] = arms_of(trainings)
    assert [training.name for training in arm.trainings] == ["long"]
    assert "1 training with the seed of another one is left out." in words(page(trainings))


def test_five_seeds_have_the_interval_of_their_mean() -> None:
    seeds = [np.array([float(number)]) for number in range(5)]

    curve = curve_of(seeds)

    half = 2.7764451 * math.sqrt(2.5 / 5)
    assert [curve.mean[0], curve.low[0], curve.high[0]] == pytest.approx([2, 2 - half, 2 + half])


def test_a_mean_ends_where_the_first_seed_does() -> None:
    long = Points(np.arange(1.0, 5.0), np.ones(4))
    short = Points(np.arange(1.0, 3.0), np.zeros(2))
    grid = grid_of([long, short])

    curve = curve_of([on_grid(long, grid), on_grid(short, grid)])

    assert curve.mean.tolist()[:2] == [0.5, 0.5]
    assert np.isnan(curve.mean[2:]).all()


def test_a_long_training_is_averaged_over_stretches() -> None:
    updates = np.arange(1.0, 100_001.0)
    points = Points(updates, updates % 2)

    grid = grid_of([points])
    values = on_grid(points, grid)

    assert len(values) <= MOST_POINTS
    assert values == pytest.approx(np.full(len(values), 0.5), abs=0.01)


def test_any_figure_and_axis_may_be_chosen(tmp_path: Path) -> None:
    trainings = opened(made(tmp_path / "run"))

    chosen = page(trainings, "/trainings?figure=learning.loss&figure=reward&x=cpu")

    assert readings(chosen) == {"Loss": ["\N{MINUS SIGN}0.500"], "Reward, training": ["0.250"]}
    [points, _] = re.findall(r'data-points="([^"]*)"', chosen)
    assert json.loads(html.unescape(points))["at"] == [0.5, 1.0, 1.5, 2.0]


def test_evaluations_lead_to_their_episodes(tmp_path: Path) -> None:
    trainings = opened(made(tmp_path / "run"))
    client = Client(trainings=trainings)

    text = client.get("/trainings").text
    addresses = sorted(set(re.findall(r'"(/runs/[^"]*)"', text)))

    assert "/runs/run~000004-greedy" in addresses
    assert "/runs/run~000004-sampled/episodes/2" in addresses
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert "tabular" in answer.text
    assert "gem-env branch" not in client.get("/runs/run~000004-sampled/episodes/1").text


@pytest.mark.parametrize(
    "name", ["run~000009-sampled", "run~000004-other", "x~000004-sampled", "~"]
)
def test_an_evaluation_that_is_not_there_is_not_found(tmp_path: Path, name: str) -> None:
    client = Client(trainings=opened(made(tmp_path / "run")))

    assert client.get(f"/runs/{name}").status_code == 404


def test_a_training_that_goes_on_is_read_on(tmp_path: Path) -> None:
    folder = made(tmp_path / "run", metrics(1), updates=3)
    trainings = opened(folder)
    client = Client(trainings=trainings)
    before = client.get("/trainings/live").json()

    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(json.dumps(metrics(2, turns=2.5)).encode() + b"\n" + b'{"update": 3, "ep')
    text = client.get("/trainings").text
    after = client.get("/trainings/live").json()

    assert before["state"] == after["state"] == "running"
    assert before["version"] != after["version"]
    assert readings(text)["Turns, training"] == ["2.500"]
    assert f'data-version="{after["version"]}"' in text
    assert after["text"] == "2 of 3 updates"


def test_a_training_that_went_on_from_an_earlier_checkpoint_is_read_anew(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    [training] = opened(folder)

    (folder / "metrics.jsonl").unlink()
    append(folder / "metrics.jsonl", metrics(1, turns=9.0))
    while training.refresh():
        pass

    assert training.done == 1
    assert readings(page([training]))["Turns, training"] == ["9.000"]


def test_a_training_that_is_made_longer_while_it_is_shown_goes_on(tmp_path: Path) -> None:
    folder = made(tmp_path / "run", updates=4)
    trainings = opened(folder)
    client = Client(trainings=trainings)
    before = client.get("/trainings/live").json()

    written_again(folder, updates=9)
    text = client.get("/trainings").text
    after = client.get("/trainings/live").json()

    assert (before["state"], before["text"]) == ("finished", "4 of 4 updates")
    assert (after["state"], after["text"]) == ("running", "4 of 9 updates")
    assert f'data-version="{after["version"]}"' in text


def test_a_training_goes_on_beside_a_damaged_record(tmp_path: Path) -> None:
    folder = made(tmp_path / "run", metrics(1), updates=3)
    trainings = opened(folder)
    client = Client(trainings=trainings)
    (folder / "experiment.json").write_text("{", encoding="utf-8")
    append(folder / "metrics.jsonl", metrics(2))

    client.get("/trainings")
    text = client.get("/trainings").text

    assert client.get("/trainings/live").json()["text"] == "2 of 3 updates"
    assert "Not all of run can be read just now. RunFolderError: The experiment.json" in words(text)


def test_a_damaged_record_of_a_training_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "run")
    [training] = opened(folder)
    (folder / "experiment.json").write_text("{", encoding="utf-8")
    training.refresh()
    monkeypatch.delattr(TrainingFiles, "open")  # whoever reads it again fails

    training.refresh()

    assert "experiment.json" in training.problem


def test_a_training_in_the_place_of_another_is_of_its_own_arm(tmp_path: Path) -> None:
    for name, gamma in (("a", 0.9), ("b", 1.0), ("c", 0.5)):
        made(tmp_path / name, gamma=gamma)
    trainings = opened(tmp_path / "a", tmp_path / "b")
    client = Client(trainings=trainings)
    before = client.get("/trainings/live").json()

    shutil.rmtree(tmp_path / "b")
    (tmp_path / "c").rename(tmp_path / "b")
    text = client.get("/trainings").text

    assert "gamma 0.5" in text
    assert "gamma 1.0" not in text
    assert client.get("/trainings/live").json()["version"] != before["version"]


def test_a_training_that_was_begun_anew_has_nothing_of_the_one_before(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    [training] = opened(folder)

    for name in ("metrics.jsonl", "timings.jsonl", "evaluations.jsonl"):
        (folder / name).unlink()
    while training.refresh():
        pass

    assert training.done == 0
    assert training.evaluations == []


def test_an_evaluation_of_a_training_in_the_place_of_another_is_its_own(tmp_path: Path) -> None:
    folder = made(tmp_path / "run", eval_episodes=2)
    client = Client(trainings=opened(folder))
    before = client.get("/runs/run~000004-sampled").text

    written_again(folder, eval_episodes=7)
    client.get("/trainings")
    after = client.get("/runs/run~000004-sampled").text

    assert "2 of 2 episodes" in before
    assert "2 of 7 episodes" in after


def test_an_evaluation_that_a_training_in_its_place_has_not_is_not_found(tmp_path: Path) -> None:
    folder = made(tmp_path / "run", eval_episodes=2)
    client = Client(trainings=opened(folder))
    before = client.get("/runs/run~000004-sampled").status_code

    shutil.rmtree(folder)
    log = made(folder, eval_episodes=7) / "evaluations" / "000004-sampled.jsonl"
    log.rename(folder / "aside")
    client.get("/trainings")
    without = client.get("/runs/run~000004-sampled").status_code
    (folder / "aside").rename(log)
    back = client.get("/runs/run~000004-sampled")

    assert (before, without, back.status_code) == (200, 404, 200)
    assert "2 of 7 episodes" in back.text


def test_lines_of_something_else_are_counted_and_hurt_nobody(tmp_path: Path) -> None:
    folder = made(tmp_path / "run", metrics(1, turns=2.0))
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(b"no json\n[1]\n" + b"[" * 100_000 + b"\n")
        file.write(b'{"update": 2, "turns": NaN, "success": true, "reward": 1e999}\n')
        file.write(b"x" * 3_000_000 + b"\n")
    append(folder / "metrics.jsonl", metrics(3, turns=10**400, odd={"x": 1}), metrics(4, turns=4.0))

    text = page(opened(folder))

    assert "4 lines of these files cannot be read." in words(text)
    assert readings(text)["Turns, training"] == ["4.000"]


def test_text_of_a_training_is_shown_as_text(tmp_path: Path) -> None:
    odd = metrics(1, **{HOSTILE: 1.0}, learning={HOSTILE: 2.0})
    folder = made(tmp_path / "a", odd, env=HOSTILE, policy=HOSTILE, seed=HOSTILE)
    other = made(tmp_path / "b", odd, env=HOSTILE, estimator=HOSTILE)
    write(folder / "evaluations" / "000008-sampled.jsonl", episode(policy=HOSTILE, env_id=HOSTILE))
    append(folder / "evaluations.jsonl", evaluation(8, 1.0))
    trainings = opened(folder, other)
    client = Client(trainings=trainings)

    for address in ("/", "/trainings", "/trainings?of=a", "/runs/a~000008-sampled"):
        answer = client.get(address)
        assert answer.status_code == 200
        assert "<script>window" not in answer.text
    export_trainings(trainings, tmp_path / "page.html")
    assert "<script>window" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_folders_are_found_in_a_folder_and_listed_beside_runs(tmp_path: Path) -> None:
    made(tmp_path / "arms" / "rebn" / "s0")
    made(tmp_path / "arms" / "raw" / "s0", estimator="raw")
    runs, trainings = found_in([str(tmp_path / "arms"), str(tmp_path / "absent")])

    opened_trainings = open_trainings(trainings, ["s0"])
    text = page(opened_trainings, "/")

    assert runs == [tmp_path / "absent"]
    assert [training.name for training in opened_trainings] == ["s0-2", "s0-3"]
    assert re.findall(r'<th scope="row"><a href="([^"]*)">(\w+)', text) == [
        ("/trainings?of=s0-2", "raw"),
        ("/trainings?of=s0-3", "rebn"),
    ]


def test_one_training_is_the_first_page(tmp_path: Path) -> None:
    answer = Client(trainings=opened(made(tmp_path / "run"))).get("/")

    assert (answer.status_code, answer.headers["location"]) == (307, "/trainings")


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    (folder / "experiment.json").write_text("{}", encoding="utf-8")

    with pytest.raises(RunFolderError, match="command: Field required"):
        open_trainings([folder])


def test_samples_of_several_arms_say_of_which_they_are(tmp_path: Path) -> None:
    first = made(tmp_path / "rebn", seed=3)
    trainings = opened(first, made(tmp_path / "raw", estimator="raw", seed=4))
    path = tmp_path / "page.html"

    export_trainings(trainings, path)

    assert "the same starts, of rebn, seed 3." in words(path.read_text(encoding="utf-8"))
    assert "the same starts, of raw, seed 4." in words(page(trainings, "/trainings?episodes=raw"))
    assert "the same starts." in words(page(opened(first), "/trainings"))


def test_an_exported_page_has_the_curves_and_nothing_from_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "page.html"

    export_trainings(opened(made(tmp_path / "run")), path)

    text = path.read_text(encoding="utf-8")
    assert readings(text)["Success, evaluation"] == ["1.000"]
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', text.partition("<main")[2]) == []
    with pytest.raises(ViewError, match="that is there already"):
        export_trainings(opened(tmp_path / "run"), path)
