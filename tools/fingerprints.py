"""Play many environments of every pack, and compare their episodes with those that are stored.

    python tools/fingerprints.py                      on backend "inline"
    python tools/fingerprints.py --backend process    on "thread", "process" or "ray"
    python tools/fingerprints.py games tables         some groups alone
    python tools/fingerprints.py --store              write tools/fingerprints.json anew

Each group is one `gem.rollout` over its environments. What has no finite set of tasks, and one
seat, is played once more, with the actions of the rollout, through `gem.make_vec` on the same
backend: it must tell the same episodes. A group that needs a package or a sandbox that is not here
is skipped, which is said. The exit status is 1 where an episode differs from the stored one.

The file has, for each environment, a digest of all its fingerprints and the first digits of each
seed's, so that a difference is told with its seed. Its positions count: an episode's seed depends
on where its environment stands in its group, so a new one is added at the end of its group.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import importlib.metadata
import json
import platform
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import gem

STORE = Path(__file__).with_suffix(".json")
SEEDS = 20
RUN_SEED = 2026
MAX_TURNS = 12
DIGITS = 8
"""How many digits of each seed's fingerprint are stored."""
ODD_ANSWERS = (
    "",
    "\\boxed{}",
    "\\boxed{up} or \\boxed{A}",
    "é\u2028\x00[0, 0]",
    "<python>print(sum(range(9)))</python>",
    "```python\nprint(int(input()) * 2)\n```",
    '<tool_call>{"name": "python", "arguments": {"code": "print(6 * 7)"}}</tool_call>',
)
PACKAGES = ("textarena", "reasoning-gym", "math-verify", "pillow")
"""Packages of others whose version may change what an episode is."""

Fingerprints = dict[str, list[str]]
"""For each environment of a group, by name, the fingerprints of its episodes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what the command line names, compare or store it, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--backend", default="inline", help="inline, thread, process or ray")
    parser.add_argument("--store", action="store_true", help="write what is found")
    parser.add_argument("--file", type=Path, default=STORE, help="where the stored ones are")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.groups) - set(GROUPS))
    if unknown:
        parser.error(f"unknown groups {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    if not options.store:
        return compare(options.groups or list(GROUPS), options.backend, options.file)
    store(options.groups or list(GROUPS), options.backend, options.file)
    return 0


def compare(groups: Sequence[str], backend: str, file: Path) -> int:
    """Play the groups, print what differs, and return 1 where anything does."""
    stored = json.loads(file.read_text("utf-8"))
    has_differed = False
    for group in groups:
        began = time.monotonic()
        known = stored["groups"][group]
        played = play(group, backend, list(known))
        if played is None:
            continue
        lines = differences(known, played.rollout)
        stepped = {name: row for name, row in known.items() if name in played.vector}
        lines += [f"by make_vec, {line}" for line in differences(stepped, played.vector)]
        has_differed = has_differed or bool(lines)
        print(
            f"{group}: {len(played.rollout)} environments x {SEEDS} seeds on {backend}, "
            f"{len(played.vector)} of them by make_vec as well; {len(lines)} differ; "
            f"{time.monotonic() - began:.0f} s",
            *lines,
            sep="\n    ",
            flush=True,
        )
    if has_differed and made_with() != stored["made_with"]:
        print(f"stored with {stored['made_with']}, played with {made_with()}")
    return 1 if has_differed else 0


def store(groups: Sequence[str], backend: str, file: Path) -> None:
    """Play the groups, and put what is found in the place of what was stored of them."""
    stored = json.loads(file.read_text("utf-8"))["groups"] if file.exists() else {}
    for group in groups:
        played = play(group, backend)
        if played is not None:
            stored[group] = {name: line_of(row) for name, row in played.rollout.items()}
            print(f"{group}: {len(played.rollout)} environments stored", flush=True)
    facts = {
        "made_with": made_with(),
        "groups": {name: stored[name] for name in GROUPS if name in stored},
    }
    file.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")


class Played(NamedTuple):
    """The fingerprints of a group's episodes, as a rollout and as a vector tells them."""

    rollout: Fingerprints
    vector: Fingerprints


