"""Going on with a run whose environments the packs that are installed no longer provide."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gem_eval
from gem import registry
from gem.specs import EnvSpec
from gem.testing import fake_plugin
from gem_eval import Evaluation, RunFolderError

Played = Callable[[Path, list[str]], Path]

GUESS = "gem.testing.envs:Guess"  # an id of no pack as well: its own target


@pytest.fixture
def played_with(run: Callable[..., Evaluation]) -> Played:
    """Return a function that plays environments while a pack is installed, which then is gone."""

    def played(pack: Path, envs: list[str]) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(pack)
            registry.refresh()
            path = run(envs=envs, policies="solver", episodes=2).path
        registry.refresh()
        return path

    return played


def test_an_id_that_no_pack_provides_any_more_is_refused(
    played_with: Played, tmp_path: Path
) -> None:
    pack = fake_plugin(tmp_path / "pack", "acme-removed", envs={"acme_removed:Guess": GUESS})
    path = played_with(pack, ["acme_removed:Guess", GUESS])
    before = (path / "episodes.jsonl").read_bytes()

    with pytest.raises(
        RunFolderError, match=r"is of acme_removed:Guess, which no .* acme-removed 1\.0 again"
    ):
        gem_eval.resume(path, episodes=4)
    assert (path / "episodes.jsonl").read_bytes() == before
    registry.register("acme_removed:Guess", GUESS)
    assert len([*gem_eval.resume(path, episodes=4).episodes()]) == 8


def test_an_id_that_its_pack_has_dropped_is_refused(
    played_with: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {"acme_less:Guess": GUESS, "acme_less:Dropped": GUESS}
    less = {"acme_less:Guess": GUESS}
    path = played_with(fake_plugin(tmp_path / "more", "acme-less", envs=more), list(more))
    monkeypatch.delitem(sys.modules, "acme_less.plugin")  # as in another process
    monkeypatch.delitem(sys.modules, "acme_less")
    pack = fake_plugin(tmp_path / "less", "acme-less", envs=less, version="2.0")
    monkeypatch.syspath_prepend(pack)
    registry.refresh()

    with pytest.raises(
        RunFolderError, match=r"is of acme_less:Dropped, which no .* acme-less 1\.0 again"
    ):
        gem_eval.resume(path, episodes=4)


def test_a_pack_of_another_name_may_provide_the_same_ids(
    played_with: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    envs = {"acme_kept:Guess": GUESS}
    path = played_with(fake_plugin(tmp_path / "old", "acme-old", envs=envs), [*envs, GUESS])
    monkeypatch.syspath_prepend(fake_plugin(tmp_path / "new", "acme-new", envs=envs))
    registry.refresh()

    assert len([*gem_eval.resume(path, episodes=4).episodes()]) == 8


def test_a_record_that_does_not_say_who_provided_an_id_goes_on_by_its_target(
    played_with: Played, tmp_path: Path
) -> None:
    pack = fake_plugin(tmp_path / "pack", "acme-unnoted", envs={"acme_unnoted:Guess": GUESS})
    path = played_with(pack, ["acme_unnoted:Guess"])
    record = json.loads((path / "run.json").read_text())
    del record["packs"]
    (path / "run.json").write_text(json.dumps(record))

    assert len([*gem_eval.resume(path, episodes=4).episodes()]) == 4


def test_a_spec_of_no_pack_goes_on_by_its_target(run: Callable[..., Evaluation]) -> None:
    spec = EnvSpec(id="game:NoPackHasThis", target="gem.testing.envs:Guess")
    path = run(envs=spec, policies="solver", episodes=2).path

    assert len([*gem_eval.resume(path, episodes=4).episodes()]) == 4
