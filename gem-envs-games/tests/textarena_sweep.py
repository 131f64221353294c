"""Play every `ta:` id, eight episodes at a time, with the global chance disturbed between calls.

    python gem-envs-games/tests/textarena_sweep.py             # print the table, some 12 minutes
    python gem-envs-games/tests/textarena_sweep.py --write     # and keep it beside this file
    python gem-envs-games/tests/textarena_sweep.py --compare   # with what is kept
    python gem-envs-games/tests/textarena_sweep.py 'ta:Nim-*'  # some ids alone
    python gem-envs-games/tests/textarena_sweep.py --without ta:Sokoban-v0-medium
    python gem-envs-games/tests/textarena_sweep.py --digest    # a hash of all that was returned
    python gem-envs-games/tests/textarena_sweep.py --threads   # the eight in threads, not in turns

Each id plays five seeds twice: with sampled actions, and with malformed ones among them. Each
episode is then played again, alone, from its actions, and must be the same. A rollout logs it as
well, and in a process of its own, where sets have another order, `gem-env replay` must find no
difference; the column `replayed` counts that. The word games play with words made up here, so that
the table is the same wherever it is made. Rows of games that need Python 3.12 are kept by it alone.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import importlib
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import gem
from gem.errors import DataError, MissingRequirement
from gem.rollouts import PlannedEpisode
from gem.testing._playing import Moment, moment_of
from gem_envs_games.textarena import playing
from gem_envs_games.textarena.listing import ENVS, family_of

TABLE = Path(__file__).with_suffix(".tsv")
COLUMNS = (
    *("id", "status", "episodes", "turns", "ended", "limited", "refused", "raised"),
    "replayed",
)
SEEDS = range(5)
TOGETHER = 8
MOST_TURNS = 30  # for each seat
MALFORMED = (
    "",
    "\x00",
    "\ud800",
    "\u202e[up]",
    "[]",
    "[[[",
    "]]",
    "\\boxed{",
    "\\boxed{}",
    "[\u00b2 \u0663 1]",
    "[1, 2, \u00b2]",
    "[12, 12, 12]",
    "[-1 -1]",
    "[999999999999999999999 0 0]",
    f"[{'9' * 5000}]",
    "[" * 5000,
    "up left 1 2 3 " * 500,
)


class Episode(NamedTuple):
    env_id: str
    seed: int
    is_malformed: bool


def make_corpora(folder: Path) -> None:
    """Write what NLTK's `words` and its tagger are read from, with a few words of our own."""
    rng = random.Random(0)
    letters = "aeioulnrst"
    words = ["".join(rng.choices(letters, k=length)) for length in (5, 7) for _ in range(60)]
    (folder / "corpora" / "words").mkdir(parents=True)
    for name in ("en", "en-basic"):
        path = folder / "corpora" / "words" / name
        path.write_text("\n".join(sorted({*words, *ladder()})) + "\n", encoding="utf-8")
    tagger = "averaged_perceptron_tagger_eng"
    (folder / "taggers" / tagger).mkdir(parents=True)
    for kind, content in (("weights", {}), ("tagdict", {}), ("classes", ["NN"])):
        path = folder / "taggers" / tagger / f"{tagger}.{kind}.json"
        path.write_text(json.dumps(content), encoding="utf-8")


def ladder() -> Iterator[str]:
    """Yield 16 words of 11 letters, each one letter from the next and more from all others."""
    word = ["a"] * 11
    yield "".join(word)
    for place in (*range(11), 0, 2, 4, 6):
        word[place] = "b" if word[place] == "a" else "a"
        yield "".join(word)


