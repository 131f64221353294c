"""One seat of several as an environment of one seat: the others are played by policies inside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from gem._python.seeding import key_seed, stream
from gem._python.sync_async import in_thread
from gem.content import Message, Observation, observation_text
from gem.conversation import Conversation, Policy, Request, as_reply
from gem.env._env import Env
from gem.env._lifecycle._forms import waits
from gem.env._step import Step
from gem.errors import BadArguments, UnknownPolicy
from gem.registry._importing import load_target
from gem.registry._making import make_policy
from gem.specs import EnvSpec
from gem.wrappers._seats import (
    AsSeat,
    Course,
    awaited,
    error_in_round,
    own_info,
    seat_number,
    waited_for,
)

__all__ = ["SeatView", "opponent_policy"]

Started = tuple[Observation, dict[str, Any]]

_MOST_STARTS = 100  # episodes that are begun until one has a turn for the seat


class SeatView(AsSeat, both_forms=True):  # awaited, it waits for opponents and no thread waits
    """Show one seat, by its number or name or "rotate" (by the seed), to a policy of its own.

    `opponents` play the other seats: one policy for all of them, a mapping by names of seats, or a
    list for the other seats in order. An opponent is a function of its `Request`, whose seed is
    keyed by the episode, its seat and its own turn; what it saw and answered is its whole state,
    and snapshots and forks have it. In a spec it is the name of a policy or `module:attr`.

    A step takes the seat's action and plays on until it is asked again, or to the end where it is
    out: its reward is what it earned meanwhile. The info of its own action is kept. A seed whose
    episode has no turn for the seat stands for the next one that has, which the seed fixes.

    Awaited, it asks opponents on the caller's event loop and steps a blocking game on a thread. A
    model as opponent belongs into a rollout, as a seat: it is then recorded, and can be batched.
    """

    shared = ("_opponents",)

    def __init__(self, env: Env, seat: int | str, opponents: Any) -> None:
        number = 0 if seat == "rotate" else seat_number(env, seat, subject="seat_view")
        super().__init__(env, number)
        self._which = seat
        self._opponents = _opponents(env, seat, self._number, opponents)
        self._forget()

    def _forget(self) -> None:
        """Be as before an episode."""
        count = len(self.env.seats)
        self._talks: list[list[Message]] = [[] for _ in range(count)]
        self._shown: list[Observation] = [""] * count  # what each opponent is to answer
        self._turns = [0] * count
        self._observation: Observation = ""  # what the seat was shown last
        self._suffix: str | None = None
        self._end: str | None = None
        self._error: dict[str, str] = {}  # of its last action, where its round has ended since
        self._owed = 0.0  # what the seat earned before its first turn

    @property
    def seat_name(self) -> str:
        """The name of the seat that is viewed: of "rotate", in the episode that runs."""
        return self.env.seats[self._number]

    @property
    def reward_range(self) -> tuple[float, float]:  # type: ignore[override]
        """That of the environment, open where several of its steps may add up."""
        low, high = self.env.reward_range
        return (low if low >= 0 else float("-inf")), (high if high <= 0 else float("inf"))

    def sample_action(self) -> str:
        return self.env.hint("sample_action", self._number) or ""

    def solve(self) -> str | None:
        return self.env.hint("solve", self._number)

    def reset(self, seed: int | None = None, **options: Any) -> Started:
        """Start an episode, and play on to the seat's first turn."""
        return waited_for(self._started(seed, options, self.env.reset, self.env.step))

    async def areset(self, seed: int | None = None, **options: Any) -> Started:
        reset = self._unblocking(self.env.reset, self.env.areset, "reset")
        step = self._unblocking(self.env.step, self.env.astep, "step")
        return await awaited(self._started(seed, options, reset, step))

    def step(self, action: str) -> Step:
        """Take the seat's action, and play on to its next turn, or to the end."""
        return waited_for(self._stepped(action, self.env.step))

    async def astep(self, action: str) -> Step:
        step = self._unblocking(self.env.step, self.env.astep, "step")
        return await awaited(self._stepped(action, step))

    def _unblocking(self, call: Any, awaited_call: Any, name: str) -> Callable[..., Awaitable[Any]]:
        """Return a call of the environment that does not hold up the event loop."""
        spec = self.env.spec
        if waits(self.env.unwrapped, name) or (spec is not None and not spec.blocking):
            return awaited_call  # type: ignore[no-any-return]
        return lambda *args, **options: in_thread(lambda: call(*args, **options))

    # A course is the same in both forms: what differs is the `reset` and the `step` that it calls.

    def _started(
        self,
        seed: int | None,
        options: Mapping[str, Any],
        reset: Callable[..., Any],
        step: Callable[[str], Any],
    ) -> Course[Started]:
        base = self.unwrapped
        if seed is None and base._first_seed is None:
            # Opponents are seeded by the episode: it has a seed, drawn from its own stream.
            seed = key_seed("view", base.rng.getrandbits(64))
        first_seed = 0
        for tried in range(_MOST_STARTS):
            if tried:
                seed = key_seed("again", first_seed, tried)
            observation, info = yield reset(seed=seed, **options)
            if not tried:
                first_seed = base._episode_seed or 0
            self._forget()
            if self._which == "rotate":
                self._number = key_seed("rotate", first_seed) % len(self.env.seats)
            last = yield from self._played_on(Step(observation, info=info), step)
            if not (last.terminated or last.truncated):
                self._owed = last.reward
                return self._observation, self._info(own_info(info))
        raise BadArguments(
            f"An episode for the seat {self.env.seats[self._number]!r} of {self.env!r} was to "
            f"begin, and it had no turn in {_MOST_STARTS} of them. View another seat.",
            subject="seat_view",
        )

    def _stepped(self, action: str, step: Callable[[str], Any]) -> Course[Step]:
        self._suffix = None
        self._error = {}
        own: Step = yield step(action)
        last = yield from self._played_on(own, step)
        reward = self._owed + last.reward
        self._owed = 0.0
        info = self._info(self._error | own_info(own.info))
        info.pop("success", None)  # of all seats
        if not (last.terminated or last.truncated):
            return Step(self._observation, reward, False, False, info)
        if "successes" in last.info:
            info["success"] = bool(last.info["successes"][self._number])
        # The seat may have been out before the episode ended for all.
        usual = "terminated" if last.terminated else "truncated"
        is_terminated = (self._end or usual) == "terminated"
        return Step(self._observation, reward, is_terminated, not is_terminated, info)

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        return info if self._suffix is None else {**info, "suffix": self._suffix}

    def _played_on(self, last: Step, step: Callable[[str], Any]) -> Course[Step]:
        """Play on to the seat's turn or the end. Return the last step, with what it earned."""
        earned = 0.0
        while True:
            self._look(last)
            if "rewards" in last.info:
                earned += last.rewards[self._number]
            if last.terminated or last.truncated or last.seat == self._number:
                return last._replace(reward=earned)
            reply = yield from self._answer(last.seat)
            last = yield step(reply)

    def _look(self, step: Step) -> None:
        """Let each seat see what it is shown."""
        for seat, observation in step.observations.items():
            suffix = step.info.get("suffix") if seat == step.seat else None
            if seat == self._number:
                self._observation = observation
                self._suffix = suffix
            else:
                self._shown[seat] = observation
                talk = Conversation()
                talk.observe(observation, {"suffix": suffix})
                rewrites_history = self.env.shown_to(seat)[0]
                kept = [] if rewrites_history else self._talks[seat]
                self._talks[seat] = [*kept, *talk.messages]
        self._end = step.ends.get(self._number, self._end)
        self._error |= error_in_round(step.info, self._number)

    def _answer(self, seat: int) -> Course[str]:
        """Ask an opponent."""
        opponent = self._opponents[self.env.seats[seat]]
        _, prompt_is_finished, tools = self.env.shown_to(seat)
        turn = self._turns[seat]
        seed = key_seed("opponent", self.unwrapped._episode_seed or 0, seat, turn)
        wants = getattr(opponent, "wants", ())
        spec = self.env.spec
        request = Request(
            messages=() if prompt_is_finished else tuple(self._talks[seat]),
            prompt=observation_text(self._shown[seat]) if prompt_is_finished else None,
            tools=tuple(tools),
            seed=seed,
            turn=turn,
            env_id="" if spec is None else spec.id,
            seat=seat,
            sample=self._sample(seat, seed) if "sample" in wants else None,
            solution=self.env.hint("solve", seat) if "solution" in wants else None,
        )
        reply = as_reply((yield opponent(request)))
        self._talks[seat] = [*self._talks[seat], reply.message]
        self._turns[seat] += 1
        return reply.action

    def _sample(self, seat: int, seed: int) -> str | None:
        """Draw an action for an opponent, from a stream of its own."""
        # Else looking at an action of the viewed seat would change what its opponents do.
        base = self.unwrapped
        sampler = base._sampler
        base._sampler = stream("sample", seed)
        try:
            return self.env.hint("sample_action", seat)
        finally:
            base._sampler = sampler

    def _stack(self, inner: EnvSpec) -> EnvSpec:
        return super()._stack(inner).model_copy(update={"blocking": False})


