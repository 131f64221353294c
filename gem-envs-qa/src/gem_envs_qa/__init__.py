"""Question answering and logic with verifiable answers, for GEM. Imports nothing on its own."""
