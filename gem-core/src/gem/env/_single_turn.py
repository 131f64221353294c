"""One question, one answer: an environment of which an author writes `pose`, `grade` and `gold`.

Knows nothing about where questions come from; a `gem.DatasetEnv` poses the rows of a table.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from gem.content import Message, Observation, TextPart, checked_observation
from gem.env._env import Env
from gem.env._step import Step
from gem.errors import BadArguments
from gem.parsing._answers import AnswerForm, answer_example, find_answer, write_answer

__all__ = ["Grade", "SingleTurnEnv"]

_MAX_ANSWER_IN_INFO = 200  # characters: an answer is a model's text, and may be huge
_FORMS: tuple[AnswerForm, ...] = ("answer", "boxed")


class Grade(NamedTuple):
    """What an answer is worth, where a number does not say it all.

    `reward` is None for an answer that could not be read: that pays `format_error_reward`.
    `feedback` is the last observation; without it the policy is told whether it was right.
    `reward_parts` names what the reward is made of; without it all of it is for the answer.
    `info` joins the step's.
    """

    reward: float | None
    success: bool = False
    feedback: str = ""
    reward_parts: Mapping[str, float] | None = None
    info: Mapping[str, Any] = {}


def _grading_step(self: SingleTurnEnv, action: str) -> Step:
    """Take a step of an environment that writes `grade`."""
    answer = self.find_answer(action)
    result = self.unanswered() if answer is None else self.grade(answer)
    return _last_step(self, answer, result)


async def _grading_astep(self: Any, action: str) -> Step:
    """Take a step of an environment that writes `agrade`, which is there in its class alone."""
    answer = self.find_answer(action)
    result = self.unanswered() if answer is None else await self.agrade(answer)
    return _last_step(self, answer, result)


class SingleTurnEnv(Env):
    r"""A question and its answer: write `pose` and `gold`, and `grade` where equal is not enough.

    `pose` returns the question, drawn from `self.rng`; the class adds how to answer it
    (`instruction`), reads the final answer out of what the policy wrote, and ends the episode with
    what `grade` says of it. An answer that is not in the form that was asked for pays
    `format_error_reward`, between -1 and 0. Over a finite set an author states `num_tasks`, and
    `self.task` is the one to pose. `solve()` is the gold answer, as a policy would write it.

    A subclass that takes options of `reset` writes it with these options by name, and calls
    `super().reset(seed, task=task)`.

    >>> class Double(SingleTurnEnv):
    ...     def pose(self):
    ...         self.number = self.rng.randrange(100)
    ...         return f"What is twice {self.number}?"
    ...     def gold(self):
    ...         return str(2 * self.number)
    >>> env = Double()
    >>> print(env.reset(seed=3)[0])
    What is twice 74?
    <BLANKLINE>
    Put your final answer in \boxed{...}. Only the last one is graded.
    >>> env.step(r"Seventy and seventy, and eight: \boxed{148}").info["success"]
    True
    """

    max_turns = 1
    single_turn = True
    reward_range = (0.0, 1.0)
    format_error_reward: float = 0.0
    """What an answer pays that cannot be read, between -1 and 0."""
    answer_form: AnswerForm = "boxed"
    r"""The form of an answer: "boxed" for `\boxed{...}`, "answer" for `<answer>...</answer>`."""
    task: int = 0
    """The task of this episode, where there is a finite set of them; they count from 0."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        written = vars(cls)
        if "grade" in written and "agrade" in written:
            raise TypeError(
                f"{cls.__name__} defines both grade and agrade. Write the first, or the second if "
                "it waits."
            )
        # This comes before Env looks at the class: of the form of `step` that it finds written
        # there it makes the other.
        parent = next(base for base in cls.__mro__[1:] if issubclass(base, SingleTurnEnv))
        writes_step = "step" in written or "astep" in written
        awaits_grade = _awaits_grade(cls)
        if awaits_grade != _awaits_grade(parent) and not writes_step:
            if awaits_grade:
                cls.astep = _grading_astep  # type: ignore[method-assign]
            else:
                cls.step = _grading_step  # type: ignore[method-assign]
        if "format_error_reward" in written:
            _check_format_error_reward(cls, cls.format_error_reward)
            if "reward_range" not in written:
                cls.reward_range = _widened(cls.reward_range, cls.format_error_reward)
        if "answer_form" in written:
            _check_answer_form(cls, cls.answer_form)
        super().__init_subclass__(**kwargs)

    def __init__(
        self, *, format_error_reward: float | None = None, answer_form: AnswerForm | None = None
    ) -> None:
        """Take other values than the class's. Raises BadArguments for what they cannot be."""
        # An attribute of the instance is in its snapshots: what was not given stays the class's.
        if format_error_reward is not None:
            _check_format_error_reward(type(self), format_error_reward)
            self.format_error_reward = format_error_reward
            self.reward_range = _widened(self.reward_range, format_error_reward)
        if answer_form is not None:
            _check_answer_form(type(self), answer_form)
            self.answer_form = answer_form

    def reset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Pose a question: item `task` of the set where there is one, or one that `rng` draws."""
        # The task is drawn before the question: what `pose` draws never changes which it is.
        if self.num_tasks is not None or task is not None:
            self.task = self.pick_task(task)  # raises TypeError where there is no finite set
        said_by = f"{type(self).__name__}.pose returned"
        question = checked_observation(self.pose(), said_by)
        return _with_instruction(question, self.instruction), self.episode_info()

    def step(self, action: str) -> Step:
        """Grade the answer that is found in `action`, and end the episode."""
        return _grading_step(self, action)

    def sample_action(self) -> str:
        """Return a number, in the form of an answer; write one that draws likelier answers."""
        return self.write_answer(str(self.sample_rng.randrange(1_000)))

    def solve(self) -> str | None:
        """Return the gold answer as a policy would write it; None where none is known."""
        gold = _gold_of(self)
        return None if gold is None else self.write_answer(gold)

    # What an author writes.

    def pose(self) -> Observation:
        """Return this episode's question, drawing from `rng`; with a finite set, that of `task`."""
        raise NotImplementedError(
            f"{type(self).__name__} was reset, and it does not define pose. Write it: it returns "
            "the question."
        )

    def gold(self) -> str | float | None:
        """Return a right answer, without the form around it; None where none is known.

        A number is written as Python writes it.
        """
        return None

    def grade(self, answer: str) -> Grade | float | None:
        """Say what an answer is worth: true or false, a number, a `Grade`.

        True is 1.0, a number that reaches the top of `reward_range` is a success, and None is an
        answer that cannot be read; `info` then has the `answer` and the `gold`. A `Grade` says all
        of it itself. The answer is a model's text: whatever it is, this must not raise. Without a
        `grade` an answer is right that equals `gold()` but for case and white space. Write
        `agrade`, a coroutine function, in its place if it waits.
        """
        gold = _gold_of(self)
        if gold is None:
            raise NotImplementedError(
                f"{type(self).__name__} was given an answer, and it can tell neither what is right "
                "nor what is wrong. Write grade, or gold, which an answer is compared with."
            )
        return _without_case_and_space(answer) == _without_case_and_space(gold)

    # What an author may change.

    @property
    def instruction(self) -> str:
        """What follows every question: how to answer it. Empty for nothing."""
        form = answer_example(self.answer_form)
        return f"Put your final answer in {form}. Only the last one is graded."

    @property
    def format_error_feedback(self) -> str:
        """What a policy is told whose answer could not be read."""
        form = answer_example(self.answer_form)
        return f"No answer was found. Expected one in {form}."

    def find_answer(self, action: str) -> str | None:
        """Return the final answer in what a policy wrote, None where there is none."""
        return find_answer(action, self.answer_form)

    def write_answer(self, answer: str) -> str:
        """Write an answer as a policy is asked to, so that `find_answer` finds it."""
        return write_answer(answer, self.answer_form)

    def unanswered(self) -> Grade | float | None:
        """Grade an action in which no answer was found, as `grade` does one that was."""
        return None

    def episode_info(self) -> dict[str, Any]:
        """Return what every `info` of the episode says of its question: its `task`, in a set."""
        return {} if self.num_tasks is None else {"task": self.task}


