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
from gem.errors import BadArguments, GemError, TargetError
from gem_eval import EvalError, Evaluation, SettingsError
from gem_eval.intervals import wilson

Key = tuple[str, int, int, int]
Fingerprints = Callable[[Path], dict[Key, str]]


class Mine:
    """Guess the middle, whatever is asked."""

    name = "mine"

    def __call__(self, request: Request) -> str:
        return r"\boxed{8}"


def test_the_run_is_in_its_folder(run: Callable[..., Evaluation], tmp_path: Path) -> None:
    found = run()

    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "run.json",
        "episodes.jsonl",
        "summary.json",
    }
    assert len(list(found.episodes())) == 40


class Moody:
    """Fail at every second call, and guess the middle at the others."""

    name = "moody"

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, request: Request) -> str:
        self.calls += 1
        if self.calls % 2:
            raise OSError("not now")
        return r"\boxed{8}"


def test_a_policy_that_fails_is_asked_again_where_that_is_wanted(
    run: Callable[..., Evaluation],
) -> None:
    found = run(policies=Moody(), policy_retries=1, concurrency=1)

    assert found.summary.errors == 0
    assert found.settings.policy_retries == 1


@pytest.mark.parametrize("limit", ["policy_timeout_s", "episode_timeout_s"])
def test_a_policy_that_never_answers_costs_its_episodes_and_a_later_try_makes_them_good(
    run: Callable[..., Evaluation], limit: str
) -> None:
    class Slow(Mine):
        async def __call__(self, request: Request) -> str:  # type: ignore[override]
            await asyncio.Event().wait()
            return ""

    longer: dict[str, Any] = {limit: 60}
    found = run(policies=Slow(), episodes=2, **{limit: 0.01})
    again = gem_eval.resume(found.path, policies=Mine(), **longer)

    assert (found.summary.errors, again.summary.errors) == (2, 0)


@pytest.mark.parametrize("call", [gem_eval.evaluate, gem_eval.resume])
def test_an_option_of_another_name_is_refused(
    run: Callable[..., Evaluation], call: Callable[..., Evaluation]
) -> None:
    given = [run().path] if call is gem_eval.resume else ["tiny:Guess", "solver"]

    with pytest.raises(SettingsError, match="Did you mean 'repeats'"):
        call(*given, repeat=3)


def test_a_backend_that_cannot_run_is_refused_and_leaves_no_folder(
    run: Callable[..., Evaluation], tmp_path: Path
) -> None:
    with pytest.raises(BadArguments, match="spoon"):
        run(backend="process", backend_options={"start_method": "spoon"})

    assert list(tmp_path.iterdir()) == []


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
    assert [policy["name"] for policy in record["settings"]["policies"]] == ["solver", "random"]


def test_figures_are_those_of_the_episodes(run: Callable[..., Evaluation]) -> None:
    found = run()

    won = [
        episode for episode in found.episodes() if episode.policy == "random" and episode.success
    ]
    solver, random = found.summary.results
    assert solver.success_rate == 1.0
    assert random.success_rate == len(won) / 20


@pytest.mark.parametrize("concurrency", [1, 7, 64])
def test_any_concurrency_gives_the_same_episodes(
    run: Callable[..., Evaluation], concurrency: int, fingerprints: Fingerprints
) -> None:
    options = {"envs": ["tiny:Guess", "tiny:Lamps"], "repeats": 2}

    expected = fingerprints(run("expected", **options).path)

    assert fingerprints(run(concurrency=concurrency, **options).path) == expected


def recorded(folder: Path) -> list[str]:
    """Return every record as it was written, but for how long things took, in one order."""
    lines = (folder / "episodes.jsonl").read_text().splitlines()
    return sorted(re.sub(r'"\w+_s":[^,}]*', "", line) for line in lines)


@pytest.mark.slow
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

    assert sorted(episode.task or 0 for episode in found.episodes()) == list(range(6))
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
    among_all = {
        episode.task: episode for episode in run("all", episodes="all", **options).episodes()
    }

    chosen = run("chosen", episodes=None, tasks=[4, 2], **options)

    assert {episode.task for episode in chosen.episodes()} == {2, 4}
    for chosen_episode in chosen.episodes():
        assert chosen_episode.fingerprint() == among_all[chosen_episode.task].fingerprint()
        assert chosen_episode.episode_index == among_all[chosen_episode.task].episode_index
    assert gem_eval.resume(chosen.path).summary == chosen.summary


def test_a_chosen_seed_is_the_environments_own(run: Callable[..., Evaluation]) -> None:
    found = run(policies="random", episodes=None, seed_range=range(7, 10), repeats=2)

    assert sorted(episode.seed for episode in found.episodes()) == [7, 7, 8, 8, 9, 9]
    with gem.make("tiny:Guess") as env:
        for each in (episode for episode in found.episodes() if episode.repeat == 0):
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

    assert run(policies=[Plain()], max_turns=1).summary.results[0].policy == "plain"


def test_policies_may_come_from_a_generator(run: Callable[..., Evaluation]) -> None:
    found = run(policies=(policy for policy in [Mine(), "noop"]), max_turns=1)

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

    assert [evaluation.summary.episodes for evaluation in asyncio.run(both())] == [5, 5]


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


def test_a_live_argument_is_refused_where_environments_live_elsewhere(
    run: Callable[..., Evaluation], tmp_path: Path
) -> None:
    with pytest.raises(GemError, match="highest"):
        run(backend="process", env_kwargs={"highest": Mine()})

    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_process_that_ends_costs_its_own_episodes(run: Callable[..., Evaluation]) -> None:
    found = run(envs="tiny:Deadly", policies="random", backend="process", num_workers=2)

    [result] = found.summary.results
    assert set(result.stop_reasons) == {"worker_lost", "terminated"}
    assert result.success_rate == 1.0
    assert found.summary.counters is not None
    assert 0 < found.summary.counters.restarts <= result.errors


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
