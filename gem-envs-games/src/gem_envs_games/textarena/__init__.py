"""TextArena's games as environments. Importing this package imports none of them."""
