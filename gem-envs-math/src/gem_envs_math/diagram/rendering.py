"""Draw a sketch: no smoothing, no font of the system, the same pixels on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from PIL import Image, ImageDraw, ImageFont  # heavy: 0.05 s

from gem_envs_math.diagram.png import encode
from gem_envs_math.diagram.sketch import (
    BLACK,
    HEIGHT,
    PALETTE,
    WHITE,
    WIDTH,
    Dot,
    Label,
    Line,
    Point,
    Polygon,
    Ring,
    Shape,
)

__all__ = ["render"]

_SCALE = 2  # of the letters, which are 6 by 11 pixels


def render(shapes: Sequence[Shape]) -> bytes:
    """Return the figure as PNG, a few kilobytes. Takes some 10 ms."""
    image = Image.new("L", (WIDTH, HEIGHT), WHITE)
    pen = ImageDraw.Draw(image)
    for shape in shapes:
        _draw(shape, image, pen)
    return encode(image, PALETTE)


@singledispatch
def _draw(shape: Shape, image: Image.Image, pen: ImageDraw.ImageDraw) -> None:
    raise NotImplementedError(f"nothing draws a {type(shape).__name__}")


@_draw.register
def _line(shape: Line, image: Image.Image, pen: ImageDraw.ImageDraw) -> None:
    pen.line((_pixel(shape.start), _pixel(shape.end)), fill=shape.colour, width=shape.width)


@_draw.register
def _polygon(shape: Polygon, image: Image.Image, pen: ImageDraw.ImageDraw) -> None:
    corners = [_pixel(corner) for corner in shape.corners]
    pen.polygon(corners, fill=shape.fill)
    for start, end in zip(corners, [*corners[1:], corners[0]], strict=True):
        pen.line((start, end), fill=BLACK, width=shape.width)


@_draw.register
def _ring(shape: Ring, image: Image.Image, pen: ImageDraw.ImageDraw) -> None:
    pen.ellipse(_around(shape.centre, shape.radius), fill=BLACK)
    pen.ellipse(_around(shape.centre, shape.radius - 2), fill=WHITE)


@_draw.register
def _dot(shape: Dot, image: Image.Image, pen: ImageDraw.ImageDraw) -> None:
    pen.ellipse(_around(shape.centre, shape.radius), fill=shape.colour)


@_draw.register
def _label(shape: Label, image: Image.Image, pen: ImageDraw.ImageDraw) -> None:
    font = ImageFont.load_default_imagefont()
    left, top, right, bottom = map(int, font.getbbox(shape.text))
    letters = Image.new("1", (right - left, bottom - top))
    ImageDraw.Draw(letters).text((-left, -top), shape.text, fill=1, font=font)
    letters = letters.resize((letters.width * _SCALE, letters.height * _SCALE), 0)
    x, y = _pixel(shape.centre)
    image.paste(shape.colour, (x - letters.width // 2, y - letters.height // 2), letters)


def _pixel(point: Point) -> tuple[int, int]:
    return round(point[0]), round(point[1])


def _around(centre: Point, radius: float) -> tuple[int, int, int, int]:
    x, y = _pixel(centre)
    r = round(radius)
    return x - r, y - r, x + r, y + r
