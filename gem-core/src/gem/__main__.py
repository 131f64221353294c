"""`python -m gem` is `gem-env`."""

from __future__ import annotations

import sys

from gem.cli._main import main

if __name__ == "__main__":
    sys.exit(main())
