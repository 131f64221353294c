"""WikiGame on a graph: what is shown, where links lead, and what each variant allows."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.errors import BadArguments, DataError
from gem_envs_games.rewards import Rewards
from gem_envs_games.wiki_game import PUBLISHED, Graph, Page

from .loopback import page_of

PlayOut = Callable[[gem.Env], list[gem.Step]]

VARIANTS = ["noregrets", "oneback", "freenav", "eidetic"]
IDS = [spec.id for spec in gem.list_envs("game:WikiGame-*")]
CLOSING_IDS = ["game:WikiGame-v0-easy-noregrets", "game:WikiGame-v0-easy-oneback"]
"""Those that close pages: who wanders there may have no way left."""

ROOMS = {
    "Hall": ("Attic (old)", "Kitchen", "Study, left"),
    "Kitchen": ("Cellar", "Hall"),
    "Study, left": ("Hall", "Kitchen"),
    "Attic (old)": ("Hall",),
    "Cellar": ("Kitchen", "Well"),
    "Well": ("Cellar",),
}


def house() -> Graph:
    return Graph(Page(title, f"The {title}.", links) for title, links in ROOMS.items())


class Guide:
    """A backend that starts in the hall and aims for the well."""

    def __init__(self) -> None:
        self._house = house()
        self._drawn = deque(["Hall", "Well"])
        self.closed = 0

    def page(self, title: str) -> Page | None:
        return self._house.page({"Parlour": "Study, left"}.get(title, title))

    def random_title(self, rng: Random) -> str:
        self._drawn.rotate(-1)
        return self._drawn[-1]

    def close(self) -> None:
        self.closed += 1


def in_the_hall(variant: str = "freenav", **kwargs: Any) -> gem.Env:
    env = gem.make("game:WikiGame-v0-easy", backend=Guide(), variant=variant, **kwargs)
    env.reset(seed=0)
    return env


def box(title: str) -> str:
    return f"\\boxed{{{title}}}"


def visit(env: gem.Env, *titles: str) -> list[gem.Step]:
    return [env.step(box(title)) for title in titles]


def refusals(steps: list[gem.Step]) -> list[bool]:
    return [step.info.get("action_error") == "invalid" for step in steps]


def places(env: gem.Env, seed: int) -> tuple[str, str]:
    """Return where an episode starts and what its target is, as the player is told."""
    _, info = env.reset(seed=seed)
    lines = info["suffix"].splitlines()
    return lines[0].removeprefix("You are on: "), lines[-2].removeprefix("Target: ")


def links_between(start: str, target: str) -> int:
    """Count links by trying every way of one link, of two, and so on."""
    reached = {start}
    count = 0
    while target not in reached:
        reached = reached.union(*(page_of(title).links for title in reached))
        count += 1
    return count


@pytest.mark.parametrize("turns", [1, 2, 3, 15])
def test_the_target_can_be_reached_in_the_turns_and_is_no_link_of_the_start(turns: int) -> None:
    env = gem.make("game:WikiGame-v0-hard", max_turns=turns)

    distances = {links_between(*places(env, seed)) for seed in range(30)}

    assert min(2, turns) <= min(distances)
    assert max(distances) <= turns


def test_starts_and_targets_are_drawn_from_the_whole_encyclopedia() -> None:
    env = gem.make("game:WikiGame-v0-easy")

    drawn = [places(env, seed) for seed in range(200)]

    assert len({start for start, _ in drawn}) > 150
    assert len({target for _, target in drawn}) > 150


def test_a_graph_without_two_pages_apart_is_an_error() -> None:
    alone = Graph([Page("A", "", ("B",)), Page("B", "", ("A",))])
    env = gem.make("game:WikiGame-v0-easy", backend=alone)

    with pytest.raises(DataError, match="2 links away or more"):
        env.reset(seed=0)


def test_the_links_of_the_page_and_the_target_are_shown() -> None:
    env = gem.make("game:WikiGame-v0-easy", backend=Guide())

    observation, info = env.reset(seed=0)

    assert "until you are on the page Well." in observation_text(observation)
    assert "About the target: The Well." in observation_text(observation)
    assert info["suffix"].splitlines() == [
        "You are on: Hall",
        "The Hall.",
        "Links:",
        "\\boxed{Attic (old)}",
        "\\boxed{Kitchen}",
        "\\boxed{Study, left}",
        "Target: Well",
        "Enter your next page.",
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_links_lead_to_the_target(variant: str) -> None:
    steps = visit(in_the_hall(variant), "Kitchen", "Cellar", "Well")

    assert [step.reward for step in steps] == [-0.05, -0.05, 1.0]
    assert [step.terminated for step in steps] == [False, False, True]
    assert steps[-1].info == {"success": True, "reward_parts": {"success": 1.0}}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_page_never_linked_is_refused(variant: str) -> None:
    env = in_the_hall(variant)

    steps = visit(env, "Cellar", "Well", "Nowhere", "Hall")

    assert refusals(steps) == [True] * 4
    assert [step.reward for step in steps] == [-0.2] * 4
    assert steps[-1].info["suffix"].startswith("You are on: Hall\n")


@pytest.mark.parametrize(
    ("variant", "refused"),
    [("noregrets", True), ("oneback", False), ("freenav", False), ("eidetic", False)],
)
def test_noregrets_alone_refuses_a_link_to_the_page_before(variant: str, refused: bool) -> None:
    assert refusals(visit(in_the_hall(variant), "Kitchen", "Hall")) == [False, refused]


def test_a_closed_link_is_not_shown_and_called_closed() -> None:
    first, second = visit(in_the_hall("noregrets"), "Kitchen", "Hall")

    assert "Hall" not in first.info["suffix"]
    assert "you named Hall, which is closed." in observation_text(second.observation)


@pytest.mark.parametrize(
    ("variant", "refused"),
    [("noregrets", True), ("oneback", True), ("freenav", False), ("eidetic", False)],
)
def test_freenav_and_eidetic_go_back_by_two_pages(variant: str, refused: bool) -> None:
    steps = visit(in_the_hall(variant), "Kitchen", "Cellar", "Hall")

    assert refusals(steps) == [False, False, refused]


@pytest.mark.parametrize(
    ("variant", "refused"),
    [("noregrets", True), ("oneback", True), ("freenav", True), ("eidetic", False)],
)
def test_eidetic_alone_takes_a_link_of_an_earlier_page(variant: str, refused: bool) -> None:
    steps = visit(in_the_hall(variant), "Kitchen", "Cellar", "study, left")

    assert refusals(steps) == [False, False, refused]


def test_oneback_goes_back_without_a_link_and_forth_again() -> None:
    env = in_the_hall("oneback")

    steps = visit(env, "Study, left", "Kitchen", "Study, left", "Kitchen", "Hall")

    assert refusals(steps) == [False, False, False, False, True]
    assert "Back: \\boxed{Study, left}" in steps[-1].info["suffix"]


def test_without_an_open_link_noregrets_is_lost() -> None:
    env = in_the_hall("noregrets", rewards={"fail": -0.5})

    step = env.step(box("Attic (old)"))

    assert step[1:4] == (-0.55, True, False)
    assert step.info == {"success": False, "reward_parts": {"step": -0.05, "fail": -0.5}}


def test_eidetic_shows_what_was_seen_earlier() -> None:
    steps = visit(in_the_hall("eidetic"), "Kitchen", "Cellar")

    earlier = "Earlier: \\boxed{Hall} \\boxed{Attic (old)} \\boxed{Study, left}"
    assert earlier in steps[-1].info["suffix"]


@pytest.mark.parametrize(
    "text",
    ["study, left", "  STUDY,   Left ", "\nStudy, left\n", "Study,\tleft"],
)
def test_letter_case_and_spaces_make_no_difference(text: str) -> None:
    step = in_the_hall().step(box(text))

    assert step.info["suffix"].startswith("You are on: Study, left\n")


@pytest.mark.parametrize("text", ["Study left", "Study", "Attic", "Attic old", "Hal", "A, B"])
def test_another_title_that_looks_alike_is_refused(text: str) -> None:
    assert refusals(visit(in_the_hall(), text)) == [True]


def test_of_two_links_that_fold_alike_each_can_be_named() -> None:
    graph = Graph(
        [
            Page("Start", "", ("US", "Us")),
            Page("US", "a country", ("Start", "End")),
            Page("Us", "a film", ("Start", "End")),
            Page("End", "", ("Start",)),
        ]
    )
    env = gem.make("game:WikiGame-v0-easy", backend=graph)
    seed = next(seed for seed in range(50) if places(env, seed) == ("Start", "End"))

    for title, summary in (("Us", "a film"), ("US", "a country"), ("us", "a country")):
        env.reset(seed=seed)
        assert summary in env.step(box(title)).info["suffix"]


def test_the_published_constants_are_a_games_own() -> None:
    assert (PUBLISHED.success, PUBLISHED.step, PUBLISHED.fail) == (1.0, -0.05, 0.0)
    assert (PUBLISHED.invalid, PUBLISHED.format_error) == (-0.2, -0.2)


def test_what_is_not_replaced_stays_as_published() -> None:
    env = in_the_hall(rewards={"invalid": -0.5})

    assert [step.reward for step in visit(env, "Nowhere", "Kitchen")] == [-0.5, -0.05]


def test_a_whole_set_of_constants_can_be_given() -> None:
    env = in_the_hall(rewards=Rewards(success=2.0))

    assert [step.reward for step in visit(env, "Kitchen", "Cellar", "Well")] == [0.0, 0.0, 2.0]


@pytest.mark.parametrize("env_id", IDS)
def test_solve_takes_the_fewest_links_and_every_one_but_the_last_costs(
    play_out: PlayOut, env_id: str
) -> None:
    env = gem.make(env_id)

    for seed in range(40):
        count = links_between(*places(env, seed))
        steps = play_out(env)
        assert len(steps) == count
        assert sum(step.reward for step in steps) == pytest.approx(1.0 - 0.05 * (count - 1))
        assert steps[-1].info["success"]


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), wander=st.integers(1, 12))
@pytest.mark.parametrize("env_id", [env_id for env_id in IDS if env_id not in CLOSING_IDS])
def test_solve_finds_the_way_from_wherever_it_is(env_id: str, seed: int, wander: int) -> None:
    env = gem.make(env_id)
    env.reset(seed=seed)
    is_over = False
    for _ in range(wander):
        is_over = is_over or env.step(env.sample_action()).terminated

    while not is_over:
        action = env.solve()
        assert action is not None
        step = env.step(action)
        assert "action_error" not in step.info
        is_over = step.terminated or step.truncated
        assert step.info["success"] or not step.terminated
    assert is_over


def test_solve_gives_up_where_no_way_is_left() -> None:
    graph = Graph(
        [
            Page("Start", "", ("Gate", "Trap")),
            Page("Gate", "", ("End", "Trap")),
            Page("Trap", "", ("Side",)),
            Page("Side", "", ("Gate", "Trap", "Cave")),
            Page("Cave", "", ("Side", "Start", "Nook")),
            Page("Nook", "", ("Cave",)),
            Page("End", "", ("Start",)),
        ]
    )
    env = gem.make("game:WikiGame-v0-easy", backend=graph, variant="noregrets")
    seed = next(seed for seed in range(200) if places(env, seed) == ("Start", "End"))
    env.reset(seed=seed)

    visit(env, "Trap", "Side", "Cave")

    assert env.solve() is None
    assert env.sample_action() == "\\boxed{Nook}"


def test_solve_gives_up_in_a_dead_end_that_oneback_cannot_leave() -> None:
    graph = Graph(
        [
            Page("Start", "", ("Gate", "Trap")),
            Page("Gate", "", ("End",)),
            Page("Trap", "", ("Start", "Nook")),
            Page("Nook", "", ("Trap",)),
            Page("End", "", ("Start",)),
        ]
    )
    env = gem.make("game:WikiGame-v0-easy", backend=graph, variant="oneback")
    seed = next(seed for seed in range(200) if places(env, seed) == ("Start", "End"))
    env.reset(seed=seed)

    visit(env, "Trap", "Nook")

    assert env.solve() is None
    assert env.sample_action() == "\\boxed{Trap}"


def test_of_a_backend_that_is_no_graph_no_solution_is_known() -> None:
    assert in_the_hall().solve() is None


def test_a_link_by_another_name_leads_to_the_page() -> None:
    class Aliased(Guide):
        def page(self, title: str) -> Page | None:
            page = super().page(title)
            if page is None or page.title != "Hall":
                return page
            return Page("Hall", "", (*page.links, "Parlour"))

    env = gem.make("game:WikiGame-v0-easy", backend=Aliased(), variant="noregrets")
    env.reset(seed=0)

    step = env.step(box("parlour"))

    assert step.info["suffix"].startswith("You are on: Study, left\n")


def test_closing_the_game_closes_the_backend() -> None:
    guide = Guide()

    gem.make("game:WikiGame-v0-easy", backend=guide).close()

    assert guide.closed == 1


def test_a_page_that_is_gone_is_an_error() -> None:
    class Forgetful(Guide):
        def page(self, title: str) -> Page | None:
            return None if title == "Kitchen" and self.closed else super().page(title)

    guide = Forgetful()
    env = gem.make("game:WikiGame-v0-easy", backend=guide)
    env.reset(seed=0)
    env.step(box("Kitchen"))
    guide.close()

    with pytest.raises(DataError, match="'Kitchen', and it is gone"):
        env.step(box("Cellar"))


@pytest.mark.parametrize("name", ["mediawiki", "kiwix", "nonsense"])
def test_a_server_is_made_by_an_id_of_its_own(name: str) -> None:
    with pytest.raises(BadArguments, match="wiki:MediaWiki-v0 or wiki:Kiwix-v0"):
        gem.make("game:WikiGame-v0-easy", backend=name)


@pytest.mark.parametrize("backend", [5, None, {}, gem])
def test_what_is_no_encyclopedia_is_refused(backend: Any) -> None:
    with pytest.raises(BadArguments, match="or pass an object with page"):
        gem.make("game:WikiGame-v0-easy", backend=backend)


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(BadArguments, match="variant='wander'"):
        gem.make("game:WikiGame-v0-easy", variant="wander")


@pytest.mark.parametrize(
    "text", ["\x00", "\ud800", "\u202egnirts", "Kitchen\x00", "x" * 999, "{", "\\boxed{"]
)
def test_a_hostile_title_is_refused_and_not_shown(text: str) -> None:
    step = in_the_hall().step(box(text))

    assert step.info["action_error"] in ("invalid", "format")
    assert len(observation_text(step.observation)) < 300
    assert observation_text(step.observation).isprintable()


def test_a_megabyte_of_junk_hides_no_title() -> None:
    junk = "\\boxed{" * 150_000

    step = in_the_hall().step(f"{junk} \\boxed{{Kitchen}} {junk}")

    assert step.info["suffix"].startswith("You are on: Kitchen\n")


@pytest.mark.parametrize("env_id", IDS)
def test_a_snapshot_at_the_last_turn_stays_small(env_id: str) -> None:
    env = gem.make(env_id)
    sizes = []
    for seed in range(20):
        env.reset(seed=seed)
        while env.turn < (env.max_turns or 0) - 1:
            step = env.step(env.sample_action())
            if step.terminated:
                break
        else:
            state = {k: v for k, v in env.snapshot().state.items() if k != "rng"}
            sizes.append(len(json.dumps(state)))

    assert max(sizes, default=0) < 1024