def _awaits_grade(cls: type) -> bool:
    """Say whether the nearest grader in a class's MRO is `agrade`."""
    owner = next(base for base in cls.__mro__ if "grade" in vars(base) or "agrade" in vars(base))
    return "agrade" in vars(owner)


def _check_answer_form(cls: type, form: str) -> None:
    if form not in _FORMS:
        raise BadArguments(
            f"answer_form={form!r} was asked for. Choose 'answer' or 'boxed'.",
            subject=cls.__name__,
        )


def _check_format_error_reward(cls: type, reward: float) -> None:
    if not -1.0 <= reward <= 0.0:
        raise BadArguments(
            f"format_error_reward={reward} was asked for. It must lie between -1 and 0, so that "
            "an answer that cannot be read never pays.",
            subject=cls.__name__,
        )


def _widened(reward_range: tuple[float, float], reward: float) -> tuple[float, float]:
    return (min(reward_range[0], reward), reward_range[1])


def _with_instruction(question: Observation, instruction: str) -> Observation:
    """Return a question with the instruction as its last paragraph, whatever it is made of."""
    if not instruction:
        return question
    if isinstance(question, str):
        return f"{question}\n\n{instruction}"
    if isinstance(question, Message):
        return _message_with(question, instruction)
    pieces: list[Any] = [*question]
    last = pieces[-1]
    if isinstance(last, Message):
        pieces[-1] = _message_with(last, instruction)
    elif isinstance(last, TextPart):
        pieces[-1] = TextPart(f"{last.text}\n\n{instruction}")
    else:
        pieces.append(TextPart(instruction))
    return pieces


