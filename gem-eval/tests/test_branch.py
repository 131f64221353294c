"""`gem_eval.branch`: children of a recorded turn, and what has none."""

from __future__ import annotations

import asyncio
import json
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import gem
import gem_eval
from gem import Env, Episode, Message, Request, Step, ToolCall, ToolResult, read_episodes
from gem.testing import registrations_undone
from gem_eval import BranchError, EvalError, Evaluation, RunFolderError, SettingsError
from gem_eval.branching.origin import Leading
from gem_eval.finding import example_episode, example_turn

Run = Callable[..., Evaluation]
LONG = {"highest": 1000, "max_turns": 9}  # a game that nobody wins by chance


@pytest.fixture
def lost(run: Run) -> Evaluation:
    """Return a run of games that `random` lost, each of nine turns."""
    return run(policies="random", env_kwargs=LONG, episodes=4)


def episodes(run: str | Path) -> list[Episode]:
    return list(read_episodes(run))


def actions(episode: Episode) -> list[str]:
    return [turn.action for turn in episode.turns]


def test_a_policy_plays_on_from_the_turn(lost: Evaluation, tmp_path: Path) -> None:
    parent = episodes(lost.path)[1]

    children = gem_eval.branch(lost.path, 2, "noop", turn=3, out=tmp_path / "children")

    [child] = children.episodes()
    assert actions(child) == [*actions(parent)[:3], ""]
    assert [turn.outcome() for turn in child.turns[:3]] == [
        turn.outcome() for turn in parent.turns[:3]
    ]
    assert child.turns[3].observation == parent.turns[3].observation
    assert (child.policy, child.seed, child.env_kwargs) == ("noop", parent.seed, LONG)


def test_a_solver_wins_a_game_that_was_lost(lost: Evaluation, tmp_path: Path) -> None:
    children = gem_eval.branch(
        lost.path, 1, ["solver", "random"], turn=1, repeats=20, out=tmp_path / "c", max_turns=20
    )

    solver, chance = children.summary.results
    assert (solver.episodes, chance.episodes) == (20, 20)
    assert chance.success_rate == 0.0
    # Each child is an observation of its own, though all have one seed.
    assert chance.success_rate_ci95 == pytest.approx((0.0, 0.161), abs=1e-3)
    assert solver.tasks is None


def test_children_sample_anew_and_unlike_the_parent(lost: Evaluation, tmp_path: Path) -> None:
    parent = episodes(lost.path)[0]

    children = gem_eval.branch(lost.path, 1, "random", turn=4, repeats=5, out=tmp_path / "c")

    played = [tuple(actions(child)) for child in children.episodes()]
    assert len({*played, tuple(actions(parent))}) == 6
    assert {each[:4] for each in played} == {tuple(actions(parent)[:4])}


def test_from_the_first_turn_all_is_played_anew(lost: Evaluation, tmp_path: Path) -> None:
    parent = episodes(lost.path)[0]

    children = gem_eval.branch(lost.path, 1, "random", turn=0, out=tmp_path / "c")

    [child] = children.episodes()
    assert child.turns[0].observation == parent.turns[0].observation
    assert child.turns[0].action != parent.turns[0].action


def test_the_children_say_whose_they_are_and_replay(lost: Evaluation, tmp_path: Path) -> None:
    parent = episodes(lost.path)[2]

    children = gem_eval.branch(lost.path, 3, "random", turn=2, repeats=3, out=tmp_path / "c")

    branch = json.loads((children.path / "run.json").read_bytes())["branch"]
    assert branch == {
        "run": str(lost.path),
        "line": 3,
        "fingerprint": parent.fingerprint(),
        "policy": "random",
        "turn": 2,
    }
    kept = Episode.from_json((children.path / "parent.jsonl").read_bytes())
    assert kept.fingerprint() == parent.fingerprint()
    assert [gem.replay(child).state for child in children.episodes()] == ["same"] * 3


def test_a_fingerprint_names_an_episode(lost: Evaluation, tmp_path: Path) -> None:
    parent = episodes(lost.path)[3]
    prefix = next(
        parent.fingerprint()[:length]
        for length in range(8, 33)
        if not parent.fingerprint()[:length].isdecimal()
    )

    children = gem_eval.branch(lost.path, prefix.upper(), "noop", turn=1, out=tmp_path / "children")

    assert children.folder.record.branch is not None
    assert children.folder.record.branch.line == 4


