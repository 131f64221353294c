"""The command line of the sandbox."""