def _message_with(message: Message, instruction: str) -> Message:
    content: Any = _with_instruction(message.content, instruction)
    return dataclasses.replace(message, content=content)


def _last_step(env: SingleTurnEnv, answer: str | None, result: Grade | float | None) -> Step:
    """Return the step that ends an episode with what its grader returned."""
    grade = result if isinstance(result, Grade) else _grade_of(env, answer, result)
    # What identifies the episode goes last: no grader's info can hide which task it was.
    info: dict[str, Any] = {"success": grade.success, **grade.info, **env.episode_info()}
    if grade.reward is None:
        # Unread is never a success, and always marked: checks and statistics go by these.
        reward = env.format_error_reward
        feedback = env.format_error_feedback
        info.update(success=False, reward_parts={"format_error": reward}, action_error="format")
    else:
        reward = grade.reward
        feedback = "The answer is right." if grade.success else "The answer is wrong."
        info["reward_parts"] = dict(grade.reward_parts or {"answer": reward})
    return Step(grade.feedback or feedback, reward, True, False, info)


def _grade_of(env: SingleTurnEnv, answer: str | None, result: float | None) -> Grade:
    """Return the grade that a bool, a number or None stands for."""
    shortened = None if answer is None else answer[:_MAX_ANSWER_IN_INFO]
    info = {"answer": shortened, "gold": env.gold()}
    if result is None:
        return Grade(None, info=info)
    if not hasattr(result, "__float__"):  # numpy's numbers have it, and texts have not
        name = type(env).__name__
        raise TypeError(
            f"{name}.grade returned {result!r:.60}, of type {type(result).__name__}. It must "
            "return true or false, a number, None for an answer that cannot be read, or a "
            "gem.Grade."
        )
    reward = float(result)
    success = bool(result) if isinstance(result, bool) else reward >= env.reward_range[1]
    return Grade(reward, success, info=info)


def _gold_of(env: SingleTurnEnv) -> str | None:
    """Return what `gold` says as text. Raises TypeError where it is no text and no number."""
    gold: Any = env.gold()
    if gold is None or isinstance(gold, str):
        return gold
    if isinstance(gold, (int, float)) and not isinstance(gold, bool):
        return str(gold)
    raise TypeError(
        f"{type(env).__name__}.gold returned {gold!r:.60}, of type {type(gold).__name__}. It must "
        "return the right answer, a text or a number, or None where none is known."
    )


def _without_case_and_space(text: str) -> str:
    """Return a text without its case and with single spaces. Takes linear time."""
    return " ".join(text.casefold().split())
