"""Hold back what `datasets` prints. Knows nothing about what it is asked for."""

from __future__ import annotations

from contextlib import ExitStack

__all__ = ["Quiet", "one_line", "root_of"]


class Quiet(ExitStack):
    """Hold back the progress bars and the log of `datasets`, and put them back afterwards."""

    def __enter__(self) -> Quiet:
        import datasets  # heavy: 0.5 s
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


def root_of(error: BaseException) -> BaseException:
    """Return what an error of the library was raised from, where it says."""
    return error if error.__cause__ is None else root_of(error.__cause__)


def one_line(error: BaseException) -> str:
    """Return an error's type and a short piece of its text."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