def play(group: str, backend: str, names: Sequence[str] = ()) -> Played | None:
    """Play a group, or of it what has these names; None, and a line, where it cannot be."""
    try:
        envs = environments(group, names)
        episodes = rolled_out(envs, GROUPS[group], backend)
        stepped = {} if GROUPS[group].is_scheduled else stepped_through(envs, episodes, backend)
    except (gem.GemError, ImportError) as error:
        print(f"{group}: skipped. {error}", flush=True)
        return None
    failed = [episode for row in episodes.values() for episode in row if episode.error is not None]
    for episode in failed[:3]:
        print(f"{group}: {episode.env_id}, seed {episode.episode_index}: {episode.error}")
    prints = {name: [episode.fingerprint() for episode in row] for name, row in episodes.items()}
    return Played(prints, stepped)


# What is played


class Group(NamedTuple):
    """Environments of one run: ids by pattern, others by name, and what the policy may ask."""

    patterns: tuple[str, ...] = ()
    others: Mapping[str, tuple[str, Mapping[str, Any], Sequence[Any]]] = {}
    without: tuple[str, ...] = ()
    is_solved: bool = False
    is_scheduled: bool = False


LIMIT: Any = {"id": "time_limit", "kwargs": {"max_turns": MAX_TURNS}}
NUMBER = "game:GuessTheNumber-v0-hard"
SUMS = "math:Arithmetic-v0"
PROBLEMS = [
    {
        "question": f"What is {n} + {n * n}?",
        "answer": f"{n + n * n}",
    }
    for n in range(1, 31)
]
QUESTIONS = [
    {"question": f"Who is number {n}?", "answer": [f"The Person {n}", f"person {n}"]}
    for n in range(1, 31)
]
CHOICES = [
    {
        "question": f"Is {n} even?",
        "context": f"{n} is a number.",
        "options": ["True", "False", "Uncertain"],
        "answer": "True" if n % 2 == 0 else "False",
    }
    for n in range(1, 31)
]
PROGRAMS = [
    {
        "question": f"Read a number and print it times {n}.",
        "tests": {"inputs": ["1", "2"], "outputs": [f"{n}", f"{2 * n}"]},
        "solution": f"print({n} * int(input()))",
    }
    for n in range(1, 26)
]
MIXED = [
    {"env": NUMBER, "weight": 2, "wrappers": [LIMIT]},
    {"env": SUMS, "kwargs": {"num_terms": 3}},
    {"env": "game:Mastermind-v0-easy", "wrappers": ["concat", LIMIT], "name": "pegs"},
]
MIXTURE = gem.EnvSpec(id="fingerprints:Mixture", target=f"{gem.Mixture.__module__}:Mixture")
# Left out of `games`, where they would move the positions of those that are stored.
TWO_SEATS = (
    "game:ConnectFour-v0",
    "game:KuhnPoker-v0",
    "game:LeducPoker-v0",
    "game:LiarsDice-v0",
    "game:Nim-v0",
    "game:PrisonersDilemma-v0",
    "game:RockPaperScissors-v0",
    "game:TicTacToe-v0",
)


def _over(rows: Sequence[Mapping[str, Any]], *ids: str) -> dict[str, Any]:
    fields = {name: name for name in rows[0] if name in ("question", "answer")}
    return {id: (id, {"data": rows, "fields": fields}, ()) for id in ids}


