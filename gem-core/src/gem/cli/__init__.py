"""The command line, one file per command. Nothing outside imports it."""