def test_a_fingerprint_of_many_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run(policies="noop", episodes=3).path
    numbers = iter(range(100))
    monkeypatch.setattr(Episode, "fingerprint", lambda self: f"abcdef{next(numbers):04}")

    with pytest.raises(
        BranchError, match=r"begins the fingerprints of 3 episodes .* lines 1 and 2"
    ):
        gem_eval.branch(folder, "abcdef", "noop", turn=0)


def test_a_branch_can_be_branched(lost: Evaluation, tmp_path: Path) -> None:
    first = gem_eval.branch(lost.path, 1, "random", turn=2, out=tmp_path / "first")
    shutil.rmtree(lost.path)  # what a branch needs of its parent it has

    second = gem_eval.branch(first.path, 1, "noop", turn=5, out=tmp_path / "second")

    [child] = first.episodes()
    [grandchild] = second.episodes()
    assert actions(grandchild) == [*actions(child)[:5], ""]


def test_tasks_wrappers_and_limits_are_those_of_the_parent(run: Run, tmp_path: Path) -> None:
    parents = run(
        envs="tiny:Numbered",
        policies="noop",
        episodes="all",
        wrappers=[{"id": "time_limit", "max_turns": 3}, "concat"],
        max_turns=2,
        step_timeout_s=30.0,
    )
    parent = episodes(parents.path)[4]

    children = gem_eval.branch(
        parents.path, 5, "solver", turn=0, repeats=8, out=tmp_path / "c", concurrency=2
    )

    settings = children.settings
    assert (settings.max_turns, settings.step_timeout_s, settings.concurrency) == (2, 30.0, 2)
    assert {child.task for child in children.episodes()} == {parent.task}
    assert {child.wrappers for child in map(_hashable, children.episodes())} == {
        _hashable(parent).wrappers
    }
    [result] = children.summary.results
    assert result.success_rate == 1.0
    assert result.success_rate_ci95 is not None
    assert result.success_rate_ci95[0] > 0.6  # of eight, not of one task


def _hashable(episode: Episode) -> Any:
    class Wrapped(NamedTuple):
        wrappers: str

    return Wrapped(json.dumps(episode.wrappers))


@pytest.mark.parametrize(
    "wrappers", [["concat"], [{"id": "concat_chat", "tokenizer": "TOKENIZER"}]]
)
def test_prompts_that_are_rendered_whole_are_compared_too(
    run: Run, tmp_path: Path, wrappers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = json.loads(json.dumps(wrappers).replace("TOKENIZER", "branch_tokenizer:tokenizer"))
    (tmp_path / "branch_tokenizer.py").write_text(TOKENIZER)
    monkeypatch.syspath_prepend(str(tmp_path))
    parents = run(policies="random", env_kwargs=LONG, wrappers=given, episodes=1)

    children = gem_eval.branch(parents.path, 1, "noop", turn=5, out=tmp_path / "children")

    [child] = children.episodes()
    assert (len(child.turns), child.is_error) == (6, False)
    assert child.rewrites_history


TOKENIZER = """
class Tokenizer:
    def apply_chat_template(self, messages, **_):
        return "".join(f"<{each['role']}>{each['content']}" for each in messages)


def tokenizer():
    return Tokenizer()
"""


def test_what_a_limit_of_the_run_ended_is_played_on(run: Run, tmp_path: Path) -> None:
    short = run(policies="random", env_kwargs=LONG, episodes=1, max_turns=3)

    children = gem_eval.branch(
        short.path, 1, "solver", turn=3, max_turns=30, out=tmp_path / "children"
    )

    [child] = children.episodes()
    assert actions(child)[:3] == actions(episodes(short.path)[0])
    assert len(child.turns) > 3


def test_what_the_environment_failed_at_is_tried_again(run: Run, tmp_path: Path) -> None:
    broken = run(envs="tiny:Broken", policies="random", episodes=10)
    line = next(n for n, each in enumerate(episodes(broken.path), 1) if each.is_error)

    children = gem_eval.branch(broken.path, line, "noop", turn=0, out=tmp_path / "children")

    assert children.summary.errors == 1


def test_what_is_missing_is_played_when_it_goes_on(lost: Evaluation, tmp_path: Path) -> None:
    children = gem_eval.branch(lost.path, 1, "random", turn=2, repeats=6, out=tmp_path / "c")
    whole = {child.repeat: child.fingerprint() for child in children.episodes()}
    log = children.folder.episodes_path
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:2]))

    resumed = gem_eval.resume(children.path)

    assert {child.repeat: child.fingerprint() for child in resumed.episodes()} == whole

    def figures(run: Evaluation) -> list[dict[str, Any]]:
        return [result.model_dump(exclude={"seconds"}) for result in run.summary.results]

    assert figures(resumed) == figures(children)


