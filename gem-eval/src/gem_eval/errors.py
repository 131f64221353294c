"""What can go wrong in an evaluation, below `gem.GemError`.

GemError
└── EvalError               any error of an evaluation
    ├── SettingsError       options that no evaluation can have
    ├── RunFolderError      a run folder that cannot be made, read, or continued
    │   └── RunStopped      a failure in the middle of a run; what had finished is safe
    └── PolicyError         a policy that cannot answer: an error on the episode, not a wrong answer
        ├── ServerAwayError     its server is away, and did not come back in the time it was given
        ├── ServerFailureError  its server is there, and fails (5xx) at this request each time
        ├── ServerRefusalError  its server answers no request: the key, the model, the quota
        ├── RequestRefusedError its server refuses this request: an option, or what is in it
        └── UnreadableReplyError what answers does not speak the protocol
"""

from __future__ import annotations

from gem.errors import GemError

__all__ = [
    "EvalError",
    "PolicyError",
    "RequestRefusedError",
    "RunFolderError",
    "RunStopped",
    "ServerAwayError",
    "ServerFailureError",
    "ServerRefusalError",
    "SettingsError",
    "UnreadableReplyError",
]


class EvalError(GemError):
    """Any error of an evaluation that is raised on purpose; its text is one line for a person."""


class SettingsError(EvalError):
    """Options that no evaluation can have. `option` is the one at fault, as Python spells it."""

    def __init__(self, message: str, *, option: str) -> None:
        super().__init__(message)
        self.option = option


class RunFolderError(EvalError):
    """A run folder that cannot be made, read, or continued. What it holds is unharmed."""

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


class RunStopped(RunFolderError):
    """A run that could not go on (a full disk, say). Every finished episode is in its log."""


class PolicyError(EvalError):
    """A policy cannot answer. The episode ends with this text and counts as an error."""


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
