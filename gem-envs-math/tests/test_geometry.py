"""Questions about images, on rows of the schema that the published data set has."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gem
from gem.content import ImagePart, TextPart
from gem.errors import DataError
from gem_envs_math.geometry import VisualMath
from gem_envs_math.images import image_part, media_type

pytestmark = pytest.mark.usefixtures("math_verify")


@pytest.fixture
def picture() -> Any:
    image = pytest.importorskip("PIL.Image", reason="the extra `visual` is not installed")
    return image.new("RGB", (8, 6), (40, 90, 200))


@pytest.fixture
def png(picture: Any) -> bytes:
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def rows(images: Any) -> list[dict[str, Any]]:
    return [{"problem": "<image>Find $x$.", "answer": r"2\sqrt{221}", "images": images}]


def shown(images: Any) -> Any:
    with gem.make("math:Geometry3K", data=rows(images)) as env:
        observation, _ = env.reset()
        step = env.step(r"\boxed{\sqrt{884}}")
        assert step.info["success"]
    return observation


def test_the_image_comes_before_its_question(png: bytes) -> None:
    image, text = shown([png])
    assert image == ImagePart(png, "image/png")
    assert isinstance(text, TextPart)
    assert text.text.startswith("Find $x$.\n\n")
    assert "<image>" not in text.text


def test_an_image_may_come_in_many_forms(png: bytes, picture: Any, tmp_path: Path) -> None:
    path = tmp_path / "figure.png"
    path.write_bytes(png)
    stored = {"bytes": png, "path": "elsewhere.png"}
    forms = [png, [png], str(path), [path], stored, [{"bytes": None, "path": str(path)}]]
    assert all(shown(form)[0] == ImagePart(png, "image/png") for form in forms)
    assert shown([picture])[0].media_type == "image/png"


def test_a_question_may_be_about_several_images(png: bytes) -> None:
    first, second, text = shown([png, png])
    assert first == second == ImagePart(png, "image/png")
    assert isinstance(text, TextPart)


def test_a_file_of_rows_names_its_images_by_path(png: bytes, tmp_path: Path) -> None:
    (tmp_path / "figure.png").write_bytes(png)
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(rows([str(tmp_path / "figure.png")])[0]) + "\n", encoding="utf-8")
    with gem.make("math:Geometry3K", data=str(path)) as env:
        parts: Any = env.reset(task=0)[0]
    assert parts[0] == ImagePart(png, "image/png")


def test_images_of_a_data_set_are_shown_as_they_are_stored(
    datasets: ModuleType, png: bytes
) -> None:
    kinds = {"problem": datasets.Value("string"), "answer": datasets.Value("string")}
    kinds["images"] = datasets.Sequence(datasets.Image())
    table = datasets.Dataset.from_list(
        rows([{"bytes": png, "path": None}]), features=datasets.Features(kinds)
    )
    with gem.make("math:Geometry3K", data=table) as env:
        parts: Any = env.reset(task=0)[0]
    assert parts[0] == ImagePart(png, "image/png")


@pytest.mark.parametrize(
    ("image", "why"),
    [(b"<svg>", "none of PNG"), ("no/such.png", "cannot be read"), (7, "a int"), ("a\0", "read")],
)
def test_what_is_no_image_is_refused_when_it_is_posed(image: object, why: str) -> None:
    env = VisualMath(data=[{"question": "?", "answer": "1", "images": [image]}])
    with pytest.raises(DataError, match=why):
        env.reset(task=0)


@pytest.mark.parametrize(("form", "kind"), [("JPEG", "jpeg"), ("GIF", "gif"), ("WEBP", "webp")])
def test_images_keep_their_encoding(picture: Any, form: str, kind: str) -> None:
    file = BytesIO()
    picture.save(file, form)
    assert image_part(file.getvalue()) == ImagePart(file.getvalue(), f"image/{kind}")


def test_bytes_of_no_known_kind_have_no_media_type() -> None:
    assert media_type(b"RIFF....WAVE") is None
