"""Going on with a run: extended, edited, interrupted, with errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem import EpisodeLog, Request, read_episodes, registry
from gem.errors import LogError
from gem.specs import EnvSpec
from gem.testing import fake_plugin
from gem_eval import Evaluation, RunFolderError, SettingsError
from gem_eval.versions import versions_of

Key = tuple[str, int, int, int]
Fingerprints = Callable[[Path], dict[Key, str]]


class Mine:
    """Guess the middle, once; after `limit` requests, stop the run as Ctrl-C would."""

    name = "mine"

    def __init__(self, limit: int = 10**9) -> None:
        self.left = limit

    def __call__(self, request: Request) -> str:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return r"\boxed{8}"


@pytest.fixture
def stopped(run: Callable[..., Evaluation], tmp_path: Path) -> Path:
    """Return a run that was interrupted half-way."""
    with pytest.raises(KeyboardInterrupt):
        run("stopped", policies=["solver", Mine(10)], concurrency=4)
    return tmp_path / "stopped"


@pytest.mark.parametrize(
    ("env", "more"),
    [
        ("tiny:Guess", {"episodes": 20}),
        ("tiny:Numbered", {"episodes": 9}),
        ("tiny:Numbered", {"episodes": "all"}),
        ("tiny:Guess", {"repeats": 3}),
    ],
)
def test_an_extended_run_is_the_longer_one(
    run: Callable[..., Evaluation], env: str, more: dict[str, Any], fingerprints: Fingerprints
) -> None:
    options: dict[str, Any] = {"envs": env, "policies": "solver"}
    expected = fingerprints(run("longer", **{"episodes": 5, **options, **more}).path)
    path = run("short", episodes=5, **options).path
    begun = (path / "episodes.jsonl").read_bytes()

    gem_eval.resume(path, **more)

    assert fingerprints(path) == expected
    assert (path / "episodes.jsonl").read_bytes().startswith(begun)
    assert gem_eval.resume(path).summary.episodes == len(expected)


@pytest.mark.parametrize("fewer", [{"episodes": 3}, {"repeats": 1}])
def test_a_run_is_not_cut(run: Callable[..., Evaluation], fewer: dict[str, Any]) -> None:
    path = run(episodes=5, repeats=2).path
    before = (path / "run.json").read_bytes()

    with pytest.raises(RunFolderError, match="can be extended, not cut"):
        gem_eval.resume(path, **fewer)

    assert (path / "run.json").read_bytes() == before


def edited(path: Path, **settings: Any) -> bytes:
    """Edit settings in the record of a run, and return what it holds then."""
    record = json.loads((path / "run.json").read_bytes())
    record["settings"].update(settings)
    (path / "run.json").write_text(json.dumps(record))
    return (path / "run.json").read_bytes()


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"env_kwargs": {"highest": 31}}, "env_kwargs are .* in its log and .*'highest': 31"),
        ({"wrappers": [{"id": "concat"}]}, "wrappers are .*'concat'"),
        ({"seed": 1}, "a seed is "),
        ({"max_turns": 1}, "[0-9] turns in its log and max_turns is 1 in its run.json"),
        ({"policy_kwargs": {"random": {}}}, "settings in its run.json were edited"),
        ({"step_timeout_s": 3.0}, "settings in its run.json were edited .* 5 episodes were played"),
        ({"episodes": 3}, "its log has an episode that its run.json does not ask for"),
    ],
)
def test_a_record_that_was_edited_is_compared_with_the_episodes(
    run: Callable[..., Evaluation], settings: dict[str, Any], what: str
) -> None:
    path = run(policies="random", episodes=5, concurrency=1).path
    log = (path / "episodes.jsonl").read_bytes()
    record = edited(path, **settings)

    with pytest.raises(RunFolderError, match=what) as caught:
        gem_eval.resume(path)

    assert "\n" not in str(caught.value)
    assert (path / "episodes.jsonl").read_bytes() == log
    assert (path / "run.json").read_bytes() == record


def test_an_edited_spec_is_told_even_where_the_record_has_no_digest(
    run: Callable[..., Evaluation],
) -> None:
    path = run(episodes=5).path
    record = json.loads((path / "run.json").read_bytes())
    del record["digest"]
    record["settings"]["envs"][0]["kwargs"] = {"highest": 3}
    (path / "run.json").write_text(json.dumps(record))

    with pytest.raises(RunFolderError, match="'highest': 3"):
        gem_eval.resume(path)


def test_an_edit_that_no_environment_can_be_made_of_is_told_as_an_edit(
    run: Callable[..., Evaluation],
) -> None:
    path = run(episodes=5).path
    edited(path, env_kwargs={"highst": 3})

    with pytest.raises(RunFolderError, match=r"were edited .* it takes no 'highst'"):
        gem_eval.resume(path)


def test_a_record_may_be_edited_before_the_first_episode(run: Callable[..., Evaluation]) -> None:
    path = run(episodes=5).path
    (path / "episodes.jsonl").unlink()
    edited(path, seed=1)

    gem_eval.resume(path)

    assert gem_eval.resume(path).settings.seed == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"wrappers": [{"id": "time_limit", "max_turns": 3}], "max_turns": 2},
        {"env_kwargs": {"highest": 31}, "backend": "process", "num_workers": 1},
    ],
)
def test_a_run_that_nobody_edited_goes_on(
    run: Callable[..., Evaluation], options: dict[str, Any]
) -> None:
    found = run(episodes=5, **options)

    assert gem_eval.resume(found.path).summary == found.summary


def test_an_interrupted_run_goes_on_where_it_was(
    run: Callable[..., Evaluation], stopped: Path, fingerprints: Fingerprints
) -> None:
    expected = fingerprints(run(policies=["solver", Mine()]).path)
    before = (stopped / "episodes.jsonl").read_bytes()
    assert 0 < len(fingerprints(stopped)) < 40

    gem_eval.resume(stopped, policies=["solver", Mine()])

    assert fingerprints(stopped) == expected
    assert (stopped / "episodes.jsonl").read_bytes().startswith(before)


def test_a_half_written_line_is_run_again(
    run: Callable[..., Evaluation], fingerprints: Fingerprints
) -> None:
    found = run()
    expected = fingerprints(found.path)
    log = found.path / "episodes.jsonl"
    log.write_bytes(log.read_bytes()[:-30])

    gem_eval.resume(found.path)

    assert fingerprints(found.path) == expected


def test_going_on_with_a_finished_run_runs_nothing(run: Callable[..., Evaluation]) -> None:
    found = run()
    seen: list[object] = []

    again = gem_eval.resume(found.path, on_episode=seen.append)

    assert (seen, again.summary) == ([], found.summary)


class Absent(Mine):
    """A server that is away, but for its first `limit` requests."""

    def __call__(self, request: Request) -> str:
        self.left -= 1
        if self.left < 0:
            raise ConnectionError("nobody is there")
        return r"\boxed{8}"


def test_what_a_server_lost_is_run_again_when_it_is_back(
    run: Callable[..., Evaluation], fingerprints: Fingerprints
) -> None:
    expected = fingerprints(run("expected", policies=Mine(), max_turns=1).path)
    found = run(policies=Absent(9), max_turns=1)
    assert (found.summary.errors, found.summary.retried) == (11, 0)
    first_tries = found.folder.episodes_path.read_bytes()

    again = gem_eval.resume(found.path, policies=Mine())

    assert (again.summary.episodes, again.summary.errors, again.summary.retried) == (20, 0, 11)
    assert {episode.error for episode in again.episodes()} == {None}
    assert sorted(episode.fingerprint() for episode in again.episodes()) == sorted(
        expected.values()
    )
    assert found.folder.episodes_path.read_bytes().startswith(first_tries)


def test_a_second_try_that_is_interrupted_loses_and_repeats_nothing(
    run: Callable[..., Evaluation], fingerprints: Fingerprints
) -> None:
    expected = fingerprints(run("expected", policies=Mine(), max_turns=1).path)
    path = run(policies=Absent(9), max_turns=1, concurrency=1).path
    with pytest.raises(KeyboardInterrupt):
        gem_eval.resume(path, policies=Mine(4))

    again = gem_eval.resume(path, policies=Mine())

    assert (again.summary.episodes, again.summary.errors, again.summary.retried) == (20, 0, 11)
    assert sorted(episode.fingerprint() for episode in again.episodes()) == sorted(
        expected.values()
    )
    assert len(list(read_episodes(again.folder.episodes_path))) == 20 + 11


def test_an_error_that_stays_is_counted_once(run: Callable[..., Evaluation]) -> None:
    found = run(envs="tiny:Broken", policies="random")

    again = gem_eval.resume(found.path).summary

    assert (again.episodes, again.errors) == (20, found.summary.errors)
    assert again.retried == found.summary.errors


def test_a_run_killed_before_its_first_episode_goes_on(
    run: Callable[..., Evaluation], fingerprints: Fingerprints
) -> None:
    found = run()
    expected = fingerprints(found.path)
    (found.path / "episodes.jsonl").unlink()

    gem_eval.resume(found.path)

    assert fingerprints(found.path) == expected


def test_a_run_goes_on_in_another_concurrency(run: Callable[..., Evaluation]) -> None:
    found = run(episodes=3)

    assert gem_eval.resume(found.path, concurrency=1).summary == found.summary


def test_a_run_goes_on_on_another_backend(
    run: Callable[..., Evaluation], stopped: Path, fingerprints: Fingerprints
) -> None:
    expected = fingerprints(run(policies=["solver", Mine()]).path)

    gem_eval.resume(stopped, policies=["solver", Mine()], backend="process", num_workers=2)

    assert fingerprints(stopped) == expected


def test_a_run_goes_on_without_the_backend_that_it_was_started_with(
    run: Callable[..., Evaluation], fingerprints: Fingerprints
) -> None:
    found = run(backend="process", num_workers=1, backend_options={"start_method": "fork"})
    expected = fingerprints(found.path)
    (found.path / "episodes.jsonl").unlink()

    gem_eval.resume(found.path, backend="inline")

    assert fingerprints(found.path) == expected


def test_counters_are_of_what_ran_since_a_run_was_resumed(
    stopped: Path, fingerprints: Fingerprints
) -> None:
    finished = len(fingerprints(stopped))

    found = gem_eval.resume(stopped, policies=["solver", Mine()])

    assert found.summary.counters is not None
    assert found.summary.counters.episodes == 40 - finished


def test_a_summary_that_cannot_be_read_has_lost_its_counters(
    run: Callable[..., Evaluation],
) -> None:
    found = run()
    (found.path / "summary.json").write_text("{")

    assert gem_eval.resume(found.path).summary == found.summary.model_copy(
        update={"counters": None}
    )


def test_going_on_with_other_settings_is_refused_by_name(
    run: Callable[..., Evaluation], stopped: Path
) -> None:
    before = (stopped / "episodes.jsonl").read_bytes()

    with pytest.raises(RunFolderError, match=r"env_kwargs is \{\} there and \{'highest': 3\} here"):
        gem_eval.resume(stopped, policies=["solver", Mine()], env_kwargs={"highest": 3})

    assert (stopped / "episodes.jsonl").read_bytes() == before


def test_another_version_of_a_pack_is_told(
    run: Callable[..., Evaluation], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {
        version: fake_plugin(
            tmp_path / version,
            "acme-guess",
            envs={"acme:Guess": "gem.testing.envs:Guess"},
            version=version,
        )
        for version in ("1.0", "2.0")
    }
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(folders["1.0"]))
        registry.refresh()
        path = run(envs="acme:Guess", policies="solver", episodes=2).path
    monkeypatch.syspath_prepend(str(folders["2.0"]))
    registry.refresh()

    with pytest.warns(RuntimeWarning, match=r"acme-guess \(it was 1\.0, and is 2\.0\) changed"):
        evaluation = gem_eval.resume(path, episodes=4)

    versions = [episode.versions["acme-guess"] for episode in evaluation.episodes()]
    assert versions == ["1.0", "1.0", "2.0", "2.0"]


CAPITALS = """
from pathlib import Path