class Player:
    """One episode in progress, and all that it returned."""

    def __init__(self, episode: Episode, actions: Sequence[str] | None = None) -> None:
        self.env = gem.make(episode.env_id)
        self.rng = random.Random(repr(episode))
        self.given = actions
        self.is_malformed = episode.is_malformed
        self.actions: list[str] = []
        self.moments: list[Moment] = [moment_of(*self.env.reset(seed=episode.seed))]
        self.counts = Counter[str]()
        self.is_over = False

    def step(self) -> None:
        self.actions.append(self.next_action())
        step = self.env.step(self.actions[-1])
        self.moments.append(moment_of(step.observation, step.info, step[1:4]))
        raised = "error" in step.info
        self.counts["turns"] += 1
        self.counts["ended"] += step.terminated
        self.counts["limited"] += step.truncated and not raised
        self.counts["refused"] += "action_error" in step.info
        self.counts["raised"] += raised
        self.is_over = (
            step.terminated
            or step.truncated
            or len(self.actions) == MOST_TURNS * len(self.env.seats)
        )

    def next_action(self) -> str:
        if self.given is not None:
            return self.given[len(self.actions)]
        if self.is_malformed and self.rng.random() < 0.4:
            return self.rng.choice(MALFORMED)
        return self.env.sample_action()


def sweep(
    env_ids: Sequence[str], digest: Any, folder: Path, *, in_threads: bool
) -> dict[str, dict[str, str]]:
    """Return a row of the table for each id. Raises AssertionError on one that differs alone.

    All that was returned is fed to the hash `digest`. `folder` has NLTK's data, and gets the log.
    """
    log = gem.EpisodeLog(folder / "episodes.jsonl")
    play = play_in_threads if in_threads else play_together
    rows = {env_id: {"id": env_id, "status": status(env_id)} for env_id in env_ids}
    runnable = [env_id for env_id, row in rows.items() if row["status"] == "run"]
    episodes = [
        Episode(env_id, seed, is_malformed)
        for seed in SEEDS
        for is_malformed in (False, True)
        for env_id in runnable
    ]
    counts = {env_id: Counter[str]() for env_id in runnable}
    for first in range(0, len(episodes), TOGETHER):
        together = play(episodes[first : first + TOGETHER])
        for number, (episode, player) in enumerate(together, start=first):
            counts[episode.env_id] += player.counts + Counter(episodes=1)
            require_same(episode, player)
            log.append(recorded(episode, number, player.actions))
            digest.update(repr((episode, player.moments)).encode("utf-8", "replace"))
    log.close()
    for env_id, replayed in replayed_the_same(log.path, folder).items():
        counts[env_id]["replayed"] = replayed
    for env_id, counted in counts.items():
        rows[env_id].update((name, str(counted[name])) for name in COLUMNS[2:])
    return rows


def status(env_id: str) -> str:
    try:
        gem.make(env_id).close()
    except (DataError, MissingRequirement) as error:
        reason = family_of(gem.spec(env_id).kwargs["name"]).missing
        return f"unavailable: {reason or error}"
    return "run"


def play_together(episodes: Sequence[Episode]) -> list[tuple[Episode, Player]]:
    players = []
    for salt, episode in enumerate(episodes):
        disturb(salt)
        players.append((episode, Player(episode)))
    while running := [player for _, player in players if not player.is_over]:
        for salt, player in enumerate(running):
            disturb(salt)
            player.step()
    return players


def play_in_threads(episodes: Sequence[Episode]) -> list[tuple[Episode, Player]]:
    """Play each episode in a thread of its own, and let threads take turns within steps."""
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    with ThreadPoolExecutor(len(episodes)) as threads:
        players = list(threads.map(play_disturbed, episodes))
    sys.setswitchinterval(interval_s)
    return list(zip(episodes, players, strict=True))


def play_disturbed(episode: Episode) -> Player:
    disturb(episode.seed)
    player = Player(episode)
    while not player.is_over:
        disturb(episode.seed)
        player.step()
    return player


def disturb(salt: int) -> None:
    """Reseed the global generators, as another library might."""
    random.seed(salt)
    numpy: Any = sys.modules.get("numpy.random")
    if numpy is not None:
        numpy.seed(salt)


def require_same(episode: Episode, player: Player) -> None:
    """Play an episode again by itself, its start generated anew, and compare all it returns."""
    playing.forget_starts()
    alone = Player(episode, player.actions)
    while not alone.is_over:
        alone.step()
    assert alone.moments == player.moments, f"{episode} was another when it was played alone"


