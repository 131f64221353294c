"""Customer service with proved users, a pack of environments for GEM."""
