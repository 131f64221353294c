"""The viewer as an application of starlette: addresses to pages. Knows nothing about sockets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from gem.episode import Turn
from gem.errors import in_one_line
from gem_eval.errors import ViewError
from gem_eval.viewing import pages
from gem_eval.viewing.beside import read_beside
from gem_eval.viewing.compare_page import beside_page, compare_page
from gem_eval.viewing.compared import Comparer
from gem_eval.viewing.conversation import UNREADABLE, images_of, is_picture
from gem_eval.viewing.episodes import read_turn
from gem_eval.viewing.facets import finding_line, with_known_values
from gem_eval.viewing.guard import Guard
from gem_eval.viewing.query import Query, whole_number
from gem_eval.viewing.rendering import asset
from gem_eval.viewing.runs import Run
from gem_eval.viewing.solving import Solved, Solver
from gem_eval.viewing.token_page import token_page
from gem_eval.viewing.token_query import TokenQuery
from gem_eval.viewing.token_text import TokenTexts
from gem_eval.viewing.trainings.logs import EvaluationLogs
from gem_eval.viewing.trainings.page import live_values, read_on, training_page
from gem_eval.viewing.trainings.query import TrainingQuery
from gem_eval.viewing.trainings.training import ViewedTraining
from gem_eval.wording import counted

__all__ = ["viewer_app"]

_ASSETS = {
    "viewer.css": "text/css",
    "viewer.js": "text/javascript",
    "tokens.css": "text/css",
    "tokens.js": "text/javascript",
    "training.css": "text/css",
    "training.js": "text/javascript",
}
_MOST_LINES = 1 << 62
_NOT_THERE = "The log of this run has no such episode or turn."


def viewer_app(
    runs: Sequence[Run],
    *,
    host: str = "127.0.0.1",
    texts: TokenTexts | None = None,
    solver: Solver | None = None,
    trainings: Sequence[ViewedTraining] = (),
    logs: EvaluationLogs | None = None,
) -> Starlette:
    """Return an application that shows runs and trainings. `host` is the name that it is called by.

    `texts` are those of token ids, where a tokenizer was named. With a solver, pages of episodes
    offer to play these again. `logs` opens the episodes of the trainings' evaluations.
    """
    viewer = _Viewer(runs, texts, solver, trainings, logs)
    episode = "/runs/{run}/episodes/{line}"
    routes = [
        ("/", viewer.runs),
        ("/compare", viewer.compare),
        ("/side-by-side", viewer.beside),
        ("/trainings", viewer.trainings),
        ("/trainings/live", viewer.live_trainings),
        ("/runs/{run}", viewer.run),
        ("/runs/{run}/live", viewer.live),
        (episode, viewer.episode),
        (f"{episode}/tokens", viewer.tokens),
        (f"{episode}/next-flip", viewer.next_flip),
        (f"{episode}/turns/{{turn}}", viewer.turn),
        (f"{episode}/turns/{{turn}}/images/{{image}}", viewer.image),
        ("/static/{name}", viewer.asset),
        ("/favicon.ico", viewer.no_icon),
    ]
    return Starlette(
        routes=[Route(path, endpoint) for path, endpoint in routes],
        middleware=[Middleware(Guard, host=host)],
        exception_handlers={HTTPException: viewer.not_here},
    )


class _Viewer:
    """The answers. Each is made on a thread: to read a log and to write a page takes time."""

    def __init__(
        self,
        runs: Sequence[Run],
        texts: TokenTexts | None,
        solver: Solver | None,
        trainings: Sequence[ViewedTraining],
        logs: EvaluationLogs | None,
    ) -> None:
        self._texts = texts
        self._solver = solver
        self._runs = {run.name: run for run in runs}
        self._trainings = trainings
        self._logs = logs or EvaluationLogs(trainings, None)
        self._is_several = len(runs) + len(trainings) > 1
        self._comparer = Comparer()

    def runs(self, request: Request) -> Response:
        if not self._is_several:
            only = [f"/runs/{name}" for name in self._runs] or ["/trainings"]
            return RedirectResponse(only[0])
        read_on(self._trainings)
        page = pages.runs_page([*self._runs.values()], self._trainings, _theme(request))
        return HTMLResponse(page)

    def trainings(self, request: Request) -> Response:
        query = self._training_query(request)
        read_on(query.visible(self._trainings))
        theme = _theme(request)
        return HTMLResponse(
            training_page(self._trainings, query, theme=theme, several=self._is_several)
        )

    def live_trainings(self, request: Request) -> Response:
        return JSONResponse(live_values(self._trainings, self._training_query(request)))

    def _training_query(self, request: Request) -> TrainingQuery:
        if not self._trainings:
            raise HTTPException(404, "No training is shown here.")
        return TrainingQuery.read(request.query_params.multi_items())

    def compare(self, request: Request) -> Response:
        named = request.query_params.getlist("run")
        runs = [run for run in self._runs.values() if run.name in named]
        page = self._read(
            lambda: compare_page(
                runs or [*self._runs.values()],
                self._comparer,
                request.query_params,
                theme=_theme(request),
                several=self._is_several,
            )
        )
        return HTMLResponse(page)

    def run(self, request: Request) -> Response:
        run = self._run_of(request)
        return HTMLResponse(
            pages.run_page(
                run,
                _query(request, run),
                theme=_theme(request),
                several=self._is_several,
            )
        )

    def live(self, request: Request) -> Response:
        run = self._run_of(request)
        progress = run.progress()
        looked = run.findings.state
        overview = run.known_overview
        return JSONResponse(
            {
                "line": progress.line,
                "state": progress.state,
                "edition": run.edition,
                "figures": 0 if overview is None else overview.tries,
                "text": pages.progress_line(progress),
                "finders": {"are_done": looked.is_done, "text": finding_line(looked)},
            }
        )

    def episode(self, request: Request) -> Response:
        run = self._run_of(request)
        turn = _turn(request)
        line = _number(request, "line")
        page = self._read(
            lambda: pages.episode_page(
                run,
                _query(request, run),
                line,
                turn,
                theme=_theme(request),
                runs=[*self._runs.values()],
                has_no_flip="flip" in request.query_params,
                solved=self._solved(request, run, line),
                can_solve=self._solver is not None,
                seat=request.query_params.get("seat", ""),
            )
        )
        return HTMLResponse(page)

    def tokens(self, request: Request) -> Response:
        run = self._run_of(request)
        page = self._read(
            lambda: token_page(
                run,
                _number(request, "line"),
                TokenQuery.read(request.query_params, _query(request, run)),
                self._texts,
                theme=_theme(request),
                several=self._is_several,
            )
        )
        return HTMLResponse(page)

    def _solved(self, request: Request, run: Run, line: int) -> Solved | None:
        """Return what `solve()` says of an episode, where a page of this viewer asks for it.

        A page of another site may send a browser here, and must not have environments run.
        """
        if self._solver is None or "solve" not in request.query_params:
            return None
        if request.headers.get("sec-fetch-site") != "same-origin":
            return self._solver.known(run, line)
        return self._solver.ask(run, line)

    def next_flip(self, request: Request) -> Response:
        run = self._run_of(request)
        query = _query(request, run)
        line = _number(request, "line")
        search = run.search(query)
        with run.index.reading() as db:
            found = run.selection(db, query, search).next_flip(line)
        address = f"/runs/{run.name}/episodes/{line if found is None else found}{query.address()}"
        none = "" if found else f"{'' if address.endswith('?') else '&'}flip=none"
        return RedirectResponse(f"{address}{none}", status_code=303)

    def beside(self, request: Request) -> Response:
        marked = request.query_params.getlist("mark")
        if marked:  # of the list of a run, where no script counts them
            if len(marked) != 2:
                what = f"{counted(len(marked), 'episode')} marked, and two stand side by side."
                raise HTTPException(404, f"{what} Go back and mark two.")
            pair = urlencode([("a", marked[0]), ("b", marked[1])])
            return RedirectResponse(f"/side-by-side?{pair}", status_code=303)
        first, first_line = self._episode_called(request.query_params.get("a", ""))
        second, second_line = self._episode_called(request.query_params.get("b", ""))
        turn = _turn(request)
        found = self._read(lambda: read_beside((first, second), (first_line, second_line), turn))
        page = beside_page(
            found,
            request.query_params,
            turn,
            theme=_theme(request),
            several=self._is_several,
        )
        return HTMLResponse(page)

    def _episode_called(self, word: str) -> tuple[Run, int]:
        """Return the episode that an address calls `run:line`."""
        name, _, line = word.rpartition(":")
        number = whole_number(line)
        run = self._run_called(name)
        if run is None or number is None:
            raise HTTPException(
                404, f"No episode is called {word!r:.80}. An address needs a=RUN:LINE&b=RUN:LINE."
            )
        return run, number

    def turn(self, request: Request) -> Response:
        # As ASCII, so that half a character is no trouble.
        return Response(json.dumps(self._turn_of(request)), media_type="application/json")

    def image(self, request: Request) -> Response:
        plain = self._turn_of(request)
        images = self._read(lambda: list(images_of(Turn.from_json(plain).observation)))
        number = _number(request, "image")
        if number >= len(images) or not is_picture(images[number]):
            raise HTTPException(404, "There is no such image.")
        return Response(images[number].image, media_type=images[number].media_type)

    def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _ASSETS:
            raise HTTPException(404, "The viewer has no such file.")
        return Response(asset(name), media_type=_ASSETS[name])

    def no_icon(self, _: Request) -> Response:
        return Response(status_code=204)

    def not_here(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        text = pages.missing_page(error.detail, theme=_theme(request), several=self._is_several)
        return HTMLResponse(text, status_code=error.status_code, headers=error.headers)

    def _turn_of(self, request: Request) -> Any:
        run = self._run_of(request)
        line = _number(request, "line")
        turn = _number(request, "turn")
        return self._read(lambda: read_turn(run.folder.episodes_path, run.index, line, turn))

    def _run_of(self, request: Request) -> Run:
        name = request.path_params["run"]
        run = self._run_called(name)
        if run is None:
            raise HTTPException(404, f"No run of this viewer is called {name}.")
        return run

    def _run_called(self, name: str) -> Run | None:
        """Return a run, or an evaluation of a training as one."""
        return self._runs.get(name) or self._logs.run(name)

    @staticmethod
    def _read(read: Callable[[], Any]) -> Any:
        """Return what is read, or say that it is not there, or no longer what was indexed."""
        try:
            found = read()
        except ViewError as error:
            raise HTTPException(404, str(error)) from error
        except (OSError, IndexError, *UNREADABLE) as error:
            what = in_one_line(error, at_most=300)
            why = f"This cannot be read ({what}). The log may have changed."
            raise HTTPException(503, why) from error
        if found is None:
            raise HTTPException(404, _NOT_THERE)
        return found


def _query(request: Request, run: Run) -> Query:
    return with_known_values(run, Query.read(request.query_params.multi_items()))


def _turn(request: Request) -> int:
    number = whole_number(request.query_params.get("turn", ""))
    return 1 if number is None else min(number, _MOST_LINES)


def _theme(request: Request) -> str:
    asked = request.query_params.get("theme", "")
    return asked if asked in ("dark", "light") else ""


def _number(request: Request, name: str) -> int:
    # Not by the router's own `:int`, which raises on more digits than Python converts.
    number = whole_number(request.path_params[name])
    if number is None:
        raise HTTPException(404, _NOT_THERE)
    return min(number, _MOST_LINES)
