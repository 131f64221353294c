from __future__ import annotations

import asyncio
import importlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_eval
from gem import Request
from gem.episode import EpisodeLog, read_episodes
from gem.errors import BadArguments, GemError, LogError, TargetError
from gem_eval import EvalError, Evaluation, RunFolderError, SettingsError
from gem_eval.intervals import wilson

Key = tuple[str, int, int, int]


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


def fingerprints(folder: Path) -> dict[Key, str]:
    found: dict[Key, str] = {}
    for each in read_episodes(folder / "episodes.jsonl"):
        key = (each.policy, each.env_index, each.episode_index, each.repeat)
        assert key not in found
        found[key] = each.fingerprint()
    return found


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Evaluation]:
    """Return a function that evaluates into a folder, named by its first argument."""

    def evaluate(folder: str = "run", **options: Any) -> Evaluation:
        given = {"envs": "tiny:Guess", "policies": ["solver", "random"], "episodes": 20}
        return gem_eval.evaluate(**{**given, "out": tmp_path / folder, **options})

    return evaluate


@pytest.fixture
def stopped(run: Callable[..., Evaluation], tmp_path: Path) -> Path:
    """Return a run that was interrupted half-way."""
    with pytest.raises(KeyboardInterrupt):
        run("stopped", policies=["solver", Mine(10)], concurrency=4)
    return tmp_path / "stopped"


def test_the_run_is_in_its_folder(run: Callable[..., Evaluation], tmp_path: Path) -> None:
    found = run()

    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "run.json",
        "episodes.jsonl",
        "summary.json",
    }
    assert len(list(found.episodes())) == 40


def test_the_summary_on_disk_is_the_one_returned(run: Callable[..., Evaluation]) -> None:
    found = run()

    assert json.loads((found.path / "summary.json").read_text()) == found.summary.to_json()


def test_the_record_says_what_was_run(run: Callable[..., Evaluation]) -> None:
    record = json.loads((run(seed=7, env_kwargs={"highest": 31}).path / "run.json").read_text())

    assert record["command"] == ["gem_eval.evaluate"]
    assert record["versions"].keys() == {"python", "gem-core", "gem-eval", "gem-eval-tiny"}
    assert record["settings"]["seed"] == 7
    assert record["settings"]["envs"][0]["target"] == "gem.testing.envs:Guess"
    assert record["settings"]["env_kwargs"] == {"highest": 31}
    assert [each["name"] for each in record["settings"]["policies"]] == ["solver", "random"]


def test_figures_are_those_of_the_episodes(run: Callable[..., Evaluation]) -> None:
    found = run()

    won = [each for each in found.episodes() if each.policy == "random" and each.success]
    solver, random = found.summary.results
    assert solver.success_rate == 1.0
    assert random.success_rate == len(won) / 20


@pytest.mark.parametrize("concurrency", [1, 7, 64])
def test_any_concurrency_gives_the_same_episodes(
    run: Callable[..., Evaluation], concurrency: int
) -> None:
    options = {"envs": ["tiny:Guess", "tiny:Lamps"], "repeats": 2}

    expected = fingerprints(run("expected", **options).path)

    assert fingerprints(run(concurrency=concurrency, **options).path) == expected


def recorded(folder: Path) -> list[str]:
    """Return every record as it was written, but for how long things took, in one order."""
    lines = (folder / "episodes.jsonl").read_text().splitlines()
    return sorted(re.sub(r'"\w+_s":[^,}]*', "", line) for line in lines)


@pytest.mark.parametrize(
    "where",
    [
        {"backend": "thread"},
        {"backend": "process", "num_workers": 2},
        {"backend": "process", "backend_options": {"start_method": "fork"}, "concurrency": 3},
    ],
)
def test_any_backend_gives_the_same_records(
    run: Callable[..., Evaluation], where: dict[str, Any]
) -> None:
    options = {"envs": ["tiny:Guess", "tiny:Lamps"], "repeats": 2, "wrappers": ["concat"]}

    expected = recorded(run("expected", **options).path)

    assert len(expected) == 160
    assert recorded(run(**options, **where).path) == expected


def test_all_tasks_of_a_finite_set_are_run_once(run: Callable[..., Evaluation]) -> None:
    found = run(envs="tiny:Numbered", policies="solver", episodes="all")

    assert sorted(each.task or 0 for each in found.episodes()) == list(range(6))
    assert found.summary.results[0].success_rate == 1.0


