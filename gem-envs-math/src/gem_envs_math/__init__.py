"""Mathematical problems with verifiable answers, for GEM."""