def _opponents(env: Env, which: int | str, number: int, given: Any) -> dict[str, Policy]:
    """Return who plays at each seat, by its name. Raises BadArguments where seats have nobody."""
    viewed = None if which == "rotate" else env.seats[number]
    others = [name for name in env.seats if name != viewed]
    if isinstance(given, Mapping):
        by_name = dict(given)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        listed = list(given) * (len(others) if len(given) == 1 else 1)
        by_name = dict(zip(others, listed, strict=False)) if len(listed) == len(others) else {}
    else:
        by_name = dict.fromkeys(others, given)
    if set(by_name) != set(others):
        raise BadArguments(
            f"seat_view was given the opponents {given!r:.60}, and the seats to play are "
            f"{', '.join(others)}. Give one policy for all, a list of as many, or a mapping.",
            subject="seat_view",
        )
    return {name: opponent_policy(opponent) for name, opponent in by_name.items()}


def opponent_policy(opponent: Any) -> Policy:
    """Return a policy that was given as itself, by its name or as `module:attribute`.

    Raises UnknownPolicy, TargetError, and BadArguments on what cannot be called.
    """
    if not isinstance(opponent, str):
        policy = opponent
    else:
        try:
            policy = make_policy(opponent)
        except UnknownPolicy:
            if ":" not in opponent:
                raise
            loaded = load_target(opponent)
            policy = loaded() if isinstance(loaded, type) else loaded
    if not callable(policy):
        raise BadArguments(
            f"{opponent!r:.60} was given as an opponent, and cannot be called. Give a policy, the "
            "name of one that is installed, or its 'module:attribute'.",
            subject="seat_view",
        )
    return policy  # type: ignore[no-any-return]