import gem

class Capitals(gem.Env):
    def __init__(self, data):
        self.rows = Path(data).read_text().splitlines()
        self.num_tasks = len(self.rows)
    def reset(self, seed=None, task=None):
        self.number = self.pick_task(task)
        return self.rows[self.number], {"task": self.number}
    def step(self, action):
        return gem.Step("", 1.0, True, False, {})
"""


@pytest.mark.filterwarnings("error")
def test_a_table_that_was_edited_is_told(
    run: Callable[..., Evaluation], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ok.csv").write_text("France?,Paris\nPeru?,Lima")
    Path("capitals.py").write_text(CAPITALS)
    options = {"envs": "./capitals.py:Capitals", "env_kwargs": {"data": "ok.csv"}}
    path = run(policies="noop", episodes=1, **options).path
    gem_eval.resume(path)  # without a warning, which would be an error
    Path("ok.csv").write_text("Peru?,Lima\nFrance?,Paris")

    with pytest.warns(RuntimeWarning, match=r"^ok\.csv \(it was sha256:\w{16}, and is sha256:"):
        gem_eval.resume(path, episodes=2)


def test_data_that_is_no_file_is_no_trouble(run: Callable[..., Evaluation], tmp_path: Path) -> None:
    absent = EnvSpec(id="acme:Absent", target="a:B", kwargs={"data": "some/hub-\0name"})
    folder = EnvSpec(id="acme:Folder", target="a:B", kwargs={"data": str(tmp_path)})

    assert set(versions_of([absent, folder], {})) == {"gem-core"}


def test_a_live_policy_must_be_given_again(stopped: Path) -> None:
    with pytest.raises(SettingsError, match="policies="):
        gem_eval.resume(stopped)


def test_a_log_of_another_evaluation_is_refused(
    run: Callable[..., Evaluation], tmp_path: Path
) -> None:
    other = run("other", seed=1)
    mine = run(seed=0)
    strange = (other.path / "episodes.jsonl").read_bytes()
    (mine.path / "episodes.jsonl").write_bytes(strange)

    with pytest.raises(RunFolderError, match="another evaluation"):
        gem_eval.resume(mine.path)

    assert (mine.path / "episodes.jsonl").read_bytes() == strange


def test_a_run_that_is_being_written_is_refused(run: Callable[..., Evaluation]) -> None:
    found = run()

    with EpisodeLog(found.path / "episodes.jsonl"), pytest.raises(LogError, match="another run"):
        gem_eval.resume(found.path)


def test_a_record_from_before_deadlines_of_the_policy_goes_on(stopped: Path) -> None:
    path = stopped / "run.json"
    record = json.loads(path.read_text())
    for name in ("policy_timeout_s", "episode_timeout_s", "policy_retries", "retry_wait_s"):
        del record["settings"][name]
    path.write_text(json.dumps(record))

    assert gem_eval.resume(stopped, policies=["solver", Mine()]).summary.errors == 0
