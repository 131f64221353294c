"""Hold back what `datasets` prints. Knows nothing about what it is asked for."""

from __future__ import annotations

from contextlib import ExitStack

from gem.errors import in_one_line

__all__ = ["Quiet", "root_text"]

_MOST_TEXT = 200


class Quiet(ExitStack):
    """Hold back the progress bars and the log of `datasets`, and put them back afterwards."""

    def __enter__(self) -> Quiet:
        import datasets  # heavy: 0.5 s
        from huggingface_hub import utils as hub

        super().__enter__()
        # What somebody has turned off already stays off afterwards.
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

        # The variable of the environment was read when the library was imported.
        self.callback(setattr, datasets.config, "HF_HUB_OFFLINE", datasets.config.HF_HUB_OFFLINE)
        datasets.config.HF_HUB_OFFLINE = True


def root_text(error: BaseException) -> str:
    """Return the type of what an error of the library was raised from, and a piece of its text."""
    while error.__cause__ is not None:
        error = error.__cause__
    return in_one_line(error, at_most=_MOST_TEXT)
