"""Mathematical problems with verifiable answers, for GEM. Imports nothing until it is asked to."""