def test_by_default_no_task_is_played_twice(run: Callable[..., Evaluation]) -> None:
    found = run(envs=["tiny:Numbered", "tiny:Guess"], policies="solver", episodes=None)

    numbered, guess = found.summary.results
    assert (numbered.episodes, numbered.tasks) == (6, 6)
    assert (guess.episodes, guess.tasks) == (100, None)


def test_more_episodes_than_tasks_are_played_where_they_are_asked_for(
    run: Callable[..., Evaluation],
) -> None:
    many = run(envs="tiny:Numbered", policies="solver", episodes=60).summary.results[0]

    assert (many.episodes, many.tasks) == (60, 6)
    assert many.success_rate_ci95 == pytest.approx(wilson(1.0, 6))


def test_a_chosen_task_is_the_episode_that_it_is_among_all(run: Callable[..., Evaluation]) -> None:
    options: dict[str, Any] = {"envs": "tiny:Numbered", "policies": "solver"}
    among_all = {each.task: each for each in run("all", episodes="all", **options).episodes()}

    chosen = run("chosen", episodes=None, tasks=[4, 2], **options)

    assert {each.task for each in chosen.episodes()} == {2, 4}
    for each in chosen.episodes():
        assert each.fingerprint() == among_all[each.task].fingerprint()
        assert each.episode_index == among_all[each.task].episode_index
    assert gem_eval.resume(chosen.path).summary == chosen.summary


def test_a_chosen_seed_is_the_environments_own(run: Callable[..., Evaluation]) -> None:
    found = run(policies="random", episodes=None, seed_range=range(7, 10), repeats=2)

    assert sorted(each.seed for each in found.episodes()) == [7, 7, 8, 8, 9, 9]
    with gem.make("tiny:Guess") as env:
        for each in (each for each in found.episodes() if each.repeat == 0):
            env.reset(seed=each.seed)
            assert env.sample_action() == each.turns[0].action


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"envs": "tiny:Numbered", "tasks": [2, 6]}, "Task 6 .* 6 tasks"),
        ({"envs": "tiny:Guess", "tasks": [2]}, "seed_range"),
        ({"envs": "tiny:Numbered", "seed_range": (0, 3)}, "by tasks"),
    ],
)
def test_episodes_that_there_are_not_are_refused(
    run: Callable[..., Evaluation], options: dict[str, Any], what: str
) -> None:
    with pytest.raises(SettingsError, match=what):
        run(episodes=None, **options)


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
    run: Callable[..., Evaluation], env: str, more: dict[str, Any]
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


def test_all_of_an_endless_set_is_refused(run: Callable[..., Evaluation]) -> None:
    with pytest.raises(BadArguments, match="tiny:Guess"):
        run(episodes="all")


def test_a_return_from_which_an_environment_counts_as_solved_is_its_own(
    run: Callable[..., Evaluation],
) -> None:
    assert run(envs="tiny:Silent", policies="noop").summary.results[0].success_rate == 1.0


def test_an_environment_that_fails_costs_its_own_episodes(run: Callable[..., Evaluation]) -> None:
    [result] = run(envs="tiny:Broken", policies="random").summary.results

    assert 0 < result.errors < result.episodes == 20
    assert result.success_rate == 1.0
    assert result.stop_reasons == {"env_error": result.errors, "terminated": 20 - result.errors}
    assert "the wheel came off" in str(result.first_error)


