"""Returns are shown on the scale from random play to the best, where a yardstick fits the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gem.cli._main import main
from gem.specs import EnvSpec, WrapperRef
from gem_eval.run_folder import RunFolder
from gem_eval.settings import PolicyRef, Settings
from gem_eval.summary import Result, summarise
from gem_eval.yardsticks import Normalised, Yardstick, normalised

ID = "tiny:Hand"
KWARGS = {"size": 3, "max_turns": 5}


def exactly(value: float) -> dict[str, Any]:
    return {"low": value, "high": value, "is_exact": True}


def yardstick(**changes: Any) -> Yardstick:
    plain = {
        "env_id": ID,
        "env_kwargs": {**KWARGS, "max_turns": 7},
        "best": exactly(3.0),
        "random": exactly(1.0),
    }
    return Yardstick.model_validate({**plain, **changes})


def settings(**changes: Any) -> Settings:
    spec = EnvSpec(id=ID, target="tiny:Hand", kwargs=KWARGS)
    policies = (PolicyRef(name="noop"), PolicyRef(name="random"))
    plain = {"envs": (spec,), "policies": policies, "env_kwargs": {"max_turns": 7}}
    return Settings(**{**plain, **changes})


def results(mean_return: float | None, ci95: tuple[float, float] | None) -> list[Result]:
    empty = summarise(settings(), (), run="run").results
    found = {"mean_return": mean_return, "mean_return_ci95": ci95}
    return [result.model_copy(update=found) for result in empty]


def of(run: Settings, *yardsticks: Yardstick, is_branch: bool = False) -> Normalised:
    return normalised(run, results(2.0, (1.5, 2.5)), yardsticks, is_branch=is_branch)


def test_a_return_and_its_interval_are_scaled_alike() -> None:
    found = of(settings(), yardstick())

    assert found.scaled == ((0.5, (0.25, 0.75)),) * 2
    assert found.reasons == ()


def test_the_yardstick_of_these_arguments_is_taken() -> None:
    other = yardstick(best=exactly(9.0), env_kwargs=KWARGS)

    assert of(settings(), yardstick(), other) == of(settings(), yardstick())


def viewed(**kwargs: Any) -> dict[str, Any]:
    view = WrapperRef(id="seat_view", kwargs={"seat": "X", "opponents": "random", **kwargs})
    return {"wrappers": (view,)}


def test_the_yardstick_of_a_seat_is_taken_where_the_run_views_it_against_random_play() -> None:
    whole = yardstick()
    of_x = yardstick(seat="X")
    of_o = yardstick(seat="O", best=exactly(9.0))

    assert of(settings(**viewed()), of_x, of_o, whole) == of(settings(), whole)
    assert of(settings(), whole, of_o) == of(settings(), whole)


@pytest.mark.parametrize(
    ("run", "seat", "why"),
    [
        (viewed(), None, "is of all seats together, the run of the seat X against random play"),
        (viewed(), "O", "is of the seat O against random play, the run of the seat X against"),
        ({}, "O", "is of the seat O against random play, the run of all seats together"),
        (viewed(opponents="solver"), "X", "the run puts wrappers around it"),
        (viewed(seat="rotate"), "X", "the run puts wrappers around it"),
        (viewed(seat=0), "X", "the run puts wrappers around it"),
        (
            {"wrappers": (*viewed()["wrappers"], WrapperRef(id="record"))},
            "X",
            "the run puts wrappers around it",
        ),
    ],
)
def test_the_yardstick_of_another_seat_or_other_opponents_is_not_taken(
    run: dict[str, Any], seat: str | None, why: str
) -> None:
    found = of(settings(**run), yardstick(seat=seat))

    assert found.scaled == (None, None)
    assert why in found.reasons[0]


def test_a_result_without_a_return_has_no_scaled_one() -> None:
    found = normalised(settings(), results(None, None), [yardstick()])

    assert found.scaled == (None, None)


@pytest.mark.parametrize(
    ("run", "fitting", "why"),
    [
        ({}, {"env_id": "tiny:Other"}, "no yardstick is of it"),
        ({}, {"env_kwargs": KWARGS}, '"max_turns": 5}, and the run of {"size": 3, "max_turns": 7}'),
        ({"tasks": (1, 2)}, {}, "the run plays chosen episodes"),
        ({"seed_range": (1, 2)}, {}, "the run plays chosen episodes"),
        ({"wrappers": (WrapperRef(id="record"),)}, {}, "the run puts wrappers around it"),
        ({"max_turns": 2}, {}, "the run limits turns"),
        (
            {},
            {"best": {"low": 1.0, "high": None, "is_exact": False}},
            "its best return is only known to lie from 1 to any number",
        ),
        (
            {},
            {"random": {"low": 1.0, "high": 1.5, "is_exact": False}},
            "its random return is only known to lie from 1 to 1.5",
        ),
        ({}, {"best": exactly(1.0)}, "its best play returns no more than random play"),
    ],
)
def test_what_does_not_fit_is_left_out_with_the_reason(
    run: dict[str, Any], fitting: dict[str, Any], why: str
) -> None:
    found = of(settings(**run), yardstick(**fitting))

    assert found.scaled == (None, None)
    [reason] = found.reasons
    assert reason.startswith(f"{ID} has no normalised return: ")
    assert why in reason


def test_a_branch_has_none() -> None:
    assert "plays on from a turn" in of(settings(), yardstick(), is_branch=True).reasons[0]


@pytest.fixture
def run_with_yardstick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the file of a yardstick of a run in the folder `run`, both in the current folder."""
    monkeypatch.chdir(tmp_path)
    assert (
        main(["eval", "tiny:Guess", "--policy", "solver", "--episodes", "3", "--out", "run"]) == 0
    )
    kwargs = dict(RunFolder.open("run").record.settings.envs[0].kwargs)
    fitting = yardstick(
        env_id="tiny:Guess", env_kwargs=kwargs, best=exactly(1.0), random=exactly(0.5)
    )
    Path("guess.json").write_text(fitting.model_dump_json(), encoding="utf-8")
    return "guess.json"


def test_a_report_has_a_column_and_says_what_it_is(
    run_with_yardstick: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "run"]) == 0
    without = capsys.readouterr().out
    assert main(["report", "run", "--yardsticks", run_with_yardstick]) == 0
    table = capsys.readouterr().out
    assert main(["report", "run", "--yardsticks", run_with_yardstick, "--json"]) == 0
    [report] = json.loads(capsys.readouterr().out)

    assert "ormalised" not in without
    assert " normalised" in table
    assert "Normalised: the return where random play is 0 and the best play 1." in table
    assert report["results"][0]["normalised_return"] == pytest.approx(1.0)


@pytest.mark.parametrize("text", [None, "{", "[]", '{"env_id": "tiny:Guess"}'])
def test_a_file_that_is_no_yardstick_is_refused_in_one_line(
    run_with_yardstick: str, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    if text is None:
        Path(run_with_yardstick).unlink()
    else:
        Path(run_with_yardstick).write_text(text, encoding="utf-8")

    assert main(["report", "run", "--yardsticks", run_with_yardstick]) == 2

    [line] = capsys.readouterr().err.splitlines()
    assert "The yardstick guess.json was to be read, and it is none: " in line
    assert "Write one with `gem-env yardstick ID --json > FILE`." in line
