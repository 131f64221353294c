"""`gem_eval.noise`: cross the seeds of players on the same tasks, and say what each one adds.

Run-to-run noise is what two runs of the same policies on the same tasks differ by. A player's seed
stands for one draw of all its chance: with it, it answers one conversation in one way, also where
its server takes no seed. Every seed of one player meets every seed of the other.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem.rollouts import seats_of
from gem_eval import opening
from gem_eval.errors import NoiseError
from gem_eval.evaluation import EvaluateKeywords, blocking, finished
from gem_eval.job import Job
from gem_eval.line_ups import LineUp, PolicyLike, policy_list
from gem_eval.live import live_of, rollout_options
from gem_eval.plan import asked
from gem_eval.run_folder import RunFolder
from gem_eval.settings import Envs, Settings, settings_from
from gem_eval.variance.reading import noise_in, read_noise
from gem_eval.variance.record import NoiseRecord
from gem_eval.variance.results import Noise

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["EPISODES", "NoiseKeywords", "continued", "noise", "noise_async", "started"]

EPISODES = 20  # tasks, where nobody says how many
_SEEDS = 4
_GRADINGS = 2
_COMMAND = ("gem_eval.noise",)
_NOT_OF_NOISE = ("repeats", "every_rotation", "until", "tolerance", "vary")


class NoiseKeywords(EvaluateKeywords, total=False):
    """The options of `noise` by name, for type checkers. `noise` explains them."""

    agents: int
    users: int
    judges: int
    out: str | Path | None


async def noise_async(
    env: Envs,
    policies: PolicyLike | Mapping[str, PolicyLike],
    **options: Unpack[NoiseKeywords],
) -> Noise:
    """Await `noise`, for code that already runs on an event loop."""
    values: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    out = values.pop("out", None)
    design = {name: values.pop(name) for name in ("agents", "users", "judges") if name in values}
    with _folder(out) as path:
        job = started(
            {**values, "envs": env, "policies": policies}, out=path, command=_COMMAND, **design
        )
        return read_noise((await finished(job)).folder)


def noise(
    env: Envs,
    policies: PolicyLike | Mapping[str, PolicyLike],
    **options: Unpack[NoiseKeywords],
) -> Noise:
    """Split what a score differs by from run to run between the players and the environment.

    `policies` is a policy, where the environment has one seat, or a mapping from the names of two
    seats; the score is that of the first. Each of `episodes` (20) tasks is played with `agents` (4)
    seeds of the first player and `users` (4) of the other, every one with every other. Then every
    recorded episode is graded again, `judges` (2) times in all: its actions are taken again, and
    what changes is the environment's own doing, a judge's if it has one.

    It is a run as any other, and takes the options of `evaluate` but `repeats`, `every_rotation`,
    `until` and `vary`. Its folder is `out`; without it nothing is kept.

    A seed changes `Request.seed` of that player alone. What a player answered to a conversation
    under a seed is kept, so that a server that takes no seed has one answer a seed too. A policy
    that acts by `Request.sample` draws from the environment, whose chance is the task's: of two
    seats it has no noise here.

    Variances are those of a two-way analysis of variance with random effects, within tasks, and
    intervals a bootstrap over tasks. Raises NoiseError, and GemError as `evaluate` does.

        policies = {"agent": "openai:M@URL", "user": "customer"}
        print(gem_eval.noise("agents:ServiceOfTwo-v0", policies))
    """
    return blocking(noise_async(env, policies, **options))


def _folder(out: str | Path | None) -> AbstractContextManager[Any]:
    """Return where the run is kept: in a folder that is gone afterwards, if nobody named one."""
    return tempfile.TemporaryDirectory() if out is None else nullcontext(out)


def started(
    given: Mapping[str, Any],
    *,
    out: str | Path | None,
    command: Sequence[str],
    agents: int | None = None,
    users: int | None = None,
    judges: int | None = None,
) -> Job:
    """Check a new run that splits noise, and make its folder. Raises GemError, and then none."""
    _refuse_others(given)
    players = _players(given.get("policies", ()))
    if not players:
        _refuse_users(users)
    design = NoiseRecord.model_construct(
        agents=_SEEDS if agents is None else agents,
        users=(_SEEDS if users is None else users) if players else 1,
        judges=_GRADINGS if judges is None else judges,
        seats=players,
    )
    values = {"episodes": EPISODES} if _chooses_none(given) else {}
    values |= given
    settings = settings_from(values)
    _refuse_design(design, settings)
    live = live_of(settings, values)
    [seats] = asked(seats_of, settings, rollout_options(settings, live))
    _refuse_seats(settings.envs[0].id, seats, players)
    values["repeats"] = design.repeats
    return opening.started(values, out=out, command=command, noise=design)


def continued(path: str | Path, given: Mapping[str, Any]) -> Job:
    """Open a run that was started before. Raises GemError, and then changes nothing."""
    folder = RunFolder.open(path)
    noise_in(folder)
    return opening.continued(path, given)


def _chooses_none(given: Mapping[str, Any]) -> bool:
    return all(given.get(name) is None for name in ("episodes", "tasks", "seed_range"))


def _refuse_others(given: Mapping[str, Any]) -> None:
    for name in _NOT_OF_NOISE:
        if given.get(name):
            raise NoiseError(
                f"{name} was given, and a run that splits noise repeats each task by the seeds of "
                "its players. Leave it out, and see agents, users and judges."
            )


def _players(policies: Any) -> tuple[str, ...]:
    """Return the seats of two players, or none of a policy alone. Raises NoiseError."""
    listed = policy_list(policies)
    if len(listed) != 1:
        raise NoiseError(
            f"{len(listed)} policies were given, and the noise of one is split at a time. Give "
            "one, or one for each of two seats: --policy agent=P --policy user=Q."
        )
    [policy] = listed
    if not isinstance(policy, LineUp):
        return ()
    if policy.seats is None:
        raise NoiseError(
            "Policies that rotate were given, and a player's noise is that of one seat. Say who "
            "sits where: --policy agent=P --policy user=Q."
        )
    if len(policy.seats) != 2:
        raise NoiseError(
            f"Policies of {len(policy.seats)} seats were given, and noise is split between two "
            "players. Give a policy for an environment of one seat, or one for each of two seats."
        )
    return policy.seats


def _refuse_users(users: int | None) -> None:
    if users is not None and users != 1:
        raise NoiseError(
            f"users={users} was given, and a policy alone plays in one seat: the environment plays "
            "whoever else there is, from the task's seed. Leave it out, or give the form with two "
            "seats a policy for each."
        )


def _refuse_design(design: NoiseRecord, settings: Settings) -> None:
    for name in ("agents", "users", "judges"):
        value = getattr(design, name)
        if type(value) is not int or value < 1:
            raise NoiseError(
                f"{name}={value!r:.40} was asked for, and it counts from 1 on. Give 2 or more to "
                "see that noise."
            )
    if design.repeats * design.judges == 1:
        raise NoiseError(
            "agents=1, users=1 and judges=1 were asked for, and what is done once shows no noise. "
            "Give 2 or more of one of them."
        )
    if settings.episodes == 1:
        raise NoiseError(
            "episodes=1 was asked for, and the noise of a score shows from 2 on. Give more."
        )
    if len(settings.envs) != 1:
        raise NoiseError(
            f"{len(settings.envs)} environments were given, {settings.envs[0].id} first, and noise "
            "is split of one at a time. Give one of them."
        )


def _refuse_seats(env_id: str, seats: Sequence[str], players: Sequence[str]) -> None:
    if len(seats) > 2:
        raise NoiseError(
            f"{env_id} has {len(seats)} seats ({', '.join(seats)}), and noise is split between two "
            "players."
        )
    if len(seats) == 2 and not players:
        first, second = seats
        raise NoiseError(
            f"{env_id} has the seats {first} and {second}, and one policy was given. Say who sits "
            f"where, the one whose score counts first: --policy {first}=P --policy {second}=Q."
        )
