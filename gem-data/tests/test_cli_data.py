from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gem
from gem import registry
from gem.cli._main import main
from gem.data import RowKind, check_golds, load_table
from gem.errors import BadArguments
from gem.registry import load_target
from gem.testing import fake_plugin

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]

ENVS = '''
import gem
from gem.data import DataSource, Graded, RowKind, load_table

def graded(row):
    gold = str(row["answer"])
    return Graded("digits", gold) if gold.isdigit() else Graded("nothing", gold, "it is no number")

SUMS = RowKind(
    "sum", read=dict, needs=("question", "answer"), optional={"hints": []}, graded=graded
)

class Sums(gem.Env):
    """One row, one turn."""
    def __init__(self, *, source: DataSource | None = None, data: object = None):
        self.table = load_table(SUMS, source=source, data=data)
    def reset(self, seed=None):
        return self.table[0]["question"], {}
'''
MANIFEST = """
from gem.specs import DataSource, EnvSpec, PluginManifest

SOURCE = DataSource(
    hub="acme/sums", fields={"question": "problem"}, role="train", licence="MIT"
)
plugin = PluginManifest(name="acme", envs=(
    EnvSpec(id="acme:Sums", target="acme_sums.envs:Sums", kwargs={"source": SOURCE}),
    EnvSpec(id="acme:Echo", target="gem.testing.envs:Echo", source="What you say."),
    EnvSpec(id="acme:Plain", target="gem.testing.envs:Echo"),
))
"""
ROWS: list[dict[str, Any]] = [
    {"problem": "1 + 1?", "answer": 2},
    {"problem": "1 + 2?", "answer": {"value": 3}},
    {"problem": "\x1b[2J" + "x" * 1000, "answer": "4", "hints": ["y" * 1000]},
    {"problem": "1 + 4?", "answer": 5},
]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a pack here: `install("acme-words", envs={...})`."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def install_pack(name: str, **options: Any) -> Path:
        folder = fake_plugin(site, name, **options)
        registry.refresh()
        return folder

    yield install_pack
    registry.refresh()
    load_target.cache_clear()
    for module, found in list(sys.modules.items()):
        if str(getattr(found, "__file__", None) or "").startswith(str(site)):
            del sys.modules[module]


@pytest.fixture(autouse=True)
def _acme(install: Install) -> None:
    install("acme-sums", manifest=MANIFEST, files={"envs.py": ENVS})


@pytest.fixture
def kwargs(tmp_path: Path) -> str:
    """Return the arguments that make the environment read a file."""
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return json.dumps({"data": str(path)})


