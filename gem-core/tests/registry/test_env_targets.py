"""Environments that no pack provides: files, modules, classes and what makes an instance."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, OpaqueError, TargetError, UnknownEnv
from gem.hosting._recipes import Recipe
from gem.registry import versions
from gem.registry._importing import absolute_target, load_target
from gem.registry._making import resolve
from gem.testing.envs import Echo, Guess

PARITY = '''
import gem

class Parity(gem.Env):
    """Tell odd numbers from even ones."""
    def __init__(self, highest: int = 1000):
        self.highest = highest
    def reset(self, seed=None):
        self.number = self.rng.randrange(self.highest)
        return f"Is {self.number} even or odd?", {}
    def step(self, action):
        is_right = action == ("even", "odd")[self.number % 2]
        return gem.Step("", float(is_right), True, False, {"success": is_right})

def small():
    return Parity(2)

class Helper:
    pass

number = 5
'''


@pytest.fixture(autouse=True)
def _file(own_folder: Path) -> None:
    (own_folder / "gem_try.py").write_text(PARITY)


class Three(Guess):
    """Guesses up to three."""

    def __init__(self) -> None:
        super().__init__(3)


def even(request: gem.Request) -> str:
    return "even"


def rolled_out(env: Any, **options: Any) -> list[gem.Episode]:
    async def collect() -> list[gem.Episode]:
        return [episode async for episode in gem.rollout(even, env, episodes=2, **options)]

    return asyncio.run(collect())


@pytest.mark.parametrize("target", ["./gem_try.py:Parity", "gem_try.py:Parity"])
def test_a_class_of_a_file_is_an_environment(target: str) -> None:
    env = gem.make(target, seed=3, highest=7)

    assert env.spec is not None
    assert env.spec.id == "./gem_try.py:Parity"
    assert dict(env.spec.kwargs) == {"highest": 7}
    assert env.reset() == gem.make(env.spec.model_dump(mode="json"), seed=3).reset()


def test_an_edited_file_counts_from_the_next_process_on(own_folder: Path) -> None:
    before = gem.make("./gem_try.py:Parity")
    # Of another length: bytecode of a file as long, and of the same second, counts as its own.
    (own_folder / "gem_try.py").write_text(PARITY.replace("even or odd", "either odd or even"))

    after = gem.make("./gem_try.py:Parity")

    assert type(after) is type(before)
    code = "import gem; print(gem.make('./gem_try.py:Parity', seed=0).reset()[0])"
    elsewhere = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert "odd or even" in elsewhere


def test_the_names_offered_are_those_of_what_a_file_makes(own_folder: Path) -> None:
    (own_folder / "gem_tools_here.py").write_text(
        "from functools import partial\n"
        "from typing import TypeVar\n"
        "import gem\n"
        "T = TypeVar('T')\n"
        "class Asks:\n    pass\n"
        "@gem.tool\ndef add(a: int) -> int:\n    return a\n"
        "asks = Asks()\n"
        "three = partial(int, 3)\n"
        "limit = 3\n"
        "_hidden = Asks()\n"
    )

    with pytest.raises(TargetError, match=r"It has Asks, add, asks, three\.$"):
        load_target("./gem_tools_here.py:ads")


def test_a_function_of_a_file_makes_an_environment() -> None:
    assert gem.make("./gem_try.py:small").highest == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "target", ["gem.testing.envs:Guess", "gem_beside:Guess"], ids=["in a package", "alone"]
)
def test_a_class_of_a_module_is_an_environment(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gem_beside.py").write_text("from gem.testing.envs import Guess")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert type(gem.make(target)) is Guess


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("./gem_tri.py:Parity", r"no such file\. Did you mean gem_try\.py\? Check the path"),
        ("./nowhere/gem_tri.py:Parity", r"no such file\. Check the path"),
        ("./gem_try.py:Parrity", r"'Parrity' of \./gem_try\.py was asked.*Parity, small, Helper"),
        ("./gem_try.py", r"no environment of it\. It has \./gem_try\.py:Parity\. Write \./gem_t"),
        ("gem_try.py:", r"Write gem_try\.py:Parity"),
        ("./gem_tri.py", "no such file"),
        ("./gem_odd.py", r"gem_odd\.py cannot be read as Python \(SyntaxError: "),
        ("./gem_none.py:A", r"file has no such name\. It has no class and no function"),
        ("./gem_none.py", r"It has none\. Write a subclass of gem\.Env there"),
        (
            "./gem_raises.py:A",
            r"gem_raises\.py cannot be imported \(RuntimeError: oh no, line 2",
        ),
        ("./gem_odd.py:A", r"cannot be imported \(SyntaxError: .*\(gem_odd\.py, line 1\)\)"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_line(text: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "gem_none.py").write_text("import gem")
    (tmp_path / "gem_raises.py").write_text("\nraise RuntimeError('oh\\nno')")
    (tmp_path / "gem_odd.py").write_text("def f(:")

    with pytest.raises(TargetError, match=what) as caught:
        gem.make(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["./gem_marks.py", "./gem_marks.py:1x", "./gem_marks.py:G"])
def test_the_spec_of_a_target_runs_nothing_of_its_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "gem_marks.py").write_text("open('was_run', 'w').close()\nclass G(object): pass")

    with suppress(TargetError):
        resolve(text)

    assert not (tmp_path / "was_run").exists()


def test_an_interrupt_of_an_import_goes_through(tmp_path: Path) -> None:
    (tmp_path / "gem_stopped.py").write_text("raise KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        gem.make("./gem_stopped.py:A")


@pytest.mark.vector
def test_a_file_that_asks_for_itself_is_told_of_the_main_guard(tmp_path: Path) -> None:
    asks = "import gem\nclass A(gem.Env): pass\ngem.make_vec(A, num_envs=2, backend='process')\n"
    (tmp_path / "gem_asks.py").write_text(asks)

    with pytest.raises(TargetError, match="under `if __name__ == '__main__':`"):
        gem.make("./gem_asks.py:A")


@pytest.mark.parametrize(
    ("env", "what"),
    [
        ("./gem_try.py:Helper", "names Helper, which is a class and no gem.Env"),
        ("./gem_try.py:number", "names 5, which cannot be called"),
        (Guess(), "by Guess, which is a live instance"),
        (dict, "by dict, which is a class and no gem.Env"),
    ],
)
def test_what_makes_no_environment_is_refused(env: Any, what: str) -> None:
    with pytest.raises(BadArguments, match=f"{what}. Give a subclass of gem.Env, or a function"):
        gem.make(env)


@pytest.mark.parametrize("id", ["gem:Nothing", "time_limit", "json.nowhere", "a b:C", "nope:C"])
def test_what_is_neither_id_nor_target_is_an_unknown_id(id: str) -> None:
    gem.register("gem:Echo", Echo)  # so that `gem` is a namespace here, beside a module

    with pytest.raises(UnknownEnv):
        gem.make(id)


def test_a_class_is_an_environment_by_the_target_that_finds_it() -> None:
    env = gem.make(Guess, highest=9)

    assert env.spec is not None
    assert (env.spec.id, env.spec.target) == ("gem.testing.envs:Guess", "gem.testing.envs:Guess")
    assert gem.make(env.spec.model_dump(mode="json")).highest == 9  # type: ignore[attr-defined]


def test_a_class_of_a_file_is_found_by_its_file() -> None:
    parity: Any = load_target("./gem_try.py:Parity")

    assert resolve(parity).id == "./gem_try.py:Parity"


def test_arguments_that_a_partial_binds_are_the_spec_s() -> None:
    spec = resolve(functools.partial(functools.partial(Guess, highest=9), highest=8, max_turns=2))

    assert (spec.id, dict(spec.kwargs)) == (
        "gem.testing.envs:Guess",
        {"highest": 8, "max_turns": 2},
    )


@pytest.mark.parametrize(
    ("factory", "name"),
    [
        (lambda: Guess(highest=3), "<lambda>"),
        (functools.partial(Guess, 3), "Guess"),
        (functools.partial(lambda table: Guess(3), table=object()), "<lambda>"),
        (
            type("Odd name", (Guess,), {"__init__": lambda self: Guess.__init__(self, 3)}),
            "Odd_name",
        ),
        (type("Made", (), {"__call__": lambda self: Guess(3)})(), "Made"),
    ],
)
def test_what_no_import_finds_works_in_this_process_alone(
    factory: Callable[..., gem.Env], name: str
) -> None:
    spec = resolve(factory)

    assert spec.id.endswith(name)
    assert [gem.make(env).highest for env in (factory, spec)] == [3, 3]  # type: ignore[attr-defined]
    assert not any(episode.is_error for episode in rolled_out(factory))
    with pytest.raises(OpaqueError, match="not found by an import"):
        Recipe(factory).as_data()


@pytest.mark.vector
def test_two_lambdas_are_two_environments() -> None:
    with gem.make_vec([lambda: Guess(highest=3), lambda: Guess(highest=4)]) as vector:
        observations, _ = vector.reset(seed=0)

    assert ["1 to 3" in str(observations[0]), "1 to 4" in str(observations[1])] == [True, True]


@pytest.mark.parametrize("name", ["<lambda>", "made.<locals>.Own"])
def test_what_no_import_finds_is_told_to_become_findable(name: str) -> None:
    with pytest.raises(TargetError, match="Define it at the top of a file"):
        gem.make(f"tests.somewhere:{name}")


@pytest.mark.parametrize("backend", ["inline", "thread", "process"])
def test_records_of_a_file_replay_and_know_what_it_held(backend: str, tmp_path: Path) -> None:
    workers = {"num_workers": 1} if backend == "process" else {}

    episode = rolled_out("./gem_try.py:Parity", backend=backend, **workers)[0]

    assert (episode.env_id, episode.error) == ("./gem_try.py:Parity", None)
    assert episode.versions["./gem_try.py"].startswith("sha256:")
    assert gem.replay(episode).state == "same"


def test_a_worker_is_given_the_whole_path(tmp_path: Path) -> None:
    spec = Recipe("./gem_try.py:Parity").as_data().spec

    assert (spec["id"], spec["target"]) == (
        "./gem_try.py:Parity",
        f"{tmp_path}/gem_try.py:Parity",
    )


def test_versions_of_a_module_are_those_of_its_file() -> None:
    assert versions("gem.testing.envs:Guess").keys() == {"gem-core", "gem.testing.envs"}
    assert versions("gem.not_imported_yet:Guess").keys() == {"gem-core"}
    assert versions("demo:NotThere").keys() == {"gem-core"}


SCRIPT = """
import asyncio, os
import gem
from gem.testing.envs import Echo

