from __future__ import annotations

import hashlib
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="the extra `visual` is not installed")

import gem
from gem.content import ImagePart, TextPart
from gem.errors import BadArguments
from gem.testing import EnvContract
from gem_envs_math.diagram.environment import FAMILIES, LEVELS, Diagram, Family

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "diagram.json").read_text())


class TestDiagram(EnvContract):
    env_id = "math:Diagram-v0"
    backends = ("sync", "thread", "process")


def posed(seed: int, **kwargs: Any) -> tuple[bytes, str, Diagram]:
    env = Diagram(**kwargs)
    parts: Any = env.reset(seed=seed)[0]
    image, text = parts
    assert isinstance(image, ImagePart)
    assert isinstance(text, TextPart)
    return image.image, text.text, env


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_figures_are_the_golden_ones_to_the_byte(family: Family, level: int) -> None:
    image, text, env = posed(7, family=family, level=level)
    told = [hashlib.sha256(image).hexdigest(), text.partition("\n")[0], env.gold()]
    assert told == GOLDEN[f"{family} {level}"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_figure_is_an_image_that_others_read(family: Family, level: int) -> None:
    from PIL import Image

    image, _, env = posed(3, family=family, level=level)
    with Image.open(BytesIO(image)) as read:
        assert (read.format, read.size) == ("PNG", (400, 300))
        assert len(read.convert("RGB").getcolors() or ()) > 1
    assert env.step(str(env.solve())).reward == 1.0


def test_the_seed_picks_among_all_families() -> None:
    picked = {Diagram().reset(seed=seed)[1]["family"] for seed in range(100)}
    assert picked == set(FAMILIES)


def test_figures_of_many_seeds_differ() -> None:
    assert len({posed(seed, family="points")[0] for seed in range(50)}) > 20


def test_a_snapshot_goes_on_with_the_same_question() -> None:
    with gem.make("math:Diagram-v0", seed=1) as env:
        env.reset()
        twin = env.fork()
        assert twin.solve() == env.solve()
        assert twin.step(str(env.solve())).reward == 1.0


@pytest.mark.parametrize(
    "kwargs", [{"family": "pies"}, {"level": 0}, {"level": 4}, {"format_error_reward": 1.0}]
)
def test_what_cannot_be_drawn_is_refused(kwargs: dict[str, Any]) -> None:
    with pytest.raises(BadArguments):
        Diagram(**kwargs)