def facts(capsys: Output, *arguments: str) -> dict[str, Any]:
    assert main(["data", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_data_shows_where_rows_are_from_and_the_first(kwargs: str, capsys: Output) -> None:
    assert main(["data", "acme:Sums", "--env-kwargs", kwargs]) == 0
    shown = capsys.readouterr().out
    for part in ("4, each a sum", "rows.jsonl", "question (theirs: problem)", "Task 2", "1 + 2?"):
        assert part in shown
    assert "Task 3" not in shown


def test_rows_are_escaped_and_cut(kwargs: str, capsys: Output) -> None:
    main(["data", "acme:Sums", "--env-kwargs", kwargs])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "x" * 301 not in shown.replace("\n", "").replace(" ", "")
    assert "..." in shown


def test_the_number_of_rows_is_chosen(kwargs: str, capsys: Output) -> None:
    found = facts(capsys, "acme:Sums", "--env-kwargs", kwargs, "--rows", "1")
    assert found["first"] == [{"question": "1 + 1?", "answer": "2", "hints": "[]"}]
    assert found["rows"] == 4


def test_prefetching_shows_no_rows(kwargs: str, capsys: Output) -> None:
    assert facts(capsys, "acme:Sums", "--env-kwargs", kwargs, "--prefetch")["first"] == []


@pytest.fixture
def published(hub: Any) -> str:
    """Return the commit that the hub has of acme/sums."""
    hub.publish("a" * 40, {"train.jsonl": b'{"problem": "1 + 1?", "answer": 2}\n'}, name="v1")
    return "a" * 40


def test_the_commit_that_was_got_is_shown_with_how_to_pin_it(
    published: str, hub: Any, capsys: Output
) -> None:
    hub.names["main"] = published
    assert main(["data", "acme:Sums"]) == 0
    shown = capsys.readouterr().out
    for part in ("acme/sums", "train", "MIT", f'\'{{"source": {{"revision": "{published}"}}}}\''):
        assert part in shown


def test_a_revision_merges_over_the_declared_source(published: str, capsys: Output) -> None:
    asked = ["acme:Sums", "--env-kwargs", '{"source": {"revision": "v1"}}']
    found = facts(capsys, *asked)
    assert (found["source"], found["revision_asked"]) == ("acme/sums", "v1")
    assert (found["revision"], found["role"]) == (published, "train")
    assert main(["data", *asked]) == 0
    assert "pin" not in capsys.readouterr().out


def test_data_that_cannot_be_had_is_one_line(hub: Any, capsys: Output) -> None:
    hub.stop()
    assert main(["data", "acme:Sums", "--prefetch"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "'acme/sums' was asked for" in said


def test_bytes_are_shown_by_their_number(capsys: Output) -> None:
    rows = [{"problem": "?", "answer": b"\xff" * 1234}]
    gem.register(
        "demo:Bytes", "acme_sums.envs:Sums", data=rows, source={"fields": {"question": "problem"}}
    )
    assert facts(capsys, "demo:Bytes")["first"][0]["answer"] == "(1,234 bytes)"


def test_an_environment_without_a_table_is_refused(capsys: Output) -> None:
    assert main(["data", "acme:Echo"]) == 2
    assert "acme:Echo reads no table of rows (What you say). Name" in capsys.readouterr().err
    assert main(["data", "acme:Plain"]) == 2
    assert "its source is not stated" in capsys.readouterr().err


def test_two_that_share_rows_fail_and_say_which(kwargs: str, capsys: Output) -> None:
    both = ["acme:Sums", "--env-kwargs", kwargs, "--against", "acme:Sums"]
    assert main(["data", *both, "--against-kwargs", kwargs]) == 1
    shown = capsys.readouterr().out
    assert "100.00% of the rows of acme:Sums" in shown
    assert "task 1 = task 1  1 + 2?" in shown


def test_only_the_first_pairs_are_printed(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("".join(f'{{"problem": "{n}?", "answer": 1}}\n' for n in range(30)))
    given = json.dumps({"data": str(path)})
    both = ["acme:Sums", "--env-kwargs", given, "--against", "acme:Sums"]
    assert main(["data", *both, "--against-kwargs", given]) == 1
    assert "and 20 more" in capsys.readouterr().out


def test_two_that_share_nothing_pass(kwargs: str, capsys: Output) -> None:
    gem.register("demo:Others", "acme_sums.envs:Sums", data=[{"question": "9 + 9?", "answer": 18}])
    command = ["data", "acme:Sums", "--env-kwargs", kwargs, "--against", "demo:Others"]
    assert main(command) == 0
    assert main([*command, "--json"]) == 0
    shown = capsys.readouterr().out
    found = json.loads(shown[shown.index("{") :])
    assert (found["rows"], found["exact"], found["share"]) == ([4, 1], [], 0.0)


def test_another_field_is_compared(kwargs: str, capsys: Output) -> None:
    gem.register("demo:Others", "acme_sums.envs:Sums", data=[{"question": "?", "answer": 5}])
    command = ["data", "acme:Sums", "--env-kwargs", kwargs, "--against", "demo:Others"]
    assert main([*command, "--of", "answer"]) == 1
    assert "task 3 = task 0  5" in capsys.readouterr().out


def test_arguments_that_are_no_json_are_refused(capsys: Output) -> None:
    assert main(["data", "acme:Sums", "--env-kwargs", "{"]) == 2
    assert "--env-kwargs" in capsys.readouterr().err


def test_golds_that_cannot_be_graded_are_listed(kwargs: str, capsys: Output) -> None:
    assert main(["data", "acme:Sums", "--env-kwargs", kwargs, "--golds"]) == 1
    shown = capsys.readouterr().out
    for part in ("4 rows of", "rows.jsonl", "by digits   3", "by nothing  1", "task 1"):
        assert part in shown
    assert "{'value': 3}: it is no number" in shown


def test_golds_are_listed_as_json_whole(capsys: Output) -> None:
    rows = [{"problem": "?", "answer": f"x{number}"} for number in range(30)]
    kwargs = json.dumps({"data": rows})
    asked = ["data", "acme:Sums", "--env-kwargs", kwargs, "--golds"]

    assert main([*asked, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["by"], len(found["ungradable"])) == (30, {"nothing": 30}, 30)
    assert found["ungradable"][7] == {"task": 7, "gold": "x7", "trouble": "it is no number"}
    assert main(asked) == 1
    assert "and 10 more" in capsys.readouterr().out


def test_golds_that_can_be_graded_are_counted(capsys: Output) -> None:
    kwargs = json.dumps({"data": [{"problem": "?", "answer": "2"}]})
    assert main(["data", "acme:Sums", "--env-kwargs", kwargs, "--golds"]) == 0
    assert "No answer" not in capsys.readouterr().out
    assert main(["data", "acme:Sums", "--env-kwargs", kwargs]) == 0
    assert "--golds lists those" in capsys.readouterr().out


def test_golds_are_asked_of_one_table(capsys: Output) -> None:
    asked = ["data", "acme:Sums", "--golds", "--against", "acme:Sums"]
    assert main(asked) == 2
    assert "Run the command once for each" in capsys.readouterr().err


def test_rows_that_do_not_say_how_they_are_graded_are_named() -> None:
    table = load_table(RowKind("riddle", read=dict, needs=()), data=[{}])
    with pytest.raises(BadArguments, match="a riddle does not say"):
        check_golds(table)
