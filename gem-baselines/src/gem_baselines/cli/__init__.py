"""The commands that this distribution adds to `gem-env`, one file each."""
