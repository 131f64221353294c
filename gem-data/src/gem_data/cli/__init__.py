"""The command line of this distribution."""
