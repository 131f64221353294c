"""Where the noise of a score comes from: a design that crosses seeds, and what it estimates."""
