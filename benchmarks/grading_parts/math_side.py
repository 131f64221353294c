"""One side of the comparison of graders: pairs come in lines, seconds go out.

Run with the word "ours" or "theirs". A line is a JSON list of answers and golds; what goes back
are the CPU seconds of this process and all that belong to it, the verdicts, and how many pairs
were asked of math-verify.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")
OPEN = r"\boxed{\gcd(4, 6)}", r"\gcd(6, 4)"


def main() -> None:
    """Grade what comes in."""
    grade, facts = {"ours": ours, "theirs": theirs}[sys.argv[1]]()
    # Some graders print, and nothing may come between the answers.
    answers = sys.stdout
    sys.stdout = sys.stderr
    grade(*OPEN)  # what is only started now is started
    for line in sys.stdin:
        pairs = json.loads(line)
        asked = facts()["asked"]
        began = spent_s(facts())
        verdicts = [grade(action, gold) for action, gold in pairs]
        reply = {"cpu_s": spent_s(facts()) - began, "verdicts": verdicts}
        reply["asked"] = facts()["asked"] - asked
        print(json.dumps(reply), file=answers, flush=True)


def ours() -> tuple[Callable[[str, str], bool], Callable[[], Any]]:
    """Return our grader, and what tells its processes."""
    from gem_envs_math.grading import extract
    from gem_envs_math.judging import judge, pool

    def grade(action: str, gold: str) -> bool:
        answer = extract(action)
        return answer is not None and judge(answer, gold).outcome == "right"

    return grade, pool.stats


def theirs() -> tuple[Callable[[str, str], bool], Callable[[], Any]]:
    """Return gem-llm's grader, which works in this process."""
    from gem.envs.math_env import MathEnv  # type: ignore[import-not-found]

    def grade(action: str, gold: str) -> bool:
        return bool(MathEnv.check_correct(action, gold))

    return grade, lambda: {"asked": 0}


def spent_s(facts: Any) -> float:
    """Return the CPU seconds of this process, its children, and the server and its workers."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = time.process_time() + children.ru_utime + children.ru_stime
    others = [facts["server"], *facts["workers"]] if "server" in facts else []
    return own + sum(map(process_s, others))


def process_s(process: int) -> float:
    """Return what a process took, with its children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


if __name__ == "__main__":
    main()
