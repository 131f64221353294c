"""What can go wrong in an evaluation, below `gem.GemError`.

GemError
└── EvalError               any error of an evaluation
    ├── SettingsError       options that no evaluation can have
    ├── CompareError        runs, or policies of them, that cannot be compared
    ├── LeagueError         policies that cannot play each other, a run that is no league
    ├── NoiseError          a design that shows no noise, or a run that shows none of it yet
    ├── BranchError         an episode, or a turn of one, from which nobody can play on
    ├── ExportError         episodes that cannot be handed on, or not to that place
    ├── FindError           a finder, a policy or environments that no run or pack has
    ├── ViewError           a viewer that cannot be started, a file that cannot be exported
    ├── RunFolderError      a run folder that cannot be made, read, or continued
    │   └── RunStopped      a failure in the middle of a run; what had finished is safe
    └── PolicyError         a policy that cannot answer: an error on the episode, not a wrong answer
        ├── BudgetError         the run may spend no more, or nobody knows what it spends
        ├── ServerAwayError     its server is away, and did not come back in the time it was given
        ├── ServerFailureError  its server is there, and fails (5xx) at this request each time
        ├── ServerRefusalError  its server answers no request: the key, the model, the quota
        ├── RequestRefusedError its server refuses this request: an option, or what is in it
        └── UnreadableReplyError what answers does not speak the protocol
"""

from __future__ import annotations

from gem.errors import GemError

__all__ = [
    "BranchError",
    "BudgetError",
    "CompareError",
    "EvalError",
    "ExportError",
    "FindError",
    "LeagueError",
    "NoiseError",
    "PolicyError",
    "RequestRefusedError",
    "RunFolderError",
    "RunStopped",
    "ServerAwayError",
    "ServerFailureError",
    "ServerRefusalError",
    "SettingsError",
    "UnreadableReplyError",
    "ViewError",
]


class EvalError(GemError):
    """Any error of an evaluation that is raised on purpose; its text is one line for a person."""


class SettingsError(EvalError):
    """Options that no evaluation can have. `option` is the one at fault, as Python spells it."""

    def __init__(self, message: str, *, option: str) -> None:
        super().__init__(message)
        self.option = option


class CompareError(EvalError):
    """Runs that cannot be compared: too few policies, or no task that two of them have played."""


class LeagueError(EvalError):
    """Policies that cannot play each other: too few, one twice, a single seat; a run of another."""


class NoiseError(EvalError):
    """Noise that cannot be split: by the design, or because too few tasks were played whole."""


class BranchError(EvalError):
    """An episode from which nobody can play on: it is not there, too short, or does not replay."""


class FindError(EvalError):
    """Something to look for, or to look at, that is not there: a finder, a policy, environments."""


class ExportError(EvalError):
    """Episodes that cannot be handed on: another format, another choice, another place."""


class ViewError(EvalError):
    """A viewer that cannot be started, or a file that cannot be written. No run was changed."""


class RunFolderError(EvalError):
    """A run folder that cannot be made, read, or continued. What it holds is unharmed."""

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


class RunStopped(RunFolderError):
    """A run that could not go on (a full disk, say). Every finished episode is in its log."""


class PolicyError(EvalError):
    """A policy cannot answer. The episode ends with this text and counts as an error."""


class BudgetError(PolicyError):
    """A run has spent what it may, or what its answers cost is not known. It stops."""


class HumanLeftError(PolicyError):
    """Who plays at the terminal does not go on. The run stops, and the episode is not kept."""


class ServerAwayError(PolicyError):
    """A policy's server is away, or fails at whatever it is asked, and was given time enough."""


class ServerFailureError(PolicyError):
    """A policy's server answers others, and fails at this request as often as it is asked."""


class ServerRefusalError(PolicyError):
    """A policy's server refuses whatever it is asked: the key, the model, the quota."""


class RequestRefusedError(PolicyError):
    """A policy's server refuses a request: for an option that all have, or for what is in it."""


class UnreadableReplyError(PolicyError):
    """What a policy's server answers is not of its protocol: most often another server's page."""
