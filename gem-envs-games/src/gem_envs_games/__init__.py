"""Language games with verifiable outcomes, for GEM."""
