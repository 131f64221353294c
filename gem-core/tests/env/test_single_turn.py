"""One question, one answer: what an author writes, and what the class makes of it."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem import Grade, Message, SingleTurnEnv, TextPart
from gem._python.sync_async import wait_for
from gem.content import ImagePart, Observation
from gem.errors import BadArguments, ResetNeeded


class Parity(SingleTurnEnv):
    """Is a number even or odd?"""

    number = 0

    def pose(self) -> str:
        self.number = self.rng.randrange(100)
        return f"Is {self.number} even or odd?"

    def gold(self) -> str:
        return "odd" if self.number % 2 else "even"


class Half(Parity):
    """Grades by `answer` alone, with what the test has put there."""

    def __init__(self, result: Any, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.result = result

    def grade(self, answer: str) -> Any:
        return self.result


def answered(env: gem.Env, action: str) -> gem.Step:
    env.reset(seed=0)
    return env.step(action)


def graded(result: Any, **arguments: Any) -> gem.Step:
    return answered(Half(result, **arguments), r"\boxed{even}")


def test_the_question_says_how_to_answer_it() -> None:
    text, info = Parity().reset(seed=3)

    assert text == (
        "Is 74 even or odd?\n\nPut your final answer in \\boxed{...}. Only the last one is graded."
    )
    assert info == {}


@pytest.mark.parametrize("said", ["even", " EVEN ", "Even\n"])
def test_an_answer_equals_the_gold_but_for_case_and_white_space(said: str) -> None:
    env = Parity()
    env.reset(seed=3)

    step = env.step(rf"I say \boxed{{odd}}, no: \boxed{{{said}}}")

    assert step == gem.Step(
        "The answer is right.",
        1.0,
        True,
        False,
        {
            "success": True,
            "answer": said.strip(),
            "gold": "even",
            "reward_parts": {"answer": 1.0},
        },
    )


def test_another_answer_is_wrong() -> None:
    step = answered(Parity(), r"\boxed{both}")

    assert (step.reward, step.info["success"], step.info["answer"]) == (0.0, False, "both")
    assert step.observation == "The answer is wrong."


def test_an_answer_in_another_form_is_a_format_error() -> None:
    step = answered(Parity(format_error_reward=-0.5), "<answer>even</answer>")

    assert step.observation == r"No answer was found. Expected one in \boxed{...}."
    assert (step.reward, step.terminated) == (-0.5, True)
    assert step.info["action_error"] == "format"
    assert step.info["reward_parts"] == {"format_error": -0.5}
    assert step.info["success"] is False


def test_the_solution_is_the_gold_in_the_form_that_is_asked_for() -> None:
    env = Parity(answer_form="answer")
    text, _ = env.reset(seed=3)

    assert "<answer>...</answer>" in str(text)
    assert env.solve() == "<answer>even</answer>"
    assert env.step("<answer>even</answer>").info["success"]


def test_what_is_read_is_kept_up_to_200_characters() -> None:
    step = answered(Parity(), "\\boxed{" + "x" * 1_000_000 + "}")

    assert step.info["answer"] == "x" * 200


@pytest.mark.parametrize(
    ("result", "reward", "success"),
    [(True, 1.0, True), (False, 0.0, False), (0.25, 0.25, False), (1, 1.0, True)],
)
def test_a_grade_may_be_a_truth_or_a_number(result: Any, reward: float, success: bool) -> None:
    step = graded(result)

    assert (step.reward, type(step.reward), step.info["success"]) == (reward, float, success)
    assert step.info["gold"] in ("even", "odd")


def test_a_grade_of_none_is_an_answer_that_cannot_be_read() -> None:
    step = graded(None, format_error_reward=-0.1)

    assert (step.reward, step.info["action_error"]) == (-0.1, "format")
    assert step.info["answer"] == "even"


def test_a_grade_says_all_of_it_itself() -> None:
    parts = {"answer": 0.5, "brevity": 0.2}
    step = graded(Grade(0.7, True, "Nearly.", parts, {"judge": "kind"}))

    assert step.observation == "Nearly."
    assert step.reward == 0.7
    assert step.info == {"success": True, "judge": "kind", "reward_parts": parts}


def test_a_grade_without_a_reward_is_no_success() -> None:
    step = graded(Grade(None, True, "Say even or odd."))

    assert step.observation == "Say even or odd."
    assert step.info["success"] is False


def test_a_grader_that_returns_a_text_is_one_clear_error() -> None:
    with pytest.raises(TypeError, match=r"Half\.grade returned 'right', of type str\. It must"):
        graded("right")


@pytest.mark.parametrize("question", [("Even?", {}), None, 7])
def test_a_question_that_is_none_is_one_clear_error(question: Any) -> None:
    class Odd(Parity):
        def pose(self) -> Any:
            return question

    with pytest.raises(TypeError, match=r"Odd\.pose returned .* It must be text, a gem\.Message"):
        Odd().reset(seed=0)


@pytest.mark.parametrize("gold", [37, 0.5, -1])
def test_the_gold_may_be_a_number(gold: float) -> None:
    env = with_gold(gold)
    env.reset(seed=0)

    assert env.solve() == f"\\boxed{{{gold}}}"
    assert env.step(f"\\boxed{{{gold}}}").info["success"] is True


@pytest.mark.parametrize("gold", [True, ["even"]])
def test_a_gold_of_another_type_is_one_clear_error(gold: Any) -> None:
    env = with_gold(gold)
    env.reset(seed=0)

    for ask in (env.solve, lambda: env.step(r"\boxed{even}")):
        with pytest.raises(TypeError, match=r"Held\.gold returned .*, of type (bool|list)\."):
            ask()


def with_gold(gold: Any) -> SingleTurnEnv:
    class Held(Parity):
        def gold(self) -> Any:
            return gold

    return Held()


def test_without_pose_the_error_says_to_write_it() -> None:
    with pytest.raises(NotImplementedError, match="does not define pose"):
        SingleTurnEnv().reset(seed=0)


def test_without_grade_and_gold_the_error_says_to_write_one() -> None:
    class Open(SingleTurnEnv):
        def pose(self) -> str:
            return "Say anything."

    env = Open()
    env.reset(seed=0)

    assert env.solve() is None
    with pytest.raises(NotImplementedError, match="Write grade, or gold"):
        env.step(r"\boxed{anything}")


@pytest.mark.parametrize("reward", [-1.5, 0.5, float("nan")])
def test_a_format_error_never_pays(reward: float) -> None:
    with pytest.raises(BadArguments, match="between -1 and 0"):
        Parity(format_error_reward=reward)
    with pytest.raises(BadArguments, match="between -1 and 0"):
        type("Paying", (Parity,), {"format_error_reward": reward})


def test_the_range_of_rewards_holds_the_format_error() -> None:
    class Strict(Parity):
        format_error_reward = -0.5

    class Wide(Strict):
        format_error_reward = -0.25
        reward_range = (-1.0, 2.0)

    assert Strict.reward_range == (-0.5, 1.0)
    assert Wide.reward_range == (-1.0, 2.0)
    assert Parity(format_error_reward=-0.2).reward_range == (-0.2, 1.0)
    assert Parity.reward_range == (0.0, 1.0)


def test_an_answer_form_that_there_is_not_is_one_clear_error() -> None:
    with pytest.raises(BadArguments, match="Choose 'answer' or 'boxed'"):
        Parity(answer_form="spoken")  # type: ignore[arg-type]
    with pytest.raises(BadArguments, match="Choose 'answer' or 'boxed'"):
        type("Spoken", (Parity,), {"answer_form": "spoken"})


def test_an_unknown_option_of_reset_is_refused_with_what_it_takes() -> None:
    env: gem.Env = Parity()

    with pytest.raises(BadArguments, match=r"Parity was reset with level\. It takes seed and task"):
        env.reset(seed=0, level=3)


def test_an_author_s_own_option_of_reset_is_taken_by_its_name() -> None:
    class Levelled(Parity):
        def reset(
            self, seed: int | None = None, *, task: int | None = None, level: int = 1
        ) -> tuple[Observation, dict[str, Any]]:
            self.level = level
            return super().reset(seed, task=task)

        def pose(self) -> str:
            return f"At level {self.level}: {super().pose()}"

    env: gem.Env = Levelled()

    assert str(env.reset(seed=0, options={"level": 3})[0]).startswith("At level 3:")
    with pytest.raises(BadArguments, match="It takes seed and level and task"):
        env.reset(seed=0, width=3)


def test_a_finite_set_of_tasks_is_posed_by_number() -> None:
    class Squares(SingleTurnEnv):
        num_tasks = 10

        def pose(self) -> str:
            return f"What is {self.task} squared?"

        def gold(self) -> str:
            return str(self.task**2)

    env = Squares()
    text, info = env.reset(task=7)

    assert str(text).startswith("What is 7 squared?")
    assert info == {"task": 7}
    step = env.step(r"\boxed{49}")
    assert (step.reward, step.info["task"]) == (1.0, 7)
    assert {env.reset(seed=seed)[1]["task"] for seed in range(100)} == set(range(10))
    with pytest.raises(ValueError, match="Task 10 was asked for"):
        env.reset(task=10)


def test_without_a_finite_set_no_task_can_be_asked_for() -> None:
    with pytest.raises(TypeError, match="Parity has no finite set of tasks"):
        Parity().reset(task=1)


IMAGE = ImagePart(b"png")


@pytest.mark.parametrize(
    ("question", "posed"),
    [
        ([IMAGE, TextPart("What is it?")], [IMAGE, TextPart("What is it?\n\nAnswer.")]),
        ([IMAGE], [IMAGE, TextPart("Answer.")]),
        (Message("user", "What is it?"), Message("user", "What is it?\n\nAnswer.")),
        (
            [Message("system", "Look."), Message("user", "What is it?")],
            [Message("system", "Look."), Message("user", "What is it?\n\nAnswer.")],
        ),
    ],
)
def test_the_instruction_follows_a_question_of_any_form(question: Any, posed: Any) -> None:
    class Shown(SingleTurnEnv):
        instruction = "Answer."

        def pose(self) -> Observation:
            return question  # type: ignore[no-any-return]

    assert Shown().reset(seed=0)[0] == posed


def test_an_empty_instruction_leaves_the_question_as_it_is() -> None:
    class Bare(Parity):
        instruction = ""

    assert Bare().reset(seed=3)[0] == "Is 74 even or odd?"


class Judged(Parity):
    """Graded by a judge that must be waited for."""

    async def agrade(self, answer: str) -> bool:
        return answer == self.gold()


def test_a_grader_that_waits_is_awaited() -> None:
    env = Judged()
    wait_for(env.areset(seed=3))

    assert wait_for(env.astep(r"\boxed{even}")).reward == 1.0


def test_a_grader_that_waits_is_waited_for_by_a_plain_step() -> None:
    assert answered(Judged(), r"\boxed{neither}").reward == 0.0
    assert answered(Judged(format_error_reward=-0.1), "neither").reward == -0.1


def test_the_nearest_grader_counts() -> None:
    class Kind(Judged):
        def grade(self, answer: str) -> bool:
            return True

    class Judge:
        async def agrade(self, answer: str) -> bool:
            return False

    class Unkind(Judge, Kind):
        pass

    assert answered(Kind(), r"\boxed{neither}").reward == 1.0
    assert answered(Unkind(), r"\boxed{even}").info["success"] is False


def test_a_step_of_the_author_s_own_stays() -> None:
    class Doubled(Judged):
        async def agrade(self, answer: str) -> bool:
            return False

        async def astep(self, action: str) -> gem.Step:
            return (await super().astep(action))._replace(observation="Thank you.")

    assert answered(Doubled(), r"\boxed{even}").observation == "Thank you."


def test_two_graders_in_one_class_are_refused() -> None:
    def grade(self: Any, answer: str) -> bool:
        return True

    with pytest.raises(TypeError, match="Torn defines both grade and agrade"):
        type("Torn", (Parity,), {"grade": grade, "agrade": Judged.agrade})


def test_the_answer_may_be_found_and_written_in_another_way() -> None:
    class Whole(Parity):
        def find_answer(self, action: str) -> str | None:
            return action.strip() or None

        def write_answer(self, answer: str) -> str:
            return answer

        def unanswered(self) -> Grade:
            return Grade(0.0, info={"why": "nothing was said"})

    assert answered(Whole(), " even ").info["answer"] == "even"
    assert answered(Whole(), " ").info["why"] == "nothing was said"
    assert Whole().solve() == "even"


def test_the_rules_of_every_environment_hold() -> None:
    env = Parity()
    with pytest.raises(ResetNeeded):
        env.step(r"\boxed{even}")
    env.reset(seed=5)
    twin = env.fork()

    assert env.step(str(env.solve())) == twin.step(str(twin.solve()))
    assert env.sample_action() == twin.sample_action()