GROUPS = {
    "games": Group(("game:*",), without=TWO_SEATS),
    "solved games": Group(("game:*-easy",), is_solved=True),
    "two seats": Group(TWO_SEATS, is_solved=True),
    "textarena": Group(
        ("ta:2048-v0", "ta:B*-v0", "ta:C*-v0", "ta:F*-v0", "ta:L*-v0", "ta:M*-v0", "ta:S*-v0"),
    ),
    "reasoning": Group(
        ("rg:b*", "rg:c*", "rg:g*", "rg:l*", "rg:s*"),
        without=("rg:codeio", "rg:composite", "rg:circuit_logic"),
    ),
    "generated": Group(
        ("math:Arithmetic-v0", "math:Diagram-v0", "qa:Worlds-v0", "agents:Service-v0"),
        is_solved=True,
    ),
    "tables": Group(
        others={
            **_over(PROBLEMS, "math:ASDiv2K", "math:GSM8K", "math:SVAMP", "eval:AMC"),
            **_over(QUESTIONS, "qa:HotpotQA", "qa:NaturalQuestions", "eval:QaOpen", "eval:PopQA"),
            **_over(CHOICES, "logic:FOLIO", "logic:LogicalDeduction", "logic:RuleTaker-d2"),
        },
        is_solved=True,
    ),
    "graded mathematics": Group(
        others=_over(PROBLEMS[:6], "math:Math12K", "math:Orz57K", "eval:AIME24", "eval:MATH500"),
        is_solved=True,
    ),
    "code": Group(others=_over(PROGRAMS, "code:CodeContest"), is_solved=True),
    "wrapped": Group(
        others={
            "concat": (NUMBER, {}, ["concat"]),
            "concat_with_action": (NUMBER, {}, ["concat_with_action"]),
            "frame_stack": (NUMBER, {}, [{"id": "frame_stack", "kwargs": {"size": 3}}]),
            "system_prompt": (SUMS, {}, [{"id": "system_prompt", "kwargs": {"text": "Sum."}}]),
            "episode_tracking": ("game:Hangman-v0-easy", {}, ["episode_tracking"]),
            "stack": ("game:Sokoban-v0-easy", {}, ["episode_tracking", "concat"]),
            "two limits": (NUMBER, {}, [{"id": "time_limit", "kwargs": {"max_turns": 3}}]),
            "arguments": (NUMBER, {"min_number": 5, "max_number": 9, "max_turns": 4}, ()),
        },
        is_solved=True,
    ),
    "tools": Group(
        others={
            "python": (SUMS, {}, ["python_tool"]),
            "python without rewards": (SUMS, {}, ["python_tool_no_int_reward"]),
            "python in a game": (NUMBER, {}, ["python_tool", "concat"]),
        },
    ),
    "mixtures": Group(
        others={
            "mixture": (MIXTURE.id, {"envs": MIXED}, ()),
            "wrapped mixture": (MIXTURE.id, {"envs": MIXED}, ["concat"]),
        },
        is_solved=True,
    ),
    "scheduled": Group(
        others={
            "numbers": (NUMBER, {}, ()),
            "sums": (SUMS, {"num_terms": 2}, ()),
            "questions": ("eval:QaOpen", {"data": QUESTIONS}, ()),
        },
        is_scheduled=True,
    ),
}


def environments(group: str, names: Sequence[str] = ()) -> dict[str, gem.EnvSpec]:
    """Return what a group plays, by name: what has these names, or else all that is installed."""
    wanted = GROUPS[group]
    if not names:
        ids = [spec.id for pattern in wanted.patterns for spec in gem.list_envs(pattern)]
        names = [id for id in ids if id not in wanted.without]
        names = [*names, *wanted.others]
    return {name: _spec(name, wanted) for name in names}


def _spec(name: str, group: Group) -> gem.EnvSpec:
    id, kwargs, wrappers = group.others.get(name, (name, {}, ()))
    stack = [
        {"id": wrapper, "kwargs": {}} if isinstance(wrapper, str) else wrapper
        for wrapper in wrappers
    ]
    spec = MIXTURE if id == MIXTURE.id else gem.spec(id)
    # Built anew and not copied: a copy would keep a wrapper as the dictionary that it is here.
    changed = {"kwargs": {**spec.kwargs, **kwargs}, "wrappers": [LIMIT, *stack]}
    return gem.EnvSpec.model_validate({**spec.model_dump(), **changed})


# How it is played