def test_a_branch_can_get_more_children(lost: Evaluation, tmp_path: Path) -> None:
    few = gem_eval.branch(lost.path, 1, "random", turn=2, repeats=2, out=tmp_path / "few")
    many = gem_eval.branch(lost.path, 1, "random", turn=2, repeats=5, out=tmp_path / "many")

    longer = gem_eval.resume(few.path, episodes=5)

    def prints(run: Evaluation) -> list[str]:
        return sorted(child.fingerprint() for child in run.episodes())

    assert prints(longer) == prints(many)


@pytest.mark.parametrize("options", [{"repeats": 2}, {"episodes": "all"}])
def test_a_branch_has_a_number_of_children(
    lost: Evaluation, tmp_path: Path, options: dict[str, Any]
) -> None:
    children = gem_eval.branch(lost.path, 1, "noop", turn=2, out=tmp_path / "c")

    with pytest.raises(SettingsError, match="a branch has a number of children"):
        gem_eval.resume(children.path, **options)


@pytest.mark.parametrize("text", ["", "no episode\n", None])
def test_a_branch_without_its_parent_says_so(
    lost: Evaluation, tmp_path: Path, text: str | None
) -> None:
    children = gem_eval.branch(lost.path, 1, "noop", turn=2, out=tmp_path / "c")
    kept = children.folder.parent_path
    kept.write_text(episodes(lost.path)[1].to_json() if text is None else text)

    with pytest.raises(RunFolderError, match=r"its parent\.jsonl .* branch again from line 1 of"):
        gem_eval.resume(children.path, episodes=3)


def test_a_branch_whose_turn_was_edited_is_refused(lost: Evaluation, tmp_path: Path) -> None:
    children = gem_eval.branch(lost.path, 1, "noop", turn=2, out=tmp_path / "c")
    record = children.path / "run.json"
    record.write_text(record.read_text().replace('"turn": 2', '"turn": 3'))

    with pytest.raises(RunFolderError, match="were edited after it was started"):
        gem_eval.resume(children.path, episodes=3)


def test_others_see_that_it_is_a_branch(lost: Evaluation, tmp_path: Path) -> None:
    children = gem_eval.branch(lost.path, 1, "noop", turn=2, repeats=4, out=tmp_path / "children")

    [difference] = gem_eval.compare([lost.path, children.path]).differences
    found = gem_eval.find(children.path, finders=["hollow_answer"])

    assert difference.caveats[0].startswith("the turn it branches from is None for random and 3")
    assert found.shares[0].ci95 is not None
    assert found.shares[0].found == 4
    assert found.shares[0].ci95[0] == pytest.approx(0.51, abs=0.01)  # of four, not of one seed


class Moody(Env):
    """Says what the class variable says, so that the same seed need not start alike."""

    moods: Iterator[str]

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return f"I am {next(self.moods)}.", {}

    def step(self, action: str) -> Step:
        return Step("", 1.0, self.turn == 1, False, {})


def test_an_episode_that_does_not_replay_is_refused(run: Run, tmp_path: Path) -> None:
    with registrations_undone():
        gem.register("demo:Moody", Moody)
        Moody.moods = iter(["calm", "angry"])
        folder = run(envs="demo:Moody", policies="noop", episodes=1).path

        with pytest.raises(BranchError, match="does not replay up to turn 2") as error:
            gem_eval.branch(folder, 1, "noop", turn=1, out=tmp_path / "children")

    assert 'in turn 1, observation was "I am calm." and is "I am angry." now' in str(error.value)
    assert not (tmp_path / "children").exists()


