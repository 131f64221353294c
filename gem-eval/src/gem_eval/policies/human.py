"""Answer as a person does who types, on the screen of `gem-env play`.

The person sees what a model would: the conversation, and no reward before the end.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gem.cli.screen import Exchange, Player, PlayerLeft, View, answer_form, outcome_of
from gem.content import ImagePart, Message, observation_text
from gem.conversation import Request
from gem.episode import Episode
from gem_eval.errors import HumanLeftError

__all__ = ["Human"]

_TOOLS_HELP = ":tools        the tools that there are\n"
_NEXT = "Enter: the next episode, :q leave> "


class Human:
    """The `human` policy. Every answer counts; lines that begin with a colon are no answers.

    It asks on the thread that calls it, and blocks that: one episode at a time, whatever the
    concurrency. `:quit`, Ctrl-C and the end of standard input end the run, which can be resumed.
    """

    asks_model = False
    uses_screen = True
    """What an evaluation asks of a policy, to show nothing else and play one episode at a time."""

    def __init__(self) -> None:
        self._player: Player | None = None
        self._request = Request()
        self._is_playing = False
        self._has_ended_one = False
        self._has_left = False

    def __call__(self, request: Request) -> str:
        """Show the conversation and return what is typed. Raises HumanLeftError, ever after too."""
        try:
            if self._has_left:
                raise PlayerLeft
            with _ctrl_c_raises():
                return self._asked(request)
        except PlayerLeft:
            self._has_left = True
            raise HumanLeftError("The player left.") from None

    def end(self, episode: Episode) -> None:
        """Show how an episode ended that was played here."""
        if self._player is None or not self._is_playing:
            return
        self._is_playing = False
        self._has_ended_one = True
        view = self._player.view._replace(outcome=outcome_of(episode))
        if episode.is_error or episode.final_observation is None:
            self._player.screen.end(view)  # nothing followed what was shown before
            return
        answer = Exchange(episode.turns[-1].action, observation_text(episode.final_observation))
        self._player.show(view._replace(turns=(*view.turns, answer)))

    def _asked(self, request: Request) -> str:
        player = self._player
        if player is None:
            # At the first question: to make a policy, for a dry run say, reads no terminal.
            player = Player(commands={":tools": self._show_tools}, commands_help=_TOOLS_HELP)
            self._player = player
        self._request = request
        view = self._view(player, request)
        if self._is_playing and request.turn:
            player.show(view)
        else:
            self._begin(player, view)
        while True:
            answer = player.read()
            if answer is not None:
                return answer.action

    def _begin(self, player: Player, view: View) -> None:
        # The end of the episode before stays to be read; where nobody types it is not redrawn.
        if self._has_ended_one and player.is_interactive:
            player.read(_NEXT)
        self._is_playing = True
        player.begin(view)

    def _view(self, player: Player, request: Request) -> View:
        """Return the conversation as it is now, the answers that its end lists with numbers."""
        turns = _exchanges(request)
        player.form = answer_form(*(turn.message for turn in turns))
        last, _ = player.numbered(turns[-1].message)
        turns[-1] = turns[-1]._replace(message=last)
        player.has_tools = bool(request.tools)
        task = "" if request.task is None else f" Task {request.task}."
        heading = f"{request.env_id}.{task} Type your action, or :help."
        return View(heading, tuple(turns), turn=request.turn, total=None)

    def _show_tools(self, _: str) -> None:
        assert self._player is not None, "it has read the command"
        tools = json.dumps(self._request.tools, indent=2, ensure_ascii=False, default=repr)
        self._player.screen.note(tools if self._request.tools else "There are none.")


def _exchanges(request: Request) -> list[Exchange]:
    """Return what was typed so far, each with what followed; first what came before any answer."""
    if request.prompt is not None:
        return [Exchange("", request.prompt)]
    turns: list[Exchange] = []
    typed = ""
    lines: list[str] = []
    for message in request.messages:
        if message.role == "assistant":
            turns.append(Exchange(typed, "\n".join(lines)))
            typed = _answer_text(message)
            lines = []
        else:
            lines.append(_text(message))
    return [*turns, Exchange(typed, "\n".join(lines))]


def _answer_text(message: Message) -> str:
    calls: Sequence[str] = [
        f"{call.name} {json.dumps(dict(call.arguments), default=repr)}"
        for call in message.tool_calls
    ]
    return " ".join(filter(None, [message.text, *calls]))


def _text(message: Message) -> str:
    """Return a message as text; a terminal shows no image."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(
        "[image]" if isinstance(part, ImagePart) else part.text for part in message.content
    )


@contextmanager
def _ctrl_c_raises() -> Iterator[None]:
    """Have Ctrl-C end a read, as it does without an event loop, which would wait for its turn."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
