"""Load a table of problems once per process, for every environment that asks for it.

A file or a data set of the hub is memory-mapped by `datasets`: its rows stay on disk, and no
environment holds a copy. Knows nothing about environments.
"""

from __future__ import annotations

import importlib.metadata
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable
from weakref import WeakValueDictionary

from gem.errors import BadArguments, DataError
from gem.targets import check_requirements
from gem_envs_math.rows import Keys, Problem, check_row, read_problems, require_rows

if TYPE_CHECKING:
    import datasets

__all__ = ["REQUIRES", "Rows", "Table", "load_file", "load_hub", "load_memory"]

REQUIRES = ("datasets>=3.0",)

_PLAIN_KEYS = Keys("question", "answer")
_REACH_TIMEOUT_S = 5.0
_LOCAL_HINT = (
    'Use a local file instead: data="path/to/test.jsonl", or on the command line '
    '--env-kwargs \'{"data": "path/to/test.jsonl"}\'.'
)


@runtime_checkable
class Rows(Protocol):
    """A table in memory: a `datasets.Dataset`, or a list of dictionaries."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> Any: ...


class Table:
    """Checked problems, read one at a time from where they are. Treat it as read-only.

    Raises DataError, with the row, if there is no row or one does not fit.
    """

    def __init__(
        self,
        rows: Rows,
        keys: Keys,
        *,
        source: str,
        origin: object = None,
        is_checked: bool = False,
    ) -> None:
        self._rows, self._keys, self._source = rows, keys, source
        self._origin = origin  # kept alive, so that its id stays its own
        require_rows(len(rows), source)
        if not is_checked:
            for number, row in enumerate(_each(rows), 1):
                check_row(row, number, source, keys)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, task: int) -> Problem:
        return check_row(self._rows[task], task + 1, self._source, self._keys)


def _each(rows: Rows) -> Iterable[object]:
    return rows if isinstance(rows, Iterable) else (rows[at] for at in range(len(rows)))


_lock = threading.RLock()  # threads that ask for one table wait for one load
_on_disk: dict[tuple[object, ...], Table] = {}
_in_memory: WeakValueDictionary[tuple[object, ...], Table] = WeakValueDictionary()


def load_memory(rows: Rows, keys: Keys) -> Table:
    """Return the table over rows in memory: checked once, and never copied."""
    key = (id(rows), *keys)
    with _lock:
        table = _in_memory.get(key)
        if table is None:
            table = _in_memory[key] = _memory_table(rows, keys)
        return table


def _memory_table(rows: Rows, keys: Keys) -> Table:
    source = f"The {type(rows).__name__} given as data="
    loaded = sys.modules.get("datasets")  # absent, and no row can be a Dataset
    if loaded is not None and isinstance(rows, loaded.Dataset):
        return Table(_two_columns(rows, keys, source), keys, source=source, origin=rows)
    if loaded is not None and isinstance(rows, loaded.DatasetDict):
        raise BadArguments(
            f"data= was given a DatasetDict with the splits {', '.join(map(repr, rows))}. Give "
            "one of them.",
            subject="data",
        )
    if isinstance(rows, Sequence):
        return Table(rows, keys, source=source)
    raise BadArguments(
        f"data= was given a {type(rows).__name__}. Give the path of a file, a datasets.Dataset "
        "or a list of dictionaries.",
        subject="data",
    )


def _two_columns(rows: datasets.Dataset, keys: Keys, source: str) -> datasets.Dataset:
    """Return the same Arrow table with nothing but the two fields, read as plain Python."""
    if set(keys) <= set(rows.column_names):
        return rows.select_columns(list(dict.fromkeys(keys))).with_format(None)
    require_rows(len(rows), source)
    check_row(dict.fromkeys(rows.column_names), 1, source, keys)  # raises, naming the field
    raise AssertionError("unreachable")


def load_file(path: str | Path, keys: Keys) -> Table:
    """Return the table of a .jsonl, .csv or .parquet file, read again only if it changed.

    The first load writes the checked rows to the cache folder of `datasets` as Arrow; they are
    memory-mapped from there. Raises DataError, with row and field.
    """
    given = str(path)
    try:
        status = Path(given).stat()
    except (OSError, ValueError) as error:
        raise _cannot_open(given, error) from error
    key = ("file", str(Path(given).resolve()), status.st_size, status.st_mtime_ns, *keys)
    with _lock:
        if key not in _on_disk:
            check_requirements(REQUIRES, subject="A local data file")
            _on_disk[key] = _file_table(given, keys)
        return _on_disk[key]


def _cannot_open(path: str, error: OSError | ValueError) -> DataError:
    return DataError(
        f"The data file {path} was asked for, and cannot be opened "
        f"({getattr(error, 'strerror', None) or error}). Check the path, which starts at the "
        "working directory, and that you may read it.",
        source=path,
    )


def _file_table(path: str, keys: Keys) -> Table:
    import datasets  # heavy: 0.5 s

    digest = _digest(path)
    texts = datasets.Features(
        {key: datasets.Value("string") for key in _PLAIN_KEYS}  # also where no row tells
    )
    with _Quiet():
        try:
            rows = datasets.Dataset.from_generator(
                _plain_rows,
                features=texts,
                # what the cached rows depend on, and so what they are cached under
                gen_kwargs={
                    "path": path,
                    "question_key": keys.question,
                    "answer_key": keys.answer,
                    "digest": digest,
                    "reader": importlib.metadata.version("gem-envs-math"),
                },
            )
        except Exception as error:
            raise _file_error(error, path) from error
    return Table(rows, _PLAIN_KEYS, source=path, is_checked=True)


def _plain_rows(
    path: str, question_key: str, answer_key: str, digest: str, reader: str
) -> Iterable[dict[str, str]]:
    for problem in read_problems(path, Keys(question_key, answer_key)):
        yield problem._asdict()


def _digest(path: str) -> str:
    digest = blake2b(digest_size=16)
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise _cannot_open(path, error) from error
    return digest.hexdigest()


def _file_error(error: BaseException, path: str) -> DataError:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, DataError):
        cause = cause.__cause__
    return cause or DataError(
        f"{path} cannot be turned into a table ({_one_line(_root(error))}). Check "
        "that the cache folder of `datasets` is writable and has room; HF_HOME moves it.",
        source=path,
    )


def load_hub(name: str, split: str | None, keys: Keys) -> Table:
    """Return a data set of the Hugging Face Hub: downloaded once, later read from the cache.

    `split` may be None where there is only one. Raises DataError, within seconds where the hub
    cannot be reached and the data set is not in the cache.
    """
    key = ("hub", name, split, *keys)
    with _lock:
        if key not in _on_disk:
            check_requirements(REQUIRES, subject=f"The data set {name!r}")
            source = f"The data set {name!r}"
            rows = _two_columns(_hub_rows(name, split), keys, source)
            _on_disk[key] = Table(rows, keys, source=source)
        return _on_disk[key]


def _hub_rows(name: str, split: str | None) -> datasets.Dataset:
    import datasets  # heavy: 0.5 s

    with _Quiet() as quiet:
        if not (is_reached := _hub_answers(name)):
            quiet.go_offline()
        try:
            loaded = datasets.load_dataset(name, split=split)
        except Exception as error:
            is_nowhere = isinstance(error, ConnectionError) and not is_reached
            reason = "not in its cache here" if is_nowhere else _one_line(_root(error))
            where = "the hub" if is_reached else "the hub, which is out of reach"
            raise DataError(
                f"The data set {name!r} was asked for, and cannot be had from {where} "
                f"({reason}). {_LOCAL_HINT}",
                source=name,
            ) from error
    return _one_split(name, loaded)


def _hub_answers(name: str) -> bool:
    """Ask the hub once, briefly: `load_dataset` itself would try for half a minute."""
    import huggingface_hub  # heavy: 0.2 s
    from huggingface_hub import constants

    # in every version at this place
    from huggingface_hub.utils import (  # type: ignore[attr-defined]
        HfHubHTTPError,
        HFValidationError,
    )

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        huggingface_hub.HfApi().dataset_info(name, timeout=_REACH_TIMEOUT_S)
    except (HfHubHTTPError, HFValidationError):
        return True  # an answer, if a bad one: load_dataset says which
    except Exception:  # noqa: BLE001 - each version has another HTTP library's errors
        return False
    return True


def _one_split(name: str, loaded: Any) -> datasets.Dataset:
    if not isinstance(loaded, Mapping):
        return loaded
    if len(loaded) == 1:
        return next(iter(loaded.values()))
    raise DataError(
        f"The data set {name!r} was asked for without a split, and has "
        f"{', '.join(map(repr, loaded))}. Choose one with split=.",
        source=name,
        field="split",
    )


class _Quiet(ExitStack):
    """Hold back the progress bars and the log of `datasets`, and put them back afterwards."""

    def __enter__(self) -> _Quiet:
        import datasets
        from huggingface_hub import utils as hub

        super().__enter__()
        for bars in (datasets.utils, hub):
            if not bars.are_progress_bars_disabled():
                bars.disable_progress_bars()
                self.callback(bars.enable_progress_bars)
        for logs in (datasets.logging, hub.logging):
            self.callback(logs.set_verbosity, logs.get_verbosity())
            logs.set_verbosity(logs.CRITICAL)
        return self

    def go_offline(self) -> None:
        """Let `load_dataset` look in its cache alone."""
        import datasets.config

        self.callback(setattr, datasets.config, "HF_HUB_OFFLINE", datasets.config.HF_HUB_OFFLINE)
        datasets.config.HF_HUB_OFFLINE = True


def _root(error: BaseException) -> BaseException:
    """Return what an error of the library was raised from, where it says."""
    return error if error.__cause__ is None else _root(error.__cause__)


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