def test_a_child_that_leaves_its_parents_path_is_an_error(run: Run, tmp_path: Path) -> None:
    with registrations_undone():
        gem.register("demo:Moody", Moody)
        Moody.moods = iter(["calm", "calm", "angry"])
        folder = run(envs="demo:Moody", policies="noop", episodes=1).path
        children = gem_eval.branch(folder, 1, "noop", turn=1, out=tmp_path / "children")

    assert children.summary.errors == 1
    assert "another observation in turn 1 than its parent was: I am angry." in str(
        children.summary.results[0].first_error
    )


class Tooled(Env):
    """Has a tool that reads the class variable, and takes the recorded result in a replay."""

    answers: Iterator[str]

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Ask.", {}

    def step(self, action: str) -> Step:
        recorded = getattr(action, "tool_results", ())
        results = recorded or (ToolResult("1", next(self.answers)),)
        return Step(results[0].content, 0.0, self.turn == 1, False, {"tool_results": results})


async def asking(request: gem.Request) -> gem.Message:
    return gem.Message("assistant", "", (ToolCall("1", "ask", {}),))


def test_tools_are_asked_again_and_must_answer_as_before(run: Run, tmp_path: Path) -> None:
    with registrations_undone():
        gem.register("demo:Tooled", Tooled)
        Tooled.answers = iter(["red"] * 5 + ["green"])
        folder = run(envs="demo:Tooled", policies=[asking], episodes=1).path

        children = gem_eval.branch(folder, 1, [asking], turn=1, out=tmp_path / "children")
        with pytest.raises(BranchError, match="tool_results"):
            gem_eval.branch(folder, 1, [asking], turn=1, out=tmp_path / "others")

    [child] = children.episodes()
    assert child.turns[0].tool_results == (ToolResult("1", "red"),)
    assert child.turns[0].tool_calls == (ToolCall("1", "ask", {}),)


def test_on_an_event_loop_it_is_awaited(lost: Evaluation, tmp_path: Path) -> None:
    async def branches() -> Evaluation:
        with pytest.raises(EvalError, match="branch_async"):
            gem_eval.branch(lost.path, 1, "noop", turn=1)
        return await gem_eval.branch_async(lost.path, 1, "noop", turn=1, out=tmp_path / "c")

    assert asyncio.run(branches()).summary.episodes == 1


def test_an_environment_that_cannot_be_made_again_is_named(run: Run, tmp_path: Path) -> None:
    folder = run(envs="tiny:Picky", policies="noop", episodes=1, env_kwargs={"size": 3}).path
    log = folder / "episodes.jsonl"
    log.write_text(log.read_text().replace('"size":3', '"size":0'))

    with pytest.raises(
        BranchError, match=r"tiny:Picky .* cannot be made again: ValueError: the si"
    ):
        gem_eval.branch(folder, 1, "noop", turn=0, out=tmp_path / "children")


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    size = 200_000
    parents = gem_eval.evaluate(
        "tiny:Guess", [lambda request: "x" * size], episodes=1, out=tmp_path / "large"
    )
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, limits[1]))
    try:
        with pytest.raises(RunFolderError, match="cannot be made"):
            gem_eval.branch(parents.path, 1, "noop", turn=0, out=tmp_path / "children")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert not (tmp_path / "children").exists()


def test_no_turn_and_no_such_option_is_refused(lost: Evaluation) -> None:
    with pytest.raises(BranchError, match="turn=None is no turn"):
        gem_eval.branch(lost.path, 1, "noop", turn=None)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="until"):
        gem_eval.branch(lost.path, 1, ["noop", "random"], turn=0, until="decided")


def test_each_of_several_new_messages_is_compared() -> None:
    calls = (ToolCall("1", "a", {}), ToolCall("2", "b", {}))
    results = (Message("tool", "one", (), "1"), Message("tool", "two", (), "2"))
    parent = example_episode(
        example_turn("", "Begin", tool_calls=calls), example_turn("7", results)
    )
    leading = Leading(gem_eval.make_policy("noop"), parent, 1)
    begun = (Message("user", "Begin"), Message("assistant", "", calls))

    assert leading(Request((*begun, *results), turn=1)) == ""
    with pytest.raises(BranchError, match="turn 2 than its parent was: other"):
        leading(Request((*begun, Message("tool", "other", (), "1"), results[1]), turn=1))