class Player:
    """Answers by the request's seed: a sample, at times the solution, and now and then nonsense."""

    name = "fingerprints"

    def __init__(self, *, is_solved: bool) -> None:
        self.wants = ("sample", "solution") if is_solved else ("sample",)

    def __call__(self, request: gem.Request) -> str:
        """Return the same answer to the same request, in whatever order requests come."""
        if request.seed % 8 == 0:
            return ODD_ANSWERS[request.seed // 8 % len(ODD_ANSWERS)]
        if request.solution is not None and request.seed % 8 > 2:
            return request.solution
        return request.sample or ""


def rolled_out(
    envs: Mapping[str, gem.EnvSpec], group: Group, backend: str
) -> dict[str, list[gem.Episode]]:
    """Play every environment from every seed, and return the episodes by name, in order."""
    return asyncio.run(_rolled_out(envs, group, backend))


async def _rolled_out(
    envs: Mapping[str, gem.EnvSpec], group: Group, backend: str
) -> dict[str, list[gem.Episode]]:
    player = Player(is_solved=group.is_solved)
    played: Any = list(envs.values())
    count = SEEDS
    if group.is_scheduled:
        weighted = enumerate(envs.items(), start=1)
        played = gem.Schedule([{"env": e, "name": n, "weight": w} for w, (n, e) in weighted])
        count = SEEDS * len(envs)
    run = gem.rollout(player, played, episodes=count, seed=RUN_SEED, backend=backend)
    episodes = sorted([episode async for episode in run], key=lambda played: played.episode_index)
    names = list(envs)
    rows: dict[str, list[gem.Episode]] = {name: [] for name in names}
    for episode in episodes:
        rows[names[episode.env_index]].append(episode)
    return rows


def stepped_through(
    envs: Mapping[str, gem.EnvSpec], episodes: Mapping[str, Sequence[gem.Episode]], backend: str
) -> Fingerprints:
    """Play in a vector what a rollout played, by its actions; tables and several seats apart.

    A rollout gives each episode its task and a vector leaves it to the seed, so what has a finite
    set of tasks starts elsewhere there. Of several seats a vector has what one instance returns,
    which the line `vectors` of `gem-env check` compares.
    """
    first = {name: episodes[name][0] for name in envs}
    names = [name for name in envs if first[name].task is None and not first[name].seats]
    prints: Fingerprints = {name: [] for name in names}
    if not names:
        return prints
    specs = [envs[name] for name in names]
    with gem.make_vec(specs, backend=backend, autoreset="off", seed=RUN_SEED) as vector:
        for number in range(SEEDS):
            rows = [episodes[name][number] for name in names]
            for name, turns, last in zip(names, *_stepped_once(vector, rows), strict=True):
                like = episodes[name][number]
                again = _record(like, turns, last, envs[name].success_return)
                prints[name].append(again.fingerprint())
    return prints


def _stepped_once(
    vector: gem.VectorEnv, episodes: Sequence[gem.Episode]
) -> tuple[list[list[gem.Turn]], list[gem.Step]]:
    """Play the next episode of every environment by the actions of these.

    Returns the turns of each, and its last step.
    """
    observations, infos = vector.reset()
    # An environment of this process may go on to change a list that it returned.
    seen = copy.deepcopy(list(zip(observations, infos, strict=True)))
    turns: list[list[gem.Turn]] = [[] for _ in episodes]
    ended = dict[int, gem.Step]()
    while True:
        ready = [at for at in range(len(turns)) if at not in ended]
        actions = {at: _action(episodes[at], len(turns[at])) for at in ready}
        if not actions:
            break
        for at, row in zip(actions, zip(*vector.step(actions), strict=True), strict=True):
            step = gem.Step(*copy.deepcopy(row))
            turns[at].append(_turn(*seen[at], actions[at], step))
            seen[at] = step.observation, step.info
            if step.terminated or step.truncated:
                ended[at] = step
    return turns, [ended[at] for at in range(len(turns))]


def _action(episode: gem.Episode, turn: int) -> str:
    """Return the action of a turn; one more than there were is no action of anybody."""
    return episode.turns[turn].action if turn < len(episode.turns) else "not an action"


def _turn(observation: Any, info: Mapping[str, Any], action: str, step: gem.Step) -> gem.Turn:
    suffix = info.get("suffix")
    blank = gem.Turn(observation, action, 0.0, terminated=False, truncated=False, suffix=suffix)
    return blank.answered(step)


def _record(
    like: gem.Episode, turns: Sequence[gem.Turn], last: gem.Step, success_return: float
) -> gem.Episode:
    """Return the record of an episode that was stepped; what was run is said as in `like`."""
    total = sum(turn.reward for turn in turns)
    return replace(
        like,
        turns=tuple(turns),
        final_observation=last.observation,
        terminated=bool(last.terminated),
        truncated=not last.terminated,
        stop_reason="terminated" if last.terminated else "truncated",
        success=bool(last.info.get("success", total >= success_return - 1e-9)),
    )


# What is stored, and how it is compared


def line_of(fingerprints: Sequence[str]) -> str:
    """Return the digest of all, and the first digits of each."""
    digest = blake2b("".join(fingerprints).encode(), digest_size=8).hexdigest()
    return " ".join([digest, *(fingerprint[:DIGITS] for fingerprint in fingerprints)])


def differences(stored: Mapping[str, str], found: Mapping[str, Sequence[str]]) -> list[str]:
    """Say of each environment by which seeds it differs from what is stored."""
    lines = [f"{name}: is not stored" for name in found if name not in stored]
    lines += [f"{name}: was not played" for name in stored if name not in found]
    for name, fingerprints in found.items():
        now = line_of(fingerprints)
        if name in stored and stored[name] != now:
            pairs = zip_longest(stored[name].split()[1:], now.split()[1:])
            seeds = [seed for seed, (before, after) in enumerate(pairs) if before != after]
            lines.append(f"{name}: seeds {seeds or 'that the first digits do not tell'}")
    return lines


def made_with() -> dict[str, str]:
    """Return the versions of what is not ours, and has a say in the episodes."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of packages of others, on what they make
    sys.exit(main())
