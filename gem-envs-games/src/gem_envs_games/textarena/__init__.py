"""TextArena's single-player games as environments. Importing this package imports none of them."""