def test_a_server_is_evaluated_and_its_tokens_counted(
    run: Callable[..., Evaluation], server: Any, answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    server.answers = [answers.chat(r"\boxed{8}")]

    found = run(policies=f"openai:my-model@{server.url}", max_turns=1)

    [result] = found.summary.results
    assert result.tokens is not None
    assert (result.tokens.prompt, result.tokens.completion) == (20 * 11, 20 * 5)
    assert {asked.headers["authorization"] for asked in server.asked} == {
        "Bearer sk-0123456789abcdef"
    }
    written = b"".join(path.read_bytes() for path in found.path.iterdir())
    assert b"sk-01234" not in written


def test_a_policy_may_be_an_object(run: Callable[..., Evaluation]) -> None:
    [result] = run(policies=Mine(), max_turns=1).summary.results

    assert (result.policy, result.mean_turns) == ("mine", 1.0)


def test_two_objects_of_one_name_are_refused(run: Callable[..., Evaluation]) -> None:
    with pytest.raises(SettingsError, match="'mine'"):
        run(policies=[Mine(), Mine()])


def test_an_object_that_cannot_be_hashed_is_a_policy(run: Callable[..., Evaluation]) -> None:
    @dataclass
    class Plain(Mine):
        name: str = "plain"
        left: int = 10**9

    assert run(policies=[Plain()], max_turns=1).summary.results[0].policy == "plain"


def test_policies_may_come_from_a_generator(run: Callable[..., Evaluation]) -> None:
    found = run(policies=(each for each in [Mine(), "noop"]), max_turns=1)

    assert [result.policy for result in found.summary.results] == ["mine", "noop"]


def test_each_episode_is_shown_as_it_finishes(run: Callable[..., Evaluation]) -> None:
    seen: list[str] = []

    run(on_episode=lambda episode: seen.append(episode.fingerprint()))

    assert len(seen) == 40


def test_a_run_is_announced_to_who_listens(run: Callable[..., Evaluation]) -> None:
    heard = importlib.import_module("gem_eval_tiny.listening").heard
    heard.clear()

    path = run(episodes=1).path

    assert heard == [("started", path), ("finished", path)]


def test_a_policy_that_fails_to_close_loses_nothing(run: Callable[..., Evaluation]) -> None:
    class Clinging(Mine):
        async def aclose(self) -> None:
            raise RuntimeError("stuck")

    with pytest.warns(RuntimeWarning, match="stuck"):
        found = run(policies=Clinging())

    assert found.summary.errors == 0


def test_a_run_gets_a_folder_of_its_own(
    run: Callable[..., Evaluation], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    paths = [run(out=None, episodes=1).path for _ in range(3)]

    assert len(set(paths)) == 3
    assert {path.parent for path in paths} == {Path("runs")}


def test_it_can_be_awaited(tmp_path: Path) -> None:
    async def both() -> list[Evaluation]:
        runs = (
            gem_eval.evaluate_async("tiny:Echo", "solver", episodes=5, out=tmp_path / name)
            for name in ("one", "two")
        )
        return list(await asyncio.gather(*runs))

    assert [each.summary.episodes for each in asyncio.run(both())] == [5, 5]


def test_on_a_running_loop_the_plain_form_names_the_other(
    run: Callable[..., Evaluation], tmp_path: Path
) -> None:
    async def inside() -> None:
        run()

    with pytest.raises(EvalError, match="evaluate_async"):
        asyncio.run(inside())

    assert not (tmp_path / "run").exists()


def test_episodes_become_a_table(run: Callable[..., Evaluation]) -> None:
    pytest.importorskip("pandas", reason="pandas is optional")

    frame = run().to_pandas()

    assert len(frame) == 40
    assert frame.groupby("policy")["success"].mean()["solver"] == 1.0


def test_an_interrupted_run_goes_on_where_it_was(
    run: Callable[..., Evaluation], stopped: Path
) -> None:
    expected = fingerprints(run(policies=["solver", Mine()]).path)
    before = (stopped / "episodes.jsonl").read_bytes()
    assert 0 < len(fingerprints(stopped)) < 40

    gem_eval.resume(stopped, policies=["solver", Mine()])

    assert fingerprints(stopped) == expected
    assert (stopped / "episodes.jsonl").read_bytes().startswith(before)


def test_a_half_written_line_is_run_again(run: Callable[..., Evaluation]) -> None:
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
    run: Callable[..., Evaluation],
) -> None:
    expected = fingerprints(run("expected", policies=Mine(), max_turns=1).path)
    found = run(policies=Absent(9), max_turns=1)
    assert (found.summary.errors, found.summary.retried) == (11, 0)
    first_tries = found.folder.episodes_path.read_bytes()

    again = gem_eval.resume(found.path, policies=Mine())

    assert (again.summary.episodes, again.summary.errors, again.summary.retried) == (20, 0, 11)
    assert {each.error for each in again.episodes()} == {None}
    assert sorted(each.fingerprint() for each in again.episodes()) == sorted(expected.values())
    assert found.folder.episodes_path.read_bytes().startswith(first_tries)


def test_a_second_try_that_is_interrupted_loses_and_repeats_nothing(
    run: Callable[..., Evaluation],
) -> None:
    expected = fingerprints(run("expected", policies=Mine(), max_turns=1).path)
    path = run(policies=Absent(9), max_turns=1, concurrency=1).path
    with pytest.raises(KeyboardInterrupt):
        gem_eval.resume(path, policies=Mine(4))

    again = gem_eval.resume(path, policies=Mine())

    assert (again.summary.episodes, again.summary.errors, again.summary.retried) == (20, 0, 11)
    assert sorted(each.fingerprint() for each in again.episodes()) == sorted(expected.values())
    assert len(list(read_episodes(again.folder.episodes_path))) == 20 + 11


def test_an_error_that_stays_is_counted_once(run: Callable[..., Evaluation]) -> None:
    found = run(envs="tiny:Broken", policies="random")

    again = gem_eval.resume(found.path).summary

    assert (again.episodes, again.errors) == (20, found.summary.errors)
    assert again.retried == found.summary.errors


def test_a_run_killed_before_its_first_episode_goes_on(run: Callable[..., Evaluation]) -> None:
    found = run()
    expected = fingerprints(found.path)
    (found.path / "episodes.jsonl").unlink()

    gem_eval.resume(found.path)

    assert fingerprints(found.path) == expected


def test_a_run_goes_on_in_another_concurrency(run: Callable[..., Evaluation]) -> None:
    found = run(episodes=3)

    assert gem_eval.resume(found.path, concurrency=1).summary == found.summary


def test_a_run_goes_on_on_another_backend(run: Callable[..., Evaluation], stopped: Path) -> None:
    expected = fingerprints(run(policies=["solver", Mine()]).path)

    gem_eval.resume(stopped, policies=["solver", Mine()], backend="process", num_workers=2)

    assert fingerprints(stopped) == expected


def test_a_run_goes_on_without_the_backend_that_it_was_started_with(
    run: Callable[..., Evaluation],
) -> None:
    found = run(backend="process", num_workers=1, backend_options={"start_method": "fork"})
    expected = fingerprints(found.path)
    (found.path / "episodes.jsonl").unlink()

    gem_eval.resume(found.path, backend="inline")

    assert fingerprints(found.path) == expected


def test_a_live_argument_is_refused_where_environments_live_elsewhere(
    run: Callable[..., Evaluation], tmp_path: Path
) -> None:
    with pytest.raises(GemError, match="highest"):
        run(backend="process", env_kwargs={"highest": Mine()})

    assert list(tmp_path.iterdir()) == []


def test_the_summary_has_the_counters_of_the_run(run: Callable[..., Evaluation]) -> None:
    found = run(envs="tiny:Broken", policies="random", num_workers=1, backend="process")

    counters = found.summary.counters
    assert counters is not None
    assert (counters.episodes, counters.errors) == (20, found.summary.errors)
    assert counters.steps == 20 - counters.errors
    assert counters.step_p50_s is not None
    assert counters.step_p99_s is not None
    assert 0 < counters.step_p50_s <= counters.step_p99_s
    assert (counters.restarts, counters.deadline_hits, counters.retries) == (0, 0, 0)


def test_a_process_that_ends_costs_its_own_episodes(run: Callable[..., Evaluation]) -> None:
    found = run(envs="tiny:Deadly", policies="random", backend="process", num_workers=2)

    [result] = found.summary.results
    assert set(result.stop_reasons) == {"worker_lost", "terminated"}
    assert result.success_rate == 1.0
    assert found.summary.counters is not None
    assert 0 < found.summary.counters.restarts <= result.errors


def test_counters_are_of_what_ran_since_a_run_was_resumed(stopped: Path) -> None:
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


def test_a_live_policy_must_be_given_again(stopped: Path) -> None:
    with pytest.raises(SettingsError, match="policies="):
        gem_eval.resume(stopped)


def test_a_log_of_another_evaluation_is_refused(
    run: Callable[..., Evaluation], tmp_path: Path
) -> None:
    other, mine = run("other", seed=1), run(seed=0)
    strange = (other.path / "episodes.jsonl").read_bytes()
    (mine.path / "episodes.jsonl").write_bytes(strange)

    with pytest.raises(RunFolderError, match="another evaluation"):
        gem_eval.resume(mine.path)

    assert (mine.path / "episodes.jsonl").read_bytes() == strange


def test_a_run_that_is_being_written_is_refused(run: Callable[..., Evaluation]) -> None:
    found = run()

    with EpisodeLog(found.path / "episodes.jsonl"), pytest.raises(LogError, match="another run"):
        gem_eval.resume(found.path)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"policies": "solvr"}, GemError),
        ({"policies": "scripted:nowhere:Policy"}, TargetError),
        ({"wrappers": ["concatt"]}, GemError),
        ({"env_kwargs": {"highst": 3}}, BadArguments),
        ({"envs": "tiny:Picky", "env_kwargs": {"size": 0}}, SettingsError),
        ({"policy_kwargs": {"noop": {"times": 3}}, "policies": "noop"}, BadArguments),
    ],
)
def test_what_cannot_work_is_refused_before_a_folder_is_made(
    run: Callable[..., Evaluation], tmp_path: Path, options: dict[str, Any], error: type[GemError]
) -> None:
    with pytest.raises(error):
        run(**options)

    assert list(tmp_path.iterdir()) == []
