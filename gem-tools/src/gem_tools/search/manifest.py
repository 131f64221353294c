"""What `index.json` says about the index beside it. Written last: with it, the index is whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from gem.errors import problems_of
from gem_tools.search.errors import SearchIndexError

__all__ = ["ENGINES", "LANGUAGES", "Engine", "Language", "Manifest"]

_NAME = "index.json"
_AGAIN = "Build it again with `gem-env build-search`."

Engine = Literal["tantivy", "bm25s"]
Language = Literal[
    "dutch",
    "english",
    "french",
    "german",
    "italian",
    "none",
    "norwegian",
    "portuguese",
    "russian",
    "spanish",
    "swedish",
]
"""Whose endings are cut off, so that "cheeses" finds "cheese"; "none" cuts nothing off."""
ENGINES: tuple[str, ...] = get_args(Engine)
LANGUAGES: tuple[str, ...] = get_args(Language)


class Manifest(BaseModel):
    """What an index is: how it was built, from what, and which files it is made of.

    `digest` is of the documents, in their order, whatever file they came from. `files` has the
    size of each in bytes: one that is absent or cut short is noticed as the index is opened.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal[1] = 1
    engine: Engine
    engine_version: str
    language: Language
    documents: int
    source: str
    fields: Mapping[str, str]
    digest: str
    files: Mapping[str, int]

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a folder and compare its files. Raises SearchIndexError."""
        try:
            manifest = cls.model_validate_json((folder / _NAME).read_bytes())
            sizes = {name: (folder / name).stat().st_size for name in manifest.files}
        except ValidationError as error:
            problem = problems_of(error, whole="its text")[0]
            raise SearchIndexError(
                f"The index {folder} cannot be used for its {_NAME}: {problem}. It "
                f"may be of another version of gem-tools. {_AGAIN}",
                path=str(folder),
            ) from error
        except OSError as error:
            raise SearchIndexError(
                f"{folder} is no whole search index: {error.filename} cannot be read "
                f"({error.strerror}). Check the path. {_AGAIN}",
                path=str(folder),
            ) from error
        if sizes != manifest.files:
            changed = next(name for name, size in sizes.items() if size != manifest.files[name])
            raise SearchIndexError(
                f"The index {folder} is damaged: {changed} has {sizes[changed]} bytes and had "
                f"{manifest.files[changed]} when it was built. {_AGAIN}",
                path=str(folder),
            )
        return manifest

    def write(self, folder: Path) -> None:
        """Write the manifest into its folder."""
        (folder / _NAME).write_text(self.model_dump_json(indent=2), encoding="utf-8")