def recorded(episode: Episode, number: int, actions: Sequence[str]) -> gem.Episode:
    """Return what a rollout logs of an episode. Its number tells it from others in a log."""
    answers = iter(actions)
    plan = [PlannedEpisode(0, number, 0, episode.seed, None)]
    [record] = gem.run(lambda _: next(answers), episode.env_id, plan=plan, max_turns=len(actions))
    assert record.error is None, f"{episode} was logged with {record.error}"
    assert len(record.turns) == len(actions), f"{episode} was logged with other turns"
    return record


def replayed_the_same(log: Path, folder: Path) -> Counter[str]:
    """Replay a log in another process, and count by id the episodes without a difference."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "gem", "replay", str(log)],
        env={**os.environ, "NLTK_DATA": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode < 2, ran.stderr
    lines = [line.split() for line in ran.stdout.splitlines()]
    return Counter(words[1] for words in lines if len(words) > 1 and words[0] == "same")


def read_table() -> dict[str, dict[str, str]]:
    header, *lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = (dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines)
    return {row["id"]: row for row in rows}


def as_text(rows: dict[str, dict[str, str]]) -> str:
    lines = ("\t".join(row.get(column, "") for column in COLUMNS) for row in rows.values())
    return "\n".join(("\t".join(COLUMNS), *lines)) + "\n"


def differences(rows: dict[str, dict[str, str]]) -> list[str]:
    """Compare with the table, except for what this version of Python cannot run."""
    table = read_table()
    return [
        f"{env_id}: {row}, and in the table {table[env_id]}"
        for env_id, row in rows.items()
        if as_text({env_id: row}) != as_text({env_id: table[env_id]}) and runs_here(env_id)
    ]


def runs_here(env_id: str) -> bool:
    return sys.version_info >= family_of(gem.spec(env_id).kwargs["name"]).python


def summary(rows: dict[str, dict[str, str]]) -> str:
    states = Counter(row["status"] == "run" for row in rows.values())
    failed = sum(row.get("raised", "0") != "0" for row in rows.values())
    episodes, replayed = (
        sum(int(row.get(column, 0)) for row in rows.values()) for column in ("episodes", "replayed")
    )
    return (
        f"{states[True]} run, {states[False]} unavailable, {failed} failed, "
        f"{replayed} of {episodes} replayed the same"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", default=["*"], help="patterns; all without one")
    parser.add_argument("--one-player", action="store_true", help="those of one player alone")
    parser.add_argument("--without", action="append", default=[], help="an id to leave out")
    parser.add_argument("--write", action="store_true", help="keep the rows in the table")
    parser.add_argument("--compare", action="store_true", help="with the table")
    parser.add_argument("--digest", action="store_true", help="print a hash of all returned")
    parser.add_argument("--threads", action="store_true", help="play in threads, not in turns")
    options = parser.parse_args()
    chosen = [
        spec.id
        for spec in ENVS
        if spec.id not in options.without
        and not (options.one_player and family_of(spec.kwargs["name"]).has_seats)
        and any(fnmatch.fnmatchcase(spec.id, pattern) for pattern in options.ids)
    ]
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make_corpora(Path(folder))
        nltk: Any = importlib.import_module("nltk")
        nltk.data.path[:] = [folder]
        rows = sweep(chosen, digest, Path(folder), in_threads=options.threads)
    if options.write:
        known = read_table() if TABLE.is_file() else {}
        known.update((env_id, row) for env_id, row in rows.items() if runs_here(env_id))
        TABLE.write_text(
            as_text({spec.id: known[spec.id] for spec in ENVS if spec.id in known}),
            encoding="utf-8",
        )
    if options.digest:
        sys.stdout.write(f"{digest.hexdigest()[:16]}\n")
    if options.compare:
        found = differences(rows)
        verdict = "unlike the table" if found else "as in the table"
        sys.stdout.write("\n".join([*found, f"{summary(rows)}, {verdict}\n"]))
    else:
        sys.stdout.write(f"{as_text(rows)}{summary(rows)}\n")


if __name__ == "__main__":
    main()
