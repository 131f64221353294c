from __future__ import annotations

import pytest

import gem
from gem.specs import EnvSpec
from gem.testing import check_env
from gem_envs_games.plugin import plugin
from gem_envs_games.seated.listing import ENVS as SEATED

CORE = ("sync", "thread", "process")  # others are tested where they come from
DECLARED = {"tasks", "different_seeds", "backends"}
OF_SEATS = {"rounds", "secrets", "solve_succeeds"}  # nothing is hidden, and the other may win
GAMES = [spec for spec in plugin.envs if spec.namespace == "game" and not spec.replaced_by]
FIRST = {spec.id[: spec.id.index("-v") + 3]: spec for spec in reversed(GAMES)}  # by "game:X-v0"
# A hard one is the first of its game in a larger size: `gem-env check 'game:*'` has them all.
CHECKED = [spec for spec in GAMES if not spec.id.endswith("hard") or spec in FIRST.values()]
MIXED = {"solve_beats_random", "solve_beats_echo", "solve_is_fair"}  # declared by mixes
LONG = "game:Game2048-"  # hundreds of turns, each of them searched by solve()

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("spec", CHECKED, ids=lambda spec: str(spec.id))
def test_every_line_of_the_contract_holds(spec: EnvSpec) -> None:
    # Of several seats each line is looked at in the view of each seat too.
    seeds = range(2 if spec.id.startswith(LONG) else 4 if spec in SEATED else 10)
    report = check_env(spec, seeds=seeds, backends=CORE)

    declared = DECLARED if spec.check.winnable else DECLARED | {"solve_succeeds"}
    assert report.failures == ()
    skipped = {line.name for line in report.lines if line.state == "skipped"}
    if spec in SEATED:
        # Lines on solve() are looked at in the view of each seat, whose name they begin with.
        ahead = {name for name in skipped if name.startswith("solv")}
        skipped = {name.rpartition(".")[2] for name in skipped - ahead}
        declared = declared | OF_SEATS
        if not gem.make(spec).zero_sum:
            declared = declared | {"zero_sum"}
    if spec.check.mixes:
        declared = declared | MIXED
    assert skipped <= declared
