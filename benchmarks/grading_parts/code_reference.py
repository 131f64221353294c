"""gem-llm's grader of programs, in its own environment: tasks come in lines, seconds go out."""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def main() -> None:
    """Answer each line of tasks, and each null after it, with the seconds that grading took."""
    from datasets import Dataset
    from gem.envs.code_env import CodeEnv  # type: ignore[import-not-found]

    # The grader prints, and nothing may come between the answers.
    answers = sys.stdout
    sys.stdout = sys.stderr
    envs: list[Any] = []
    tasks: list[dict[str, Any]] = []
    for line in sys.stdin:
        message = json.loads(line)
        if message is not None:
            tasks = message
            envs = [
                CodeEnv(
                    dataset_name="codecontest",
                    dataset=Dataset.from_list(
                        [{"problem": task["problem"], "tests": json.dumps(task["tests"])}]
                    ),
                )
                for task in tasks
            ]
        for env in envs:
            env.reset()
        started = time.perf_counter()
        for env, task in zip(envs, tasks, strict=True):
            reward = env.step(f"```python\n{task['program']}```")[1]
            assert (reward == 1.0) is task["is_right"], reward
        print(json.dumps(time.perf_counter() - started), file=answers, flush=True)


if __name__ == "__main__":
    main()
