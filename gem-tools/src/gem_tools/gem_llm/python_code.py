"""`PythonCodeTool` and `run_python`: gem-llm's way to run Python, in a sandbox of ours."""

from __future__ import annotations

import functools

from gem.compat import BaseTool, ToolEnvWrapper
from gem.env import Env, wait_for
from gem_tools.sandbox import ExecRequest, Sandbox, make_sandbox

__all__ = ["PythonCodeTool", "python_tool", "python_tool_no_int_reward", "run_python"]

_HOW = (
    "You may run Python while you solve this. Write a whole program, its imports included, "
    "between <python> and </python> or in a ```python block, and print what you want to know. "
    'What it prints comes back after "Code execution result: ". Give the final answer in an '
    "answer of its own, without a program."
)
_FORMS = (("<python>", "</python>"), ("```python", "```"), ("```\npython", "```"))


class PythonCodeTool(BaseTool):
    """Run the first program of an action: `<python>...</python>`, or a block fenced as python.

    `timeout` is in seconds. `sandbox_type` is ignored: every program runs in the sandbox that
    gem-tools uses by default. With `keep_error_last_line` only the last line of stderr is shown.
    """

    tool_type = "python_code"

    def __init__(
        self,
        timeout: float = 5,
        sandbox_type: str = "none",
        keep_error_last_line: bool = False,
    ) -> None:
        super().__init__()
        self.timeout = timeout
        self.sandbox_type = sandbox_type
        self.keep_error_last_line = keep_error_last_line

    def instruction_string(self) -> str:
        """Return what tells a policy how to run Python."""
        return _HOW

    def _parse_action(self, action: str) -> tuple[str | None, str, bool]:
        """Return the program, the action up to its end, and whether there is one."""
        places = [place for form in _FORMS if (place := _between(action, *form)) is not None]
        if not places:
            return None, action, False
        start, stop, end = min(places)
        return action[start:stop].strip(), action[:end], True

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        """Run the program. Raises SandboxUnavailable where this machine has no sandbox."""
        program, call, is_call = self._parse_action(action)
        if not is_call or program is None:
            return False, True, "", action
        succeeded, stdout, stderr = run_python(program, self.sandbox_type, timeout=self.timeout)
        if self.keep_error_last_line:
            stderr = stderr.rpartition("\n")[2]
        printed = f"{stdout}\n{stderr}" if stderr else stdout
        answer = f"Code execution result: {printed.lstrip()}\n"
        return True, not succeeded, answer, call


def _between(text: str, opener: str, closer: str) -> tuple[int, int, int] | None:
    """Return where the inside of the first pair begins and ends, and where the pair ends."""
    start = text.find(opener)
    stop = text.find(closer, start + len(opener)) if start >= 0 else -1
    return None if stop < 0 else (start + len(opener), stop, stop + len(closer))


def run_python(
    code: str, sandbox_type: str = "none", stdin: str | None = None, timeout: float = 10
) -> tuple[bool, str, str]:
    """Run a program. Return whether it ended with exit status 0, its stdout and its stderr.

    A program that ended otherwise says how in the last line of stderr. `sandbox_type` is
    ignored. Raises SandboxUnavailable.
    """
    stdin_bytes = (stdin or "").encode("utf-8", "replace")
    result = wait_for(_sandbox().run(ExecRequest(code, stdin=stdin_bytes, timeout_s=timeout)))
    stdout = result.stdout.decode("utf-8", "replace")
    stderr = result.stderr.decode("utf-8", "replace").strip("\n")
    if result.status not in ("ok", "error"):
        stderr = f"{stderr}\n[the program {result.summary}]".lstrip("\n")
    return result.status == "ok", stdout, stderr


@functools.cache
def _sandbox() -> Sandbox:
    """Return the one sandbox of this process."""
    return make_sandbox()


def python_tool(
    env: Env,
    *,
    tool_reward: float = 0.05,
    tool_success_reward: float = 0.25,
    max_tool_uses: int | None = 5,
    timeout: float = 5,
    keep_error_last_line: bool = False,
) -> ToolEnvWrapper:
    """Let a policy run Python, with gem-llm's rewards and limits."""
    tool = PythonCodeTool(timeout, keep_error_last_line=keep_error_last_line)
    return ToolEnvWrapper(env, [tool], tool_reward, tool_success_reward, max_tool_uses)


python_tool_no_int_reward = functools.partial(python_tool, tool_reward=0.0, tool_success_reward=0.0)
"""As `python_tool`, and no call earns anything."""
