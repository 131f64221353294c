from __future__ import annotations

import pytest

from gem.specs import EnvSpec
from gem.testing import check_env
from gem_envs_games.plugin import plugin
from gem_envs_games.seated.listing import ENVS as SEATED

CORE = ("sync", "thread", "process")  # others are tested where they come from
DECLARED = {"tasks", "different_seeds", "backends"}
# Nothing is hidden, what one wins the other need not lose, and the other may win.
OF_SEATS = {"rounds", "secrets", "solve_succeeds", "zero_sum"}
MIXES = {"leaks", "solve_beats_random", "solve_beats_echo", "solve_is_fair"}  # luck lets any win
GAMES = [spec for spec in plugin.envs if spec.namespace == "game" and not spec.replaced_by]
LONG = "game:Game2048-"  # hundreds of turns, each of them searched by solve()

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("spec", GAMES, ids=lambda spec: str(spec.id))
def test_every_line_of_the_contract_holds(spec: EnvSpec) -> None:
    seeds = range(2 if spec.id.startswith(LONG) else 10)
    report = check_env(spec, seeds=seeds, backends=CORE)

    declared = DECLARED if spec.check.winnable else DECLARED | {"solve_succeeds"}
    assert report.failures == ()
    skipped = {line.name for line in report.lines if line.state == "skipped"}
    if spec in SEATED:
        # Lines on solve() are looked at in the view of each seat, whose name they begin with.
        ahead = {name for name in skipped if name.startswith("solv")}
        skipped = {name.rpartition(".")[2] for name in skipped - ahead}
        declared = declared | OF_SEATS | (MIXES if spec.check.mixes else set())
    assert skipped <= declared