class Mine(Echo):
    pass

gem.register("demo:Mine", Mine)

async def main():
    run = gem.rollout(lambda request: "", ENV, backend="process", num_workers=1)
    print([(episode.env_id, episode.error) async for episode in run])

if __name__ == "__main__":
    os.chdir("FOLDER")
    asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("env", "folder", "id"),
    [
        ("Mine", ".", "./gem_script.py:Mine"),
        ("'demo:Mine'", ".", "demo:Mine"),
        ("'demo:Mine'", "elsewhere", "demo:Mine"),
    ],
)
def test_a_class_of_a_script_runs_in_workers(
    env: str, folder: str, id: str, tmp_path: Path
) -> None:
    (tmp_path / "gem_script.py").write_text(SCRIPT.replace("ENV", env).replace("FOLDER", folder))
    other = tmp_path / "elsewhere" / "gem_script.py"
    other.parent.mkdir()
    other.write_text("print('imported')")

    command = [sys.executable, "gem_script.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert (done.stdout, done.stderr) == (f"[({id!r}, None)]\n", "")


@pytest.mark.parametrize(
    ("facts", "id"),
    [
        ({"__file__": "gem_script.py"}, "./gem_script.py:Own"),
        ({"__spec__": ModuleSpec("acme.script", None)}, "acme.script:Own"),
    ],
    ids=["python gem_script.py", "python -m acme.script"],
)
def test_a_class_of_a_script_is_named_as_a_worker_finds_it(
    facts: dict[str, Any], id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = type(sys)("__main__")
    own = type("Own", (Guess,), {"__module__": "__main__"})
    vars(main).update(facts, Own=own)
    monkeypatch.setitem(sys.modules, "__main__", main)

    assert Recipe(own).as_data().spec["id"] == id
    assert gem.register("named:Own", own).target == absolute_target(id)


@pytest.mark.vector
def test_a_class_of_a_notebook_works_here_and_is_refused_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    main = type(sys)("__main__")  # as a notebook has it: without a file
    own = type("Own", (Guess,), {"__module__": "__main__"})
    vars(main).update(Own=own)
    monkeypatch.setitem(sys.modules, "__main__", main)

    assert resolve(own).id == "__main__:Own"
    assert gem.register("named:Own", own).target == "__main__:Own"
    assert gem.replay(rolled_out(own)[0]).state == "same"
    with pytest.raises(OpaqueError, match="'__main__:Own' is not found by an import"):
        gem.make_vec(own, num_envs=1, backend="process")


def test_gem_compat_is_for_ids_of_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEM_COMPAT", "1")

    spec = gem.make("./gem_try.py:Parity").spec

    assert spec is not None
    assert spec.wrappers == ()
