"""Turn what a row holds as an image into what a policy is shown, without decoding it."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from gem.content import ImagePart
from gem.errors import DataError, in_one_line

__all__ = ["image_part", "media_type"]

_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def media_type(image: bytes) -> str | None:
    r"""Return the media type of an encoded image by its first bytes, None for no kind known.

    >>> media_type(b"\x89PNG\r\n\x1a\n..."), media_type(b"<svg>")
    ('image/png', None)
    """
    if image[:4] == b"RIFF" and image[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _SIGNATURES.items() if image.startswith(start)), None)


def image_part(image: object) -> ImagePart:
    """Return an image as a part. Raises DataError on what is none.

    `image` is the bytes of a file, the path of one, an image of Pillow, which is written as PNG,
    or a mapping with one of them as "bytes" or "path".
    """
    encoded = _encoded(image)
    kind = media_type(encoded)
    if kind is None:
        raise DataError(
            f"An image of a row begins with {encoded[:12]!r}, and is none of PNG, JPEG, GIF and "
            "WebP. Convert it.",
            source=f"a {type(image).__name__}",
            field="images",
        )
    return ImagePart(encoded, kind)


def _encoded(image: object) -> bytes:
    if isinstance(image, Mapping):
        return _encoded(image["path"] if image.get("bytes") is None else image["bytes"])
    if isinstance(image, (bytes, bytearray)):
        return bytes(image)
    if isinstance(image, (str, Path)):
        return _file(Path(image))
    if hasattr(image, "save"):
        file = BytesIO()
        image.save(file, "PNG")
        return file.getvalue()
    raise DataError(
        f"An image of a row is a {type(image).__name__}. Give bytes, a path, or one of Pillow's.",
        source=f"a {type(image).__name__}",
        field="images",
    )


def _file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise DataError(
            f"The image {str(path)!r} of a row cannot be read ({in_one_line(error)}). Check the "
            "path, which starts at the working directory.",
            source=str(path),
            field="images",
        ) from error
